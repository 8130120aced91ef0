"""The Responses wire: deltas and snapshots, calls by any of their names, reasoning items, endings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deuz_nb.providers import parser
from deuz_nb.providers.openai_responses.usage import usage_from
from tests.provider_streams import called, calls, read, said, sse, thought, told, usage


def event(kind: str, index: int | None = 0, **more: Any) -> dict[str, Any]:
    place = {} if index is None else {"output_index": index}
    return {"type": f"response.{kind}", **place, **more}


def text(delta: str, index: int = 0, place: int = 0, item: str = "m") -> dict[str, Any]:
    return event("output_text.delta", index, item_id=item, content_index=place, delta=delta)


def message(*content: Any, item: str = "m", **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": item, "content": list(content), **more}


def output(value: str, *annotations: Any) -> dict[str, Any]:
    return {"type": "output_text", "text": value, "annotations": list(annotations)}


def call(
    call_id: str = "c", name: str = "w", arguments: str = "", item: str = "f", **more: Any
) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": item,
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        **more,
    }


def completed(*items: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    return event(status, None, response={"status": status, "output": list(items), **more})


PAGE = {"type": "url_citation", "url": "https://a", "title": "A"}
FILE = {"type": "file_citation", "file_id": "x"}
SUMMARY = [{"type": "summary_text", "text": "ab"}, {"type": "summary_text", "text": "c"}]

STREAMS: dict[str, tuple[list[Any], list[Any]]] = {
    "text": ([text("a"), text("b"), event("output_text.done", text="ab", content_index=0), completed(message(output("ab")))], [said("a"), said("b")]),
    "snapshots only": ([event("output_item.done", item=message(output("ab"))), completed(message(output("ab")))], [said("ab")]),
    "terminal snapshot only": ([completed(message(output("ab"), output("c")))], [said("ab"), said("c")]),
    "snapshot longer than the deltas": ([text("a"), completed(message(output("abc")))], [said("a"), said("bc")]),
    "snapshot that contradicts is passed over": ([text("a"), completed(message(output("xyz")))], [said("a")]),
    "terminal snapshot without the item before": (
        [event("output_item.added", 1, item=message(item="m")), text("ab", 1), completed(message(output("ab")))],
        [said("ab")],
    ),
    "two messages": ([text("a", 0, item="m"), text("b", 1, item="n"), completed(message(output("a"), item="m"), message(output("b"), item="n"))], [said("a"), said("b")]),
    "ids that change": ([text("a", item="x"), event("output_text.done", item_id="y", content_index=0, text="ab"), completed(message(output("ab"), item="z"))], [said("a"), said("b")]),
    "deltas without a place": ([{"type": "response.output_text.delta", "item_id": "m", "content_index": 0, "delta": "a"}, completed(message(output("ab")))], [said("a"), said("b")]),
    "refusal": ([event("refusal.delta", content_index=0, delta="n"), event("refusal.done", content_index=0, refusal="no"), completed()], [said("n"), said("o")]),
    "sources": (
        [event("output_text.annotation.added", annotation=PAGE), event("output_text.annotation.added", annotation=FILE), completed(message(output("a", PAGE, FILE, None)))],
        [{"type": "source", "id": "gen-1", "url": "https://a", "title": "A"}, said("a")],
    ),
    "summary parts are paragraphs": (
        [event("reasoning_summary_text.delta", summary_index=0, delta="a"), event("reasoning_summary_text.delta", summary_index=0, delta="b"), event("reasoning_summary_text.done", summary_index=0, text="ab"), event("reasoning_summary_text.delta", summary_index=1, delta="c"), completed()],
        [thought("a"), thought("b"), thought("\n\nc")],
    ),
    "reasoning item": (
        [event("reasoning_summary_text.delta", summary_index=0, item_id="r", delta="ab"), event("output_item.done", item={"type": "reasoning", "id": "r", "summary": SUMMARY, "encrypted_content": "E"}), completed({"type": "reasoning", "id": "r", "summary": SUMMARY, "encrypted_content": "E"})],
        [thought("ab"), thought("\n\nc"), thought("E", signature="r", encrypted=True, providerMetadata={"openai": {"id": "r", "summary": SUMMARY}})],
    ),
    "reasoning item without a summary": (
        [event("output_item.done", item={"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "E"}), completed()],
        [thought("E", signature="r", encrypted=True)],
    ),
    "reasoning that is shown": ([event("reasoning_text.delta", content_index=0, delta="h"), event("reasoning_text.done", content_index=0, text="hm"), completed()], [thought("h"), thought("m")]),
    "call": (
        [event("output_item.added", item=call()), event("function_call_arguments.delta", delta='{"a"'), event("function_call_arguments.delta", delta=":1}"), event("function_call_arguments.done", arguments='{"a":1}'), event("output_item.done", item=call(arguments='{"a":1}')), completed(call(arguments='{"a":1}'))],
        [called("c", "w", ""), called("c", None, '{"a"'), called("c", None, ":1}")],
    ),
    "call in snapshots only": ([event("output_item.done", item=call(arguments="{}")), completed(call(arguments="{}"))], [called("c", "w", ""), called("c", None, "{}")]),
    "call in the terminal snapshot only": ([completed(call(arguments="{}"))], [called("c", "w", ""), called("c", None, "{}")]),
    "arguments before the item": ([event("function_call_arguments.delta", delta='{"a"'), event("output_item.added", item=call()), event("function_call_arguments.delta", delta=":1}"), completed()], [called("c", "w", ""), called("c", None, '{"a"'), called("c", None, ":1}")]),
    "arguments named by the item": (
        [event("output_item.added", None, item=call()), event("function_call_arguments.delta", None, item_id="f", delta="{}"), completed()],
        [called("c", "w", ""), called("c", None, "{}")],
    ),
    "item ids that change": (
        [event("output_item.added", item=call(item="x")), event("function_call_arguments.delta", item_id="y", delta="{}"), event("output_item.done", item=call(item="z", arguments="{}")), completed(call(item="q", arguments="{}"))],
        [called("c", "w", ""), called("c", None, "{}")],
    ),
    "snapshot without the item before the calls": (
        [event("output_item.added", 1, item=call("c", "w", item="f")), event("output_item.added", 2, item=call("d", "x", item="g")), event("function_call_arguments.delta", 2, delta='{"a":1}'), completed(call("c", "w", item="f"), call("d", "x", '{"a":1}', item="g"))],
        [called("c", "w", ""), called("d", "x", ""), called("d", None, '{"a":1}')],
    ),
    "call with what must go back": ([completed(call(arguments="{}", namespace="n"))], [called("c", "w", "", providerMetadata={"openai": {"namespace": "n"}}), called("c", None, "{}")]),
    "failed MCP call": ([completed({"type": "mcp_call", "name": "m", "error": {"x": 1}})], [{"type": "warning", "warning": {"type": "server-tool-error", "message": "The provider's MCP call 'm' failed."}}]),
    "what is not known is passed over": ([event("queued", None, response={}), event("new.delta", delta="x"), {"type": "keepalive"}, event("output_item.done", item={"type": "new"}), "[DONE]", completed()], []),
}  # fmt: skip


@pytest.mark.parametrize("case", STREAMS.values(), ids=STREAMS)
def test_stream_becomes_parts(case: tuple[list[Any], list[Any]]) -> None:
    frames, wanted = case
    parts = told("openai-responses", *frames)
    assert parts[:-1] == wanted
    assert parts[-1]["type"] == "finish"


def test_nothing_follows_the_terminal_event() -> None:
    assert told("openai-responses", text("a"), completed(), text("b"))[:-1] == [said("a")]


CALL = event("output_item.done", item=call(arguments='{"a":1}'))
ENDS: dict[str, tuple[list[Any], str, str]] = {
    "completed": ([completed()], "stop", "completed"),
    "completed with a call": ([CALL, completed()], "tool_calls", "completed"),
    "completed with a refusal": ([event("refusal.delta", delta="no"), completed()], "content_filter", "completed"),
    "too long": ([completed(status="incomplete", incomplete_details={"reason": "max_output_tokens"})], "length", "max_output_tokens"),
    "too many messages": ([completed(status="incomplete", incomplete_details={"reason": "max_messages"})], "length", "max_messages"),
    "filtered": ([completed(status="incomplete", incomplete_details={"reason": "content_filter"})], "content_filter", "content_filter"),
    "incomplete for an unknown reason": ([completed(status="incomplete", incomplete_details={"reason": "tired"})], "length", "tired"),
    "incomplete for no reason": ([completed(status="incomplete")], "length", "incomplete"),
    "incomplete by status only": ([event("completed", None, response={"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}})], "length", "max_output_tokens"),
    "cancelled": ([completed(status="cancelled")], "aborted", "cancelled"),
}  # fmt: skip


@pytest.mark.parametrize("case", ENDS.values(), ids=ENDS)
def test_status_and_reason_make_the_finish(case: tuple[list[Any], str, str]) -> None:
    frames, reason, raw = case
    machine, parts = read("openai-responses", sse(*frames))
    assert (parts[-1]["finishReason"], machine.raw_finish) == (reason, raw)
    assert all(is_valid for *_, is_valid in calls(machine))


@pytest.mark.parametrize(
    "end",
    [
        completed(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
        completed(status="incomplete", incomplete_details={"reason": "content_filter"}),
        completed(status="cancelled"),
        event("failed", None, response={"error": {"code": "server_error", "message": "x"}}),
        "[DONE]",
    ],
)
def test_whole_call_of_a_turn_that_did_not_complete_is_not_valid(end: Any) -> None:
    machine, _ = read("openai-responses", sse(CALL, end))
    assert calls(machine) == [("c", "w", {"a": 1}, False)]


FAILURES: dict[str, tuple[list[Any], str, str]] = {
    "failed": ([event("failed", None, response={"error": {"code": "rate_limit_exceeded", "message": "x"}})], "rate_limit", "x"),
    "failed for no reason": ([event("failed", None, response={"error": None})], "api_call_error", "Provider request failed (HTTP 200)."),
    "completed, but failed": ([completed(error={"code": "server_error", "message": "x"})], "api_call_error", "x"),
    "flat error": ([{"type": "error", "code": "invalid_prompt", "message": "x", "param": None}], "invalid_request", "x"),
    "nested error": ([{"type": "error", "error": {"code": "context_length_exceeded", "message": "x"}}], "context_overflow", "x"),
    "error without a type": ([{"error": {"code": "server_error", "message": "x"}}], "api_call_error", "x"),
    "cut": ([text("a")], "stream_truncated", "The openai stream ended before its end marker: the answer is cut off."),
    "cut after the marker of another wire": ([text("a"), "[DONE]"], "stream_truncated", "The openai stream ended before its end marker: the answer is cut off."),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILURES.values(), ids=FAILURES)
def test_failure_is_one_error_part(case: tuple[list[Any], str, str]) -> None:
    frames, code, message_ = case
    parts = told("openai-responses", *frames)
    assert [part["type"] for part in parts if part["type"] != "text-delta"] == ["error"]
    assert (parts[-1]["error"]["code"], parts[-1]["error"]["message"]) == (code, message_)


def test_finish_keeps_usage_tier_and_searches() -> None:
    reported = {"input_tokens": 9, "output_tokens": 3}
    created = event("created", None, response={"id": "r", "model": "m", "service_tier": "auto"})
    search = event("output_item.added", item={"type": "web_search_call", "id": "s"})
    machine, parts = read(
        "openai-responses",
        sse(created, search, search, completed(usage=reported, service_tier="flex")),
        provider="acme",
    )
    assert parts == [
        {
            "type": "finish",
            "usage": usage(9, 3, serverToolUses=1),
            "finishReason": "stop",
            "providerMetadata": {
                "deuz": {"serviceTier": "flex", "rawFinishReason": "completed"},
                "acme": {"usage": reported},
            },
        }
    ]
    assert (machine.model_id, machine.response_id) == ("m", "r")


def test_hosts_own_count_of_searches_is_taken() -> None:
    reported = {"usage": {"input_tokens": 1}, "tool_usage": {"web_search": {"num_requests": 3}}}
    search = event("output_item.added", item={"type": "web_search_call", "id": "s"})
    assert told("openai-responses", search, completed(**reported))[-1]["usage"]["serverToolUses"] == 3


USAGES: dict[str, tuple[dict[str, Any], int, dict[str, int]]] = {
    "plain": ({"input_tokens": 10, "output_tokens": 5}, 0, usage(10, 5)),
    "cache": (
        {"input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3, "cache_write_tokens_details": {"ttl_30m": 2, "ttl_12h": 1}}},
        0,
        usage(3, 5, cachedReadTokens=4, cacheWriteTokens=2, cacheWrite1hTokens=1),
    ),
    "reasoning": ({"input_tokens": 10, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 4}}, 2, usage(10, 5, reasoningTokens=4, serverToolUses=2)),
    "hostile": ({"input_tokens": [], "output_tokens": None, "input_tokens_details": 5}, 0, usage(0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("case", USAGES.values(), ids=USAGES)
def test_usage_is_counted_as_the_wire_means_it(case: tuple[dict[str, Any], int, dict[str, int]]) -> None:
    raw, searches, wanted = case
    assert usage_from(raw, searches) == wanted


def test_whole_response_is_read_like_a_stream() -> None:
    body = {
        "id": "r",
        "object": "response",
        "error": None,
        "status": "completed",
        "output": [message(output("a")), call(arguments="{}")],
        "usage": {"input_tokens": 9, "output_tokens": 3},
    }
    machine, parts = read("openai-responses", json.dumps(body).encode(), content_type="application/json")
    assert parts[:-1] == [said("a"), called("c", "w", ""), called("c", None, "{}")]
    assert (parts[-1]["finishReason"], parts[-1]["usage"]) == ("tool_calls", usage(9, 3))
    assert calls(machine) == [("c", "w", {}, True)]


def test_custom_tools_input_is_its_text() -> None:
    item = {"type": "custom_tool_call", "id": "f", "call_id": "c", "name": "sql", "input": ""}
    frames = [
        event("output_item.added", item=item),
        event("custom_tool_call_input.delta", delta="select"),
        event("custom_tool_call_input.done", input="select 1"),
        completed({**item, "input": "select 1"}),
    ]
    machine, parts = read("openai-responses", sse(*frames))
    metadata = {"openai": {"type": "custom_tool_call"}}
    assert parts[:-1] == [
        called("c", "sql", "", providerMetadata=metadata),
        called("c", None, "select"),
        called("c", None, " 1"),
    ]
    assert calls(machine) == [("c", "sql", "select 1", True)]


def test_long_texts_take_linear_time() -> None:
    """Joining the text at every delta would copy 20 GB."""
    frames = sse(*[text("x")] * 200_000, completed(message(output("x" * 200_001))))
    parts: list[Any] = list(parser("openai-responses").receive(frames))
    assert parts[-2] == said("x")
    assert len(parts) == 200_002
