"""The ledger: a row per model call, a row per run, a row per tool call; unknown where it was not told."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.fold.ledger import Ledger, usage_rows
from deuz_nb.fold.rows import RunRow, TokenColumns, UsageRow, run_row, token_columns
from deuz_nb.fold.toolrows import ToolRow, tool_rows

AT = datetime(2026, 11, 18, 8, 42, tzinfo=UTC)
USAGE = {
    "inputTokens": 412,
    "outputTokens": 341,
    "reasoningTokens": 83,
    "cachedReadTokens": 2304,
    "cacheWriteTokens": 512,
    "cacheWrite1hTokens": 100,
    "totalTokens": 3669,
}
TOKENS: TokenColumns = {
    "input_tokens": 3328,
    "input_uncached_tokens": 412,
    "cache_read_tokens": 2304,
    "cache_write_tokens": 512,
    "cache_write_long_tokens": 100,
    "output_tokens": 341,
    "reasoning_tokens": 83,
    "audio_tokens": None,
    "total_tokens": 3669,
}
ZEROS = dict.fromkeys(USAGE, 0)
NONE: TokenColumns = dict.fromkeys(TOKENS)  # type: ignore[assignment]


def start(step: int) -> Any:
    return {"type": "step-start", "step": step}


def step(number: int, reason: str = "stop", **more: Any) -> Any:
    return {"type": "step-finish", "step": number, "finishReason": reason, "usage": USAGE, **more}


def finish(reason: str = "stop", **more: Any) -> Any:
    return {"type": "finish", "finishReason": reason, "usage": USAGE, **more}


def agent(part: Any, *path: str) -> Any:
    return {"type": "sub-agent", "agentPath": list(path), "part": part}


TEXT = {"type": "text-delta", "text": "Hi"}
START = {"type": "start", "messageId": "m"}
ERROR = {"type": "error", "message": "Overloaded"}


def row(**more: Any) -> UsageRow:
    return UsageRow(**{"run": "r", **TOKENS, "finish_reason": "stop", **more})


def unknown(**more: Any) -> UsageRow:
    return UsageRow(**{"run": "r", **more})


CALLS: dict[str, tuple[list[Any], list[UsageRow]]] = {
    "steps": (
        [START, start(0), TEXT, step(0, "tool_calls", modelId="m", costUsd=0.1), start(1), step(1), finish()],
        [
            row(step=0, finish_reason="tool_calls", model="m", cost_usd=Decimal("0.1")),
            row(step=1),
        ],
    ),
    "steps that do not tell where they begin": ([step(0), step(1)], [row(step=0), row(step=1)]),
    "no steps": ([START, TEXT, finish(modelId="m", costUsd=2)], [row(model="m", cost_usd=Decimal(2))]),
    "no steps, no content": ([START, finish()], [row()]),
    "the one step's model and price are the run's": (
        [start(0), step(0), finish(modelId="m", costUsd=0.25)],
        [row(step=0, model="m", cost_usd=Decimal("0.25"))],
    ),
    "a run's price is not one of its calls'": (
        [start(0), step(0), start(1), step(1), finish(modelId="m", costUsd=0.25)],
        [row(step=0), row(step=1)],
    ),
    "a run's price is not its own call's where a sub-agent called too": (
        [start(0), agent(finish(), "a"), step(0), finish(costUsd=0.25)],
        [row(agent="a"), row(step=0)],
    ),
    "a step failed": ([start(0), step(0), start(1), TEXT, ERROR], [row(step=0), unknown(step=1, finish_reason="error")]),
    "a step was cut": ([start(0), step(0), start(1), TEXT], [row(step=0), unknown(step=1)]),
    "a step was tried again": (
        [start(0), TEXT, start(0), step(0), finish()],
        [unknown(step=0), row(step=0)],
    ),
    "a step's end is missing": ([start(0), start(1), step(1), finish()], [unknown(step=0), row(step=1)]),
    "another step ends": ([start(0), step(1), finish()], [unknown(step=0), row(step=1)]),
    "the run ends within a step": ([start(0), TEXT, finish()], [unknown(step=0)]),
    "a step's end does not say which": (
        [start(3), {"type": "step-finish", "finishReason": "stop", "usage": USAGE}],
        [row(step=3)],
    ),
    "a call without steps failed": ([START, ERROR], [unknown(finish_reason="error")]),
    "a call without steps was cut": ([START, TEXT], [unknown()]),
    "an error that did not end the run": ([START, TEXT, ERROR, TEXT, finish()], [row()]),
    "nothing was called": ([START], []),
    "only data was written": ([START, {"type": "data-progress", "payload": 1}], []),
    "nothing": ([], []),
    "two legs without steps": ([TEXT, finish("tool_calls"), TEXT, finish()], [row(finish_reason="tool_calls"), row()]),
    "finish is told twice": ([TEXT, finish(), finish()], [row()]),
    "usage was not reported": (
        [start(0), {"type": "step-finish", "step": 0, "finishReason": "stop", "usage": ZEROS}],
        [unknown(step=0, finish_reason="stop")],
    ),
    "sub-agents have rows of their own": (
        [
            start(0),
            agent(start(0), "a"),
            agent(start(0), "a", "b"),
            agent(step(0, modelId="x"), "a", "b"),
            agent(step(0, costUsd=1), "a"),
            agent(TEXT, "c"),
            step(0),
            finish(),
        ],
        [
            row(step=0, agent="a/b", model="x"),
            row(step=0, agent="a", cost_usd=Decimal(1)),
            row(step=0),
            unknown(agent="c"),
        ],
    ),
    "cost after its step": (
        [start(0), step(0), {"type": "cost", "costUsd": 0.1, "deltaUsd": 0.1, "stepIndex": 0}, start(1), step(1),
         {"type": "cost", "costUsd": 0.3, "deltaUsd": 0.2, "stepIndex": 1}, finish()],
        [row(step=0, cost_usd=Decimal("0.1")), row(step=1, cost_usd=Decimal("0.2"))],
    ),
    "running cost": (
        [start(0), step(0), {"type": "cost", "costUsd": 0.1}, start(1), step(1), {"type": "cost", "costUsd": 0.3}],
        [row(step=0, cost_usd=Decimal("0.1")), row(step=1, cost_usd=Decimal("0.2"))],
    ),
    "a step's own price is not told twice": (
        [start(0), step(0, costUsd=0.5), {"type": "cost", "costUsd": 0.5, "deltaUsd": 0.5, "stepIndex": 0}],
        [row(step=0, cost_usd=Decimal("0.5"))],
    ),
    "cost before the finish of a run without steps": (
        [TEXT, {"type": "cost", "costUsd": 0.5, "stepIndex": 0}, finish()],
        [row(cost_usd=Decimal("0.5"))],
    ),
    "cost after it": ([TEXT, finish(), {"type": "cost", "costUsd": 0.5}], [row(cost_usd=Decimal("0.5"))]),
    "cost that is none": (
        [start(0), step(0, costUsd=-1), {"type": "cost", "costUsd": "x"}, {"type": "cost", "costUsd": True}],
        [row(step=0)],
    ),
    "parts that are none": (
        [None, 3, "x", [], {}, {"type": None}, {"type": "sub-agent"}, agent(None, "a"), agent({"type": 3}, "a"),
         {"type": "sub-agent", "agentPath": "a", "part": step(0)}, {"type": "sub-agent", "agentPath": [], "part": step(0)},
         start("0"), step(True, reason=[], modelId=4)],
        [row(finish_reason=None)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_calls_of_a_run(case: str) -> None:
    parts, expected = CALLS[case]
    assert usage_rows(parts, run="r") == expected


def test_provider_and_beginning_are_told_by_the_caller() -> None:
    rows = usage_rows([start(0), step(0)], run="r", provider="acme", at=AT)
    assert rows == [row(step=0, provider="acme", at=AT)]


def test_times_give_the_latencies_of_each_call() -> None:
    parts = [START, start(0), TEXT, step(0), start(1), TEXT, step(1), finish()]
    times = [10, 20, 520, 1020, 2020, 2120, 4020, 4030]
    rows = usage_rows(parts, run="r", times_ms=times, at=AT)
    assert [(found.ttft_s, found.latency_s) for found in rows] == [(0.5, 1.0), (0.1, 2.0)]
    assert [found.at for found in rows] == [AT + timedelta(milliseconds=ms) for ms in (10, 2010)]


def test_times_of_a_run_without_steps_begin_with_its_first_part() -> None:
    parts, times = [START, TEXT, TEXT, finish()], [100, 400, 500, 1100]
    assert usage_rows(parts, run="r", times_ms=times) == [row(ttft_s=0.3, latency_s=1.0)]


def test_missing_times_leave_latencies_unknown() -> None:
    parts = [start(0), TEXT, step(0)]
    assert usage_rows(parts, run="r", times_ms=[None, 5, None]) == [row(step=0)]
    assert usage_rows(parts, run="r", times_ms=[0, 5]) == [row(step=0, ttft_s=0.005)]


COUNTS: dict[str, tuple[Any, TokenColumns]] = {
    "all": (USAGE, TOKENS),
    "audio": ({**USAGE, "audioTokens": 7}, {**TOKENS, "audio_tokens": 7}),
    "absent counts are zero": (
        {"inputTokens": 3, "outputTokens": 2},
        {
            **TOKENS,
            "input_tokens": 3,
            "input_uncached_tokens": 3,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
            "cache_write_long_tokens": 0,
            "output_tokens": 2,
            "reasoning_tokens": 0,
            "total_tokens": 5,
        },
    ),
    "the total is the sum, whatever is said": ({**USAGE, "totalTokens": 1}, TOKENS),
    "whole floats": ({**USAGE, "inputTokens": 412.0}, TOKENS),
    "more reasoning than output": ({**USAGE, "reasoningTokens": 342}, {**TOKENS, "reasoning_tokens": None}),
    "reasoning that is no count": ({**USAGE, "reasoningTokens": None}, {**TOKENS, "reasoning_tokens": None}),
    "more audio than tokens": ({**USAGE, "audioTokens": 4000}, TOKENS),
    "zeros": (ZEROS, NONE),
    "empty": ({}, NONE),
    "none": (None, NONE),
    "text": ("412", NONE),
    "negative": ({**USAGE, "inputTokens": -1}, NONE),
    "broken": ({**USAGE, "outputTokens": 1.5}, NONE),
    "null": ({**USAGE, "outputTokens": None}, NONE),
    "flag": ({**USAGE, "cachedReadTokens": True}, NONE),
    "too large to be true": ({**USAGE, "inputTokens": 10**40}, NONE),
    "not finite": ({**USAGE, "inputTokens": float("inf")}, NONE),
}


@pytest.mark.parametrize("case", COUNTS)
def test_token_columns(case: str) -> None:
    usage, expected = COUNTS[case]
    assert token_columns(usage) == expected


def test_row_of_a_call_whose_facts_are_known() -> None:
    facts: dict[str, Any] = {
        "run": "r",
        "step": 0,
        "provider": "acme",
        "model": "m",
        "at_s": AT.timestamp(),
        "usage": USAGE,
        "cost_usd": Decimal("0.1"),
        "cost_source": "table",
        "finish_reason": "stop",
        "first_part_s": 0.5,
        "latency_s": 2.0,
    }
    assert UsageRow.of_call(**facts) == row(
        step=0,
        provider="acme",
        model="m",
        at=AT,
        cost_usd=Decimal("0.1"),
        cost_source="table",
        ttft_s=0.5,
        latency_s=2.0,
    )
    assert UsageRow.of_call(**{**facts, "usage": None}).total_tokens is None


# The row of a run


def whole(**more: Any) -> RunRow:
    facts: dict[str, Any] = {
        "run": "r",
        "provider": None,
        "model": None,
        "at": None,
        "calls": 1,
        **TOKENS,
        "unreported_calls": 0,
        "cost_usd": None,
        "unpriced_calls": 1,
        "finish_reason": "stop",
        "error": None,
        "ttft_s": None,
        "latency_s": None,
    }
    return RunRow(**{**facts, **more})


def run_of(parts: list[Any], times_ms: Any = ()) -> RunRow:
    ledger = Ledger("r")
    ledger.apply_all(parts, times_ms)
    return ledger.run_row()


RUNS: dict[str, tuple[list[Any], RunRow]] = {
    "one call": ([TEXT, finish(modelId="m", costUsd=0.5)], whole(model="m", cost_usd=Decimal("0.5"), unpriced_calls=0)),
    "costs are summed exactly": (
        [step(0, costUsd=0.1), step(1, costUsd=0.2), agent(step(0), "a"), finish("length")],
        whole(
            calls=3,
            **{k: None if v is None else 3 * v for k, v in TOKENS.items()},  # type: ignore[operator]
            cost_usd=Decimal("0.3"),
            unpriced_calls=1,
            finish_reason="length",
        ),
    ),
    "models in the order of their first call": (
        [step(0, modelId="b"), step(1, modelId="a"), step(2, modelId="b"), finish()],
        whole(model="b, a", calls=3, unpriced_calls=3, **{k: None if v is None else 3 * v for k, v in TOKENS.items()}),  # type: ignore[operator]
    ),
    "failed": (
        [start(0), step(0), start(1), ERROR],
        whole(calls=2, unreported_calls=1, unpriced_calls=2, finish_reason="error", error="Overloaded"),
    ),
    "cut": ([start(0), step(0), start(1)], whole(calls=2, unreported_calls=1, unpriced_calls=2, finish_reason=None)),
    "went on after an error": ([TEXT, ERROR, finish()], whole()),
    "nothing was called": (
        [START],
        whole(calls=0, **NONE, unpriced_calls=0, finish_reason=None),
    ),
    "nothing was reported": ([start(0), ERROR], whole(**NONE, unreported_calls=1, finish_reason="error", error="Overloaded")),
}  # fmt: skip


@pytest.mark.parametrize("case", RUNS)
def test_row_of_a_run(case: str) -> None:
    parts, expected = RUNS[case]
    assert run_of(parts) == expected


def test_run_lasts_from_its_first_part_to_its_last() -> None:
    found = run_of([START, start(0), TEXT, step(0), finish()], [100, 200, 300, 1000, 2100])
    assert (found.ttft_s, found.latency_s) == (0.1, 2.0)


def test_run_of_calls_with_times_lasts_from_the_first_to_the_end_of_the_last() -> None:
    rows = [row(at=AT, latency_s=1.5, ttft_s=0.5), row(at=AT + timedelta(seconds=2), latency_s=3.0)]
    found = run_row(rows, run="r")
    assert (found.at, found.ttft_s, found.latency_s) == (AT, 0.5, 5.0)
    assert run_row([*rows, row()], run="r").latency_s is None
    assert run_row([row(latency_s=1.5)], run="r").latency_s == 1.5


# The rows of tools


def call(**more: Any) -> Any:
    return {"type": "tool-call", "toolCallId": "c", "toolName": "t", "input": {"x": 1}, **more}


def state(word: str, **more: Any) -> Any:
    return {"type": "tool-state", "toolCallId": "c", "state": word, **more}


def result(output: Any = "ok", **more: Any) -> Any:
    return {"type": "tool-result", "toolCallId": "c", "toolName": "t", "output": output, **more}


def tool(**more: Any) -> ToolRow:
    return ToolRow(run="r", tool_call_id="c", **{"tool": "t", "input": '{"x":1}', **more})


TOOLS: dict[str, tuple[list[Any], list[ToolRow]]] = {
    "a whole call": (
        [start(2), call(), state("executing"), result({"m": 1.0}), state("complete", outcome="success")],
        [tool(step=2, output='{"m":1}', state="complete", outcome="success", is_error=False, is_denied=False)],
    ),
    "without states": ([call(), result()], [tool(output="ok", state="complete", is_error=False)]),
    "not run yet": ([call()], [tool(state="input-complete")]),
    "cut in its arguments": (
        [{"type": "tool-input-delta", "toolCallId": "c", "toolName": "t", "delta": '{"x'}],
        [tool(input=None, state="input-streaming")],
    ),
    "failed": (
        [call(), result("boom", isError=True), state("error", outcome="timeout")],
        [tool(output="boom", state="error", outcome="timeout", is_error=True, is_denied=False)],
    ),
    "failed, without states": ([call(), result("boom", isError=True)], [tool(output="boom", state="error", is_error=True)]),
    "refused": (
        [call(), {**call(), "type": "tool-approval-request", "approvalId": "a"}, state("error", denied=True)],
        [tool(state="error", is_denied=True)],
    ),
    "waiting": (
        [{**call(), "type": "tool-approval-request", "approvalId": "a"}],
        [tool(state="awaiting-approval")],
    ),
    "a result without its call": ([result()], [tool(input=None, output="ok", state="complete", is_error=False)]),
    "the same id in a sub-agent": (
        [call(), agent(start(1), "a"), agent(call(toolName="u"), "a"), agent(result(), "a")],
        [
            tool(state="input-complete"),
            tool(agent="a", step=1, tool="t", output="ok", state="complete", is_error=False),
        ],
    ),
    "parts that are none": (
        [None, 3, {"type": "tool-call"}, call(toolCallId=4), {"type": "sub-agent", "agentPath": ["a"]},
         agent(agent(call(), "b"), "a"), state(None)],
        [tool(tool=None, input=None, state="input-streaming")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TOOLS)
def test_tools_of_a_run(case: str) -> None:
    parts, expected = TOOLS[case]
    assert tool_rows(parts, run="r") == expected


def test_tool_lasts_from_its_whole_call_to_its_result() -> None:
    (found,) = tool_rows([call(), None, result()], run="r", times_ms=[100, 200, 1600])
    assert found.duration_s == 1.5


# Anything at all

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)
amounts = st.one_of(st.integers(0, 9), st.integers(0, 10**6), st.floats(0, 2), values)
usages = st.fixed_dictionaries({}, optional=dict.fromkeys([*USAGE, "audioTokens"], amounts)) | values
steps = st.integers(0, 3) | values
flat_parts = st.one_of(
    st.just(START),
    st.just(TEXT),
    st.just(ERROR),
    st.builds(lambda n: {"type": "step-start", "step": n}, steps),
    st.builds(
        lambda n, u, c: {"type": "step-finish", "step": n, "usage": u, "costUsd": c}, steps, usages, amounts
    ),
    st.builds(
        lambda u, c: {"type": "finish", "finishReason": "stop", "usage": u, "costUsd": c}, usages, amounts
    ),
    st.builds(
        lambda c, d, n: {"type": "cost", "costUsd": c, "deltaUsd": d, "stepIndex": n}, amounts, amounts, steps
    ),
    st.builds(
        lambda i, o: {"type": "tool-result", "toolCallId": i, "output": o}, st.sampled_from("ab"), values
    ),
    values,
)
any_parts = st.lists(
    flat_parts
    | st.builds(
        lambda p, path: {"type": "sub-agent", "agentPath": path, "part": p}, flat_parts, st.just(["a"])
    ),
    max_size=12,
)


@given(any_parts, st.lists(st.none() | st.floats(0, 1e6), max_size=12))
def test_rows_of_anything_hold_the_invariants_of_usage(parts: list[Any], times: list[float | None]) -> None:
    ledger = Ledger("r", at=AT)
    ledger.apply_all(parts, times)
    rows = ledger.rows()
    run = ledger.run_row()
    for found in [*(r._asdict() for r in rows), asdict(run)]:
        if found["total_tokens"] is None:
            assert all(found[name] is None for name in TOKENS)
            continue
        assert found["total_tokens"] == found["input_tokens"] + found["output_tokens"] > 0
        assert found["input_tokens"] == (
            found["input_uncached_tokens"]
            + found["cache_read_tokens"]
            + found["cache_write_tokens"]
            + found["cache_write_long_tokens"]
        )
        assert found["reasoning_tokens"] is None or 0 <= found["reasoning_tokens"] <= found["output_tokens"]
        assert found["audio_tokens"] is None or 0 <= found["audio_tokens"] <= found["total_tokens"]
        assert found["cost_usd"] is None or found["cost_usd"] >= 0
    assert run.calls == len(rows)
    assert run.unreported_calls == sum(r.total_tokens is None for r in rows)
    assert run.unpriced_calls == sum(r.cost_usd is None for r in rows)
    assert (run.cost_usd is None) == (run.unpriced_calls == run.calls)


@given(any_parts)
def test_tool_rows_of_anything_can_be_made(parts: list[Any]) -> None:
    tool_rows(parts, run="r")
