"""Canonical parts as UI parts, and UI parts as the bytes of one frame.  Source: wire.md 1 and 2."""

from __future__ import annotations

from collections.abc import Callable
from json.encoder import encode_basestring as _plain_quote
from typing import Any, Final, Literal, cast

from deuz_nb.jsontext import dumps
from deuz_nb.parts.stream import StreamPart
from deuz_nb.parts.ui import V2_ONLY_TYPES, UIPart
from deuz_nb.parts.usage import JSON, JSONObject
from deuz_nb.redact import redact

__all__ = ["Wire", "encode", "encode_done", "error_message", "is_on_v1", "to_ui"]

Wire = Literal["v1", "v2"]
"""The two versions of the UI wire."""

_LEFT_OUT: Final = object()

Rule = Callable[[Any], Any]
"""A member's value on the wire, or _LEFT_OUT."""


def _as_is(value: JSON) -> Any:
    return value


def _if_given(value: JSON) -> Any:
    return _LEFT_OUT if value is None else value


def _if_true(value: JSON) -> Any:
    return value or _LEFT_OUT


def _flag(value: JSON) -> Any:
    return True if value else _LEFT_OUT


def _foreign_text(value: JSON) -> Any:
    return redact(value) if isinstance(value, str) else _LEFT_OUT


def _display(value: JSON) -> Any:
    return _LEFT_OUT if value is None else _redacted(value)


def _redacted(value: JSON) -> JSON:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted(item) for item in cast("list[JSON]", value)]
    if isinstance(value, dict):
        return {key: _redacted(item) for key, item in cast("JSONObject", value).items()}
    return value


def _warning(value: JSON) -> JSONObject:
    given: JSONObject = cast("JSONObject", value) if isinstance(value, dict) else {}
    kind, setting, message = given.get("type"), given.get("setting"), given.get("message")
    warning: JSONObject = {"type": kind if isinstance(kind, str) else "other"}
    if isinstance(setting, str):
        warning["setting"] = setting
    warning["message"] = redact(message) if isinstance(message, str) else ""
    return warning


def _tasks(value: JSON) -> Any:
    tasks = cast("list[JSON]", value)
    return [_members(cast("JSONObject", task), _TASK) for task in tasks if isinstance(task, dict)]


_Shape = tuple[tuple[str, str, Rule], ...]


def _shape(*members: tuple[str, Rule] | tuple[str, str, Rule]) -> _Shape:
    """Members in wire order: (name, rule), or (canonical name, wire name, rule)."""
    return tuple((m[0], m[0], m[1]) if len(m) == 2 else m for m in members)


_AGENT = _shape(("agentPath", _as_is))
_PAYLOAD = _shape(("payload", _as_is))
_TASK = _shape(("id", _as_is), ("title", _as_is), ("status", _as_is), ("notes", _if_given))
_CALL = _shape(("toolCallId", _as_is), ("toolName", _as_is), ("input", _as_is))
_ATTEMPT = _shape(("stepIndex", _as_is), ("attempt", _as_is))
_COSTS = _shape(("modelId", _if_given), ("costUsd", _if_given))

_SHAPES: dict[str, _Shape] = {
    "text-delta": _shape(("text", _as_is), ("signature", _if_true)),
    "reasoning-delta": _shape(
        ("text", _as_is),
        ("signature", _if_true),
        ("encrypted", _if_true),
        ("redacted", _if_true),
        ("providerMetadata", _if_given),
    ),
    "tool-call-delta": _shape(
        ("id", "toolCallId", _as_is), ("name", "toolName", _if_true), ("argsTextDelta", "delta", _as_is)
    ),
    "tool-call": (*_CALL, *_shape(("providerMetadata", _if_given), ("display", _display))),
    "tool-result": _shape(
        ("toolCallId", _as_is),
        ("toolName", _as_is),
        ("output", _as_is),
        ("isError", _flag),
        ("display", _display),
    ),
    "tool-approval-request": (
        *_shape(("approvalId", _as_is)),
        *_CALL,
        *_shape(("token", _if_true), ("agentPath", _if_given)),
    ),
    "source": _shape(("id", _as_is), ("url", _if_true), ("title", _if_true)),
    "compaction": _shape(
        ("layer", _as_is), ("tokensBefore", _as_is), ("tokensAfter", _as_is), ("trigger", _if_given)
    ),
    "step-start": _shape(("stepIndex", "step", _as_is)),
    "step-finish": (
        *_shape(("stepIndex", "step", _as_is), ("finishReason", _as_is), ("usage", _as_is)),
        *_COSTS,
    ),
    "finish": (*_shape(("finishReason", _as_is), ("usage", _as_is)), *_COSTS),
    "citation": _shape(
        ("id", _as_is),
        ("sourceId", _if_given),
        ("url", _if_given),
        ("title", _if_given),
        ("snippet", _if_given),
        ("chunkIndex", _if_given),
        ("score", _if_given),
    ),
    "tool-state": _shape(
        ("toolCallId", _as_is),
        ("toolName", _if_given),
        ("state", _as_is),
        ("denied", _flag),
        ("deniedReason", _foreign_text),
        ("outcome", _if_given),
    ),
    "cost": _shape(
        ("costUsd", _as_is), ("deltaUsd", _if_given), ("cacheSavingsUsd", _if_given), ("stepIndex", _if_given)
    ),
    "budget-exceeded": _shape(("kind", _as_is), ("limit", _as_is), ("value", _as_is)),
    "verify": (*_ATTEMPT, *_shape(("ok", _as_is), ("willRetry", _as_is), ("feedback", _if_given))),
    "plan-update": _shape(("goal", _if_given), ("tasks", _tasks)),
    "activity": _shape(
        ("message", _as_is), ("level", _if_given), ("data", _if_given), ("agentPath", _if_given)
    ),
    "false-finish": (*_ATTEMPT, *_shape(("willRetry", _as_is))),
    "handoff": _shape(
        ("from", _if_given),
        ("to", _as_is),
        ("toolCallId", _as_is),
        ("reason", _if_given),
        ("stepIndex", _as_is),
    ),
    "guardrail": _shape(
        ("hook", _as_is),
        ("action", _as_is),
        ("name", _if_given),
        ("reason", _foreign_text),
        ("toolCallId", _if_given),
        ("stepIndex", _if_given),
    ),
}
_RENAMED = {"tool-call-delta": "tool-input-delta"}


def to_ui(part: StreamPart) -> UIPart | None:
    """The part as it goes over the wire; None when it does not: unknown types and malformed parts.

    Foreign text is redacted, keys are in wire order, absent members stay absent.
    """
    return cast("UIPart | None", _to_ui(part))


def _to_ui(given: JSON) -> JSONObject | None:
    if not isinstance(given, dict):
        return None
    found = cast("JSONObject", given)
    kind = found.get("type")
    if kind == "text-delta" and len(found) == 2 and "text" in found:
        return {"type": "text-delta", "text": found["text"]}
    match kind:
        case "error":
            return {"type": "error", "message": error_message(found.get("error"))}
        case "data":
            return _data(found)
        case "sub-agent":
            inner = _to_ui(found.get("part"))
            return None if inner is None else {"type": kind, **_members(found, _AGENT), "part": inner}
        case "plan-update" if not isinstance(found.get("tasks"), list):
            return None
        case "warning":
            return {"type": kind, "warning": _warning(found.get("warning"))}
        case "finish":
            return {"type": kind, **_members(found, _SHAPES[kind]), **_stopped_by(found)}
        case str() if kind in _SHAPES:
            return {"type": _RENAMED.get(kind, kind), **_members(found, _SHAPES[kind])}
        case _:
            return None


def _members(part: JSONObject, shape: _Shape) -> JSONObject:
    found: JSONObject = {}
    for name, wire_name, rule in shape:
        if name in part:
            value = rule(part[name])
            if value is not _LEFT_OUT:
                found[wire_name] = value
    return found


def _data(part: JSONObject) -> JSONObject | None:
    # An id rides only on a data write (frame vector frame-data-canonical-id).
    name = part.get("name")
    if not isinstance(name, str):
        return None
    return {"type": f"data-{name}", **_members(part, _PAYLOAD)}


def _stopped_by(part: JSONObject) -> JSONObject:
    found: JSON = part.get("providerMetadata")
    for name in ("deuz", "stoppedBy"):
        found = cast("JSONObject", found).get(name) if isinstance(found, dict) else None
    return {"stoppedBy": found} if isinstance(found, str) and found else {}


def error_message(error: object) -> str:
    """What a reader is told of a failure: an exception's message or a string, redacted; else fixed words."""
    if isinstance(error, BaseException):
        return redact(str(error))
    return redact(error) if isinstance(error, str) else "Stream error."


def is_on_v1(part: UIPart) -> bool:
    """Whether a v1 client gets this UI part; a sub-agent wrapper goes with what it wraps."""
    kind = cast("JSONObject", part).get("type")
    if kind == "sub-agent":
        inner: JSON = cast("JSONObject", part).get("part")
        return isinstance(inner, dict) and is_on_v1(cast("UIPart", inner))
    return isinstance(kind, str) and kind not in V2_ONLY_TYPES and not kind.startswith("data-")


def encode(part: UIPart, seq: int | None) -> bytes:
    """The frame's bytes; no `id` line when `seq` is None (v1, or a transient part).

    Raises TypeError for a member that is not JSON.
    """
    found = cast("JSONObject", part)
    head = "data: " if seq is None else f"id: {seq}\ndata: "
    if len(found) == 2 and found.get("type") == "text-delta" and type(text := found.get("text")) is str:
        try:
            # The C quoting is JavaScript's for everything but lone surrogates, which do not encode.
            return f'{head}{{"type":"text-delta","text":{_plain_quote(text)}}}\n\n'.encode()
        except UnicodeEncodeError:
            pass
    return f"{head}{dumps(found)}\n\n".encode()


def encode_done(seq: int | None) -> bytes:
    """The bytes of the end mark."""
    return b"data: [DONE]\n\n" if seq is None else b"id: %d\ndata: [DONE]\n\n" % seq
