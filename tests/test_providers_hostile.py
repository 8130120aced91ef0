"""Any bytes and any JSON at every wire's parser: it never raises, ends exactly once, and does not see the cuts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deuz_nb.errors import NetworkError
from deuz_nb.providers import parser
from tests.conformance._streams import plain, run

WIRES = ("anthropic", "openai-chat", "openai-responses", "google")
ENDS = ("finish", "error")
USAGES: list[Any] = [
    {
        "input_tokens": 9,
        "cache_read_input_tokens": 1,
        "cache_creation_input_tokens": 2,
        "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 1},
        "output_tokens": 3,
        "output_tokens_details": {"thinking_tokens": 1, "reasoning_tokens": 1},
        "input_tokens_details": {
            "cached_tokens": 1,
            "cache_write_tokens": 1,
            "cache_write_tokens_details": {"ttl_12h": 1},
        },
        "server_tool_use": {"web_search_requests": 1},
        "iterations": [{"type": "compaction", "input_tokens": 1}, {"type": "fallback_message"}],
        "service_tier": "standard",
    },
    {
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 1, "audio_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 1, "audio_tokens": 1},
        "num_cached_tokens": 1,
    },
    {
        "promptTokenCount": 9,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 1,
        "totalTokenCount": 13,
        "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 1}],
    },
]
BLOCKS: list[Any] = [
    {"type": "text", "text": "a", "citations": [{"url": "https://a", "title": "A", "cited_text": "x"}]},
    {"type": "thinking", "thinking": "b", "signature": "s"},
    {"type": "redacted_thinking", "data": "d"},
    {"type": "tool_use", "id": "t1", "name": "w", "input": {"a": 1}, "caller": {"type": "direct"}},
    {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "https://a", "title": "A"}]},
    {"type": "web_fetch_tool_result", "tool_use_id": "s1", "content": {"error_code": "unavailable"}},
    {"type": "compaction", "content": "c"},
]
DELTAS: list[Any] = [
    {"type": "text_delta", "text": "a"},
    {"type": "thinking_delta", "thinking": "b"},
    {"type": "signature_delta", "signature": "s"},
    {"type": "input_json_delta", "partial_json": '{"a":'},
    {"type": "citations_delta", "citation": {"source": "https://a", "document_title": "A"}},
]
ITEMS: list[Any] = [
    {
        "type": "message",
        "id": "m1",
        "phase": "final",
        "content": [
            {
                "type": "output_text",
                "text": "ab",
                "annotations": [{"type": "url_citation", "url": "https://a"}],
            },
            {"type": "refusal", "refusal": "no"},
        ],
    },
    {
        "type": "reasoning",
        "id": "r1",
        "encrypted_content": "e",
        "summary": [{"text": "s"}],
        "content": [{"text": "t"}],
    },
    {"type": "function_call", "id": "f1", "call_id": "c1", "name": "w", "arguments": "{}", "namespace": "n"},
    {"type": "custom_tool_call", "id": "f2", "call_id": "c2", "name": "w", "input": "free"},
    {"type": "web_search_call", "id": "w1"},
    {"type": "mcp_call", "id": "x1", "name": "m", "error": {"message": "bad"}},
    {"type": "compaction", "id": "k1"},
]
ERROR: Any = {
    "error": {
        "type": "rate_limit_error",
        "code": 429,
        "status": "RESOURCE_EXHAUSTED",
        "message": "slow down",
        "details": [{"reason": "R", "retryDelay": "1s", "violations": [{"quotaId": "PerDay"}]}],
        "metadata": {"error_type": "x"},
    },
    "request_id": "req_1",
}
EVENTS: dict[str, list[Any]] = {
    "anthropic": [
        {
            "type": "message_start",
            "message": {
                "id": "m",
                "model": "x",
                "content": BLOCKS[:2],
                "usage": USAGES[0],
                "stop_reason": None,
            },
        },
        *(
            {"type": "content_block_start", "index": i, "content_block": block}
            for i, block in enumerate(BLOCKS)
        ),
        *({"type": "content_block_delta", "index": i, "delta": delta} for i, delta in enumerate(DELTAS)),
        {"type": "content_block_delta", "index": 3, "delta": DELTAS[3]},
        {"type": "content_block_stop", "index": 3},
        {
            "type": "message_delta",
            "usage": USAGES[0],
            "context_management": {"a": 1},
            "delta": {
                "stop_reason": "refusal",
                "stop_details": {"category": "x"},
                "container": {"id": "c"},
            },
        },
        {"type": "message_stop"},
        {"type": "ping"},
        {"type": "error", **ERROR},
    ],
    "openai-chat": [
        *(
            {
                "id": "c",
                "model": "x",
                "usage": USAGES[1],
                "service_tier": "flex",
                "choices": [
                    {"index": 0, "delta": delta, "finish_reason": "stop", "native_finish_reason": "STOP"}
                ],
            }
            for delta in (
                {"content": "a"},
                {
                    "content": [
                        {"type": "thinking", "thinking": [{"text": "b"}], "signature": "s"},
                        {"text": "c"},
                        "d",
                    ]
                },
                {
                    "reasoning": "b",
                    "reasoning_content": "b",
                    "reasoning_details": [
                        {
                            "type": "reasoning.text",
                            "text": "b",
                            "signature": "s",
                            "index": 0,
                            "id": "i",
                            "format": "f",
                        },
                        {"type": "reasoning.encrypted", "data": "e"},
                        {"type": "reasoning.summary", "summary": "b"},
                    ],
                },
                {"refusal": "no", "annotations": [{"url_citation": {"url": "https://a", "title": "A"}}]},
                {
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": "t",
                            "function": {"name": "w", "arguments": '{"a":'},
                            "extra_content": {"google": {"thought_signature": "s"}},
                        }
                    ]
                },
                {"tool_calls": [{"index": 0, "custom": {"name": "w", "input": "free"}}]},
                {"function_call": {"name": "w", "arguments": "{}"}},
            )
        ),
        {"choices": [], "x_groq": {"usage": USAGES[1]}},
        {"choices": [{"text": "a", "message": {"content": "a"}}]},
        ERROR,
        {"object": "error", "message": "m", "code": 400},
        {"detail": "m"},
    ],
    "openai-responses": [
        {
            "type": "response.created",
            "response": {
                "id": "r",
                "model": "x",
                "usage": USAGES[0],
                "tool_usage": {"web_search": {"num_requests": 2}},
            },
        },
        *(
            {"type": f"response.output_item.{state}", "output_index": i, "item": item}
            for i, item in enumerate(ITEMS)
            for state in ("added", "done")
        ),
        *(
            {
                "type": f"response.{kind}.{state}",
                "output_index": i,
                "item_id": "f1",
                "call_id": "c1",
                "delta": "ab",
                "text": "abc",
                "arguments": "abc",
                "input": "abc",
                "refusal": "abc",
                "content_index": 0,
                "summary_index": 0,
            }
            for i, kind in enumerate(
                (
                    "output_text",
                    "refusal",
                    "function_call_arguments",
                    "custom_tool_call_input",
                    "reasoning_summary_text",
                    "reasoning_text",
                )
            )
            for state in ("delta", "done")
        ),
        {
            "type": "response.output_text.annotation.added",
            "annotation": {"type": "url_citation", "url": "https://a", "title": "A"},
        },
        {
            "type": "response.completed",
            "response": {"status": "completed", "output": ITEMS, "usage": USAGES[0]},
        },
        {
            "type": "response.incomplete",
            "response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        },
        {"type": "response.failed", "response": ERROR},
        {"type": "error", "code": "c", "message": "m", "param": None},
    ],
    "google": [
        {
            "responseId": "r",
            "modelVersion": "x",
            "usageMetadata": USAGES[2],
            "candidates": [
                {
                    "index": 0,
                    "finishReason": "STOP",
                    "finishMessage": "m",
                    "continuationToken": "k",
                    "content": {
                        "parts": [
                            {"text": "a", "thoughtSignature": "s"},
                            {"text": "b", "thought": True},
                            {
                                "functionCall": {"id": "f", "name": "w", "args": {"a": 1}},
                                "thoughtSignature": "s",
                            },
                            {
                                "functionCall": {
                                    "name": "w",
                                    "willContinue": True,
                                    "partialArgs": [
                                        {"jsonPath": "$.a[0]['b']", "stringValue": "x"},
                                        {"jsonPath": "$.n", "numberValue": 1.0},
                                        {"jsonPath": "$.a.b", "boolValue": True},
                                        {"jsonPath": "$", "nullValue": None},
                                    ],
                                }
                            },
                            {"functionCall": {"partialArgs": [{"jsonPath": "$.a", "stringValue": "y"}]}},
                            {"inlineData": {"mimeType": "image/png"}},
                            {"executableCode": {"code": "x"}},
                            {"codeExecutionResult": {}},
                            {"toolCall": {}},
                            {"toolResponse": {}},
                            {"thoughtSignature": "s"},
                        ]
                    },
                    "groundingMetadata": {
                        "webSearchQueries": ["q"],
                        "groundingChunks": [{"web": {"uri": "https://a", "title": "A"}}],
                    },
                }
            ],
        },
        {"promptFeedback": {"blockReason": "SAFETY"}},
        ERROR,
    ],
}
WHOLE: dict[str, list[Any]] = {
    "anthropic": [
        {"type": "message", "id": "m", "content": BLOCKS, "stop_reason": "end_turn", "usage": USAGES[0]}
    ],
    "openai-chat": [{"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}],
    "openai-responses": [{"object": "response", "status": "completed", "output": ITEMS, "usage": USAGES[0]}],
    "google": EVENTS["google"],
}

TELLERS = {
    "anthropic": [
        '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":TEXT}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":TEXT}}',
        '{"delta":{"text":TEXT,"type":"text_delta"},"type":"content_block_delta"}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":TEXT}}',
    ],
    "openai-chat": [
        '{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":TEXT}}]}',
        '{"id":"c","model":TEXT,"choices":[{"index":0,"delta":{"content":"a"}}]}',
        '{"choices":[{"index":0,"delta":{"reasoning":TEXT,"content":null}}],"service_tier":"flex"}',
        '{"choices":[{"index":0,"delta":{"content":TEXT}}],"service_tier":"default"}',
        '{"choices":[{"index":0,"delta":{"content":TEXT,"reasoning":"b"}}]}',
        '{"choices":[{"index":0,"delta":{"content":TEXT}}],"usage":{"prompt_tokens":1}}',
        '{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":2}}',
        '{"choices":[{"index":0,"delta":{"refusal":TEXT}}]}',
        '{"choices":[{"index":1,"delta":{"content":TEXT}}]}',
        '{"choices":[{"index":0,"delta":{"content":"a","content":TEXT}}]}',
    ],
}

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=4)
    | st.sampled_from(["\ud83d", "\ude00", "1e400", "{", "[DONE]"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["type", "text", "x"]), inner, max_size=2)
    ),
    max_leaves=3,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside `value`."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, member in members:
        yield (*path, key)
        yield from places(member, (*path, key))


@st.composite
def bodies(draw: st.DrawFn, known: list[Any]) -> Any:
    """A body as a host sends it, with some of its values replaced by any other JSON."""
    body = deepcopy(draw(st.sampled_from(known)))
    for _ in range(draw(st.integers(0, 3))):
        path = draw(st.sampled_from(list(places(body)) or [()]))
        if not path:
            return draw(json_values)
        holder = body
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = draw(json_values)
    return body


def text_of(body: Any) -> str:
    """The body as JSON; what JSON has no number for is written as a number that is read as infinite."""
    return json.dumps(body).replace("-Infinity", "-1e999").replace("Infinity", "1e999").replace("NaN", "null")


def check_ended_once(parts: list[Any]) -> None:
    assert [part["type"] in ENDS for part in parts] == [False] * (len(parts) - 1) + [True]
    json.dumps(parts)
    assert not any("\ud800" <= char <= "\udfff" for part in parts for char in str(part.get("text", "")))


contexts = st.fixed_dictionaries(
    {
        "think_tags": st.booleans(),
        "starts_in_reasoning": st.booleans(),
        "provider": st.sampled_from([None, "deepseek"]),
    }
)


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
@settings(max_examples=400)
def test_any_events_end_once_and_never_raise(wire: str, data: st.DataObject) -> None:
    names = st.sampled_from(["", "event: error\n", "event: message_stop\n", "id: 1\n"])
    frames = data.draw(st.lists(st.tuples(names, bodies(EVENTS[wire])), max_size=8))
    ending = data.draw(st.sampled_from(["", "data: [DONE]\n\n", "data: {", "{"]))
    stream = "".join(f"{name}data: {text_of(body)}\n\n" for name, body in frames) + ending
    machine, parts = run(wire, [stream.encode()], **data.draw(contexts))
    check_ended_once(parts)
    assert machine.is_done
    assert [machine.receive(b"data: {}\n\n"), machine.close()] == [[], []]
    assert all(isinstance(call.id, str) and isinstance(call.name, str) for call in machine.tool_calls)


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
@settings(max_examples=200)
def test_any_json_body_ends_once_and_never_raises(wire: str, data: st.DataObject) -> None:
    body = data.draw(bodies([*WHOLE[wire], ERROR, [ERROR]]))
    kind = data.draw(st.sampled_from([None, "application/json", "text/html", "text/event-stream"]))
    check_ended_once(run(wire, [text_of(body).encode()], content_type=kind)[1])


@pytest.mark.parametrize("wire", WIRES)
@given(
    pieces=st.lists(
        st.binary(max_size=12)
        | st.sampled_from(
            [
                b"data: ",
                b"\n\n",
                b"\r",
                b"{}",
                b"[DONE]",
                b"\xef\xbb\xbf",
                b": x\n",
                b"event: error\n",
                b'{"error":',
                b"<html>",
            ]
        ),
        max_size=12,
    ),
    cut=st.integers(0, 80),
    kind=st.sampled_from([None, "application/json", "text/event-stream"]),
)
@settings(max_examples=200)
def test_any_bytes_give_the_same_parts_at_any_cut(
    wire: str, pieces: list[bytes], cut: int, kind: str | None
) -> None:
    stream = b"".join(pieces)
    parts = run(wire, [stream], content_type=kind)[1]
    check_ended_once(parts)
    assert run(wire, [stream[:cut], stream[cut:]], content_type=kind)[1] == parts
    assert run(wire, [stream[i : i + 1] for i in range(len(stream))], content_type=kind)[1] == parts


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
@settings(max_examples=100)
def test_any_events_give_the_same_parts_at_any_cut(wire: str, data: st.DataObject) -> None:
    ends = st.sampled_from(["\n\n", "\r\n\r\n", "\r\r", "\n\r\n"])
    frames = data.draw(st.lists(st.tuples(bodies(EVENTS[wire]), ends), min_size=1, max_size=5))
    stream = "".join(f"data: {text_of(body)}{end}" for body, end in frames).encode()
    parts = run(wire, [stream])[1]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    assert run(wire, [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)])[1] == parts


@pytest.mark.parametrize("wire", ["anthropic", "openai-chat"])
@given(data=st.data())
@settings(max_examples=300)
def test_frames_that_are_alike_are_read_as_if_each_were_new(wire: str, data: st.DataObject) -> None:
    """A number that differs in every frame, and means nothing, keeps frames from being alike."""
    texts = st.sampled_from(
        ['"', "\\", "\n", "a", "probe", "text", "\ud83d", "\ude00", "\u200b", "<think>", "b c"]
    )
    sent = data.draw(
        st.lists(
            st.tuples(st.sampled_from(TELLERS[wire]), st.lists(texts, max_size=3).map("".join)), max_size=25
        )
    )
    ending = (
        json.dumps({"choices": [{"finish_reason": "stop"}]})
        if wire == "openai-chat"
        else '{"type":"message_stop"}'
    )
    is_raw = data.draw(st.booleans())

    def stream(marks: list[str]) -> list[bytes]:
        frames = [
            form.replace("TEXT", json.dumps(text, ensure_ascii=not is_raw)).replace("}", mark, 1)
            for (form, text), mark in zip(sent, marks, strict=True)
        ]
        body = "".join(f"data: {frame}\n\n" for frame in [*frames, ending])
        return [body.encode("utf-8", "replace")]

    alike = stream(["}"] * len(sent))
    different = stream([f',"n":{n}}}' for n in range(len(sent))])
    context = {"think_tags": data.draw(st.booleans())}
    assert run(wire, alike, **context)[1] == run(wire, different, **context)[1]


@pytest.mark.parametrize("wire", WIRES)
def test_fail_before_any_byte_is_the_one_part(wire: str) -> None:
    machine = parser(wire)
    parts = machine.fail(NetworkError("gone", is_retryable=True))
    assert [plain(part) for part in parts] == [
        {
            "type": "error",
            "error": {
                "name": "NetworkError",
                "code": "network_error",
                "message": "gone",
                "isRetryable": True,
                "provider": machine.provider,
            },
        }
    ]
    assert [machine.receive(b"data: {}\n\n"), machine.close(), machine.fail(NetworkError("again"))] == [
        [],
        [],
        [],
    ]
