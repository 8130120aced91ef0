"""fold.jsonl: UI parts fold to the pinned states, by `Turn` and by value."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from deuz_nb.fold import Turn, apply_ui_part
from tests.conformance._vectors import lines, note_checked

pytestmark = pytest.mark.protocol

FILE = "fold.jsonl"
ADDED = frozenset(
    {
        "agent",
        "capabilities",
        "compactions",
        "display",
        "encrypted",
        "guardrails",
        "handoffs",
        "held",
        "inputText",
        "malformed",
        "modelId",
        "object",
        "outcome",
        "providerMetadata",
        "redacted",
        "sources",
        "stoppedBy",
        "unknown",
    }
)
"""Members that fold.md adds to the pinned shape; compared only where a line lists them."""
CHOICES = {
    "fold-tool-input-delta": "argument text opens the card and is its inputText until the call arrives",
    "fold-verify-bad": "normalised like false-finish: neutral counters, flags only when true",
    "fold-source": "kept in sources",
}


def listed(actual: Any, expected: Any) -> Any:
    """`actual` without the added members that `expected` does not list."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        return {
            key: listed(value, expected.get(key))
            for key, value in actual.items()
            if key in expected or key not in ADDED
        }
    if isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        return [listed(a, e) for a, e in zip(actual, expected, strict=True)]
    return actual


def expected_of(case: dict[str, Any]) -> dict[str, Any] | None:
    """The binding values: `better` replaces; None when the line is not binding."""
    deviation = case.get("deviation")
    if deviation is None:
        return None if case.get("js_specific") else case
    better = deviation.get("better")
    if better is None:
        return None
    if "state" in better and "states" not in better:
        return {**{k: v for k, v in case.items() if k != "states"}, **better}
    return {**case, **better}


@pytest.mark.parametrize("case", lines(FILE))
def test_parts_fold_to_the_pinned_state(case: dict[str, Any]) -> None:
    parts = case["parts"]
    untouched = copy.deepcopy(parts)
    turn = Turn("turn-0")
    by_value = Turn("turn-0").snapshot()
    states: list[Any] = []
    for part in parts:
        turn.apply(part)
        before = json.dumps(by_value)
        after = apply_ui_part(by_value, part)
        assert json.dumps(by_value) == before
        by_value = after
        states.append(json.loads(json.dumps(turn.snapshot())))
        assert json.loads(json.dumps(by_value)) == states[-1]
    assert parts == untouched
    expected = expected_of(case)
    note_checked(FILE, case, None if expected else CHOICES.get(case["id"], "by fold.md"))
    if expected is None:
        return
    if "states" in expected:
        assert [listed(a, e) for a, e in zip(states, expected["states"], strict=True)] == expected["states"]
    if "state" in expected:
        final = states[-1] if states else turn.snapshot()
        assert listed(final, expected["state"]) == expected["state"]
