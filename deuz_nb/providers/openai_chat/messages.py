"""Messages as Chat Completions and its family take them, earlier reasoning in each host's own member.

Source: providers.md 2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, cast

from deuz_nb.errors import MisuseError
from deuz_nb.jsontext import dumps
from deuz_nb.parts.usage import JSON, JSONObject
from deuz_nb.providers.ask import Ask
from deuz_nb.providers.content import Media, Said
from deuz_nb.providers.forms import call_input, fitted_id, metadata, text_of

__all__ = ["chat_messages"]

_ANY_ID: Final = re.compile(r".+", re.DOTALL)
_MISTRAL_ID: Final = re.compile(r"[A-Za-z0-9]{9}")
_MISTRAL_ID_LENGTH: Final = 9
_AUDIO: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


def chat_messages(ask: Ask, instruction: str | None) -> list[JSONObject]:
    """The conversation; `instruction` is added to the instructions it begins with.

    Those become one message: several are refused by the chat templates of open models.
    """
    messages: list[JSONObject] = []
    system_role = "developer" if ask.host.developer_role and ask.takes.reasoning else "system"
    for said in ask.said:
        match said.role:
            case "system" | "developer":
                text = "".join(part["text"] for part in said.parts)
                if len(messages) == 1 and messages[0]["role"] == system_role:
                    messages[0]["content"] += "\n\n" + text
                else:
                    messages.append({"role": system_role, "content": text})
            case "user":
                messages.append({"role": "user", "content": _user_content(ask, said)})
            case "tool":
                messages += [_tool_message(ask, part) for part in said.parts]
            case _:
                messages += _assistant(ask, said)
    if instruction is None:
        return messages
    if messages[0]["role"] == system_role:
        messages[0]["content"] += "\n\n" + instruction
    else:
        messages.insert(0, {"role": system_role, "content": instruction})
    return messages


def _user_content(ask: Ask, said: Said) -> str | list[JSONObject]:
    if len(said.parts) == 1 and said.parts[0]["type"] == "text":
        return cast("str", said.parts[0]["text"])
    return [
        {"type": "text", "text": part["text"]}
        if part["type"] == "text"
        else _media(ask, ask.media(part, said))
        for part in said.parts
    ]


def _media(ask: Ask, media: Media) -> JSONObject:
    if media.is_image:
        detail = {"detail": media.detail} if media.detail else {}
        return {"type": "image_url", "image_url": {"url": media.address, **detail}}
    if media.media_type in _AUDIO and media.data:
        return {
            "type": "input_audio",
            "input_audio": {"data": media.data, "format": _AUDIO[media.media_type]},
        }
    form, host = ask.host.pdf, ask.host.title
    if media.media_type == "application/pdf" and form is not None:
        if form == "document_url":
            name = {"document_name": media.filename} if media.filename else {}
            return {"type": "document_url", "document_url": media.address, **name}
        if media.data or form == "file-url":
            file = {"filename": media.filename or "document.pdf", "file_data": media.address}
            return {"type": "file", "file": file}
        raise MisuseError(f"{media.where}: {host} takes a PDF only as data; read it and give base64 'data'")
    what = f"{media.media_type} by URL" if media.url else media.media_type
    raise MisuseError(f"{media.where}: {host} takes no {what} here; send its text as a text part")


def _tool_message(ask: Ask, part: JSONObject) -> JSONObject:
    """A result; the wire has no mark for a failed call, so its text says it."""
    output: JSON = part["output"]
    content = dumps({"error": output}) if part.get("isError") else text_of(output)
    message: JSONObject = {"role": "tool", "tool_call_id": _id(ask, part), "content": content}
    return message | ({"name": part["toolName"]} if ask.host.slug == "mistral" else {})


def _id(ask: Ask, part: JSONObject) -> str:
    is_mistral = ask.host.slug == "mistral"
    return fitted_id(part["toolCallId"], _MISTRAL_ID if is_mistral else _ANY_ID, _MISTRAL_ID_LENGTH)


def _assistant(ask: Ask, said: Said) -> list[JSONObject]:
    texts = [part["text"] for part in said.parts if part["type"] == "text"]
    reasoning = [part for part in said.parts if part["type"] == "reasoning"]
    calls = [_tool_call(ask, part) for part in said.parts if part["type"] == "tool-call"]
    message: JSONObject = {"role": "assistant", "content": "".join(texts) or None}
    replayed = _replay(ask, said, reasoning, has_calls=bool(calls))
    message |= replayed
    if calls:
        message["tool_calls"] = calls
    return [message] if message["content"] or calls or any(replayed.values()) else []


def _tool_call(ask: Ask, part: JSONObject) -> JSONObject:
    function = {"name": part["toolName"], "arguments": dumps(call_input(part["input"]))}
    call: JSONObject = {"id": _id(ask, part), "type": "function", "function": function}
    kept: Any = part.get("providerMetadata") or {}
    # Gemini's compatible endpoint refuses a call without the signature it came with.
    return call | ({"extra_content": kept["extra_content"]} if "extra_content" in kept else {})


def _replay(ask: Ask, said: Said, reasoning: Sequence[JSONObject], *, has_calls: bool) -> JSONObject:
    """Earlier reasoning in the host's own member; hosts that want none get none."""
    match ask.host.replay:
        case "reasoning_details":
            details = [
                detail for index, part in enumerate(reasoning) for detail in _details(ask, part, index)
            ]
            return {"reasoning_details": details} if details else {}
        case "thinking":
            return {"content": _mistral_content(said)} if any(map(_open_text, reasoning)) else {}
        case "reasoning_content" | "reasoning" as member:
            text = "".join(map(_open_text, reasoning))
            if ask.host.slug == "deepseek":
                # DeepSeek answers 400 when a turn of a conversation with tools comes without its reasoning.
                is_wanted = has_calls and ask.is_thinking
                return {member: text} if is_wanted or (text and ask.has_tools) else {}
            return {member: text} if text and has_calls else {}
        case None:
            return {}


def _open_text(part: JSONObject) -> str:
    """Reasoning that is text; what the provider hid is none."""
    is_hidden = part.get("encrypted") is not None or part.get("redacted") is not None
    return "" if is_hidden else cast("str", part["text"])


def _details(ask: Ask, part: JSONObject, index: int) -> list[JSONObject]:
    """A block as OpenRouter sent it; where that was not kept, as it must have been."""
    kept = metadata(part, "openrouter", ask.model.provider)
    whole: Any = kept.get("reasoning_details") or kept.get("reasoning_detail")
    if whole:
        return cast("list[JSONObject]", whole if isinstance(whole, list) else [whole])
    known = {name: kept[name] for name in ("id", "format", "index") if name in kept}
    detail: JSONObject
    if part.get("encrypted") is not None:
        encrypted: Any = part["encrypted"]
        detail = {
            "type": "reasoning.encrypted",
            "data": encrypted if isinstance(encrypted, str) else part["text"],
        }
    elif part.get("redacted") is not None:
        return []
    else:
        detail = {"type": "reasoning.text", "text": part["text"]}
        if part.get("signature"):
            detail["signature"] = part["signature"]
    return [{**detail, "index": index, **known}]


def _mistral_content(said: Said) -> list[JSONObject]:
    """Text and thinking in their order; thinking that follows thinking is one chunk."""
    content: list[JSONObject] = []
    for part in said.parts:
        if part["type"] == "text" and part["text"]:
            content.append({"type": "text", "text": part["text"]})
        elif part["type"] == "reasoning" and _open_text(part):
            thought = {"type": "text", "text": part["text"]}
            if content and content[-1]["type"] == "thinking":
                content[-1]["thinking"].append(thought)
            else:
                content.append({"type": "thinking", "thinking": [thought]})
            if part.get("signature"):
                content[-1]["signature"] = part["signature"]
    return content
