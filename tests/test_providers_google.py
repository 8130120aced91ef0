"""The Gemini wire: signatures on any part, calls in pieces, finish reasons, usage, errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deuz_nb.providers.google.partial import PartialArguments
from deuz_nb.providers.google.usage import usage_from
from tests.provider_streams import NO_USAGE, called, calls, read, said, sse, thought, told, usage


def chunk(*parts: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    reason = {"finishReason": finish} if finish else {}
    return {
        "candidates": [{"content": {"parts": list(parts), "role": "model"}, "index": 0, **reason, **more}]
    }


def call(name: str | None = "w", **more: Any) -> dict[str, Any]:
    return {"functionCall": {**({"name": name} if name else {}), **more}}


STOP = chunk(finish="STOP")
SIGNED = {"google": {"thoughtSignature": "S"}}


def warned(kind: str, message: str) -> dict[str, Any]:
    return {"type": "warning", "warning": {"type": kind, "message": message}}


STREAMS: dict[str, tuple[list[Any], list[Any]]] = {
    "text and thought": ([chunk({"text": "hm", "thought": True}), chunk({"text": "a"}, {"text": "b"})], [thought("hm"), said("a"), said("b")]),
    "other candidates are passed over": ([{"candidates": [{"index": 1, "content": {"parts": [{"text": "x"}]}}]}, chunk({"text": "a"})], [said("a")]),
    "signature on a text": ([chunk({"text": "a", "thoughtSignature": "S"})], [said("a", signature="S")]),
    "signature on a thought": ([chunk({"text": "a", "thought": True, "thoughtSignature": "S"})], [thought("a", signature="S")]),
    "signature on an empty last part": ([chunk({"text": "a"}), chunk({"text": "", "thoughtSignature": "S"})], [said("a"), said("", signature="S")]),
    "signature alone": ([chunk({"text": "a"}), chunk({"thoughtSignature": "S"})], [said("a"), said("", signature="S")]),
    "signature on the first of parallel calls": (
        [chunk({**call(args={"a": 1}, id="t"), "thoughtSignature": "S"}), chunk(call("x", args={}, id="u"))],
        [called("t", "w", '{"a":1}', providerMetadata=SIGNED), called("u", "x", "{}")],
    ),
    "calls without ids": ([chunk(call(args={"a": 1})), chunk(call(args={"a": 1}))], [called("gen-1", "w", '{"a":1}'), called("gen-2", "w", '{"a":1}')]),
    "call without arguments": ([chunk(call(id="t"))], [called("t", "w", "{}")]),
    "call in pieces": (
        [chunk(call(id="t", willContinue=True)), chunk(call(None, partialArgs=[{"jsonPath": "$.a", "stringValue": "x", "willContinue": True}], willContinue=True)), chunk(call(None, partialArgs=[{"jsonPath": "$.a", "stringValue": "y"}, {"jsonPath": "$.n", "numberValue": 2.0}], willContinue=True)), chunk(call(None))],
        [called("t", "w", ""), called("t", None, '{"a":"xy","n":2}')],
    ),
    "call in one piece": ([chunk(call(id="t", partialArgs=[{"jsonPath": "$.a", "boolValue": True}]))], [called("t", "w", ""), called("t", None, '{"a":true}')]),
    "sources": (
        [chunk({"text": "a"}, groundingMetadata={"groundingChunks": [{"web": {"uri": "https://a", "title": "A"}}, {"web": {"uri": "https://a"}}, {"retrievedContext": {}}]})],
        [said("a"), {"type": "source", "id": "gen-1", "url": "https://a", "title": "A"}],
    ),
    "file": ([chunk({"inlineData": {"mimeType": "image/png", "data": "x"}})], [warned("unsupported-output", "The model answered with a file (image/png) that is not shown.")]),
    "code and server tools have no part": ([chunk({"executableCode": {"code": "x"}}, {"codeExecutionResult": {"output": "y"}}, {"toolCall": {}}, {"toolResponse": {}}, {"new": 1})], []),
    "not ended by the first reason": ([STOP, chunk({"text": "a"})], [said("a")]),
}  # fmt: skip


@pytest.mark.parametrize("case", STREAMS.values(), ids=STREAMS)
def test_stream_becomes_parts(case: tuple[list[Any], list[Any]]) -> None:
    frames, wanted = case
    parts = told("google", *frames, STOP)
    assert parts[:-1] == wanted
    assert parts[-1]["type"] == "finish"


def test_what_has_no_part_is_kept_on_the_finish() -> None:
    steps = [{"executableCode": {"code": "x"}}, {"codeExecutionResult": {"output": "y"}}, {"toolCall": {}}]
    last = told("google", chunk(*steps), chunk(finish="CONTINUATION", continuationToken="k"))[-1]
    assert last["providerMetadata"]["google"] == {
        "codeExecution": steps[:2],
        "serverTools": steps[2:],
        "continuationToken": "k",
    }


REASONS: list[tuple[str, str, bool]] = [
    ("STOP", "stop", False),
    ("MAX_TOKENS", "length", False),
    ("CONTINUATION", "length", False),
    *[
        (raw, "content_filter", False)
        for raw in ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
    ],
    *[
        (raw, "content_filter", False)
        for raw in ("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION")
    ],
    *[
        (raw, "content_filter", False)
        for raw in ("MODEL_ARMOR", "ESCALATION", "PUP_LIMITED_DISABLED", "LANGUAGE")
    ],
    *[(raw, "stop", True) for raw in ("OTHER", "FINISH_REASON_UNSPECIFIED", "TIRED")],
]


@pytest.mark.parametrize(("raw", "reason", "is_warned"), REASONS)
def test_finish_reason_is_mapped_and_kept(raw: str, reason: str, is_warned: bool) -> None:
    machine, parts = read("google", sse(chunk({"text": "a"}, finish=raw)))
    deuz = {"usageReported": False, "rawFinishReason": raw}
    assert parts[-1] == {
        "type": "finish",
        "usage": NO_USAGE,
        "finishReason": reason,
        "providerMetadata": {"deuz": deuz},
    }
    assert [part["warning"]["type"] for part in parts[1:-1]] == ["unknown-finish-reason"] * is_warned
    assert machine.raw_finish == raw


@pytest.mark.parametrize(
    "raw",
    [
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        "MALFORMED_RESPONSE",
        "NO_IMAGE",
        "IMAGE_OTHER",
    ],
)
@pytest.mark.parametrize("message", [None, "it went wrong"])
def test_finish_reason_that_is_an_error_is_an_error(raw: str, message: str | None) -> None:
    more = {"finishMessage": message} if message else {}
    machine, parts = read("google", sse(chunk(call(args={}, id="t"), finish=raw, **more)))
    error = parts[-1]["error"]
    assert (error["code"], error["upstreamType"]) == ("api_call_error", raw)
    assert error["message"] == (message or f"The model's answer was refused by the host ({raw}).")
    assert calls(machine) == [("t", "w", {}, False)]


@pytest.mark.parametrize(
    ("reasons", "reason", "is_valid"),
    [
        (["STOP"], "tool_calls", True),
        (["OTHER"], "tool_calls", True),
        (["MAX_TOKENS"], "length", False),
        (["SAFETY"], "content_filter", False),
        (["STOP", "MAX_TOKENS"], "length", False),
        (["MAX_TOKENS", "STOP"], "length", False),
    ],
)
def test_call_of_a_turn_that_was_cut_is_not_valid(reasons: list[str], reason: str, is_valid: bool) -> None:
    ends = [chunk(finish=raw) for raw in reasons]
    machine, parts = read("google", sse(chunk(call(args={"a": 1}, id="t")), *ends))
    assert parts[-1]["finishReason"] == reason
    assert calls(machine) == [("t", "w", {"a": 1}, is_valid)]


HALVES: dict[str, list[Any]] = {
    "arguments go on": [chunk(call(id="t", willContinue=True)), STOP],
    "some came": [
        chunk(call(id="t", willContinue=True, partialArgs=[{"jsonPath": "$.a", "stringValue": "x"}])),
        STOP,
    ],
    "another call began": [chunk(call(id="t", willContinue=True)), chunk(call("x", args={}, id="u")), STOP],
}


@pytest.mark.parametrize("frames", HALVES.values(), ids=HALVES)
def test_call_whose_arguments_never_ended_is_not_valid(frames: list[Any]) -> None:
    machine, _ = read("google", sse(*frames))
    assert [is_valid for call_id, *_, is_valid in calls(machine) if call_id == "t"] == [False]


@pytest.mark.parametrize(
    "raw", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK"]
)
def test_blocked_prompt_is_filtered_content(raw: str) -> None:
    machine, parts = read(
        "google", sse({"promptFeedback": {"blockReason": raw}, "usageMetadata": {"promptTokenCount": 9}})
    )
    assert [(part["finishReason"], part["usage"]) for part in parts] == [("content_filter", usage(9, 0))]
    assert machine.raw_finish == raw


def test_unspecified_block_reason_blocks_nothing() -> None:
    frame = {"promptFeedback": {"blockReason": "BLOCKED_REASON_UNSPECIFIED"}}
    assert told("google", frame, chunk({"text": "a"}), STOP)[0] == said("a")


ERROR = {"error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}}
ERRORS: dict[str, bytes] = {
    "event": sse(chunk({"text": "a"}), ERROR),
    "event, array": sse(chunk({"text": "a"}), [ERROR]),
    "lines without framing": sse(chunk({"text": "a"})) + json.dumps(ERROR, indent=2).encode(),
    "array without framing": sse(chunk({"text": "a"})) + json.dumps([ERROR], indent=2).encode(),
}


@pytest.mark.parametrize("stream", ERRORS.values(), ids=ERRORS)
def test_error_in_the_stream_ends_it(stream: bytes) -> None:
    parts = read("google", stream)[1]
    assert parts[0] == said("a")
    assert [(part["error"]["code"], part["error"]["statusCode"]) for part in parts[1:]] == [
        ("rate_limit", 429)
    ]


def test_stream_without_a_finish_reason_is_cut() -> None:
    parts = told("google", chunk({"text": "a"}))
    assert parts[-1]["error"]["code"] == "stream_truncated"


def test_frame_that_is_cut_after_a_finish_reason_may_have_said_more() -> None:
    parts = read("google", sse(chunk({"text": "a"}), STOP) + b'data: {"candidates":[{"cont')[1]
    assert parts[-1]["error"]["code"] == "stream_truncated"


def test_usage_is_merged_field_by_field_and_searches_are_counted_once() -> None:
    frames = [
        {"usageMetadata": {"promptTokenCount": 9, "cachedContentTokenCount": 4}, "modelVersion": "gemini", "responseId": "r"},
        chunk({"text": "a"}, groundingMetadata={"webSearchQueries": ["p", "q"]}),
        chunk(finish="STOP", groundingMetadata={"webSearchQueries": ["q", 5]}),
        {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "cachedContentTokenCount": None}},
    ]  # fmt: skip
    machine, parts = read("google", sse(*frames))
    assert parts[-1] == {
        "type": "finish",
        "usage": usage(5, 3, cachedReadTokens=4, serverToolUses=2),
        "finishReason": "stop",
        "providerMetadata": {
            "google": {
                "usage": {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 3}
            },
            "deuz": {"rawFinishReason": "STOP"},
        },
    }
    assert (machine.model_id, machine.response_id) == ("gemini", "r")


RAW = {"promptTokenCount": 10, "candidatesTokenCount": 5}
USAGES: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "plain": ({**RAW, "totalTokenCount": 15}, usage(10, 5)),
    "thoughts beside the candidates": ({**RAW, "thoughtsTokenCount": 7, "totalTokenCount": 22}, usage(10, 12, reasoningTokens=7)),
    "thoughts inside the candidates": ({**RAW, "thoughtsTokenCount": 3, "totalTokenCount": 15}, usage(10, 5, reasoningTokens=3)),
    "no total": ({**RAW, "thoughtsTokenCount": 7}, usage(10, 12, reasoningTokens=7)),
    "tools": ({**RAW, "toolUsePromptTokenCount": 4, "totalTokenCount": 19}, usage(14, 5)),
    "cache": ({**RAW, "cachedContentTokenCount": 4, "totalTokenCount": 15}, usage(6, 5, cachedReadTokens=4)),
    "audio": ({**RAW, "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 2}, {"modality": "TEXT", "tokenCount": 8}], "candidatesTokensDetails": [{"modality": "AUDIO", "tokenCount": 1}]}, usage(10, 5, audioTokens=3)),
    "total that cannot be": ({**RAW, "totalTokenCount": 3}, usage(10, 5)),
    "hostile": ({"promptTokenCount": "9", "candidatesTokenCount": [], "promptTokensDetails": {}, "totalTokenCount": -1}, usage(0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("case", USAGES.values(), ids=USAGES)
def test_usage_is_counted_as_the_wire_means_it(case: tuple[dict[str, Any], dict[str, int]]) -> None:
    raw, wanted = case
    assert usage_from(raw, 0) == wanted


PIECES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "nested": ([{"jsonPath": "$.a.b[1]['c d']", "numberValue": 1.5}], {"a": {"b": [None, {"c d": 1.5}]}}),
    "null and bool": ([{"jsonPath": "$.a", "nullValue": None}, {"jsonPath": "$.b", "boolValue": False}], {"a": None, "b": False}),
    "text goes on": ([{"jsonPath": "$.a[0]", "stringValue": "x"}, {"jsonPath": "$.a[0]", "stringValue": "y"}], {"a": ["xy"]}),
    "other form in the way": ([{"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": "$.a.b", "numberValue": 1}], {"a": {"b": 1}}),
    "no path": ([{"jsonPath": "$"}, {"jsonPath": "a.b"}, {"jsonPath": 5}, {}, None, 5], {}),
    "number that is a name": ([{"jsonPath": "$.0", "numberValue": 1}], {"0": 1}),
    "digits of another script": ([{"jsonPath": "$.a[²]", "numberValue": 1}], {}),
    "path beyond use": ([{"jsonPath": "$" + ".a" * 1000, "numberValue": 1}, {"jsonPath": "$.a[99999]", "numberValue": 1}], {}),
}  # fmt: skip


@pytest.mark.parametrize("case", PIECES.values(), ids=PIECES)
def test_arguments_are_put_together_by_path(case: tuple[list[Any], dict[str, Any]]) -> None:
    pieces, wanted = case
    arguments = PartialArguments()
    arguments.add(pieces)
    assert arguments.value == wanted
