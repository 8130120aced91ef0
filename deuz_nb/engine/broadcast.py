"""One shared, growing list that any number of readers on any event loop wait on.

No queue and no copy per reader: a reader keeps an index (performance.md, "What costs what" 4).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

__all__ = ["TICK_S", "Broadcast"]

T = TypeVar("T")

TICK_S = 0.25
"""A waiting reader wakes this often: without it an interrupt waits for the next part (view.md 1)."""


def _settle(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


class Broadcast(Generic[T]):
    """A list that is appended to in batches and closed once; thread-safe."""

    def __init__(self) -> None:
        self.items: list[T] = []
        self.is_closed = False
        self._lock = threading.Lock()
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._listeners: list[Callable[[], None]] = []
        self._ended = threading.Event()
        self._ticking: set[asyncio.AbstractEventLoop] = set()

    def extend(self, batch: Iterable[T]) -> None:
        """Append a batch and wake every reader once."""
        self.items.extend(batch)
        self._wake()

    def close(self) -> None:
        """No more items will come."""
        self.is_closed = True
        self._ended.set()
        self._wake()

    def listen(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` after every batch and at the end, on the producer's thread; returns the undo."""
        with self._lock:
            self._listeners.append(callback)

        def stop() -> None:
            with self._lock:
                if callback in self._listeners:
                    self._listeners.remove(callback)

        return stop

    async def wait_beyond(self, seen: int) -> None:
        """Return once there are more than `seen` items, or none will come."""
        loop = asyncio.get_running_loop()
        while True:
            with self._lock:
                if len(self.items) > seen or self.is_closed:
                    return
                waiter = loop.create_future()
                entry = (loop, waiter)
                self._waiters.append(entry)
                if loop not in self._ticking:
                    self._ticking.add(loop)
                    loop.call_later(TICK_S, self._tick, loop)
            try:
                await waiter
            except BaseException:
                with self._lock:
                    if entry in self._waiters:
                        self._waiters.remove(entry)
                raise

    def wait_closed(self, timeout_s: float | None) -> bool:
        """Block this thread until the end; False when `timeout_s` ran out first."""
        return self._ended.wait(timeout_s)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wake the loop for as long as somebody waits on it; that it wakes is all it is for."""
        with self._lock:
            if any(waiting is loop for waiting, _ in self._waiters):
                loop.call_later(TICK_S, self._tick, loop)
            else:
                self._ticking.discard(loop)

    def _wake(self) -> None:
        with self._lock:
            waiters, self._waiters = self._waiters, []
            listeners = tuple(self._listeners)
        if waiters:
            try:
                here = asyncio.get_running_loop()
            except RuntimeError:
                here = None
            for loop, waiter in waiters:
                if loop is here:
                    _settle(waiter)
                elif not loop.is_closed():
                    loop.call_soon_threadsafe(_settle, waiter)
        for listener in listeners:
            listener()
