"""JSON text: a whole part, a string, a number and reading, beside the stdlib (parts of G7)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from deuz_nb.jsontext import dumps, loads, quote
from tests.bench.harness import Case

TEXT = "word and more text, some 50 bytes of \u201cit\u201d in all. "
DELTA: dict[str, Any] = {"type": "text-delta", "text": TEXT}
STEP: dict[str, Any] = {
    "type": "step-finish",
    "step": 1,
    "finishReason": "tool_calls",
    "usage": {"inputTokens": 1200, "outputTokens": 88, "reasoningTokens": 0, "totalTokens": 1288},
    "costUsd": 0.0123,
}
RAW = dumps(DELTA)


def cases() -> Iterator[Case]:
    yield _case(
        "a text delta by template", lambda: f'{{"type":"text-delta","text":{quote(TEXT)}}}', DELTA, 0.25
    )
    yield _case("a text delta by dumps", lambda: dumps(DELTA), DELTA, 1.0)
    yield _case("a step by dumps", lambda: dumps(STEP), STEP, 1.0)
    yield Case(
        goal="G7",
        name="loads of a text delta",
        ours=lambda: loads(RAW),
        peers={"json.loads": lambda: json.loads(RAW)},
        at_most=1.0,
    )


def _case(name: str, ours: Callable[[], object], part: dict[str, Any], limit: float) -> Case:
    def stdlib() -> str:
        return json.dumps(part, separators=(",", ":"), ensure_ascii=False)

    return Case(goal="G7", name=name, ours=ours, peers={"json.dumps": stdlib}, at_most=limit)
