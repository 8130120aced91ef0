"""Provider streams written in a test, read whole and byte by byte."""

from __future__ import annotations

import json
from typing import Any

from deuz_nb.providers import Parser
from tests.conformance._streams import run

NO_USAGE = {
    "inputTokens": 0,
    "outputTokens": 0,
    "reasoningTokens": 0,
    "cachedReadTokens": 0,
    "cacheWriteTokens": 0,
    "cacheWrite1hTokens": 0,
    "totalTokens": 0,
}


def usage(fresh: int, output: int, **more: int) -> dict[str, int]:
    """A wire usage with the total it must have."""
    found = NO_USAGE | {"inputTokens": fresh, "outputTokens": output} | more
    parts = ("inputTokens", "outputTokens", "cachedReadTokens", "cacheWriteTokens", "cacheWrite1hTokens")
    return found | {"totalTokens": sum(found[name] for name in parts)}


def sse(*bodies: Any) -> bytes:
    """Frames: JSON of what is not text, text as it is."""
    return "".join(
        f"data: {body if isinstance(body, str) else json.dumps(body)}\n\n" for body in bodies
    ).encode()


def read(wire: str, stream: bytes, **context: Any) -> tuple[Parser, list[Any]]:
    """The parser at the end and its parts, the same for the whole stream and for single bytes."""
    machine, parts = run(wire, [stream], **context)
    assert run(wire, [stream[n : n + 1] for n in range(len(stream))], **context)[1] == parts
    return machine, parts


def told(wire: str, *bodies: Any, **context: Any) -> list[Any]:
    """The parts of a stream of these frames."""
    return read(wire, sse(*bodies), **context)[1]


def calls(machine: Parser) -> list[tuple[str, str, Any, bool]]:
    """The turn's calls as (id, name, input, is it valid)."""
    return [(call.id, call.name, call.input, call.is_valid) for call in machine.tool_calls]


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text-delta", "text": text, **more}


def thought(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "reasoning-delta", "text": text, **more}


def called(call_id: str, name: str | None, text: str, **more: Any) -> dict[str, Any]:
    """A fragment of a call; without a name it goes on."""
    named = {} if name is None else {"name": name}
    return {"type": "tool-call-delta", "id": call_id, **named, "argsTextDelta": text, **more}
