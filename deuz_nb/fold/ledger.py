"""The ledger of a run: UI parts folded into one row per model call, and one row for the whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from deuz_nb.fold.rows import RunRow, UsageRow, run_row, seconds, token_columns, whole
from deuz_nb.fold.values import is_number, is_object, segments
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["Ledger", "RunRow", "UsageRow", "run_row", "token_columns", "usage_rows"]


def usage_rows(
    parts: Iterable[JSON],
    *,
    run: str,
    times_ms: Iterable[float | None] = (),
    at: datetime | None = None,
    provider: str | None = None,
) -> list[UsageRow]:
    """One row per model call of a run's UI parts, sub-agents' calls included, in the order they ended.

    A call that failed or was cut off gives a row without tokens.  `times_ms` are the milliseconds at which
    the parts came, `at` is when the run began, `provider` whom it asked: UI parts say none of the three.
    """
    ledger = Ledger(run, at=at, provider=provider)
    ledger.apply_all(parts, times_ms)
    return ledger.rows()


@dataclass(slots=True)
class _Call:
    """A model call; without `ended_ms`, `usage` and `finish_reason` until it ends."""

    step: int | None = None
    began_ms: float | None = None
    first_ms: float | None = None
    ended_ms: float | None = None
    usage: JSON = None
    model: str | None = None
    finish_reason: str | None = None
    cost_usd: Decimal | None = None
    has_own_cost: bool = False


@dataclass(slots=True)
class _Agent:
    """The run itself, or one sub-agent.

    `open` is the step that is running, `loose` the call of a run that tells no steps.
    """

    name: str | None
    open: _Call | None = None
    loose: _Call | None = None
    calls: list[_Call] = field(default_factory=list["_Call"])
    has_steps: bool = False
    finish: JSONObject | None = None
    stepless_finishes: int = 0
    has_failed: bool = False
    error: str | None = None
    spent_usd: Decimal = Decimal(0)
    early_usd: Decimal | None = None

    @property
    def finish_reason(self) -> str | None:
        if self.finish is not None:
            return _text(self.finish.get("finishReason"))
        return "error" if self.has_failed else None

    def current(self, began_ms: float | None) -> _Call:
        """The call that content belongs to."""
        if self.open is not None:
            return self.open
        if self.loose is None:
            self.loose = _Call(began_ms=began_ms)
        return self.loose


class Ledger:
    """Folds UI parts into rows; any JSON value may be applied."""

    def __init__(self, run: str, *, at: datetime | None = None, provider: str | None = None) -> None:
        self.run = run
        self._at = at
        self._provider = provider
        self._own = _Agent(None)
        self._agents: dict[tuple[str, ...], _Agent] = {}
        self._ended: list[tuple[_Agent, _Call]] = []
        self._first_ms: float | None = None
        self._last_ms: float | None = None

    @property
    def is_settled(self) -> bool:
        """Whether the rows follow from steps, costs, sub-agents and the finish alone, whatever the content."""
        # With a second finish, content in between would tell whether there was a second call.
        return self._own.finish is not None and self._own.stepless_finishes <= 1

    def apply_all(self, parts: Iterable[JSON], times_ms: Iterable[float | None] = ()) -> None:
        """Fold parts, and the times at which they came as far as these are given."""
        times = iter(times_ms)
        for part in parts:
            self.apply(part, next(times, None))

    def apply(self, part: JSON, time_ms: float | None = None) -> None:
        """Fold one part."""
        if not is_object(part):
            return
        if time_ms is not None:
            self._first_ms = time_ms if self._first_ms is None else self._first_ms
            self._last_ms = time_ms
        if part.get("type") != "sub-agent":
            self._apply(self._own, part, time_ms)
            return
        path, inner = segments(part.get("agentPath")), part.get("part")
        if path is None or not is_object(inner) or not isinstance(inner.get("type"), str):
            return
        agent = self._agents.get(path)
        if agent is None:
            agent = self._agents[path] = _Agent("/".join(path))
        self._apply(agent, inner, time_ms)

    def rows(self) -> list[UsageRow]:
        """The rows so far; a call that is still open has no tokens yet."""
        rows = [self._row(agent, call, call.finish_reason) for agent, call in self._ended]
        for agent in (self._own, *self._agents.values()):
            call = agent.open if agent.has_steps else agent.loose
            if call is not None:
                rows.append(self._row(agent, call, agent.finish_reason))
        return rows

    def run_row(self) -> RunRow:
        """The row of the whole run."""
        reason = self._own.finish_reason
        return run_row(
            self.rows(),
            run=self.run,
            finish_reason=reason,
            error=self._own.error if reason == "error" else None,
            latency_s=seconds(self._first_ms, self._last_ms),
        )

    def _apply(self, agent: _Agent, part: JSONObject, time_ms: float | None) -> None:
        match part.get("type"):
            case "text-delta" | "reasoning-delta" | "tool-input-delta" | "tool-call":
                call = agent.current(self._first_ms)
                call.first_ms = time_ms if call.first_ms is None else call.first_ms
            case "step-start":
                self._cut(agent)
                agent.has_steps = True
                agent.open = _Call(whole(part.get("step")), time_ms)
            case "step-finish":
                self._finish_step(agent, part, time_ms)
            case "cost":
                _add_cost(agent, part)
            case "finish":
                self._finish(agent, part, time_ms)
            case "error":
                agent.current(self._first_ms)
                agent.has_failed = True
                agent.error = _text(part.get("message"))
            case _:
                pass

    def _finish_step(self, agent: _Agent, part: JSONObject, time_ms: float | None) -> None:
        step = whole(part.get("step"))
        if agent.open is not None and step not in (None, agent.open.step):
            self._cut(agent)
        agent.has_steps = True
        call, agent.open = agent.open or _Call(step), None
        self._end(agent, call, part, time_ms)

    def _finish(self, agent: _Agent, part: JSONObject, time_ms: float | None) -> None:
        self._cut(agent)
        agent.finish = part
        if agent.has_steps:
            return
        agent.stepless_finishes += 1
        if agent.stepless_finishes > 1 and agent.loose is None:
            return
        call, agent.loose = agent.current(self._first_ms), None
        self._end(agent, call, part, time_ms)

    def _cut(self, agent: _Agent) -> None:
        """The open step never ended: another began, or the run went on without it."""
        if agent.open is not None:
            self._ended.append((agent, agent.open))
            agent.calls.append(agent.open)
            agent.open = None

    def _end(self, agent: _Agent, call: _Call, part: JSONObject, time_ms: float | None) -> None:
        own_usd = _usd(part.get("costUsd"))
        call.ended_ms = time_ms
        call.usage = part.get("usage")
        call.model = _text(part.get("modelId"))
        call.finish_reason = _text(part.get("finishReason"))
        call.has_own_cost = own_usd is not None
        call.cost_usd = agent.early_usd if own_usd is None else own_usd
        agent.early_usd = None
        agent.calls.append(call)
        self._ended.append((agent, call))

    def _row(self, agent: _Agent, call: _Call, finish_reason: str | None) -> UsageRow:
        model, cost_usd, at = call.model, call.cost_usd, self._at
        if len(agent.calls) == 1 and agent.finish is not None:
            # The run's one call: what its finish says holds for it.
            model = _text(agent.finish.get("modelId")) if model is None else model
            if cost_usd is None and not (agent.name is None and self._agents):
                cost_usd = _usd(agent.finish.get("costUsd"))
        if at is not None and call.began_ms is not None and self._first_ms is not None:
            at += timedelta(milliseconds=call.began_ms - self._first_ms)
        return UsageRow(
            run=self.run,
            step=call.step,
            agent=agent.name,
            provider=self._provider,
            model=model,
            at=at,
            **token_columns(call.usage),
            cost_usd=cost_usd,
            finish_reason=finish_reason,
            ttft_s=seconds(call.began_ms, call.first_ms),
            latency_s=seconds(call.began_ms, call.ended_ms),
        )


def _add_cost(agent: _Agent, part: JSONObject) -> None:
    """A cost part tells a running total, and maybe what one call added; a call's own price is the better one.

    It comes after the step it is about, or before the finish of a run without steps.
    """
    total, added = _usd(part.get("costUsd")), _usd(part.get("deltaUsd"))
    if added is None and total is not None and total >= agent.spent_usd:
        added = total - agent.spent_usd
    if added is None:
        return
    agent.spent_usd = agent.spent_usd + added if total is None else total
    step = whole(part.get("stepIndex"))
    call = next((call for call in reversed(agent.calls) if step is None or call.step in (None, step)), None)
    if call is None:
        agent.early_usd = added + (agent.early_usd or 0)
    elif not call.has_own_cost:
        call.cost_usd = added + (call.cost_usd or 0)


def _usd(value: JSON) -> Decimal | None:
    """An amount as its JSON text says it."""
    return Decimal(repr(value)) if is_number(value) and value >= 0 else None


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None
