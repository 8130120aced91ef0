"""The body of an OpenAI Responses request.  Source: providers.md 3."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from deuz_nb.errors import MisuseError
from deuz_nb.jsontext import dumps
from deuz_nb.parts.usage import JSON, JSONObject
from deuz_nb.providers.ask import Ask
from deuz_nb.providers.content import Media, Said
from deuz_nb.providers.forms import call_input, fitted_id, metadata, text_of
from deuz_nb.providers.schemas import json_schema_format, object_schema

__all__ = ["responses_body"]

_ID: Final = re.compile(r".{1,64}", re.DOTALL)
_ID_LENGTH: Final = 64
_LIFETIMES: Final[Mapping[str, str]] = {"5m": "30m", "1h": "12h"}


def responses_body(ask: Ask) -> JSONObject:
    """What is POSTed to `/responses`: nothing is stored at the host, so reasoning travels encrypted."""
    call, takes = ask.call, ask.takes
    instructions, said = _instructions(ask)
    body: JSONObject = {"model": ask.model.model_id}
    if instructions:
        body["instructions"] = "\n\n".join(instructions)
    custom = _custom_calls(said)
    body["input"] = [item for one in said for item in _items(ask, one, custom)]
    if ask.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": object_schema(tool.parameters),
                "strict": bool(tool.strict),
            }
            for tool in ask.tools
        ]
        body |= _tool_choice(ask)
    if ask.output_schema is not None and takes.structured_output:
        form = json_schema_format(call.output_name, ask.output_schema)
        body["text"] = {"format": {"type": "json_schema", **form}}
    if ask.effort is not None:
        shown = {} if ask.effort == "none" else {"summary": "auto"}
        body["reasoning"] = {"effort": ask.effort, **shown}
    if call.max_output_tokens is not None:
        body["max_output_tokens"] = call.max_output_tokens
    body |= ask.sampling()
    if call.stop:
        ask.warn("stop", "stop was left out: the Responses API takes no stop sequences.")
    if call.seed is not None:
        ask.warn("seed", "seed was left out: the Responses API takes none.")
    if call.cache and takes.prompt_caching and ask.host.provider == "openai":
        body["prompt_cache_options"] = {"ttl": _LIFETIMES[call.cache]}
    elif call.cache:
        ask.no_lifetime()
    body["store"] = False
    if takes.reasoning:
        body["include"] = ["reasoning.encrypted_content"]
    body["stream"] = True
    return body


def _instructions(ask: Ask) -> tuple[list[str], tuple[Said, ...]]:
    """What the conversation begins with, as instructions; later ones stay in their place."""
    leading = 0
    while leading < len(ask.said) and ask.said[leading].role in ("system", "developer"):
        leading += 1
    texts = ["".join(part["text"] for part in said.parts) for said in ask.said[:leading]]
    if not ask.takes.structured_output:
        instruction = ask.schema_instruction()
        if instruction is not None:
            ask.warn(
                "output_schema", f"{ask.model.model_id} takes no schema: it is asked for in the instructions."
            )
            texts.append(instruction)
    return texts, ask.said[leading:]


def _custom_calls(said: tuple[Said, ...]) -> frozenset[str]:
    """Ids of calls to custom tools: their input is free text, and their results are items of another type."""
    return frozenset(
        part["toolCallId"]
        for one in said
        for part in one.parts
        if part["type"] == "tool-call" and _is_custom(part)
    )


def _is_custom(part: JSONObject) -> bool:
    return isinstance(part["input"], str) and metadata(part, "openai").get("type") == "custom_tool_call"


def _items(ask: Ask, said: Said, custom: frozenset[str]) -> list[JSONObject]:
    match said.role:
        case "system" | "developer":
            text = "".join(part["text"] for part in said.parts)
            return [{"role": said.role, "content": [{"type": "input_text", "text": text}]}]
        case "user":
            content = [
                {"type": "input_text", "text": part["text"]}
                if part["type"] == "text"
                else _media(ask.media(part, said))
                for part in said.parts
            ]
            return [{"role": "user", "content": content}]
        case "tool":
            return [_result(part, custom) for part in said.parts]
        case _:
            return _answer(ask, said, custom)


def _media(media: Media) -> JSONObject:
    if media.is_image:
        return {"type": "input_image", "image_url": media.address, "detail": media.detail or "auto"}
    if media.media_type and media.media_type.startswith(("audio/", "video/")):
        raise MisuseError(
            f"{media.where}: the Responses API takes no {media.media_type}; use 'openai:' or 'google:'"
        )
    if media.url:
        return {"type": "input_file", "file_url": media.url}
    name = media.filename or ("document.pdf" if media.media_type == "application/pdf" else "file")
    return {"type": "input_file", "filename": name, "file_data": media.address}


def _result(part: JSONObject, custom: frozenset[str]) -> JSONObject:
    """A result; the wire has no mark for a failed call, so its text says it."""
    output: JSON = part["output"]
    text = dumps({"error": output}) if part.get("isError") else text_of(output)
    kind = "custom_tool_call_output" if part["toolCallId"] in custom else "function_call_output"
    return {"type": kind, "call_id": fitted_id(part["toolCallId"], _ID, _ID_LENGTH), "output": text}


def _answer(ask: Ask, said: Said, custom: frozenset[str]) -> list[JSONObject]:
    """The items of one answer in their order: reasoning, messages with their phase, calls."""
    items: list[JSONObject] = []
    summary: list[JSONObject] = []
    for part in said.parts:
        kept = metadata(part, "openai", ask.model.provider)
        match part["type"]:
            case "reasoning":
                item = _reasoning(part, kept, summary)
                if item is not None:
                    items.append(item)
            case "text" if part["text"]:
                _add_text(items, part["text"], kept.get("phase"))
            case "tool-call":
                items.append(_call(part, kept, is_custom=part["toolCallId"] in custom))
            case _:
                pass
        if part["type"] != "reasoning":
            summary.clear()
    return items


def _reasoning(part: JSONObject, kept: JSONObject, summary: list[JSONObject]) -> JSONObject | None:
    """A reasoning item, once its encrypted content is there: the host keeps none to look up by id."""
    encrypted: Any = part.get("encrypted")
    if not encrypted:
        if part["text"] and not part.get("redacted"):
            summary.append({"type": "summary_text", "text": part["text"]})
        return None
    is_payload = not isinstance(encrypted, str)
    if part["text"] and not is_payload:
        summary.append({"type": "summary_text", "text": part["text"]})
    item: JSONObject = {"type": "reasoning"}
    item_id = kept.get("id") or (part.get("signature") if is_payload else None)
    if item_id:
        item["id"] = item_id
    item["summary"] = cast("list[JSONObject]", kept["summary"]) if "summary" in kept else list(summary)
    item["encrypted_content"] = part["text"] if is_payload else encrypted
    summary.clear()
    return item


def _add_text(items: list[JSONObject], text: str, phase: Any) -> None:
    marked: JSONObject = {} if phase is None else {"phase": phase}
    content = {"type": "output_text", "text": text}
    if items and items[-1].get("role") == "assistant" and items[-1].get("phase") == phase:
        items[-1]["content"].append(content)
    else:
        items.append({"role": "assistant", "content": [content], **marked})


def _call(part: JSONObject, kept: JSONObject, *, is_custom: bool) -> JSONObject:
    call: JSONObject = {"type": "custom_tool_call" if is_custom else "function_call"}
    call |= {name: kept[name] for name in ("id", "namespace", "caller") if name in kept}
    call |= {"call_id": fitted_id(part["toolCallId"], _ID, _ID_LENGTH), "name": part["toolName"]}
    if is_custom:
        return call | {"input": part["input"]}
    return call | {"arguments": dumps(call_input(part["input"]))}


def _tool_choice(ask: Ask) -> JSONObject:
    choice: Any = ask.call.tool_choice
    chosen: JSONObject = {}
    if choice in ("auto", "required", "none"):
        chosen["tool_choice"] = choice
    elif choice is not None:
        chosen["tool_choice"] = {"type": "function", "name": choice}
    if ask.call.parallel_tool_calls is not None:
        chosen["parallel_tool_calls"] = ask.call.parallel_tool_calls
    return chosen
