"""For tests of code that uses deuz_nb: answers without a network, and time that passes without waiting."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

import anyio

from deuz_nb.engine.deps import Deps
from deuz_nb.errors import MisuseError
from deuz_nb.prices import GenaiPrices, PriceProvider
from deuz_nb.providers.model import Model, ProviderRequest

__all__ = ["Answer", "FakeTransport", "fake_deps", "run_in_fake_time"]

T = TypeVar("T")

START_S = 1_760_000_000.0
"""The wall clock of fake time at its beginning: 2025-10-09T08:53:20Z."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a fake host does with one request.

    `chunks` are bytes, or (seconds to wait first, bytes).  `error` is raised after them; `refuses` is raised
    instead of an answer.
    """

    chunks: Sequence[bytes | tuple[float, bytes]] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    error: Exception | None = None
    refuses: Exception | None = None


class _Response:
    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.status = answer.status
        self.headers = {name.lower(): value for name, value in answer.headers.items()}

    async def chunks(self) -> AsyncIterator[bytes]:
        for item in self._answer.chunks:
            wait_s, data = item if isinstance(item, tuple) else (0.0, item)
            await anyio.sleep(wait_s)
            yield data
        if self._answer.error is not None:
            raise self._answer.error


class FakeTransport:
    """Gives the answers in turn; `requests` are what was asked, `closed` how many responses were closed."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.requests: list[ProviderRequest] = []
        self.closed = 0

    @asynccontextmanager
    async def post(
        self, model: Model, request: ProviderRequest, *, connect_s: float
    ) -> AsyncGenerator[_Response]:
        """The next answer.  Raises MisuseError when there is none left."""
        self.requests.append(request)
        if not self._answers:
            raise MisuseError(f"request {len(self.requests)} has no answer: give FakeTransport one more")
        answer = self._answers.pop(0)
        if answer.refuses is not None:
            raise answer.refuses
        try:
            yield _Response(answer)
        finally:
            self.closed += 1


class _LoopClock:
    def wall_s(self) -> float:
        return START_S + self.monotonic_s()

    def monotonic_s(self) -> float:
        return asyncio.get_running_loop().time()


def fake_deps(*answers: Answer, prices: PriceProvider | None = None) -> Deps:
    """Deps of a world with these answers, the running loop's clock, counted ids and no jitter."""
    numbers = count(1)
    return Deps(
        clock=_LoopClock(),
        transport=FakeTransport(*answers),
        new_id=lambda: f"id-{next(numbers)}",
        jitter=lambda: 1.0,
        prices=prices or GenaiPrices(),
    )


class _JumpingSelector(selectors.DefaultSelector):
    now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            return super().select(None)
        if not ready and timeout:
            self.now_s += timeout
        return ready


def run_in_fake_time(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop whose clock jumps to the next timer whenever nothing is ready.

    Sleeps and time limits take no time.  Real sockets must not be used in it: nothing would wait for them.
    """
    selector = _JumpingSelector()

    def make_loop() -> asyncio.AbstractEventLoop:
        loop = asyncio.SelectorEventLoop(selector)
        loop.time = lambda: selector.now_s
        return loop

    with asyncio.Runner(loop_factory=make_loop) as runner:
        return runner.run(work)
