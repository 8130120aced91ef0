"""Agent frames: what is well-formed, what is stale, what each kind does to the state."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.fold import Turn, agent_state_from_parts
from deuz_nb.fold.agent import AgentFold

pytestmark = pytest.mark.protocol


def frame(kind: str, seq: Any, **members: Any) -> dict[str, Any]:
    return {"kind": kind, "seq": seq, "runId": "r", **members}


def fold(*payloads: Any) -> AgentFold:
    agent = AgentFold()
    for payload in payloads:
        agent.apply(payload)
    return agent


BASE = {"runId": "r", "elements": [], "toolOutputs": []}

FOLDS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "a new leg forgets the old outcome and phase": (
        [
            frame("run", 1, modelId="m", limits={"maxSteps": 3}),
            frame("phase", 2, phase="running", modelSteps=2),
            frame("result", 3, status="stopped", reason="max-steps", text="t"),
            frame("run", 4, resumed=True),
        ],
        {
            "seq": 4,
            "status": "running",
            "modelId": "m",
            "limits": {"maxSteps": 3},
            "modelSteps": 2,
            "text": "t",
            "resumed": True,
        },
    ),
    "a phase forgets the outcome": (
        [
            frame("result", 1, status="failed", error={"message": "x"}, refused=True),
            frame("phase", 2, phase="p"),
        ],
        {"seq": 2, "status": "running", "phase": "p"},
    ),
    "a higher attempt clears the drafts": (
        [
            frame("array-element", 1, attempt=0, index=1, value="b"),
            frame("array-element", 2, attempt=0, index=0, value="a"),
            frame("partial-output", 3, attempt=0, value=["a", "b"]),
            frame("array-element", 4, attempt=1, index=0, value="c"),
        ],
        {"seq": 4, "status": "running", "attempt": 1, "elements": [{"index": 0, "value": "c"}]},
    ),
    "a lower attempt only moves seq": (
        [
            frame("partial-output", 1, attempt=1, value="new"),
            frame("partial-output", 2, attempt=0, value="old"),
        ],
        {"seq": 2, "status": "running", "attempt": 1, "partialOutput": "new"},
    ),
    "elements are sorted and replaced by index": (
        [
            frame("array-element", 1, attempt=0, index=2.0, value="c"),
            frame("array-element", 2, attempt=0, index=0, value="a"),
            frame("array-element", 3, attempt=0, index=2, value="C"),
        ],
        {
            "seq": 3,
            "status": "running",
            "attempt": 0,
            "elements": [{"index": 0, "value": "a"}, {"index": 2, "value": "C"}],
        },
    ),
    "verification and budget replace": (
        [
            frame("verification", 1, status="rejected", attempt=0, feedback="no"),
            frame("verification", 2, status="verified", attempt="x"),
            frame("budget", 3, accounting={"usd": 1}, limits={"usd": 2}),
            frame("budget", 4, accounting={"usd": 2}),
        ],
        {"seq": 4, "status": "running", "verification": {"status": "verified"}, "accounting": {"usd": 2}},
    ),
    "a result replaces the outcome as a whole": (
        [
            frame(
                "result", 1, status="suspended", pendingApprovals=[{"approvalId": "a"}], pendingClientCalls=[]
            ),
            frame("result", 2, status="completed", output=None, reason="no member of it"),
        ],
        {"seq": 2, "status": "completed", "output": None},
    ),
    "the largest seq": ([frame("run", 2**53 - 1)], {"seq": 2**53 - 1, "status": "running"}),
}


@pytest.mark.parametrize(("payloads", "expected"), FOLDS.values(), ids=FOLDS)
def test_frames_fold_by_kind(payloads: list[Any], expected: dict[str, Any]) -> None:
    untouched = copy.deepcopy(payloads)
    assert fold(*payloads).state == BASE | expected
    assert payloads == untouched


MALFORMED = [
    None,
    [],
    "run",
    {},
    frame("run", None),
    frame("run", float("nan")),
    frame("run", float("inf")),
    frame("run", 10**400),
    frame("run", 2**53),
    {"kind": "run", "seq": 1, "runId": ["r"]},
    {"kind": ["run"], "seq": 1, "runId": "r"},
    frame("tool-output", 1, toolCallId="c"),
    frame("verification", 1, status="maybe"),
    frame("verification", 1, status=["verified"]),
    frame("budget", 1, accounting=[]),
    frame("result", 1, status="failed"),
    frame("result", 1, status="failed", error={"message": 5}),
    frame("array-element", 1, attempt=True, index=0, value=1),
    frame("partial-output", 1, attempt="0", value=1),
]


@pytest.mark.parametrize("payload", MALFORMED, ids=repr)
def test_malformed_frame_changes_nothing_and_stays_a_data_part(payload: Any) -> None:
    agent = fold(frame("phase", 1, phase="p"))
    before = agent.state
    assert (agent.apply(payload), agent.state is before) == ("malformed", True)
    turn = Turn()
    turn.apply({"type": "data-agent", "id": "x", "payload": payload})
    assert (turn.agent, [(e.name, e.id) for e in turn.data_parts]) == (None, [("agent", "x")])


def test_stale_frame_is_dropped_and_is_no_data_part() -> None:
    turn = Turn()
    turn.apply({"type": "data-agent", "payload": frame("phase", 5, phase="new")})
    before = turn.agent
    turn.apply({"type": "data-agent", "payload": frame("phase", 5, phase="old")})
    assert (turn.agent is before, turn.elements) == (True, [])


def test_a_state_handed_out_never_changes() -> None:
    agent = fold(frame("array-element", 1, attempt=0, index=0, value=1))
    before = agent.state
    kept = copy.deepcopy(before)
    agent.apply(frame("array-element", 2, attempt=0, index=1, value=2))
    agent.apply(frame("tool-output", 3, toolCallId="c", toolName="t"))
    assert before == kept


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats()
    | st.sampled_from(["r", "run", "failed", "completed", ""]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["message", "status", "a"]), inner, max_size=2)
    ),
    max_leaves=4,
)
KINDS = [
    "run",
    "phase",
    "partial-output",
    "array-element",
    "tool-output",
    "verification",
    "budget",
    "result",
    "x",
]
MEMBERS = [
    "phase", "modelSteps", "attempt", "index", "value", "toolCallId", "toolName", "modelStep", "display",
    "error", "status", "feedback", "accounting", "limits", "text", "usage", "output",
    "pendingApprovals", "reason", "refused", "verification",
]  # fmt: skip
FRAMES = st.builds(
    lambda kind, seq, run, members: {"kind": kind, "seq": seq, "runId": run, **members},
    st.sampled_from(KINDS) | JSON,
    st.integers(0, 20) | JSON,
    st.sampled_from(["r", "q"]) | JSON,
    st.dictionaries(st.sampled_from(MEMBERS), JSON, max_size=8),
)


@given(
    st.lists(st.builds(lambda payload: {"type": "data-agent", "payload": payload}, FRAMES) | JSON, max_size=8)
)
def test_no_frame_raises_and_seq_only_grows(parts: list[Any]) -> None:
    agent = AgentFold()
    seq = -1
    for part in parts:
        verdict = agent.apply(part.get("payload") if isinstance(part, dict) else part)
        state = agent.state
        if verdict == "applied":
            assert state is not None
            assert state["seq"] > seq
            seq = state["seq"]
    assert repr(agent_state_from_parts(parts)) == repr(agent.state)
