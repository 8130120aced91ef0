"""The turn: order, sealing, cards, buckets, status; total and pure towards its input."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.fold import Turn, apply_ui_part

pytestmark = pytest.mark.protocol

USAGE = {
    "inputTokens": 1,
    "outputTokens": 2,
    "reasoningTokens": 0,
    "cachedReadTokens": 0,
    "cacheWriteTokens": 0,
    "cacheWrite1hTokens": 0,
    "totalTokens": 3,
}
FINISH = {"type": "finish", "finishReason": "stop", "usage": USAGE}
ERROR = {"type": "error", "message": "lost"}
TEXT = {"type": "text-delta", "text": "a"}


def turn_of(*parts: Any) -> Turn:
    turn = Turn("m")
    turn.apply_all(parts)
    return turn


def shape(turn: Turn) -> list[tuple[str, str, bool]]:
    return [(element.kind, element.key, element.is_open) for element in turn.elements]


STATUSES = {
    "nothing yet": ([], False, "empty"),
    "started": ([{"type": "start", "messageId": "x"}], False, "streaming"),
    "text": ([TEXT], False, "streaming"),
    "finished": ([TEXT, FINISH], False, "finished"),
    "failed": ([TEXT, ERROR], False, "failed"),
    "failed after finish": ([FINISH, ERROR], False, "failed"),
    "an error in mid-stream, then a finish": ([ERROR, TEXT, FINISH], False, "finished"),
    "the next leg of a finished run": ([TEXT, FINISH, TEXT], False, "streaming"),
    "cut": ([TEXT], True, "cut"),
    "cut before anything": ([], True, "cut"),
    "sealed after finish": ([TEXT, FINISH], True, "finished"),
    "sealed after error": ([ERROR], True, "failed"),
}


@pytest.mark.parametrize(("parts", "is_sealed", "status"), STATUSES.values(), ids=STATUSES)
def test_status_says_how_the_stream_ended(parts: list[Any], is_sealed: bool, status: str) -> None:
    turn = turn_of(*parts)
    if is_sealed:
        turn.seal()
    assert turn.status == status


def test_elements_come_in_order_with_stable_keys() -> None:
    turn = turn_of(
        {"type": "step-start", "step": 0},
        {"type": "reasoning-delta", "text": "hm"},
        TEXT,
        {"type": "compaction", "layer": "prune", "tokensBefore": 9, "tokensAfter": 4},
        {"type": "text-delta", "text": "b"},
        {"type": "tool-call", "toolCallId": "c", "toolName": "t", "input": {}},
        {"type": "sub-agent", "agentPath": ["x"], "part": TEXT},
        {"type": "data-chart", "id": "k", "payload": 1},
        {"type": "file", "mediaType": "image/png", "url": "https://x.example/a.png"},
        {"type": "citation", "id": "q"},
    )
    assert shape(turn) == [
        ("step", "step-0", True),
        ("reasoning", "reasoning-1", False),
        ("text", "text-2", False),
        ("compaction", "compaction-3", False),
        ("tool", "tool-4", True),
        ("sub-agent", "sub-agent-5", True),
        ("data", "data-6", False),
        ("file", "file-7", False),
        ("citation", "citation-8", False),
    ]
    turn.apply(FINISH)
    assert [is_open for _, _, is_open in shape(turn)] == [False] * 9
    assert turn.text == "ab"


def test_only_the_changed_element_gets_a_new_version() -> None:
    turn = turn_of(TEXT, {"type": "tool-call", "toolCallId": "c", "toolName": "t", "input": {}})
    before = [element.version for element in turn.elements]
    turn.apply({"type": "tool-result", "toolCallId": "c", "toolName": "t", "output": 1})
    after = [element.version for element in turn.elements]
    assert (before[0] == after[0], before[1] < after[1], turn.version) == (True, True, 3)


def test_text_pieces_are_only_appended() -> None:
    turn = turn_of(TEXT)
    pieces = turn.elements[0].pieces  # pyright: ignore
    turn.apply({"type": "text-delta", "text": "b"})
    turn.apply(FINISH)
    assert pieces == ["a", "b"]


def test_argument_text_shows_until_the_call_arrives() -> None:
    turn = turn_of(
        {"type": "tool-input-delta", "toolCallId": "c", "toolName": "grep", "delta": '{"q":'},
        {"type": "tool-input-delta", "toolCallId": "c", "delta": '"\ud83d'},
        {"type": "tool-input-delta", "toolCallId": "c", "delta": '\udef0"}'},
    )
    card = {"toolCallId": "c", "toolName": "grep", "state": "call"}
    assert turn.snapshot()["message"]["toolCalls"] == [{**card, "inputText": '{"q":"\U0001f6f0"}'}]
    turn.apply({"type": "tool-call", "toolCallId": "c", "toolName": "grep", "input": {"q": "\U0001f6f0"}})
    turn.apply({"type": "tool-input-delta", "toolCallId": "c", "delta": "late"})
    assert turn.snapshot()["message"]["toolCalls"] == [{**card, "input": {"q": "\U0001f6f0"}}]


TOOLS = {
    "a result for an unknown call opens a card with its name": (
        [{"type": "tool-result", "toolCallId": "c", "toolName": "t", "output": None}],
        {"toolCallId": "c", "toolName": "t", "state": "result", "output": None},
    ),
    "a late name fills an empty one": (
        [
            {"type": "tool-state", "toolCallId": "c", "state": "executing"},
            {"type": "tool-result", "toolCallId": "c", "toolName": "t", "output": 1},
        ],
        {"toolCallId": "c", "toolName": "t", "state": "result", "runState": "executing", "output": 1},
    ),
    "the outcome is kept": (
        [{"type": "tool-state", "toolCallId": "c", "toolName": "t", "state": "error", "outcome": "timeout"}],
        {"toolCallId": "c", "toolName": "t", "state": "call", "runState": "error", "outcome": "timeout"},
    ),
    "a retry is not denied any more": (
        [
            {"type": "tool-state", "toolCallId": "c", "toolName": "t", "state": "error", "denied": True},
            {"type": "tool-state", "toolCallId": "c", "state": "executing"},
        ],
        {"toolCallId": "c", "toolName": "t", "state": "call", "runState": "executing"},
    ),
    "display and metadata stay": (
        [
            {
                "type": "tool-call",
                "toolCallId": "c",
                "toolName": "t",
                "input": {},
                "providerMetadata": {"google": {"thoughtSignature": "s"}},
                "display": "look",
            },
        ],
        {
            "toolCallId": "c",
            "toolName": "t",
            "input": {},
            "state": "call",
            "display": "look",
            "providerMetadata": {"google": {"thoughtSignature": "s"}},
        },
    ),
}


@pytest.mark.parametrize(("parts", "card"), TOOLS.values(), ids=TOOLS)
def test_tool_parts_make_one_card(parts: list[Any], card: dict[str, Any]) -> None:
    assert turn_of(*parts).snapshot()["message"]["toolCalls"] == [card]


def test_a_replayed_request_does_not_ask_about_a_finished_call() -> None:
    ask = {
        "type": "tool-approval-request",
        "approvalId": "1/c",
        "toolCallId": "c",
        "toolName": "rm",
        "input": {},
    }
    turn = turn_of(
        {"type": "tool-call", "toolCallId": "c", "toolName": "rm", "input": {}},
        ask,
        ask,
    )
    card = turn.tools.cards[0]
    assert (turn.approvals, card.state) == (
        [{k: v for k, v in ask.items() if k != "type"}],
        "approval-requested",
    )
    turn.apply({"type": "tool-result", "toolCallId": "c", "toolName": "rm", "output": "gone"})
    turn.apply(ask)
    assert (turn.approvals, card.state, card.approval) == ([], "result", None)


def test_hidden_reasoning_is_its_own_element_and_never_shown() -> None:
    turn = turn_of(
        {"type": "reasoning-delta", "text": "seen"},
        {"type": "reasoning-delta", "text": "", "encrypted": "gAAA", "signature": "rs_1"},
        {"type": "reasoning-delta", "text": "opaque", "encrypted": True},
        {"type": "reasoning-delta", "text": "", "redacted": "EqQB", "providerMetadata": {"anthropic": {}}},
        {"type": "reasoning-delta", "text": " more"},
    )
    assert turn.snapshot()["message"] == {
        "id": "m",
        "role": "assistant",
        "content": "",
        "reasoning": "seen more",
        "parts": [
            {"type": "reasoning", "text": "seen", "state": "done"},
            {"type": "reasoning", "text": "", "state": "done", "signature": "rs_1", "encrypted": "gAAA"},
            {"type": "reasoning", "text": "opaque", "state": "done", "encrypted": True},
            {
                "type": "reasoning",
                "text": "",
                "state": "done",
                "redacted": "EqQB",
                "providerMetadata": {"anthropic": {}},
            },
            {"type": "reasoning", "text": " more", "state": "streaming"},
        ],
    }


BUCKETS = {
    "source": (
        {"type": "source", "id": "s", "url": "u"},
        "sources",
        [{"type": "source", "id": "s", "url": "u"}],
    ),
    "compaction": (
        {"type": "compaction", "layer": "l", "tokensBefore": 2, "tokensAfter": 1},
        "compactions",
        [{"type": "compaction", "layer": "l", "tokensBefore": 2, "tokensAfter": 1}],
    ),
    "handoff": (
        {"type": "handoff", "to": "b", "toolCallId": "c", "stepIndex": 0},
        "handoffs",
        [{"type": "handoff", "to": "b", "toolCallId": "c", "stepIndex": 0}],
    ),
    "guardrail": (
        {"type": "guardrail", "hook": "input", "action": "block"},
        "guardrails",
        [{"type": "guardrail", "hook": "input", "action": "block"}],
    ),
    "object": ({"type": "object-delta", "object": {"a": 1}}, "object", {"a": 1}),
    "object null": ({"type": "object-delta", "object": None}, "object", None),
    "capabilities": (
        {"type": "capabilities", "capabilities": ["b", "a", 5, "b"]},
        "capabilities",
        ["a", "b"],
    ),
    "unknown": (
        {"type": "hologram", "x": 1},
        "unknown",
        {"hologram": {"count": 1, "example": {"type": "hologram", "x": 1}}},
    ),
    "stopped by": ({**FINISH, "stoppedBy": "budget.usd"}, "stoppedBy", "budget.usd"),
    "model": ({**FINISH, "modelId": "m-1"}, "modelId", "m-1"),
    "cost": ({**FINISH, "costUsd": 0.5}, "costUsd", 0.5),
    "malformed": ({"type": "cost", "costUsd": True}, "malformed", 1),
    "not an object": ([1], "malformed", 1),
}


@pytest.mark.parametrize(("part", "name", "value"), BUCKETS.values(), ids=BUCKETS)
def test_report_lands_in_its_bucket(part: Any, name: str, value: Any) -> None:
    state = turn_of(part).snapshot()
    assert (name in state, state[name]) == (True, value)


def test_unknown_parts_are_counted_with_the_first_example() -> None:
    turn = turn_of({"type": "hologram", "n": 1}, {"type": "hologram", "n": 2}, {"type": "__proto__"})
    assert turn.unknown == {
        "hologram": {"count": 2, "example": {"type": "hologram", "n": 1}},
        "__proto__": {"count": 1, "example": {"type": "__proto__"}},
    }


def test_step_element_learns_how_its_step_ended() -> None:
    turn = turn_of(
        {"type": "step-start", "step": 4},
        {
            "type": "step-finish",
            "step": 4,
            "finishReason": "stop",
            "usage": USAGE,
            "modelId": "m",
            "costUsd": 0.1,
        },
    )
    step = turn.elements[0]
    assert (step.index, step.finish_reason, step.usage, step.model_id, step.cost_usd, step.is_open) == (  # pyright: ignore
        4,
        "stop",
        USAGE,
        "m",
        0.1,
        False,
    )


ENDINGS = {"finish": (FINISH, "finished"), "error": (ERROR, "cut"), "seal": (None, "cut")}


@pytest.mark.parametrize(("last", "status"), ENDINGS.values(), ids=ENDINGS)
def test_the_end_of_the_parent_ends_its_sub_agents(last: Any, status: str) -> None:
    turn = turn_of(
        {"type": "sub-agent", "agentPath": ["a"], "part": {"type": "text-delta", "text": "x\ud83d"}}
    )
    if last is None:
        turn.seal()
    else:
        turn.apply(last)
    agent = turn.sub_agents[0]
    assert (agent.is_open, agent.turn.status, agent.turn.text) == (False, status, "x\ufffd")


def test_a_boolean_is_no_number_and_a_huge_integer_is_none_either() -> None:
    huge = 10**400
    turn = turn_of(
        {"type": "cost", "costUsd": huge},
        {"type": "finish", "finishReason": "stop", "usage": {"inputTokens": huge, "outputTokens": True}},
        {"type": "step-start", "step": float("nan")},
    )
    assert turn.cost_usd is None
    assert turn.usage == dict.fromkeys(USAGE, 0)
    assert json.loads(json.dumps(turn.snapshot()))["message"]["parts"] == [{"type": "step-start", "step": 0}]


def test_the_largest_numbers_do_not_overflow_the_total() -> None:
    large = 1.7e308
    turn = turn_of(
        {
            "type": "finish",
            "usage": {"inputTokens": large, "outputTokens": 10**308, "cacheWriteTokens": large},
        }
    )
    assert turn.usage == {
        **dict.fromkeys(USAGE, 0),
        "inputTokens": large,
        "outputTokens": 10**308,
        "cacheWriteTokens": large,
    }


# Parts near the wire: known types and keys, any values.

TYPES = [
    "start",
    "text-delta",
    "reasoning-delta",
    "tool-input-delta",
    "tool-call",
    "tool-result",
    "tool-approval-request",
    "source",
    "object-delta",
    "compaction",
    "sub-agent",
    "step-start",
    "step-finish",
    "finish",
    "error",
    "data-x",
    "data-agent",
    "citation",
    "tool-state",
    "cost",
    "budget-exceeded",
    "verify",
    "plan-update",
    "activity",
    "warning",
    "false-finish",
    "handoff",
    "guardrail",
    "capabilities",
    "file",
    "hologram",
]
KEYS = [
    "text",
    "signature",
    "encrypted",
    "redacted",
    "providerMetadata",
    "toolCallId",
    "toolName",
    "delta",
    "input",
    "output",
    "isError",
    "display",
    "approvalId",
    "token",
    "agentPath",
    "part",
    "id",
    "url",
    "title",
    "object",
    "layer",
    "tokensBefore",
    "step",
    "finishReason",
    "usage",
    "modelId",
    "costUsd",
    "stoppedBy",
    "message",
    "payload",
    "state",
    "denied",
    "deniedReason",
    "outcome",
    "deltaUsd",
    "cacheSavingsUsd",
    "stepIndex",
    "kind",
    "limit",
    "value",
    "attempt",
    "ok",
    "willRetry",
    "feedback",
    "goal",
    "tasks",
    "level",
    "data",
    "warning",
    "from",
    "to",
    "reason",
    "hook",
    "action",
    "name",
    "capabilities",
    "mediaType",
    "messageId",
    "seq",
    "runId",
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["c", "a", "\ud83d", "\udef0", "run-1", "phase", "result", "completed", 10**400, -0.0])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)
PARTS = st.builds(
    lambda kind, members: {"type": kind, **members},
    st.sampled_from(TYPES),
    st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6),
)
WRAPPED = st.builds(
    lambda part, path: {"type": "sub-agent", "agentPath": path, "part": part}, PARTS, JSON | st.just(["a"])
)


@given(st.lists(PARTS | WRAPPED | JSON, max_size=8))
def test_no_json_value_raises_or_is_changed_and_every_field_keeps_its_type(parts: list[Any]) -> None:
    untouched = copy.deepcopy(parts)
    turn = Turn()
    state: Any = None
    for part in parts:
        turn.apply(part)
        state = apply_ui_part(state, part)
    turn.seal()
    assert repr(parts) == repr(untouched)
    check_types(turn)
    assert turn.version == len(parts)


def check_types(turn: Turn) -> None:
    """Every public field has the type it declares, here and in the sub-agents."""

    def optional(value: Any, *types: type) -> bool:
        return value is None or (isinstance(value, types) and not isinstance(value, bool))

    assert isinstance(turn.message_id, str)
    assert all(optional(v, str) for v in (turn.finish_reason, turn.stopped_by, turn.model_id, turn.error))
    assert all(optional(v, int, float) for v in (turn.cost_usd, turn.cache_savings_usd))
    assert all(optional(v, dict) for v in (turn.usage, turn.budget_exceeded, turn.plan, turn.agent))
    for usage in (turn.usage, *(step["usage"] for step in turn.steps)):
        assert usage is None or all(type(v) in (int, float) and v == v for v in usage.values())
    for warning in turn.warnings:
        assert isinstance(warning["type"], str)
        assert isinstance(warning["message"], str)
    keys = [element.key for element in turn.elements]
    assert len(keys) == len(set(keys))
    assert not any(element.is_open for element in turn.elements)
    for card in turn.tools.cards:
        assert isinstance(card.tool_call_id, str)
        assert isinstance(card.tool_name, str)
        assert isinstance(card.input_text, str)
        assert optional(card.run_state, str)
        assert optional(card.denied_reason, str)
    turn.text.encode()
    turn.reasoning.encode()
    for agent in turn.sub_agents:
        check_types(agent.turn)


@given(st.lists(PARTS | WRAPPED, max_size=12))
def test_folding_by_value_gives_what_the_turn_gives(parts: list[Any]) -> None:
    turn = Turn()
    state = turn.snapshot()
    for part in parts:
        turn.apply(part)
        state = apply_ui_part(state, part)
    assert repr_sorted(state) == repr_sorted(turn.snapshot())


def repr_sorted(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{k!r}:{repr_sorted(value[k])}" for k in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(repr_sorted, value)) + "]"
    return repr(value)
