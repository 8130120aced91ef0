"""agent_fold.jsonl: agent frames fold to the worked states of frames.md."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from deuz_nb.fold import Turn, agent_state_from_parts, apply_ui_part
from tests.conformance._vectors import lines, note_checked

pytestmark = pytest.mark.protocol

FILE = "agent_fold.jsonl"


def listed(actual: Any, expected: Any) -> Any:
    """The members of turns that `expected` lists; an agent state is compared whole."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        return {
            k: v if k == "agent" else listed(v, expected.get(k)) for k, v in actual.items() if k in expected
        }
    if isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        return [listed(a, e) for a, e in zip(actual, expected, strict=True)]
    return actual


@pytest.mark.parametrize("case", lines(FILE))
def test_agent_frames_fold_to_the_pinned_state(case: dict[str, Any]) -> None:
    untouched = copy.deepcopy(case)
    match case["fn"]:
        case "agentStateFromParts":
            note_checked(FILE, case)
            assert agent_state_from_parts(case["parts"]) == case["expect"]
        case "agentStateFromParts/each":
            note_checked(FILE, case)
            assert [agent_state_from_parts(parts) for parts in case["responses"]] == case["expect"]
        case "applyUIPart":
            note_checked(FILE, case)
            turn = Turn("m")
            state = Turn("m").snapshot()
            for part in case["parts"]:
                turn.apply(part)
                state = apply_ui_part(state, part)
            assert listed(turn.snapshot(), case["expect"]) == case["expect"]
            assert state == turn.snapshot()
            assert ("agent" in turn.snapshot()) == ("agent" in case["expect"])
        case "applyUIPart/2.2":
            note_checked(FILE, case, "what a reader without frames shows: ours is no such reader")
        case other:
            pytest.fail(f"unknown function {other!r} in {FILE}")
    assert case == untouched
