"""Runs competitors interleaved in one process and tells how many times faster ours is.

How to add a benchmark: write `tests/bench/bench_<name>.py` with

    def cases() -> Iterable[Case]:
        frames = [...]                                  # built when the module is asked for, not on import
        yield Case(
            goal="G4",                                  # the row of performance.md, or any short word
            name="read + fold, 1 KiB chunks",
            ours=lambda: fold(frames),                  # one run: the whole piece of work
            peers={"httpx-sse + json": lambda: ...},    # None instead of a callable: not installed
            at_least=2.3,                               # time of the best (fastest) peer / our time
        )

The ratio is peer time over our time, the median over rounds in which each ran once.  `against` names the
one peer the goal is about, else it is the fastest.  `at_most=x` turns the goal round: our time over peer
time must not exceed x.  A goal that is no ratio of times (bytes, counts) is a
`Figure(goal, name, value, at_least= or at_most=)`.

`python -m tests.bench` runs all modules, `python -m tests.bench sse import` the named ones, and a name
with a dot (`sse.G3`) only the cases of one goal.  Exit status 1 when a goal is missed.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

MIN_RUN_S = 0.02
"""A shorter run is repeated within one measurement: the CPU clock is coarse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One piece of work done by us and by others; each callable does the whole of it once."""

    goal: str
    name: str
    ours: Callable[[], object]
    peers: Mapping[str, Callable[[], object] | None]
    at_least: float | None = None
    at_most: float | None = None
    against: str | None = None
    rounds: int = 9
    clock: Callable[[], float] = field(default=time.process_time)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number with its limit; `note` says what it is made of."""

    goal: str
    name: str
    value: float
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `is_met` is None where there is no goal or no peer."""

    goal: str
    name: str
    value: str
    limit: str
    is_met: bool | None
    detail: str


def measure(case: Case) -> Row:
    """The row of `case`: medians over rounds of the ratio within a round, so that a slow moment hits both."""
    missing = sorted(name for name, run in case.peers.items() if run is None)
    peers = {name: run for name, run in case.peers.items() if run is not None}
    times = _times({"ours": case.ours} | peers, case.rounds, case.clock)
    ours = times["ours"]
    ratios = {
        name: statistics.median([other / own for other, own in zip(times[name], ours, strict=True)])
        for name in peers
    }
    detail = [f"ours {_seconds(statistics.median(ours))}"]
    detail += [f"{name} {ratio:.2f}x" for name, ratio in sorted(ratios.items(), key=lambda item: item[1])]
    detail += [f"{name} not installed" for name in missing]
    rival = case.against if case.against is not None else min(ratios, key=ratios.__getitem__, default=None)
    if rival is None or rival not in ratios:
        return Row(case.goal, case.name, "-", _limit(case), None, ", ".join(detail))
    value = 1 / ratios[rival] if case.at_most is not None else ratios[rival]
    return Row(case.goal, case.name, f"{value:.2f}x", _limit(case), _is_met(case, value), ", ".join(detail))


def judge(figure: Figure) -> Row:
    """The row of a number that was measured elsewhere."""
    is_met = _is_met(figure, figure.value)
    return Row(figure.goal, figure.name, f"{figure.value:.4g}", _limit(figure), is_met, figure.note)


def rows(cases: Iterable[Case | Figure], goal: str | None = None) -> Iterable[Row]:
    """One row per case, as each is measured; only those of `goal` when it is named."""
    for case in cases:
        if goal is None or case.goal == goal:
            yield measure(case) if isinstance(case, Case) else judge(case)


def _times(
    runs: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float]
) -> dict[str, list[float]]:
    """Seconds per run, one entry per round."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    repeats = {name: max(1, int(MIN_RUN_S / max(_time(run, 1, clock), 1e-6))) for name, run in runs.items()}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(_time(run, repeats[name], clock) / repeats[name])
    return times


def _time(run: Callable[[], object], repeats: int, clock: Callable[[], float]) -> float:
    gc.collect()
    start = clock()
    for _ in range(repeats):
        run()
    return clock() - start


def _is_met(case: Case | Figure, value: float) -> bool | None:
    if case.at_least is not None:
        return value >= case.at_least
    return value <= case.at_most if case.at_most is not None else None


def _limit(case: Case | Figure) -> str:
    if case.at_least is not None:
        return f">= {case.at_least:g}"
    return f"<= {case.at_most:g}" if case.at_most is not None else ""


def _seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"
