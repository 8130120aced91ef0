"""Histories: turns to messages, messages to chats, and back."""

from __future__ import annotations

from typing import Any

import pytest

from deuz_nb.errors import MisuseError
from deuz_nb.fold import Turn
from deuz_nb.fold.history import (
    assistant_message,
    branch_before_user_message,
    canonical_from_ui,
    client_tool_result_message,
    drop_trailing_assistant,
    ui_from_messages,
)

pytestmark = pytest.mark.protocol

CALL = {"type": "tool-call", "toolCallId": "c", "toolName": "t", "input": {"n": 1}}
RESULT = {"type": "tool-result", "toolCallId": "c", "toolName": "t", "output": {"ok": True}}
STORY: list[Any] = [
    {"role": "system", "content": "Be short."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "Look "}, {"type": "image", "url": "https://x.example/i"}],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "hm", "signature": "s1"},
            {"type": "reasoning", "text": "", "redacted": "EqQB"},
            {"type": "text", "text": "Calling."},
            {**CALL, "providerMetadata": {"google": {"thoughtSignature": "ts"}}},
            {"type": "tool-call", "toolCallId": "d", "toolName": "u", "input": {}},
        ],
    },
    {
        "role": "tool",
        "content": [
            RESULT,
            {"type": "tool-result", "toolCallId": "d", "toolName": "u", "output": "no", "isError": True},
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Done.", "signature": "s2"}]},
    {"role": "user", "content": "Thanks."},
]


def test_a_turn_goes_back_with_signatures_and_metadata_but_without_half_a_call() -> None:
    turn = Turn()
    turn.apply_all(
        [
            {"type": "reasoning-delta", "text": "hm"},
            {"type": "reasoning-delta", "text": "", "signature": "s1"},
            {
                "type": "reasoning-delta",
                "text": "",
                "encrypted": "gAAA",
                "providerMetadata": {"openai": {"id": "rs"}},
            },
            {"type": "text-delta", "text": "Call"},
            {"type": "text-delta", "text": "ing.", "signature": "s2"},
            {
                "type": "tool-call",
                "toolCallId": "c",
                "toolName": "t",
                "input": {},
                "providerMetadata": {"g": 1},
            },
            {"type": "tool-input-delta", "toolCallId": "d", "toolName": "u", "delta": '{"ha'},
        ]
    )
    turn.seal()
    assert assistant_message(turn) == {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "hm", "signature": "s1"},
            {
                "type": "reasoning",
                "text": "",
                "encrypted": "gAAA",
                "providerMetadata": {"openai": {"id": "rs"}},
            },
            {"type": "text", "text": "Calling.", "signature": "s2"},
            {
                "type": "tool-call",
                "toolCallId": "c",
                "toolName": "t",
                "input": {},
                "providerMetadata": {"g": 1},
            },
        ],
    }


def test_client_results_become_one_tool_message() -> None:
    results = [
        {"toolCallId": "c", "toolName": "t", "output": 1},
        {"toolCallId": "d", "toolName": "u", "output": "no", "isError": True},
    ]
    assert client_tool_result_message(results) == {
        "role": "tool",
        "content": [
            {"type": "tool-result", "toolCallId": "c", "toolName": "t", "output": 1},
            {"type": "tool-result", "toolCallId": "d", "toolName": "u", "output": "no", "isError": True},
        ],
    }


def test_a_client_result_without_its_call_is_refused() -> None:
    with pytest.raises(MisuseError, match="needs the toolCallId and toolName"):
        client_tool_result_message([{"output": 1}])


def test_messages_shown_as_a_chat_come_back_as_they_were() -> None:
    shown = ui_from_messages(STORY)
    assert [(m["id"], m["role"], m["content"]) for m in shown] == [
        ("msg-0", "system", "Be short."),
        ("msg-1", "user", "Look "),
        ("msg-2", "assistant", "Calling.Done."),
        ("msg-3", "user", "Thanks."),
    ]
    assert [(c["toolCallId"], c["state"], c["output"]) for c in shown[2]["toolCalls"]] == [
        ("c", "result", {"ok": True}),
        ("d", "result", "no"),
    ]
    assert shown[2]["reasoning"] == "hm"
    assert canonical_from_ui(shown) == STORY


def test_a_folded_turn_is_split_where_its_results_came() -> None:
    turn = Turn()
    turn.apply_all(
        [
            {"type": "step-start", "step": 0},
            {"type": "text-delta", "text": "Calling."},
            CALL,
            RESULT,
            {"type": "step-start", "step": 1},
            {"type": "data-chart", "payload": 1},
            {"type": "text-delta", "text": "Done."},
            {"type": "tool-input-delta", "toolCallId": "half", "toolName": "u", "delta": "{"},
        ]
    )
    assert canonical_from_ui([turn.snapshot()["message"]]) == [
        {"role": "assistant", "content": [{"type": "text", "text": "Calling."}, CALL]},
        {"role": "tool", "content": [RESULT]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ]


def test_a_call_that_waits_has_no_result() -> None:
    turn = Turn()
    turn.apply(CALL)
    assert canonical_from_ui([turn.snapshot()["message"]]) == [{"role": "assistant", "content": [CALL]}]


DROPS = {
    "nothing": ([], 0),
    "ends with the user": (["user"], 1),
    "one answer": (["user", "assistant"], 1),
    "an answer with tools": (["user", "assistant", "tool", "assistant"], 1),
    "only the last answer": (["user", "assistant", "user", "assistant"], 3),
    "only answers": (["assistant", "tool"], 0),
}


@pytest.mark.parametrize(("roles", "kept"), DROPS.values(), ids=DROPS)
def test_the_last_answer_is_dropped_to_ask_again(roles: list[str], kept: int) -> None:
    messages = [{"role": role} for role in roles]
    assert drop_trailing_assistant(messages) == messages[:kept]


@pytest.mark.parametrize(("which", "kept"), [("u2", 2), (2, 2), ("u1", 0)])
def test_a_branch_keeps_what_came_before_the_user_message(which: str | int, kept: int) -> None:
    messages = [{"id": "u1", "role": "user"}, {"id": "a1", "role": "assistant"}, {"id": "u2", "role": "user"}]
    assert branch_before_user_message(messages, which) == messages[:kept]


@pytest.mark.parametrize("which", ["a1", "nope", 1, 9])
def test_a_branch_needs_a_user_message(which: str | int) -> None:
    with pytest.raises(MisuseError, match="names no user message"):
        branch_before_user_message([{"id": "u1", "role": "user"}, {"id": "a1", "role": "assistant"}], which)
