"""The body of a Gemini `streamGenerateContent` request.  Source: providers.md 4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from deuz_nb.parts.usage import JSONObject
from deuz_nb.providers.ask import Ask
from deuz_nb.providers.capabilities import bare_name
from deuz_nb.providers.content import Media, Said
from deuz_nb.providers.forms import call_input, metadata
from deuz_nb.providers.model import Effort, Model
from deuz_nb.providers.schemas import object_schema

__all__ = ["google_body", "google_path"]

_BUDGETS: Final[Mapping[Effort, int]] = {
    "none": 0,
    "minimal": 512,
    "low": 2048,
    "medium": 8192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 24_576,
}
# The word Google documents for calls that come from elsewhere: without any signature Gemini 3 answers 400.
_NO_SIGNATURE: Final = "skip_thought_signature_validator"


def google_path(model: Model) -> str:
    """Where the model's stream is, below the base address."""
    name = quote(model.model_id, safe="/-._~:@")
    return f"/{name if '/' in name else f'models/{name}'}:streamGenerateContent"


def google_body(ask: Ask) -> JSONObject:
    """What is POSTed to `:streamGenerateContent?alt=sse`."""
    call = ask.call
    instructions = [
        "".join(part["text"] for part in said.parts) for said in ask.said if _is_instruction(said)
    ]
    config = _generation_config(ask, instructions)
    body: JSONObject = {"contents": _contents(ask)}
    if instructions:
        body["systemInstruction"] = {"parts": [{"text": text} for text in instructions]}
    if ask.tools:
        declared = [
            {
                "name": tool.name,
                "description": tool.description,
                "parametersJsonSchema": object_schema(tool.parameters),
            }
            for tool in ask.tools
        ]
        body["tools"] = [{"functionDeclarations": declared}]
        body |= _tool_config(ask)
    if config:
        body["generationConfig"] = config
    if call.cache:
        ask.no_lifetime()
    return body


def _is_instruction(said: Said) -> bool:
    return said.role in ("system", "developer")


def _contents(ask: Ask) -> list[JSONObject]:
    """The turns; results of one step stay in one turn, as Gemini counts them against its calls."""
    contents: list[JSONObject] = []
    last_role = ""
    for said in ask.said:
        if _is_instruction(said):
            continue
        parts = [made for part in said.parts for made in _parts(ask, part, said)]
        if said.role == "assistant" and _needs_signatures(ask.model):
            _excuse(parts)
        if not parts:
            continue
        if said.role == last_role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": "model" if said.role == "assistant" else "user", "parts": parts})
        last_role = said.role
    return contents


def _parts(ask: Ask, part: JSONObject, said: Said) -> list[JSONObject]:
    kept = metadata(part, "google", ask.model.provider)
    signature = kept.get("thoughtSignature") or part.get("signature")
    signed: JSONObject = {"thoughtSignature": signature} if signature else {}
    match part["type"]:
        case "text":
            return [{"text": part["text"], **signed}]
        case "reasoning":
            is_foreign = not signature or part.get("encrypted") or part.get("redacted")
            return [] if is_foreign else [{"text": part["text"], "thought": True, **signed}]
        case "image" | "file":
            return [_media(ask.media(part, said))]
        case "tool-call":
            called = {"id": part["toolCallId"], "name": part["toolName"], "args": call_input(part["input"])}
            return [{"functionCall": called, **signed}]
        case _:
            answer = {"error" if part.get("isError") else "output": part["output"]}
            response = {"id": part["toolCallId"], "name": part["toolName"], "response": answer}
            return [{"functionResponse": response}]


def _media(media: Media) -> JSONObject:
    if media.url:
        kind = {"mimeType": media.media_type} if media.media_type else {}
        return {"fileData": {**kind, "fileUri": media.url}}
    return {"inlineData": {"mimeType": media.media_type, "data": media.data}}


def _needs_signatures(model: Model) -> bool:
    name = bare_name(model.model_id)
    return name.startswith("gemini-") and not name.startswith(("gemini-1", "gemini-2"))


def _excuse(parts: list[JSONObject]) -> None:
    """Mark the first call of an answer whose calls carry no signature: it came from another model."""
    calls = [part for part in parts if "functionCall" in part]
    if calls and not any("thoughtSignature" in part for part in calls):
        calls[0]["thoughtSignature"] = _NO_SIGNATURE


def _tool_config(ask: Ask) -> JSONObject:
    choice = ask.call.tool_choice
    if ask.call.parallel_tool_calls is False:
        ask.warn(
            "parallel_tool_calls", "parallel_tool_calls was left out: Gemini calls as many tools as it likes."
        )
    if choice is None:
        return {}
    modes = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
    config: JSONObject = {"mode": modes.get(choice, "ANY")}
    if choice not in modes:
        config["allowedFunctionNames"] = [choice]
    return {"toolConfig": {"functionCallingConfig": config}}


def _generation_config(ask: Ask, instructions: list[str]) -> JSONObject:
    call = ask.call
    sampling = ask.sampling()
    found: JSONObject = {
        "maxOutputTokens": call.max_output_tokens,
        "temperature": sampling.get("temperature"),
        "topP": sampling.get("top_p"),
        "seed": call.seed,
        "stopSequences": list(call.stop) or None,
        "thinkingConfig": _thinking(ask),
    }
    config = {name: value for name, value in found.items() if value is not None}
    if ask.output_schema is not None:
        if ask.takes.structured_output and (not ask.tools or ask.takes.structured_output_with_tools):
            config["responseMimeType"] = "application/json"
            config["responseJsonSchema"] = object_schema(ask.output_schema)
        else:
            instructions.append(ask.schema_instruction() or "")
            beside = " beside tools" if ask.tools else ""
            ask.warn(
                "output_schema",
                f"{ask.model.model_id} takes no schema{beside}: it is asked for in the instructions.",
            )
    return config


def _thinking(ask: Ask) -> JSONObject | None:
    effort = ask.effort
    if effort is None:
        return None
    if ask.takes.thinking == "level":
        return {"includeThoughts": True, "thinkingLevel": effort.upper()}
    budget = _BUDGETS[effort]
    return {"thinkingBudget": 0} if budget == 0 else {"includeThoughts": True, "thinkingBudget": budget}
