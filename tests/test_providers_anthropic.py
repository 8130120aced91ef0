"""The Messages wire: blocks, signatures, server tools, usage, endings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deuz_nb.providers.anthropic.usage import merged, usage_from
from tests.provider_streams import NO_USAGE, called, calls, read, said, sse, thought, told, usage


def start(index: int, kind: str, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **block}}


def delta(index: int, kind: str, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def ended(reason: str | None = "end_turn", **usage_: Any) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, **({"usage": usage_} if usage_ else {})},
        {"type": "message_stop"},
    ]


BEGIN = {"type": "message_start", "message": {"id": "m", "model": "claude", "content": [], "usage": {}}}

BLOCKS: dict[str, tuple[list[Any], list[Any]]] = {
    "text in the start and in deltas": (
        [start(0, "text", text="a"), delta(0, "text_delta", text=""), delta(0, "text_delta", text="b"), stop(0)],
        [said("a"), said("b")],
    ),
    "thinking, signed": (
        [start(0, "thinking", thinking=""), delta(0, "thinking_delta", thinking="hm"), delta(0, "signature_delta", signature="S"), stop(0)],
        [thought("hm"), thought("", signature="S")],
    ),
    "thinking that is not shown keeps its signature": (
        [start(0, "thinking", thinking="", signature=""), delta(0, "signature_delta", signature="S"), stop(0)],
        [thought("", signature="S")],
    ),
    "thinking and signature in the start": ([start(0, "thinking", thinking="hm", signature="S"), stop(0)], [thought("hm"), thought("", signature="S")]),
    "signature twice": (
        [start(0, "thinking", thinking="hm", signature="S"), delta(0, "signature_delta", signature="S"), stop(0)],
        [thought("hm"), thought("", signature="S")],
    ),
    "two blocks, two signatures": (
        [start(0, "thinking", thinking="a", signature="S"), stop(0), start(1, "thinking", thinking="b", signature="S"), stop(1)],
        [thought("a"), thought("", signature="S"), thought("b"), thought("", signature="S")],
    ),
    "redacted thinking": ([start(0, "redacted_thinking", data="D"), stop(0)], [thought("D", encrypted=True, redacted=True)]),
    "call without arguments": ([start(0, "tool_use", id="t", name="w", input={}), stop(0)], [called("t", "w", "")]),
    "call in fragments": (
        [start(0, "tool_use", id="t", name="w", input={}), delta(0, "input_json_delta", partial_json=""), delta(0, "input_json_delta", partial_json='{"a"'), delta(0, "input_json_delta", partial_json=":1}"), stop(0)],
        [called("t", "w", ""), called("t", None, ""), called("t", None, '{"a"'), called("t", None, ":1}")],
    ),
    "call whole in the start": ([start(0, "tool_use", id="t", name="w", input={"a": 1}), stop(0)], [called("t", "w", '{"a":1}')]),
    "call as text in the start": ([start(0, "tool_use", id="t", name="w", input='{"a":1}'), stop(0)], [called("t", "w", '{"a":1}')]),
    "call with what must go back": (
        [start(0, "tool_use", id="t", name="w", input={}, caller={"type": "direct"}, toolset_name="s"), stop(0)],
        [called("t", "w", "", providerMetadata={"anthropic": {"caller": {"type": "direct"}, "toolset_name": "s"}})],
    ),
    "call sent twice": (
        [start(0, "tool_use", id="t", name="w", input={}), stop(0), start(0, "tool_use", id="t", name="w", input={}), stop(0)],
        [called("t", "w", "")],
    ),
    "sources of a server tool": (
        [start(0, "server_tool_use", id="s", name="web_search"), stop(0), start(1, "web_search_tool_result", tool_use_id="s", content=[{"type": "web_search_result", "url": "https://a", "title": "A"}, {"url": ""}, 5, {"url": "https://b"}]), stop(1)],
        [{"type": "source", "id": "s:0", "url": "https://a", "title": "A"}, {"type": "source", "id": "s:1", "url": "https://b"}],
    ),
    "page of a server tool": (
        [start(0, "web_fetch_tool_result", tool_use_id="s", content={"type": "web_fetch_result", "url": "https://a"}), stop(0)],
        [{"type": "source", "id": "s:0", "url": "https://a"}],
    ),
    "server tool that failed": (
        [start(0, "web_search_tool_result", tool_use_id="s", content={"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}), stop(0)],
        [{"type": "warning", "warning": {"type": "server-tool-error", "message": "The provider's web_search tool failed: max_uses_exceeded."}}],
    ),
    "citation of a page": (
        [delta(0, "citations_delta", citation={"type": "web_search_result_location", "url": "https://a", "title": "A", "cited_text": "x"})],
        [{"type": "citation", "id": "citation-0", "url": "https://a", "title": "A", "snippet": "x"}],
    ),
    "citation of a result": (
        [delta(0, "citations_delta", citation={"type": "search_result_location", "source": "https://a", "title": "A"})],
        [{"type": "citation", "id": "citation-0", "url": "https://a", "title": "A"}],
    ),
    "citation of a document has no address": (
        [start(0, "text", text="", citations=[{"type": "char_location", "document_index": 0, "document_title": "D", "cited_text": "x"}])],
        [{"type": "citation", "id": "citation-0", "title": "D", "snippet": "x"}],
    ),
    "what is not known is passed over": (
        [{"type": "ping"}, {"type": "new_event", "error": "x"}, start(0, "new_block", text="x"), delta(0, "new_delta", text="x"), stop(0), "[DONE]"],
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BLOCKS.values(), ids=BLOCKS)
def test_blocks_become_parts(case: tuple[list[Any], list[Any]]) -> None:
    frames, wanted = case
    assert told("anthropic", BEGIN, *frames, *ended())[:-1] == wanted


def test_event_name_is_the_type_only_where_the_data_names_none() -> None:
    frame = 'event: ping\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}\n\n'
    nameless = 'event: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"b"}}\n\n'
    assert read("anthropic", (frame + nameless).encode() + sse(*ended()))[1][:-1] == [said("a"), said("b")]


def test_blocks_of_the_message_start_are_read() -> None:
    block = {"type": "tool_use", "id": "t", "name": "w", "input": {"a": 1}}
    begin = {"type": "message_start", "message": {"id": "m", "content": [block]}}
    machine, parts = read("anthropic", sse(begin, *ended("tool_use")))
    assert parts[0] == called("t", "w", '{"a":1}')
    assert calls(machine) == [("t", "w", {"a": 1}, True)]


def warned(kind: str, message: str) -> dict[str, Any]:
    return {"type": "warning", "warning": {"type": kind, "message": message}}


REASONS: dict[str, tuple[str, list[Any]]] = {
    "end_turn": ("stop", []),
    "stop_sequence": ("stop", []),
    "tool_use": ("tool_calls", []),
    "max_tokens": ("length", []),
    "model_context_window_exceeded": ("length", []),
    "refusal": ("content_filter", []),
    "pause_turn": ("stop", [warned("pause-turn", "The provider paused the turn; send the conversation again to go on.")]),
    "compaction": ("stop", []),
    "tired": ("stop", [warned("unknown-finish-reason", "Unknown finish reason 'tired'; read as a stop.")]),
}  # fmt: skip


@pytest.mark.parametrize(("raw", "case"), REASONS.items(), ids=REASONS)
def test_stop_reason_is_mapped_and_kept(raw: str, case: tuple[str, list[Any]]) -> None:
    reason, warnings = case
    machine, parts = read("anthropic", sse(BEGIN, *ended(raw)))
    deuz = {"usageReported": False, "rawFinishReason": raw}
    finish = {"type": "finish", "usage": NO_USAGE, "finishReason": reason, "providerMetadata": {"deuz": deuz}}
    assert parts == [*warnings, finish]
    assert (machine.raw_finish, machine.model_id, machine.response_id) == (raw, "claude", "m")


CALL = [
    start(0, "tool_use", id="t", name="w", input={}),
    delta(0, "input_json_delta", partial_json='{"a":1}'),
    stop(0),
]


@pytest.mark.parametrize(
    ("raw", "reason", "is_valid"),
    [
        ("tool_use", "tool_calls", True),
        ("end_turn", "tool_calls", True),
        ("pause_turn", "stop", True),
        ("max_tokens", "length", False),
        ("refusal", "content_filter", False),
    ],
)
def test_call_of_a_turn_that_was_cut_is_not_valid(raw: str, reason: str, is_valid: bool) -> None:
    machine, parts = read("anthropic", sse(BEGIN, *CALL, *ended(raw)))
    assert parts[-1]["finishReason"] == reason
    assert calls(machine) == [("t", "w", {"a": 1}, is_valid)]


ENDINGS: dict[str, tuple[list[Any], str, list[str]]] = {
    "no message_stop, but a reason": (ended()[:1], "finish", ["missing-terminal-event"]),
    "no reason, but message_stop": (ended()[1:], "finish", ["missing-finish-reason"]),
    "neither": ([], "stream_truncated", []),
    "message_stop inside a call": ([CALL[0], *ended()[1:]], "stream_truncated", []),
    "cut inside a call": (CALL[:2], "stream_truncated", []),
    "second message": ([{"type": "message_start", "message": {"id": "n"}}], "invalid_response", []),
    "same message again": ([BEGIN, *ended()], "finish", []),
    "error without a type": ([{"error": {"type": "api_error", "message": "x"}}], "api_call_error", []),
    "error": ([{"type": "error", "error": {"type": "overloaded_error", "message": "x"}}], "overloaded", []),
}


@pytest.mark.parametrize("case", ENDINGS.values(), ids=ENDINGS)
def test_ending_is_a_finish_or_an_error(case: tuple[list[Any], str, list[str]]) -> None:
    frames, wanted, warnings = case
    machine, parts = read("anthropic", sse(BEGIN, *frames))
    assert parts[-1].get("error", {}).get("code", "finish") == wanted
    assert [part["warning"]["type"] for part in parts if part["type"] == "warning"] == warnings
    assert wanted == "finish" or all(is_valid is False for *_, is_valid in calls(machine))


def test_whole_message_is_read_like_a_stream() -> None:
    body = {
        "type": "message",
        "id": "m",
        "model": "claude",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "S"},
            {"type": "text", "text": "a"},
            {"type": "tool_use", "id": "t", "name": "w", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    machine, parts = read("anthropic", json.dumps(body).encode(), content_type="application/json")
    assert parts == [
        thought("hm"),
        thought("", signature="S"),
        said("a"),
        called("t", "w", '{"a":1}'),
        {
            "type": "finish",
            "usage": usage(3, 4),
            "finishReason": "tool_calls",
            "providerMetadata": {
                "anthropic": {"usage": {"input_tokens": 3, "output_tokens": 4}},
                "deuz": {"rawFinishReason": "tool_use"},
            },
        },
    ]
    assert calls(machine) == [("t", "w", {"a": 1}, True)]


def test_finish_keeps_what_the_host_said_of_the_turn() -> None:
    last = {
        "type": "message_delta",
        "delta": {"stop_reason": "refusal", "stop_details": {"category": "x"}, "container": {"id": "c"}},
        "usage": {"output_tokens": 1, "service_tier": "priority", "speed": "fast", "inference_geo": "us"},
        "context_management": {"applied_edits": []},
    }
    compaction = start(0, "compaction", content="short", signature="S")
    assert told("anthropic", BEGIN, compaction, last, {"type": "message_stop"})[-1]["providerMetadata"] == {
        "anthropic": {
            "compaction": compaction["content_block"],
            "stop_details": {"category": "x"},
            "container": {"id": "c"},
            "contextManagement": {"applied_edits": []},
            "usage": last["usage"],
        },
        "deuz": {
            "serviceTier": "priority",
            "speed": "fast",
            "inferenceGeo": "us",
            "rawFinishReason": "refusal",
        },
    }


def test_usage_of_the_end_alone_is_warned_of() -> None:
    parts = told("anthropic", BEGIN, *ended(output_tokens=4))
    assert parts[:-1] == [warned("partial-usage", "The provider reported only a part of the usage.")]
    assert parts[-1]["usage"] == usage(0, 4)


MERGES: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "cumulative": ({"output_tokens": 1}, {"output_tokens": 9}, {"output_tokens": 9}),
    "null keeps": ({"input_tokens": 5}, {"input_tokens": None, "output_tokens": 1}, {"input_tokens": 5, "output_tokens": 1}),
    "absent keeps": ({"input_tokens": 5}, {"output_tokens": 1}, {"input_tokens": 5, "output_tokens": 1}),
    "zero over a count keeps": ({"input_tokens": 5}, {"input_tokens": 0}, {"input_tokens": 5}),
    "zero over nothing": ({}, {"input_tokens": 0}, {"input_tokens": 0}),
    "zero is meant beside iterations": ({"input_tokens": 5}, {"input_tokens": 0, "iterations": []}, {"input_tokens": 0, "iterations": []}),
    "no number keeps": ({"input_tokens": 5}, {"input_tokens": "7"}, {"input_tokens": 5}),
    "no object keeps": ({"input_tokens": 5}, [1], {"input_tokens": 5}),
}  # fmt: skip


@pytest.mark.parametrize("case", MERGES.values(), ids=MERGES)
def test_reported_usage_is_merged_field_by_field(case: tuple[dict[str, Any], Any, dict[str, Any]]) -> None:
    known, reported, wanted = case
    assert merged(known, reported) == wanted


RAW = {"input_tokens": 10, "output_tokens": 5}
USAGES: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "plain": (RAW, usage(10, 5)),
    "cache": ({**RAW, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 7}, usage(10, 5, cachedReadTokens=3, cacheWriteTokens=7)),
    "cache for an hour": (
        {**RAW, "cache_creation_input_tokens": 7, "cache_creation": {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}},
        usage(10, 5, cacheWriteTokens=3, cacheWrite1hTokens=4),
    ),
    "hour is never more than all": (
        {**RAW, "cache_creation_input_tokens": 2, "cache_creation": {"ephemeral_1h_input_tokens": 4}},
        usage(10, 5, cacheWrite1hTokens=2),
    ),
    "split without a total": (
        {**RAW, "cache_creation": {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}},
        usage(10, 5, cacheWriteTokens=3, cacheWrite1hTokens=4),
    ),
    "thinking is part of the output": ({**RAW, "output_tokens_details": {"thinking_tokens": 2}}, usage(10, 5, reasoningTokens=2)),
    "thinking is never more than the output": ({**RAW, "output_tokens_details": {"thinking_tokens": 9}}, usage(10, 5, reasoningTokens=5)),
    "server tools": ({**RAW, "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 1}}, usage(10, 5, serverToolUses=3)),
    "compaction is added": (
        {**RAW, "iterations": [{"type": "compaction", "input_tokens": 100, "output_tokens": 7}, {"type": "message", "input_tokens": 10, "output_tokens": 5}]},
        usage(110, 12),
    ),
    "an advisor is another model": ({**RAW, "iterations": [{"type": "advisor_message", "input_tokens": 100}]}, usage(10, 5)),
    "a fallback is in the top level": (
        {**RAW, "iterations": [{"type": "compaction", "input_tokens": 100}, {"type": "fallback_message", "input_tokens": 9}]},
        usage(10, 5),
    ),
    "hostile": ({"input_tokens": True, "output_tokens": -5, "cache_creation": [], "iterations": [None, 5], "server_tool_use": {"a": "x"}}, usage(0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("case", USAGES.values(), ids=USAGES)
def test_usage_is_counted_as_the_wire_means_it(case: tuple[dict[str, Any], dict[str, int]]) -> None:
    raw, wanted = case
    assert usage_from(raw) == wanted
