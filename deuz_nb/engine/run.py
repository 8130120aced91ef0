"""The life of a run: started once, on one loop, ended with exactly one finish or error, stopped from anywhere."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, cast

from deuz_nb.engine.broadcast import Broadcast
from deuz_nb.engine.call import CallRecord
from deuz_nb.engine.deps import Clock
from deuz_nb.engine.portal import get_portal
from deuz_nb.errors import CancelledCallError, DeuzError, InvalidResponseError, RemoteError
from deuz_nb.parts.stream import ErrorPart, StreamPart

__all__ = ["Emit", "Run", "Source"]

Emit = Callable[[list[StreamPart]], None]


class Source:
    """What a run is: something that emits parts, and what it knows of its model calls.

    `is_ui`: the parts are UI parts, as a transcript or a server tells them, and begin with `start`.
    """

    def __init__(
        self, run: Callable[[Emit], Awaitable[None]], records: list[CallRecord], *, is_ui: bool = False
    ) -> None:
        self.run = run
        self.records = records
        self.is_ui = is_ui


class Run:
    """A source that is being run; its parts are in `log`, the moment of each (milliseconds) in `times_ms`.

    `last` is the finish or error part once it is there, `error` the exception a failed run ended with.
    """

    def __init__(self, source: Source, clock: Clock) -> None:
        self.log: Broadcast[StreamPart] = Broadcast()
        self.times_ms: list[float] = []
        self.last: StreamPart | None = None
        self.error: DeuzError | None = None
        self._source = source
        self._clock = clock
        self._lock = threading.Lock()
        self._began_s: float | None = None
        self._ended_s: float | None = None
        self._task: asyncio.Task[None] | Future[None] | None = None
        self._place: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self._is_cancelled = False

    @property
    def is_started(self) -> bool:
        """Whether the run was started, or ended without a start."""
        return self._task is not None or self.log.is_closed

    @property
    def elapsed_s(self) -> float | None:
        """Seconds from the start until now, or until the end."""
        if self._began_s is None:
            return None
        return (self._ended_s or self._clock.monotonic_s()) - self._began_s

    @property
    def is_on_this_loop(self) -> bool:
        """Whether the caller stands on the event loop that carries the run."""
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            return False
        with self._lock:
            task = self._task
        return isinstance(task, asyncio.Task) and task.get_loop() is here

    def start(self, *, on_portal: bool) -> None:
        """Start if it has not begun: on the running loop, or on the background portal."""
        with self._lock:
            if self._task is not None or self.log.is_closed:
                return
            try:
                loop = None if on_portal else asyncio.get_running_loop()
            except RuntimeError:
                loop = None
            self._task = loop.create_task(self._pump()) if loop else get_portal().submit(self._pump)

    def cancel(self) -> None:
        """Ask for the end, from any thread; a run that was not started ends here."""
        with self._lock:
            self._is_cancelled = True
            is_idle = self._task is None and not self.log.is_closed
            place = self._place
        if is_idle:
            self._finish_with(
                CancelledCallError("The call was cancelled before it was started; call stream_chat again.")
            )
        elif place is not None and not self.log.is_closed:
            loop, task = place
            if not loop.is_closed():
                loop.call_soon_threadsafe(task.cancel)

    async def _pump(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        with self._lock:
            self._place = (asyncio.get_running_loop(), task)
            is_cancelled = self._is_cancelled
        self._began_s = self._clock.monotonic_s()
        try:
            if is_cancelled:
                raise asyncio.CancelledError
            await self._source.run(self._emit)
        except asyncio.CancelledError:
            if not self._is_cancelled:
                raise
        except DeuzError as error:
            self._finish_with(error)
        except Exception as exc:
            # A fault of ours must still end the run for every reader, with its cause attached.
            name = type(exc).__name__
            fault = InvalidResponseError(f"The run failed inside deuz_nb: {name}. Please report it.")
            fault.__cause__ = exc
            self._finish_with(fault)
        finally:
            if not self.log.is_closed:
                self._finish_with(
                    CancelledCallError("The call was cancelled; call again for a whole answer.")
                )

    def _emit(self, batch: list[StreamPart]) -> None:
        now_ms = (self._clock.monotonic_s() - (self._began_s or 0.0)) * 1000
        self.times_ms.extend([now_ms] * len(batch))
        last = batch[-1]
        if last["type"] in ("finish", "error"):
            self.last = last
            if last["type"] == "error":
                self.error = _error_of(last)
            self._ended_s = self._clock.monotonic_s()
            self.log.items.extend(batch)
            self.log.close()
        else:
            self.log.extend(batch)

    def _finish_with(self, error: DeuzError) -> None:
        if self._source.is_ui:
            # What others told stays as they told it: the end that is missing is not written into the parts.
            self.error = error
            self._ended_s = self._clock.monotonic_s()
            self.log.close()
        else:
            self._emit([{"type": "error", "error": error}])


def _error_of(part: ErrorPart) -> DeuzError:
    """The exception an error part carries; of a UI part, which carries none, one with its message."""
    told = cast("dict[str, Any]", part)
    error = told.get("error")
    return error if isinstance(error, DeuzError) else RemoteError(str(told.get("message") or "Stream error."))
