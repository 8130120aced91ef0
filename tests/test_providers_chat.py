"""Chat completions: OpenAI's own stream, and each host of the compatible family with its deviations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deuz_nb.providers.openai_chat.usage import usage_from
from tests.provider_streams import NO_USAGE, called, calls, read, said, sse, thought, told, usage


def chunk(finish: str | None = None, index: int = 0, **delta: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "model": "m",
        "choices": [{"index": index, "delta": delta, "finish_reason": finish}],
        "usage": None,
    }


def fragment(
    index: int | None, call_id: str | None, name: str | None, arguments: Any, **more: Any
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    given = {key: value for key, value in (("index", index), ("id", call_id)) if value is not None}
    return chunk(tool_calls=[{**given, "function": function, **more}])


def finish(reason: str, raw: str, usage: dict[str, int] | None = None, **deuz: Any) -> dict[str, Any]:
    told_: dict[str, Any] = {} if usage else {"usageReported": False}
    return {
        "type": "finish",
        "usage": usage or NO_USAGE,
        "finishReason": reason,
        "providerMetadata": {"deuz": {**deuz, **told_, "rawFinishReason": raw}},
    }


def warned(kind: str, message: str) -> dict[str, Any]:
    return {"type": "warning", "warning": {"type": kind, "message": message}}


STOP, DONE = chunk("stop"), "[DONE]"
CITED = {"type": "url_citation", "url_citation": {"url": "https://a", "title": "A"}}
SIGNATURE = {"google": {"thought_signature": "S"}}

HOSTS: dict[str, tuple[list[Any], list[Any]]] = {
    "openai": (
        [chunk(role="assistant", content="", refusal=None), {**chunk(content="a"), "obfuscation": "xx"}, chunk(content="b"), STOP, DONE],
        [said("a"), said("b"), finish("stop", "stop")],
    ),
    "openai, other choices are passed over": ([chunk(index=1, content="x"), chunk(content="a"), chunk("length", index=1), STOP, DONE], [said("a"), finish("stop", "stop")]),
    "openai, refusal": ([chunk(refusal="no"), STOP, DONE], [said("no"), finish("content_filter", "stop")]),
    "openai, tier": ([{**chunk(content="a"), "service_tier": "flex"}, STOP, DONE], [said("a"), finish("stop", "stop", serviceTier="flex")]),
    "openai, sources": ([chunk(content="a", annotations=[CITED, CITED, None]), STOP, DONE], [said("a"), {"type": "source", "id": "gen-1", "url": "https://a", "title": "A"}, finish("stop", "stop")]),
    "azure, filter results around the answer": (
        [{"id": "", "model": "", "choices": [], "prompt_filter_results": []}, chunk(content="a"), {"choices": [{"index": 0, "content_filter_results": {}, "finish_reason": None}]}, STOP, {"choices": [{"index": 0, "content_filter_offsets": {}}]}, DONE],
        [said("a"), finish("stop", "stop")],
    ),
    "openrouter, native reason": ([{"choices": [{"delta": {"content": "a"}, "finish_reason": "stop", "native_finish_reason": "STOP"}]}, DONE], [said("a"), finish("stop", "stop", nativeFinishReason="STOP")]),
    "openrouter, signed thought": (
        [chunk(reasoning="hm", reasoning_details=[{"type": "reasoning.text", "text": "hm", "index": 0, "format": "f"}]), chunk(reasoning_details=[{"type": "reasoning.text", "signature": "S", "index": 0, "format": "f"}]), chunk(content="a"), STOP, DONE],
        [thought("hm"), thought("", signature="S", providerMetadata={"openrouter": {"format": "f", "index": 0}}), said("a"), finish("stop", "stop")],
    ),
    "openrouter, summary and encrypted": (
        [chunk(reasoning_details=[{"type": "reasoning.summary", "summary": "s", "index": 0, "id": "r"}]), chunk(reasoning_details=[{"type": "reasoning.summary", "summary": "t", "index": 0}]), chunk(reasoning_details=[{"type": "reasoning.encrypted", "data": "D", "index": 1, "id": "r"}]), STOP, DONE],
        [thought("s"), thought("t"), thought("", providerMetadata={"openrouter": {"reasoning_details": [{"type": "reasoning.summary", "id": "r", "index": 0, "summary": "st"}]}}), thought("D", encrypted=True, providerMetadata={"openrouter": {"id": "r", "index": 1}}), finish("stop", "stop")],
    ),
    "openrouter, thoughts around a text": (
        [chunk(reasoning_details=[{"type": "reasoning.text", "text": "a", "format": "f"}]), chunk(content="b"), chunk(content="c"), chunk(reasoning_details=[{"type": "reasoning.text", "text": "d", "format": "f"}]), chunk(content="e"), STOP, DONE],
        [thought("a"), thought("", providerMetadata={"openrouter": {"reasoning_details": [{"type": "reasoning.text", "format": "f", "text": "a"}]}}), said("b"), said("c"), thought("d"), thought("", providerMetadata={"openrouter": {"reasoning_details": [{"type": "reasoning.text", "format": "f", "text": "d"}]}}), said("e"), finish("stop", "stop")],
    ),
    "openrouter, null arguments": ([fragment(0, "t", "w", None), STOP, DONE], [called("t", "w", ""), finish("tool_calls", "stop")]),
    "deepseek": ([chunk(reasoning_content="hm", content=None), chunk(content="a", reasoning_content=None), STOP, DONE], [thought("hm"), said("a"), finish("stop", "stop")]),
    "groq": ([chunk(reasoning="hm"), chunk(content="a"), STOP, DONE], [thought("hm"), said("a"), finish("stop", "stop")]),
    "xai, thought under both names": ([chunk(reasoning="hm", reasoning_content="hm"), STOP, DONE], [thought("hm"), finish("stop", "stop")]),
    "mistral, list": (
        [chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": False}]), chunk(content=[{"type": "thinking", "thinking": [{"text": "!"}], "signature": "S"}, {"type": "text", "text": "a"}, {"type": "reference", "reference_ids": [1]}]), chunk("stop", content="b"), DONE],
        [thought("hm"), thought("!"), thought("", signature="S"), said("a"), said("b"), finish("stop", "stop")],
    ),
    "mistral, length": ([chunk("model_length", content="a"), DONE], [said("a"), finish("length", "model_length")]),
    "ollama, all calls at index 0": (
        [fragment(0, "t", "w", '{"a":1}'), fragment(0, "u", "w", '{"a":2}'), STOP, DONE],
        [called("t", "w", '{"a":1}'), called("u", "w", '{"a":2}'), finish("tool_calls", "stop")],
    ),
    "lm studio, empty names": ([fragment(0, "t", "w", ""), fragment(0, None, "", "{}"), STOP, DONE], [called("t", "w", ""), called("t", None, "{}"), finish("tool_calls", "stop")]),
    "llama.cpp, arguments as an object": ([fragment(0, "t", "w", {"a": 1}), STOP, DONE], [called("t", "w", '{"a":1}'), finish("tool_calls", "stop")]),
    "vllm, no id": ([fragment(0, None, "w", "{}"), STOP, DONE], [called("tool_0", "w", "{}"), finish("tool_calls", "stop")]),
    "gemini, no index, with a signature": (
        [fragment(None, "t", "w", "{}", extra_content=SIGNATURE), fragment(None, "u", "x", "{}"), chunk("tool_calls"), DONE],
        [called("t", "w", "{}", providerMetadata={"extra_content": SIGNATURE}), called("u", "x", "{}"), finish("tool_calls", "tool_calls")],
    ),
    "gemini, no reason": ([chunk(content="a"), DONE], [said("a"), warned("missing-finish-reason", "The provider gave no reason for the end of its answer."), {**finish("stop", ""), "providerMetadata": {"deuz": {"usageReported": False}}}]),
    "old function call": ([chunk(function_call={"name": "w", "arguments": ""}), chunk(function_call={"arguments": "{}"}), chunk("function_call"), DONE], [called("tool_0", "w", ""), called("tool_0", None, "{}"), finish("tool_calls", "function_call")]),
    "no end marker": ([chunk(content="a"), STOP], [said("a"), finish("stop", "stop")]),
    "nothing after the end marker": ([chunk(content="a"), STOP, DONE, chunk(content="b")], [said("a"), finish("stop", "stop")]),
    "empty deltas open nothing": ([chunk(content=""), chunk(tool_calls=[{}]), chunk(tool_calls=[{"index": 0, "function": {"arguments": ""}}]), STOP, DONE], [finish("stop", "stop")]),
    "empty error is none": ([{**chunk(content="a"), "error": {}}, {**chunk(content="b"), "error": ""}, STOP, DONE], [said("a"), said("b"), finish("stop", "stop")]),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTS.values(), ids=HOSTS)
def test_hosts_stream_becomes_parts(case: tuple[list[Any], list[Any]]) -> None:
    frames, wanted = case
    assert told("openai-chat", *frames) == wanted


REASONS: list[tuple[str, str]] = [
    ("stop", "stop"),
    ("eos", "stop"),
    ("length", "length"),
    ("model_length", "length"),
    ("tool_calls", "tool_calls"),
    ("function_call", "tool_calls"),
    ("content_filter", "content_filter"),
]


@pytest.mark.parametrize(("raw", "reason"), REASONS)
def test_finish_reason_is_mapped_and_kept(raw: str, reason: str) -> None:
    assert told("openai-chat", chunk(raw), DONE) == [finish(reason, raw)]


def test_unknown_finish_reason_is_a_stop_with_a_warning() -> None:
    assert told("openai-chat", chunk("tired"), DONE) == [
        warned("unknown-finish-reason", "Unknown finish reason 'tired'; read as a stop."),
        finish("stop", "tired"),
    ]


@pytest.mark.parametrize("raw", ["error", "insufficient_system_resource"])
def test_finish_reason_that_is_an_error_is_an_error(raw: str) -> None:
    usage_ = {"choices": [], "usage": {"prompt_tokens": 2, "completion_tokens": 1}}
    machine, parts = read("openai-chat", sse(chunk(content="a"), chunk(raw), usage_, DONE), provider="acme")
    assert parts == [
        said("a"),
        {
            "type": "error",
            "error": {
                "name": "APICallError",
                "code": "api_call_error",
                "message": f"acme stopped the answer because of an error ({raw}); call again.",
                "isRetryable": True,
                "provider": "acme",
                "upstreamType": raw,
            },
        },
    ]
    assert (machine.usage, machine.raw_finish) == (usage(2, 1), raw)


CALL = fragment(0, "t", "w", '{"a":1}')


@pytest.mark.parametrize(
    ("reasons", "reason", "is_valid"),
    [
        (["tool_calls"], "tool_calls", True),
        (["stop"], "tool_calls", True),
        (["length"], "length", False),
        (["content_filter"], "content_filter", False),
        (["length", "stop"], "length", False),
        (["content_filter", "tool_calls"], "content_filter", False),
        (["stop", "length"], "length", False),
    ],
)
def test_call_of_a_turn_that_was_cut_is_not_valid(reasons: list[str], reason: str, is_valid: bool) -> None:
    machine, parts = read("openai-chat", sse(CALL, *map(chunk, reasons), DONE))
    assert parts[-1]["finishReason"] == reason
    assert calls(machine) == [("t", "w", {"a": 1}, is_valid)]


def test_half_call_in_a_turn_that_claims_to_be_whole_is_not_valid() -> None:
    machine, parts = read("openai-chat", sse(fragment(0, "t", "w", '{"a"'), chunk("tool_calls"), DONE))
    assert parts[-1]["finishReason"] == "tool_calls"
    assert [(c.input_text, c.is_valid) for c in machine.tool_calls] == [('{"a"', False)]


def test_half_call_of_a_cut_stream_is_not_valid() -> None:
    machine, parts = read("openai-chat", sse(CALL))
    assert parts[-1]["error"]["code"] == "stream_truncated"
    assert calls(machine) == [("t", "w", {"a": 1}, False)]


def test_frame_cut_after_the_finish_reason_does_not_undo_it() -> None:
    stream = sse(chunk(content="a"), STOP) + b'data: {"choices":[],"usa'
    assert read("openai-chat", stream)[1] == [said("a"), finish("stop", "stop")]


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "x", "code": 502}, "choices": []},
        {"error": "x"},
        {"object": "error", "message": "x", "code": 400},
        {"detail": "x"},
        {"message": "x"},
    ],
)
def test_error_in_the_stream_ends_it(body: dict[str, Any]) -> None:
    parts = told("openai-chat", chunk(content="a"), body, STOP, DONE)
    assert [part["type"] for part in parts] == ["text-delta", "error"]
    assert parts[-1]["error"]["message"] == "x"


def test_event_named_error_is_an_error() -> None:
    stream = b'event: error\ndata: {"code":"rate_limit_exceeded","message":"x"}\n\n'
    assert read("openai-chat", stream)[1][-1]["error"]["code"] == "rate_limit"


def test_think_tags_are_read_where_the_host_is_known_for_them() -> None:
    frames = [chunk(content="<thi"), chunk(content="nk>hm</think>"), chunk(content="\n\na"), STOP, DONE]
    assert told("openai-chat", *frames, think_tags=True)[:-1] == [thought("hm"), said("a")]
    assert told("openai-chat", *frames)[0] == said("<thi")


def test_model_and_id_are_those_of_the_first_chunk_that_names_them() -> None:
    azure = {"id": "", "model": "", "choices": []}
    machine, _ = read("openai-chat", sse(azure, chunk(content="a"), {**chunk("stop"), "model": "n"}, DONE))
    assert (machine.model_id, machine.response_id) == ("m", "c")


REPORTS: dict[str, tuple[list[dict[str, Any]], dict[str, int]]] = {
    "at the end": ([{"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}], usage(9, 3)),
    "groq's own place": ([{"choices": [], "x_groq": {"usage": {"prompt_tokens": 9, "completion_tokens": 3}}}], usage(9, 3)),
    "without choices": ([{"usage": {"prompt_tokens": 9, "completion_tokens": 3}}], usage(9, 3)),
    "cumulative, never added": ([{"usage": {"prompt_tokens": 9, "completion_tokens": n}} for n in (1, 2, 3)], usage(9, 3)),
    "null keeps": ([{"usage": {"prompt_tokens": 9, "completion_tokens": 3}}, {"usage": {"prompt_tokens": None, "completion_tokens": 4}}, {"usage": None}], usage(9, 4)),
}  # fmt: skip


@pytest.mark.parametrize("case", REPORTS.values(), ids=REPORTS)
def test_usage_is_taken_wherever_it_comes(case: tuple[list[dict[str, Any]], dict[str, int]]) -> None:
    frames, wanted = case
    last = told("openai-chat", chunk(content="a"), STOP, *frames, DONE, provider="acme")[-1]
    assert last["usage"] == wanted
    assert set(last["providerMetadata"]) == {"acme", "deuz"}
    assert "usageReported" not in last["providerMetadata"]["deuz"]


USAGES: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "openai": (
        {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 1, "audio_tokens": 2}, "completion_tokens_details": {"reasoning_tokens": 3, "audio_tokens": 1}},
        usage(5, 5, cachedReadTokens=4, cacheWriteTokens=1, reasoningTokens=3, audioTokens=3),
    ),
    "openrouter": ({"prompt_tokens": 10, "completion_tokens": 5, "cache_write_tokens": 2, "server_tool_use": {"web_search_requests": 1}}, usage(8, 5, cacheWriteTokens=2, serverToolUses=1)),
    "deepseek": ({"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6}, usage(6, 5, cachedReadTokens=4)),
    "mistral": ({"prompt_tokens": 10, "completion_tokens": 5, "num_cached_tokens": 4}, usage(6, 5, cachedReadTokens=4)),
    "mistral, details": ({"prompt_tokens": 10, "completion_tokens": 5, "prompt_token_details": {"cached_tokens": 4}}, usage(6, 5, cachedReadTokens=4)),
    "xai, reasoning is not in the completion": ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 22, "completion_tokens_details": {"reasoning_tokens": 7}}, usage(10, 12, reasoningTokens=7)),
    "xai, more cached than prompted": ({"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 30}}, usage(10, 5, cachedReadTokens=30)),
    "gemini, thoughts hidden in the total": ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 22}, usage(10, 12, reasoningTokens=7)),
    "reasoning without a total": ({"prompt_tokens": 10, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 7}}, usage(10, 12, reasoningTokens=7)),
    "hostile": ({"prompt_tokens": "9", "completion_tokens": -1, "total_tokens": True, "prompt_tokens_details": [1]}, usage(0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("case", USAGES.values(), ids=USAGES)
def test_usage_is_counted_as_the_host_means_it(case: tuple[dict[str, Any], dict[str, int]]) -> None:
    raw, wanted = case
    assert usage_from(raw) == wanted


def test_whole_completion_is_read_like_a_stream() -> None:
    body = {
        "id": "c",
        "model": "m",
        "choices": [{"message": {"content": "a", "tool_calls": [{"id": "t", "function": {"name": "w", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3},
    }  # fmt: skip
    machine, parts = read("openai-chat", json.dumps(body).encode(), content_type="application/json")
    assert parts[:-1] == [said("a"), called("t", "w", "{}")]
    assert (parts[-1]["finishReason"], parts[-1]["usage"]) == ("tool_calls", usage(9, 3))
    assert calls(machine) == [("t", "w", {}, True)]
