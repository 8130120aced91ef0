"""Turns as messages and back: what goes into the next request, and what a chat shows of a history.

A UI message is `{id, role, content, parts?, toolCalls?, reasoning?}`: for an assistant the `message` of a
turn's snapshot, for a user the text and the content parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from deuz_nb.errors import MisuseError
from deuz_nb.fold.element import ReasoningElement, TextElement, ToolElement
from deuz_nb.fold.turn import Turn
from deuz_nb.parts.message import AssistantMessage, Message, ToolMessage, ToolResultPart
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = [
    "assistant_message",
    "branch_before_user_message",
    "canonical_from_ui",
    "client_tool_result_message",
    "drop_trailing_assistant",
    "ui_from_messages",
]

M = TypeVar("M", bound=Mapping[str, Any])

_KEPT: Final = ("signature", "encrypted", "redacted", "providerMetadata")


def assistant_message(turn: Turn) -> AssistantMessage:
    """What the model said in this turn as one message: text, reasoning and whole tool calls, in order.

    Signatures, encrypted reasoning and provider metadata go back as they came; half a call does not.
    A turn whose tools ran on the server needs `canonical_from_ui`, which puts their results in between.
    """
    content: list[JSONObject] = []
    for element in turn.elements:
        match element:
            case TextElement() if element.text or element.signature is not None:
                content.append({"type": "text", "text": element.text, **_given(signature=element.signature)})
            case ReasoningElement() if element.text or _is_replayable(element):
                extra = _given(
                    signature=element.signature,
                    encrypted=element.encrypted,
                    redacted=element.redacted,
                    providerMetadata=element.provider_metadata,
                )
                content.append({"type": "reasoning", "text": element.text, **extra})
            case ToolElement(is_called=True):
                call = {"toolCallId": element.tool_call_id, "toolName": element.tool_name}
                extra = _given(providerMetadata=element.provider_metadata)
                content.append({"type": "tool-call", **call, "input": element.input, **extra})
            case _:
                pass
    return {"role": "assistant", "content": cast("list[Any]", content)}


def client_tool_result_message(results: Iterable[Mapping[str, JSON]]) -> ToolMessage:
    """The answers of tools that ran at the client: each `{toolCallId, toolName, output, isError?}`.

    Raises MisuseError for a result without its call's id or name.
    """
    content: list[ToolResultPart] = []
    for result in results:
        call_id, name = result.get("toolCallId"), result.get("toolName")
        if not isinstance(call_id, str) or not isinstance(name, str):
            raise MisuseError(f"{dict(result)!r} needs the toolCallId and toolName of the call it answers")
        content.append(
            _result_part(call_id, name, result.get("output"), is_error=bool(result.get("isError")))
        )
    return {"role": "tool", "content": content}


def ui_from_messages(messages: Iterable[Message]) -> list[JSONObject]:
    """Messages as a chat shows them: an assistant's calls carry their results, its steps are one message."""
    shown: list[JSONObject] = []
    for message in messages:
        number = len(shown)
        match message["role"]:
            case "tool":
                if shown and shown[-1]["role"] == "assistant":
                    _settle(shown[-1], message["content"])
            case "assistant":
                if shown and shown[-1]["role"] == "assistant":
                    shown[-1]["parts"].append({"type": "step-start", "step": _steps(shown[-1])})
                else:
                    shown.append({"id": f"msg-{number}", "role": "assistant", "content": "", "parts": []})
                _show(shown[-1], message["content"])
            case role:
                content = message["content"]
                if isinstance(content, str):
                    shown.append({"id": f"msg-{number}", "role": role, "content": content})
                else:
                    texts = [part["text"] for part in content if part["type"] == "text"]
                    parts = [dict(part) for part in content]
                    shown.append(
                        {"id": f"msg-{number}", "role": role, "content": "".join(texts), "parts": parts}
                    )
    return shown


def canonical_from_ui(messages: Iterable[JSONObject]) -> list[Message]:
    """UI messages as messages for a model: every step's calls are followed by their results.

    What a model is not told (data, citations, steps, half calls) is left out.
    """
    found: list[JSONObject] = []
    for message in messages:
        parts: JSON = message.get("parts")
        if message.get("role") == "assistant":
            found += _steps_of(message)
        elif isinstance(parts, list) and parts:
            found.append({"role": message.get("role"), "content": parts})
        else:
            found.append({"role": message.get("role"), "content": message.get("content", "")})
    return cast("list[Message]", found)


def drop_trailing_assistant(messages: Sequence[M]) -> list[M]:
    """The history without the last answer, ready to be asked again: it ends with what the user said."""
    kept = list(messages)
    while kept and kept[-1].get("role") in ("assistant", "tool"):
        kept.pop()
    return kept


def branch_before_user_message(messages: Sequence[M], which: str | int) -> list[M]:
    """The history before a user message, to go on differently from there.

    `which` is the message's `id`, or its place in the list.  Raises MisuseError when that is no user message.
    """
    for number, message in enumerate(messages):
        is_it = message.get("id") == which if isinstance(which, str) else number == which
        if is_it and message.get("role") == "user":
            return list(messages[:number])
    raise MisuseError(f"{which!r} names no user message; give the id or the index of one")


def _given(**members: JSON) -> JSONObject:
    return {name: value for name, value in members.items() if value is not None}


def _is_replayable(element: ReasoningElement) -> bool:
    return element.is_hidden or element.signature is not None or element.provider_metadata is not None


def _result_part(call_id: str, name: str, output: JSON, *, is_error: bool) -> ToolResultPart:
    part: ToolResultPart = {"type": "tool-result", "toolCallId": call_id, "toolName": name, "output": output}
    if is_error:
        part["isError"] = True
    return part


def _steps(message: JSONObject) -> int:
    return 1 + sum(part["type"] == "step-start" for part in message["parts"])


def _show(message: JSONObject, content: str | list[Any]) -> None:
    parts: list[JSONObject] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for part in parts:
        match part["type"]:
            case "tool-call":
                card = {name: value for name, value in part.items() if name != "type"}
                message.setdefault("toolCalls", []).append({**card, "state": "call"})
                message["parts"].append({"type": "tool", "toolCallId": part["toolCallId"]})
            case "reasoning":
                if "encrypted" not in part and "redacted" not in part:
                    message["reasoning"] = message.get("reasoning", "") + part["text"]
                message["parts"].append({**part, "state": "done"})
            case _:
                message["content"] += part["text"]
                message["parts"].append({**part, "state": "done"})


def _settle(message: JSONObject, results: list[ToolResultPart]) -> None:
    """Results belong to the latest call of their id: providers reuse ids in later steps."""
    latest = {card["toolCallId"]: card for card in message.get("toolCalls", ())}
    for result in results:
        card = latest.get(result["toolCallId"])
        if card is not None:
            card["state"] = "result"
            card["output"] = result["output"]
            if result.get("isError"):
                card["isError"] = True


def _steps_of(message: JSONObject) -> list[JSONObject]:
    parts: list[JSONObject] = message.get("parts") or [{"type": "text", "text": message.get("content", "")}]
    cards: Iterator[JSONObject] = iter(message.get("toolCalls") or ())
    no_card: JSONObject = {}
    found: list[JSONObject] = []
    content: list[JSONObject] = []
    results: list[ToolResultPart] = []

    def end_step() -> None:
        if content:
            found.append({"role": "assistant", "content": list(content)})
        if results:
            found.append({"role": "tool", "content": list(results)})
        content.clear()
        results.clear()

    for part in parts:
        kind = part.get("type")
        if kind == "step-start" or (results and kind in ("text", "reasoning")):
            end_step()
        if kind == "tool":
            _take_card(next(cards, no_card), content, results)
        elif kind in ("text", "reasoning"):
            extra = {name: part[name] for name in _KEPT if name in part}
            if part.get("text") or extra:
                content.append({"type": kind, "text": part.get("text", ""), **extra})
    end_step()
    return found


def _take_card(card: JSONObject, content: list[JSONObject], results: list[ToolResultPart]) -> None:
    if "input" not in card:
        return
    call_id, name = card.get("toolCallId", ""), card.get("toolName", "")
    extra = {"providerMetadata": card["providerMetadata"]} if "providerMetadata" in card else {}
    call = {"type": "tool-call", "toolCallId": call_id, "toolName": name, "input": card["input"]}
    content.append(call | extra)
    if card.get("state") == "result":
        results.append(_result_part(call_id, name, card.get("output"), is_error=bool(card.get("isError"))))
