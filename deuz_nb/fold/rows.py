"""The rows of a ledger: what one model call took and cost, and what a run did.

Tokens are counted inclusively (providers.md 8): `input_tokens` is the whole prompt, `output_tokens` all that
was generated, and the other columns say how much of them was what.  None is unknown, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final, NamedTuple, TypedDict, cast

from deuz_nb.fold.values import is_number, is_object
from deuz_nb.parts.usage import JSON, JSONObject, Usage

__all__ = ["RunRow", "TokenColumns", "UsageRow", "run_row", "seconds", "token_columns", "whole"]

_LARGEST: Final = 2**53
_MOST_TOKENS: Final = 10**12
_SUMMED: Final = (
    "inputTokens",
    "cachedReadTokens",
    "cacheWriteTokens",
    "cacheWrite1hTokens",
    "outputTokens",
)


class TokenColumns(TypedDict):
    """The token columns of a row."""

    input_tokens: int | None
    input_uncached_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cache_write_long_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    audio_tokens: int | None
    total_tokens: int | None


class UsageRow(NamedTuple):
    """One model call.

    `agent` is the sub-agent's path joined by `/`, None for the run's own calls.  `at` is when the call began;
    `ttft_s` and `latency_s` are the seconds from then to its first content and to its end.  `cost_usd` is
    what it alone cost.  `finish_reason` is "error" for a call that failed, None for one that was cut off.
    """

    run: str
    step: int | None = None
    agent: str | None = None
    provider: str | None = None
    model: str | None = None
    at: datetime | None = None
    input_tokens: int | None = None
    input_uncached_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_long_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    audio_tokens: int | None = None
    total_tokens: int | None = None
    cost_usd: Decimal | None = None
    cost_source: str | None = None
    finish_reason: str | None = None
    ttft_s: float | None = None
    latency_s: float | None = None

    @classmethod
    def of_call(
        cls,
        *,
        run: str,
        step: int | None,
        provider: str | None,
        model: str | None,
        at_s: float | None,
        usage: Usage | None,
        cost_usd: Decimal | None,
        cost_source: str | None,
        finish_reason: str | None,
        first_part_s: float | None,
        latency_s: float | None,
        agent: str | None = None,
    ) -> UsageRow:
        """The row of a call whose facts are known; `usage` is None when the provider reported none."""
        return cls(
            run=run,
            step=step,
            agent=agent,
            provider=provider,
            model=model,
            at=None if at_s is None else datetime.fromtimestamp(at_s, UTC),
            **token_columns(usage),
            cost_usd=cost_usd,
            cost_source=cost_source,
            finish_reason=finish_reason,
            ttft_s=first_part_s,
            latency_s=latency_s,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run: its calls and its sub-agents' calls added up.

    Sums are over the calls where the number is known, and None where it is known for none; `unreported_calls`
    and `unpriced_calls` say how many are missing in the tokens and in the cost.  `provider` and `model` list
    the different ones in the order of their first call.  `finish_reason` is "error" for a run that failed,
    None for one that was cut off.
    """

    run: str
    provider: str | None
    model: str | None
    at: datetime | None
    calls: int
    input_tokens: int | None
    input_uncached_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cache_write_long_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    audio_tokens: int | None
    total_tokens: int | None
    unreported_calls: int
    cost_usd: Decimal | None
    unpriced_calls: int
    finish_reason: str | None
    error: str | None
    ttft_s: float | None
    latency_s: float | None


def token_columns(usage: JSON) -> TokenColumns:
    """The token columns of a wire usage; all unknown when there is none.

    No call takes no tokens: a usage of zeros means that none was reported.  A usage with a count that is none
    is unknown as a whole, and so is the one subset that is larger than its whole.
    """
    given: JSONObject = usage if is_object(usage) else {}
    counts = [_count(given.get(name, 0)) for name in _SUMMED]
    if None in counts:
        return _UNKNOWN
    fresh, read, write, long, output = cast("list[int]", counts)
    whole = fresh + read + write + long
    if whole + output == 0:
        return _UNKNOWN
    reasoning, audio = _count(given.get("reasoningTokens", 0)), _count(given.get("audioTokens"))
    return {
        "input_tokens": whole,
        "input_uncached_tokens": fresh,
        "cache_read_tokens": read,
        "cache_write_tokens": write,
        "cache_write_long_tokens": long,
        "output_tokens": output,
        "reasoning_tokens": reasoning if reasoning is not None and reasoning <= output else None,
        "audio_tokens": audio if audio is not None and audio <= whole + output else None,
        "total_tokens": whole + output,
    }


_UNKNOWN: Final[TokenColumns] = {
    "input_tokens": None,
    "input_uncached_tokens": None,
    "cache_read_tokens": None,
    "cache_write_tokens": None,
    "cache_write_long_tokens": None,
    "output_tokens": None,
    "reasoning_tokens": None,
    "audio_tokens": None,
    "total_tokens": None,
}


def run_row(
    rows: Sequence[UsageRow],
    *,
    run: str,
    finish_reason: str | None = None,
    error: str | None = None,
    latency_s: float | None = None,
) -> RunRow:
    """The row of a run from those of its calls; its latency too, when each call says when it began."""
    begins = [row.at for row in rows if row.at is not None]
    own = [row for row in rows if row.agent is None]
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    if latency_s is None:
        latency_s = _latency_s(rows)
    return RunRow(
        run=run,
        provider=_listed(row.provider for row in rows),
        model=_listed(row.model for row in rows),
        at=min(begins, default=None),
        calls=len(rows),
        input_tokens=_sum(row.input_tokens for row in rows),
        input_uncached_tokens=_sum(row.input_uncached_tokens for row in rows),
        cache_read_tokens=_sum(row.cache_read_tokens for row in rows),
        cache_write_tokens=_sum(row.cache_write_tokens for row in rows),
        cache_write_long_tokens=_sum(row.cache_write_long_tokens for row in rows),
        output_tokens=_sum(row.output_tokens for row in rows),
        reasoning_tokens=_sum(row.reasoning_tokens for row in rows),
        audio_tokens=_sum(row.audio_tokens for row in rows),
        total_tokens=_sum(row.total_tokens for row in rows),
        unreported_calls=sum(row.total_tokens is None for row in rows),
        cost_usd=sum(costs, Decimal(0)) if costs else None,
        unpriced_calls=len(rows) - len(costs),
        finish_reason=finish_reason,
        error=error,
        ttft_s=own[0].ttft_s if own else None,
        latency_s=latency_s,
    )


def whole(value: JSON) -> int | None:
    """The value as an int when it is a whole number that JavaScript can hold exactly."""
    return int(value) if is_number(value) and abs(value) <= _LARGEST and value == int(value) else None


def seconds(begin_ms: float | None, end_ms: float | None) -> float | None:
    """From one time to another, where both are known."""
    return None if begin_ms is None or end_ms is None else round((end_ms - begin_ms) / 1000, 6)


def _count(value: JSON) -> int | None:
    """A count of tokens; None when it is no count, or more than any call can have."""
    count = value if type(value) is int else whole(value)
    return count if count is not None and 0 <= count <= _MOST_TOKENS else None


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _listed(names: Iterable[str | None]) -> str | None:
    return ", ".join(dict.fromkeys(name for name in names if name is not None)) or None


def _latency_s(rows: Sequence[UsageRow]) -> float | None:
    """From the first call's beginning to the last end; with one call, its own."""
    if len(rows) == 1:
        return rows[0].latency_s
    spans = [(row.at, row.latency_s) for row in rows if row.at is not None and row.latency_s is not None]
    if not spans or len(spans) < len(rows):
        return None
    end = max(at + timedelta(seconds=latency_s) for at, latency_s in spans)
    return (end - min(at for at, _ in spans)).total_seconds()
