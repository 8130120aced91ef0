"""One model call: parts in order, retries, time limits, endings."""

from __future__ import annotations

from typing import Any

import pytest

from deuz_nb import PriceTable, Timeouts, model, stream_chat
from deuz_nb.engine.result import StreamResult
from deuz_nb.errors import (
    AuthenticationError,
    CallTimeoutError,
    InvalidResponseError,
    NetworkError,
    RateLimitError,
    StreamTruncatedError,
)
from deuz_nb.testing import START_S, Answer, FakeTransport, fake_deps, run_in_fake_time
from tests.chat_bodies import END, HELLO, chunk, text

PRICES = PriceTable({"gpt-test": {"input": 1, "output": 2}})


def ask(*answers: Answer, **options: Any) -> StreamResult:
    deps = fake_deps(*answers)
    result = stream_chat(
        model("https://host.example/v1", model="gpt-test", api_key="k", capabilities={}),
        "Hi",
        deps=deps,
        prices=PRICES,
        **options,
    )
    result.transport = deps.transport  # type: ignore[attr-defined]  # the test looks at what was asked
    return result


def run(*answers: Answer, **options: Any) -> StreamResult:
    async def consume() -> StreamResult:
        return await ask(*answers, **options).consume()

    return run_in_fake_time(consume())


def transport_of(result: StreamResult) -> FakeTransport:
    return result.transport  # type: ignore[attr-defined]


def kinds(result: StreamResult) -> list[str]:
    return [part["type"] for part in result.parts]


def test_a_call_gives_its_parts_in_order_and_one_finish() -> None:
    result = run(Answer([HELLO]))
    usage = {
        "inputTokens": 10,
        "outputTokens": 5,
        "reasoningTokens": 0,
        "cachedReadTokens": 0,
        "cacheWriteTokens": 0,
        "cacheWrite1hTokens": 0,
        "totalTokens": 15,
    }
    assert result.parts[:-1] == [
        {"type": "step-start", "stepIndex": 0},
        {"type": "text-delta", "text": "Hel"},
        {"type": "text-delta", "text": "lo"},
        {
            "type": "step-finish",
            "stepIndex": 0,
            "finishReason": "stop",
            "usage": usage,
            "modelId": "gpt-test",
            "costUsd": 2e-05,
        },
        {"type": "cost", "costUsd": 2e-05, "deltaUsd": 2e-05, "stepIndex": 0},
    ]
    last: Any = result.parts[-1]
    assert {key: last[key] for key in ("type", "finishReason", "usage", "modelId", "costUsd")} == {
        "type": "finish",
        "finishReason": "stop",
        "usage": usage,
        "modelId": "gpt-test",
        "costUsd": 2e-05,
    }
    assert result.turn.status == "finished"


def test_a_whole_tool_call_comes_after_the_step_and_is_never_run() -> None:
    call = {"index": 0, "id": "c9", "function": {"name": "look", "arguments": '{"a": 1}'}}
    result = run(Answer([chunk({"tool_calls": [call]}) + chunk(finish="tool_calls") + b"data: [DONE]\n\n"]))
    assert kinds(result) == [
        "step-start",
        "tool-call-delta",
        "step-finish",
        "tool-call",
        "tool-state",
        "finish",
    ]
    assert result.parts[3] == {"type": "tool-call", "toolCallId": "c9", "toolName": "look", "input": {"a": 1}}


@pytest.mark.parametrize(
    ("body", "outcome", "last"),
    [
        pytest.param(b'{"a"', "cancelled", "error", id="cut-inside-the-arguments"),
        pytest.param(b'{"a": 1}', "cancelled", "error", id="cut-after-whole-arguments"),
    ],
)
def test_a_call_of_a_cut_answer_is_marked_and_never_given_as_whole(
    body: bytes, outcome: str, last: str
) -> None:
    call = {"index": 0, "id": "c9", "function": {"name": "look", "arguments": body.decode()}}
    result = run(Answer([chunk({"tool_calls": [call]})]))
    assert kinds(result) == ["step-start", "tool-call-delta", "tool-state", last]
    assert result.parts[2] == {
        "type": "tool-state",
        "toolCallId": "c9",
        "toolName": "look",
        "state": "error",
        "outcome": outcome,
    }
    assert isinstance(result.error, StreamTruncatedError)


def test_a_call_with_arguments_that_are_no_object_is_marked_invalid() -> None:
    call = {"index": 0, "id": "c9", "function": {"name": "look", "arguments": "nonsense"}}
    result = run(Answer([chunk({"tool_calls": [call]}) + chunk(finish="tool_calls") + b"data: [DONE]\n\n"]))
    states: list[Any] = [part for part in result.parts if part["type"] == "tool-state"]
    assert [state["outcome"] for state in states] == ["invalid-input"]
    assert "tool-call" not in kinds(result)


def test_a_call_of_an_answer_that_hit_its_limit_has_no_result() -> None:
    call = {"index": 0, "id": "c9", "function": {"name": "look", "arguments": "{}"}}
    result = run(Answer([chunk({"tool_calls": [call]}) + chunk(finish="length") + b"data: [DONE]\n\n"]))
    states: list[Any] = [part for part in result.parts if part["type"] == "tool-state"]
    assert [state["outcome"] for state in states] == ["no-result"]


def test_no_reported_usage_means_no_cost_and_no_tokens_in_the_row() -> None:
    result = run(Answer([text("x") + chunk(finish="stop") + b"data: [DONE]\n\n"]))
    assert "cost" not in kinds(result)
    assert result.usage_so_far is None
    row = result.usage_rows()[0]
    assert (row.total_tokens, row.cost_usd) == (None, None)


def test_unknown_price_is_a_warning_and_no_cost() -> None:
    async def consume() -> StreamResult:
        asked = model("https://host.example/v1", model="nobody-knows", api_key="k", capabilities={})
        return await stream_chat(asked, "Hi", deps=fake_deps(Answer([HELLO]))).consume()

    result = run_in_fake_time(consume())
    warnings: list[Any] = [part for part in result.parts if part["type"] == "warning"]
    assert [warning["warning"]["type"] for warning in warnings] == ["unpriced-model"]
    assert "cost" not in kinds(result)
    assert result.cost_usd is None
    finish: Any = result.parts[-1]
    assert "costUsd" not in finish


def refusal(status: int, headers: dict[str, str] | None = None) -> Answer:
    return Answer([b'{"error": {"message": "no", "type": "x"}}'], status=status, headers=headers or {})


@pytest.mark.parametrize(
    ("headers", "waited_s"),
    [
        pytest.param({"Retry-After": "7"}, 7.0, id="seconds"),
        pytest.param({"retry-after-ms": "250"}, 0.25, id="milliseconds"),
        pytest.param({"retry-after": "Thu, 09 Oct 2025 08:53:32 GMT"}, 12.0, id="http-date"),
        pytest.param({}, 0.5, id="own-back-off"),
    ],
)
def test_a_rate_limit_is_waited_for_as_long_as_the_host_says(
    headers: dict[str, str], waited_s: float
) -> None:
    result = run(refusal(429, headers), Answer([HELLO]))
    assert result.turn.status == "finished"
    assert result.turn.text == "Hello"
    assert result.first_part_s == pytest.approx(waited_s)
    assert len(transport_of(result).requests) == 2
    assert START_S == 1_760_000_000.0


def test_google_retry_info_is_waited_for() -> None:
    details = '[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "14s"}]'
    body = f'{{"error": {{"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow", "details": {details}}}}}'
    answer = b'data: {"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP","index":0}]}\r\n\r\n'

    async def consume() -> StreamResult:
        deps = fake_deps(Answer([body.encode()], status=429), Answer([answer]))
        return await stream_chat(model("google:gemini-x", api_key="k"), "Hi", deps=deps).consume()

    result = run_in_fake_time(consume())
    assert result.turn.text == "ok"
    assert result.first_part_s == pytest.approx(14.0)


def test_a_wait_longer_than_a_minute_is_not_waited_but_told() -> None:
    result = run(refusal(429, {"retry-after": "3600"}))
    assert isinstance(result.error, RateLimitError)
    assert result.error.retry_after_s == 3600.0
    assert len(transport_of(result).requests) == 1


def test_retries_end_and_the_last_error_is_the_result() -> None:
    result = run(refusal(503), refusal(503), refusal(500), max_retries=2)
    assert result.error is not None
    assert result.error.status == 500  # type: ignore[attr-defined]
    assert [part["type"] for part in result.parts] == ["step-start", "warning", "warning", "error"]


def test_a_wrong_key_is_not_retried() -> None:
    result = run(refusal(401))
    assert isinstance(result.error, AuthenticationError)
    assert len(transport_of(result).requests) == 1


def test_a_connection_that_cannot_be_made_is_retried() -> None:
    result = run(Answer(refuses=NetworkError("no route", is_retryable=True)), Answer([HELLO]))
    assert result.turn.text == "Hello"


def test_nothing_is_retried_once_content_came() -> None:
    result = run(Answer([text("par")], error=NetworkError("broke", is_retryable=True)), Answer([HELLO]))
    assert result.turn.text == "par"
    assert isinstance(result.error, NetworkError)
    assert len(transport_of(result).requests) == 1


def test_an_overload_as_first_event_of_a_stream_is_retried() -> None:
    first = b'data: {"error": {"message": "model is overloaded"}}\n\n'
    result = run(Answer([first]), Answer([HELLO]))
    assert result.turn.text == "Hello"


@pytest.mark.parametrize(
    ("answer", "limits", "phase"),
    [
        pytest.param(Answer([(50.0, HELLO)]), Timeouts(first_part_s=2), "first_part", id="first-part"),
        pytest.param(
            Answer([b": ping\n\n", (1.5, b": ping\n\n"), (1.5, HELLO)]),
            Timeouts(first_part_s=2),
            "first_part",
            id="keep-alives-are-no-content",
        ),
        pytest.param(
            Answer([text("a"), (30.0, END)]), Timeouts(silence_s=5), "silence", id="silence-between-chunks"
        ),
        pytest.param(
            Answer([text("a"), *[(1.0, text("b"))] * 100]), Timeouts(total_s=10), "total", id="total"
        ),
    ],
)
def test_a_time_limit_ends_the_call_and_closes_its_response(
    answer: Answer, limits: Timeouts, phase: str
) -> None:
    result = run(answer, timeouts=limits, max_retries=0)
    assert isinstance(result.error, CallTimeoutError)
    assert result.error.phase == phase
    assert transport_of(result).closed == 1


def test_slow_chunks_within_the_limit_are_no_silence() -> None:
    chunks = [text("a"), *[(4.0, text("b"))] * 5, (4.0, END)]
    result = run(Answer(chunks), timeouts=Timeouts(silence_s=5, first_part_s=5))
    assert result.turn.text == "abbbbb"
    assert result.elapsed_s == pytest.approx(24.0)


def test_a_web_page_instead_of_a_stream_is_named() -> None:
    result = run(Answer([b"<!doctype html><p>Login"], headers={"Content-Type": "text/html"}))
    assert isinstance(result.error, InvalidResponseError)
    assert "web page" in str(result.error)
    assert "Login" not in str(result.error)


def test_a_json_answer_instead_of_a_stream_is_read() -> None:
    body = (
        b'{"id": "c", "model": "gpt-test", "choices": [{"index": 0, "message": {"content": "Hi"},'
        b' "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}}'
    )
    result = run(Answer([body], headers={"content-type": "application/json"}))
    assert result.turn.text == "Hi"
    assert result.turn.status == "finished"


def test_every_part_has_the_time_at_which_it_came() -> None:
    result = run(Answer([text("a"), (2.0, text("b")), (1.0, END)]))
    assert result.part_times_ms == pytest.approx([0.0, 0.0, 2000.0, 3000.0, 3000.0, 3000.0])
    assert len(result.part_times_ms) == len(result.parts)
