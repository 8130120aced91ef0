"""Canonical parts to UI parts, and UI parts to bytes."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from deuz_nb.errors import RateLimitError
from deuz_nb.wire.frame import encode, encode_done, error_message, is_on_v1, to_ui

pytestmark = pytest.mark.protocol

SECRET = "sk-ant-api03-AbCdEf123456"
USAGE = {"inputTokens": 1, "outputTokens": 2}

PARTS: dict[str, tuple[Any, Any]] = {
    "text with a signature": (
        {"type": "text-delta", "signature": "s", "text": ""},
        {"type": "text-delta", "text": "", "signature": "s"},
    ),
    "text whose keys came in another order": (
        {"text": "a", "type": "text-delta"},
        {"type": "text-delta", "text": "a"},
    ),
    "reasoning with all it can carry": (
        {
            "type": "reasoning-delta",
            "providerMetadata": {"openai": {"id": "rs"}},
            "redacted": "R",
            "encrypted": "E",
            "signature": "S",
            "text": "t",
        },
        {
            "type": "reasoning-delta",
            "text": "t",
            "signature": "S",
            "encrypted": "E",
            "redacted": "R",
            "providerMetadata": {"openai": {"id": "rs"}},
        },
    ),
    "metadata is never redacted": (
        {
            "type": "tool-call",
            "toolCallId": "c",
            "toolName": "t",
            "input": 1,
            "providerMetadata": {"k": SECRET},
        },
        {
            "type": "tool-call",
            "toolCallId": "c",
            "toolName": "t",
            "input": 1,
            "providerMetadata": {"k": SECRET},
        },
    ),
    "every string of a display is redacted": (
        {
            "type": "tool-call",
            "toolCallId": "c",
            "toolName": "t",
            "input": 1,
            "display": ["x", {"k": SECRET}],
        },
        {
            "type": "tool-call",
            "toolCallId": "c",
            "toolName": "t",
            "input": 1,
            "display": ["x", {"k": "****3456"}],
        },
    ),
    "a result with its display": (
        {"type": "tool-result", "toolCallId": "c", "toolName": "t", "output": SECRET, "display": SECRET},
        {"type": "tool-result", "toolCallId": "c", "toolName": "t", "output": SECRET, "display": "****3456"},
    ),
    "compaction with its trigger": (
        {"type": "compaction", "trigger": "auto", "layer": "l", "tokensBefore": 2, "tokensAfter": 1},
        {"type": "compaction", "layer": "l", "tokensBefore": 2, "tokensAfter": 1, "trigger": "auto"},
    ),
    "step-finish with model and cost": (
        {
            "type": "step-finish",
            "costUsd": 0,
            "modelId": "m",
            "usage": {"inputTokens": 1, "outputTokens": 2},
            "finishReason": "stop",
            "stepIndex": 3,
        },
        {
            "type": "step-finish",
            "step": 3,
            "finishReason": "stop",
            "usage": {"inputTokens": 1, "outputTokens": 2},
            "modelId": "m",
            "costUsd": 0,
        },
    ),
    "finish with all it can carry": (
        {
            "type": "finish",
            "providerMetadata": {"deuz": {"stoppedBy": "budget.usd", "usageReported": False}, "x": {}},
            "costUsd": 0.5,
            "modelId": "m",
            "usage": {"inputTokens": 1, "outputTokens": 2},
            "finishReason": "stop",
        },
        {
            "type": "finish",
            "finishReason": "stop",
            "usage": {"inputTokens": 1, "outputTokens": 2},
            "modelId": "m",
            "costUsd": 0.5,
            "stoppedBy": "budget.usd",
        },
    ),
    "finish whose metadata is nonsense": (
        {
            "type": "finish",
            "finishReason": "stop",
            "usage": {"inputTokens": 1, "outputTokens": 2},
            "providerMetadata": {"deuz": [1]},
            "modelId": None,
        },
        {"type": "finish", "finishReason": "stop", "usage": {"inputTokens": 1, "outputTokens": 2}},
    ),
    "citation": (
        {
            "type": "citation",
            "score": 0,
            "chunkIndex": 0,
            "snippet": "s",
            "title": "t",
            "url": "u",
            "sourceId": "i",
            "id": "k",
        },
        {
            "type": "citation",
            "id": "k",
            "sourceId": "i",
            "url": "u",
            "title": "t",
            "snippet": "s",
            "chunkIndex": 0,
            "score": 0,
        },
    ),
    "tool-state with outcome": (
        {
            "type": "tool-state",
            "outcome": "denied",
            "deniedReason": SECRET,
            "denied": True,
            "state": "error",
            "toolCallId": "c",
        },
        {
            "type": "tool-state",
            "toolCallId": "c",
            "state": "error",
            "denied": True,
            "deniedReason": "****3456",
            "outcome": "denied",
        },
    ),
    "handoff": (
        {"type": "handoff", "stepIndex": 1, "reason": "r", "toolCallId": "c", "to": "b", "from": "a"},
        {"type": "handoff", "from": "a", "to": "b", "toolCallId": "c", "reason": "r", "stepIndex": 1},
    ),
    "guardrail": (
        {
            "type": "guardrail",
            "stepIndex": 0,
            "toolCallId": "c",
            "reason": SECRET,
            "name": "n",
            "action": "block",
            "hook": "output",
        },
        {
            "type": "guardrail",
            "hook": "output",
            "action": "block",
            "name": "n",
            "reason": "****3456",
            "toolCallId": "c",
            "stepIndex": 0,
        },
    ),
    "plan with a task that is none": (
        {"type": "plan-update", "tasks": [None, {"id": "1", "notes": None, "status": "s", "title": "t"}]},
        {"type": "plan-update", "tasks": [{"id": "1", "title": "t", "status": "s"}]},
    ),
    "sub-agent": (
        {"type": "sub-agent", "agentPath": ["a"], "part": {"type": "step-start", "stepIndex": 0}},
        {"type": "sub-agent", "agentPath": ["a"], "part": {"type": "step-start", "step": 0}},
    ),
    "error": (
        {"type": "error", "error": RateLimitError(f"slow, {SECRET}")},
        {"type": "error", "message": "slow, ****3456"},
    ),
}


@pytest.mark.parametrize(("part", "shown"), PARTS.values(), ids=PARTS)
def test_part_goes_over_the_wire_in_key_order(part: Any, shown: Any) -> None:
    untouched = copy.copy(part)
    assert json.dumps(to_ui(part)) == json.dumps(shown)
    assert part == untouched


@pytest.mark.parametrize(
    "part",
    [
        None,
        "text-delta",
        [],
        {},
        {"type": None},
        {"type": ["text-delta"]},
        {"type": "hologram"},
        {"type": "start", "messageId": "m"},
        {"type": "plan-update"},
        {"type": "data"},
        {"type": "data", "name": 5},
        {"type": "sub-agent", "agentPath": ["a"], "part": 5},
    ],
    ids=str,
)
def test_what_is_no_canonical_part_is_left_out(part: Any) -> None:
    assert to_ui(part) is None


MESSAGES = {
    "exception": (ValueError("x"), "x"),
    "exception without words": (ValueError(), ""),
    "string": ("boom", "boom"),
    "mapping": ({"message": "m"}, "Stream error."),
    "nothing": (None, "Stream error."),
}


@pytest.mark.parametrize(("error", "message"), MESSAGES.values(), ids=MESSAGES)
def test_error_message_shows_exceptions_and_strings_only(error: object, message: str) -> None:
    assert error_message(error) == message


V1 = {
    "text": ({"type": "text-delta", "text": "a"}, True),
    "an unknown part": ({"type": "hologram"}, True),
    "data": ({"type": "data-x", "payload": 1}, False),
    "cost": ({"type": "cost", "costUsd": 1}, False),
    "capabilities": ({"type": "capabilities", "capabilities": []}, False),
    "text of an agent": (
        {"type": "sub-agent", "agentPath": ["a"], "part": {"type": "text-delta", "text": ""}},
        True,
    ),
    "data of an agent": ({"type": "sub-agent", "agentPath": ["a"], "part": {"type": "data-x"}}, False),
    "nothing of an agent": ({"type": "sub-agent", "agentPath": ["a"]}, False),
    "no type": ({}, False),
}


@pytest.mark.parametrize(("part", "is_there"), V1.values(), ids=V1)
def test_v1_has_no_place_for_the_newer_parts(part: Any, is_there: bool) -> None:
    assert is_on_v1(part) is is_there


TEXTS = ["", "salut", 'q"\\', "\x00\x1f\x7f\b\f\n\r\t", "ğ東🗼\u2028", "a\ud83d", "\udc00", "</script>"]


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_the_short_way_for_text_gives_the_bytes_of_the_long_way(text: str) -> None:
    long_way = encode({"type": "text-delta", "text": text, "x": None}, 3)
    assert encode({"type": "text-delta", "text": text}, 3) == long_way.replace(b',"x":null', b"")
    assert (
        encode({"type": "text-delta", "text": text}, None)
        == long_way.replace(b',"x":null', b"")[len("id: 3\n") :]
    )


def test_the_end_mark_has_the_next_number() -> None:
    assert (encode_done(9), encode_done(None)) == (b"id: 9\ndata: [DONE]\n\n", b"data: [DONE]\n\n")
