"""Small chat-completions bodies for tests of the engine."""

from __future__ import annotations

import json
from typing import Any


def chunk(delta: dict[str, Any] | None = None, *, finish: str | None = None, usage: Any = None) -> bytes:
    """One SSE frame."""
    body: dict[str, Any] = {"id": "c1", "model": "gpt-test", "choices": []}
    if delta is not None or finish is not None:
        body["choices"] = [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    if usage is not None:
        body["usage"] = usage
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def text(value: str) -> bytes:
    """A frame of text."""
    return chunk({"content": value})


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
END = chunk(finish="stop") + chunk(usage=USAGE) + b"data: [DONE]\n\n"
HELLO = text("Hel") + text("lo") + END
