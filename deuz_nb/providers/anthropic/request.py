"""The body of an Anthropic Messages request.  Source: providers.md 1."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final

from deuz_nb.errors import MisuseError
from deuz_nb.parts.usage import JSONObject
from deuz_nb.providers.ask import Ask
from deuz_nb.providers.content import Media, Said
from deuz_nb.providers.forms import call_input, fitted_id, metadata, text_of
from deuz_nb.providers.model import Effort
from deuz_nb.providers.schemas import closed, object_schema

__all__ = ["anthropic_body"]

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ID_LENGTH: Final = 32
_DEFAULT_MAX_TOKENS: Final = 8192
_MIN_BUDGET: Final = 1024
_BUDGETS: Final[Mapping[Effort, int]] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 32_000,
}


def anthropic_body(ask: Ask) -> JSONObject:
    """What is POSTed to `/v1/messages`.  Raises MisuseError for content the wire has no form for."""
    call, takes = ask.call, ask.takes
    max_tokens = _max_tokens(ask)
    messages, system = _messages(ask)
    body: JSONObject = {"model": ask.model.model_id, "max_tokens": max_tokens}
    if system:
        body["system"] = system
    body["messages"] = messages
    if ask.tools:
        body["tools"] = [
            _tool(tool.name, tool.description, tool.parameters, tool.strict) for tool in ask.tools
        ]
    body |= _tool_choice(ask)
    body |= _thinking(ask, max_tokens)
    body |= _sampling(ask)
    if call.stop:
        body["stop_sequences"] = list(call.stop)
    if ask.output_schema is not None and takes.structured_output:
        form = {"type": "json_schema", "schema": closed(ask.output_schema)}
        body["output_config"] = {**body.get("output_config", {}), "format": form}
    if call.cache and takes.prompt_caching:
        body["cache_control"] = {"type": "ephemeral", "ttl": call.cache}
    elif call.cache:
        ask.no_lifetime()
    if call.seed is not None:
        ask.warn("seed", "seed was left out: Anthropic takes none.")
    body["stream"] = True
    return body


def _max_tokens(ask: Ask) -> int:
    """The wire wants a limit: the most the model gives, when none was asked for."""
    most, wanted = ask.takes.max_output_tokens, ask.call.max_output_tokens
    if wanted is None:
        return most or _DEFAULT_MAX_TOKENS
    if most is not None and wanted > most:
        ask.warn(
            "max_output_tokens", f"{wanted} is more than {ask.model.model_id} gives: {most} was asked for."
        )
        return most
    return wanted


def _messages(ask: Ask) -> tuple[list[JSONObject], str]:
    """The turns, alternating, and the instructions that go before them."""
    system: list[str] = []
    turns: list[JSONObject] = []
    waiting: list[str] = []

    def place_waiting() -> None:
        # An instruction between turns is taken only right before an answer, or at the very end.
        turns.extend({"role": "system", "content": text} for text in waiting)
        waiting.clear()

    for said in ask.said:
        if said.role in ("system", "developer"):
            text = "".join(part["text"] for part in said.parts)
            is_inline = ask.takes.inline_system and turns
            (waiting if is_inline else system).append(text)
            continue
        role = "assistant" if said.role == "assistant" else "user"
        blocks = _blocks(ask, said)
        if not blocks:
            continue
        if role == "assistant":
            place_waiting()
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] = _results_first(turns[-1]["content"] + blocks)
        else:
            turns.append({"role": role, "content": blocks})
    place_waiting()
    instruction = None if ask.takes.structured_output else ask.schema_instruction()
    if instruction is not None:
        ask.warn(
            "output_schema", f"{ask.model.model_id} takes no schema: it is asked for in the instructions."
        )
        system.append(instruction)
    _trim_prefill(turns)
    return turns, "\n\n".join(system)


def _blocks(ask: Ask, said: Said) -> list[JSONObject]:
    blocks: list[JSONObject] = []
    for part in said.parts:
        match part["type"]:
            case "text" if part["text"].strip():
                blocks.append({"type": "text", "text": part["text"]})
            case "reasoning":
                blocks += _thinking_block(part)
            case "image" | "file":
                blocks.append(_media(ask.media(part, said)))
            case "tool-call":
                block = {
                    "type": "tool_use",
                    "id": fitted_id(part["toolCallId"], _ID, _ID_LENGTH),
                    "name": part["toolName"],
                    "input": call_input(part["input"]),
                }
                kept = metadata(part, "anthropic", ask.model.provider)
                blocks.append(
                    block | {name: kept[name] for name in ("caller", "toolset_name") if name in kept}
                )
            case "tool-result":
                result = {
                    "type": "tool_result",
                    "tool_use_id": fitted_id(part["toolCallId"], _ID, _ID_LENGTH),
                    "content": text_of(part["output"]),
                }
                blocks.append(result | ({"is_error": True} if part.get("isError") else {}))
            case _:
                pass
    return _results_first(blocks)


def _thinking_block(part: JSONObject) -> list[JSONObject]:
    """Thinking as it came; without its signature the model would refuse it, so it stays away."""
    redacted = part.get("redacted")
    if redacted:
        return [
            {"type": "redacted_thinking", "data": redacted if isinstance(redacted, str) else part["text"]}
        ]
    if part.get("signature") and not part.get("encrypted"):
        return [{"type": "thinking", "thinking": part["text"], "signature": part["signature"]}]
    return []


def _results_first(blocks: list[JSONObject]) -> list[JSONObject]:
    """Tool results lead their turn; a stable sort keeps all else in order."""
    return sorted(blocks, key=lambda block: block["type"] != "tool_result")


def _media(media: Media) -> JSONObject:
    if media.is_image:
        if media.url:
            return {"type": "image", "source": {"type": "url", "url": media.url}}
        source = {"type": "base64", "media_type": media.media_type, "data": media.data}
        return {"type": "image", "source": source}
    document: JSONObject = {"type": "document"}
    if media.media_type == "application/pdf" and media.url:
        document["source"] = {"type": "url", "url": media.url}
    elif media.media_type == "application/pdf":
        document["source"] = {"type": "base64", "media_type": media.media_type, "data": media.data}
    elif media.media_type == "text/plain" and media.data:
        document["source"] = {"type": "text", "media_type": "text/plain", "data": _decoded(media)}
    else:
        what = f"{media.media_type} by URL" if media.url else media.media_type
        raise MisuseError(
            f"{media.where}: Anthropic takes images, application/pdf, and text/plain as data, not {what}; "
            "send its text as a text part"
        )
    return document | ({"title": media.filename} if media.filename else {})


def _decoded(media: Media) -> str:
    try:
        return base64.b64decode(media.data or "", validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise MisuseError(f"{media.where}: 'data' is not UTF-8 text in base64") from None


def _trim_prefill(turns: list[JSONObject]) -> None:
    """A last answer to be continued may not end in white space."""
    if turns and turns[-1]["role"] == "assistant" and turns[-1]["content"][-1]["type"] == "text":
        last = turns[-1]["content"][-1]
        last["text"] = last["text"].rstrip()


def _tool(name: str, description: str, parameters: JSONObject, strict: bool | None) -> JSONObject:
    tool: JSONObject = {"name": name, "description": description, "input_schema": object_schema(parameters)}
    return tool | ({} if strict is None else {"strict": strict})


def _tool_choice(ask: Ask) -> JSONObject:
    if not ask.tools:
        return {}
    choice: Any = ask.call.tool_choice
    is_single = ask.call.parallel_tool_calls is False
    kinds = {None: "auto", "auto": "auto", "required": "any", "none": "none"}
    chosen: JSONObject = {"type": kinds[choice]} if choice in kinds else {"type": "tool", "name": choice}
    if is_single and choice != "none":
        chosen["disable_parallel_tool_use"] = True
    return {} if choice is None and not is_single else {"tool_choice": chosen}


def _thinking(ask: Ask, max_tokens: int) -> JSONObject:
    effort, takes = ask.effort, ask.takes
    if effort is None:
        return {}
    if effort == "none":
        return {"thinking": {"type": takes.thinking_off}}
    if takes.thinking != "budget":
        thinking = {"type": "adaptive", "display": "summarized"}
        return {"thinking": thinking, "output_config": {"effort": effort}}
    if max_tokens <= _MIN_BUDGET:
        ask.warn("effort", f"effort was left out: thinking needs max_output_tokens above {_MIN_BUDGET}.")
        return {}
    # Thinking counts as output: half of the limit is kept for the answer where the limit allows it.
    budget = min(_BUDGETS[effort], max(_MIN_BUDGET, max_tokens // 2))
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _sampling(ask: Ask) -> JSONObject:
    sampling = ask.sampling()
    if len(sampling) == 2:
        ask.warn("top_p", "top_p was left out: Anthropic takes temperature or top_p, not both.")
        del sampling["top_p"]
    return sampling
