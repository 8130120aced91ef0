"""A run's result: lazy, read by any number of readers, each of which sees every part."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from decimal import Decimal
from typing import Any, cast

from deuz_nb.engine.broadcast import Broadcast
from deuz_nb.engine.call import CallRecord
from deuz_nb.engine.deps import Deps
from deuz_nb.engine.later import Later
from deuz_nb.engine.portal import get_portal
from deuz_nb.errors import CancelledCallError, DeuzError, InvalidResponseError, MisuseError, RemoteError
from deuz_nb.fold import Turn
from deuz_nb.fold.ledger import UsageRow, usage_rows
from deuz_nb.parts.message import Message
from deuz_nb.parts.stream import CallWarning, ErrorPart, Finish, StreamPart
from deuz_nb.parts.usage import FinishReason, Usage
from deuz_nb.providers.model import Model
from deuz_nb.wire.frame import to_ui
from deuz_nb.wire.transcript import Transcript, transcript_bytes, transcript_from_bytes

__all__ = ["Source", "StreamResult"]

Emit = Callable[[list[StreamPart]], None]


class Source:
    """What a result is read from: a run that emits parts, and what it knows of its model calls.

    `is_ui`: the parts are UI parts, as a transcript or a server tells them, and begin with `start`.
    """

    def __init__(
        self, run: Callable[[Emit], Awaitable[None]], records: list[CallRecord], *, is_ui: bool = False
    ) -> None:
        self.run = run
        self.records = records
        self.is_ui = is_ui


class StreamResult:
    """One call or run.  Nothing happens until it is first read, awaited, started or shown.

    A reader that stops early closes the HTTP response when no one else is interested.
    """

    def __init__(
        self, source: Source, *, model: Model, messages: tuple[Message, ...], message_id: str, deps: Deps
    ) -> None:
        self.model = model
        self.messages = messages
        self.message_id = message_id
        self._source = source
        self._deps = deps
        self._log: Broadcast[StreamPart] = Broadcast()
        self._times_ms: list[float] = []
        self._lock = threading.Lock()
        self._fold_lock = threading.Lock()
        self._turn = Turn()
        self._folded = 0
        self._readers = 0
        self._is_kept = False
        self._is_cancelled = False
        self._began_s: float | None = None
        self._ended_s: float | None = None
        self._task: asyncio.Task[None] | Future[None] | None = None
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self._last: StreamPart | None = None
        self._error: DeuzError | None = None

    def __repr__(self) -> str:
        state = "not started" if not self.is_started else "running" if not self.is_done else self.turn.status
        return f"<StreamResult {self.model.provider}:{self.model.model_id} {state}, {len(self.parts)} parts>"

    # What is there so far

    @property
    def parts(self) -> list[StreamPart]:
        """The canonical parts so far, in order; shared, so do not change it."""
        return self._log.items

    @property
    def part_times_ms(self) -> list[float]:
        """Milliseconds from the start to each part, as long as `parts`."""
        return self._times_ms

    @property
    def turn(self) -> Turn:
        """The parts so far, folded; kept up to date on each look."""
        with self._fold_lock:
            items = self._log.items
            end = len(items)
            if self._folded < end:
                self._fold(items[self._folded : end])
                self._folded = end
            if self._log.is_closed and self._last is None and self._folded == len(items):
                self._turn.seal()
            return self._turn

    @property
    def is_started(self) -> bool:
        """Whether the run was started."""
        return self._task is not None or self.is_done

    @property
    def is_done(self) -> bool:
        """Whether the finish or the error is there."""
        return self._log.is_closed

    @property
    def error(self) -> DeuzError | None:
        """The exception of the error part, once the run failed."""
        return self._error

    @property
    def is_ui(self) -> bool:
        """Whether `parts` are UI parts, as a transcript tells them, rather than canonical ones."""
        return self._source.is_ui

    @property
    def call_records(self) -> list[CallRecord]:
        """What is known of the model calls so far."""
        return self._source.records

    @property
    def usage_so_far(self) -> Usage | None:
        """Usage as reported until now; None while none is known."""
        for record in reversed(self._source.records):
            if record.usage is not None:
                return record.usage
        return None

    @property
    def cost_usd(self) -> Decimal | None:
        """The sum of the priced calls in USD; None when nothing was priced."""
        totals = [record.price.total for record in self._source.records if record.price is not None]
        return sum(totals, Decimal(0)) if totals else None

    @property
    def first_part_s(self) -> float | None:
        """Seconds from the start to the first content."""
        return self._source.records[0].first_part_s if self._source.records else None

    @property
    def elapsed_s(self) -> float | None:
        """Seconds from the start until now, or until the end."""
        if self._began_s is None:
            return None
        return (self._ended_s or self._deps.clock.monotonic_s()) - self._began_s

    def usage_rows(self) -> list[UsageRow]:
        """One row per model call, with what only the caller's side knows (provider, exact price, latency)."""
        if self._source.is_ui:
            return usage_rows(self._log.items, run=self.message_id, times_ms=self._times_ms)
        return [
            UsageRow.of_call(
                run=self.message_id,
                step=record.step,
                provider=record.provider,
                model=record.model_id,
                at_s=record.at_s,
                usage=record.usage,
                cost_usd=None if record.price is None else record.price.total,
                cost_source=None if record.price is None else record.price.source,
                finish_reason=record.finish_reason,
                first_part_s=record.first_part_s,
                latency_s=record.latency_s,
            )
            for record in self._source.records
            if record.at_s is not None
        ]

    def to_transcript(self) -> Transcript:
        """The v2 transcript of the parts so far; a run that has not ended has no end marker."""
        return transcript_from_bytes(transcript_bytes(self, timings=True))

    # Reading

    @property
    def full_stream(self) -> AsyncIterator[StreamPart]:
        """Every canonical part from the first, as it comes; ends after the finish or error part."""
        return self._read_parts()

    @property
    def text_stream(self) -> AsyncIterator[str]:
        """The answer's text as it comes.  Raises the run's error at its place."""
        return self._read_text()

    async def batches(self) -> AsyncIterator[list[StreamPart]]:
        """Every part from the first, as lists of what came together."""
        items = self._log.items
        seen = 0
        self._begin_reading()
        try:
            while True:
                end = len(items)
                if seen < end:
                    batch = items[seen:end]
                    seen = end
                    yield batch
                elif self._log.is_closed:
                    return
                else:
                    await self._log.wait_beyond(seen)
        finally:
            self._end_reading()

    @property
    def usage(self) -> Later[Usage]:
        """Await it: the whole run's usage.  Raises the very exception of the error part."""
        return Later(self._await_usage, "usage")

    @property
    def finish_reason(self) -> Later[FinishReason]:
        """Await it: why the run ended.  Raises the very exception of the error part."""
        return Later(self._await_finish_reason, "finish_reason")

    @property
    def text(self) -> Later[str]:
        """Await it: the whole text.  Raises the run's error: a cut answer is never passed off as whole."""
        return Later(self._await_text, "text")

    @property
    def warnings(self) -> Later[list[CallWarning]]:
        """Await it: the warnings, once the run ended; never raises."""
        return Later(self._await_warnings, "warnings")

    async def consume(self) -> StreamResult:
        """Read to the end and return the result itself; a failure is not raised, see `error`."""
        await self._until_done()
        return self

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` after every batch and at the end, on the run's thread; returns the undo."""
        self._is_kept = True
        return self._log.listen(callback)

    # Running

    def start(self, *, on_portal: bool = False) -> StreamResult:
        """Start the run if it has not begun: on the running loop, or on the background portal."""
        with self._lock:
            if self._task is not None or self._log.is_closed:
                return self
            try:
                loop = None if on_portal else asyncio.get_running_loop()
            except RuntimeError:
                loop = None
            self._task = loop.create_task(self._pump()) if loop else get_portal().submit(self._pump)
        return self

    def wait(self, timeout_s: float | None = None) -> StreamResult:
        """Block this thread until the end; for code without an event loop.

        Raises TimeoutError after `timeout_s`; a KeyboardInterrupt cancels the run and goes on.
        """
        self._is_kept = True
        self.start(on_portal=True)
        self._refuse_own_loop()
        try:
            deadline = None if timeout_s is None else self._deps.clock.monotonic_s() + timeout_s
            while not self._log.wait_closed(0.1):
                if deadline is not None and self._deps.clock.monotonic_s() >= deadline:
                    raise TimeoutError(f"The run has not ended within {timeout_s:g} s; it goes on.")
        except KeyboardInterrupt:
            self.cancel()
            raise
        return self

    def cancel(self) -> Later[None]:
        """Stop the run and close its HTTP response; from any thread.  Await the answer to wait for the end."""
        with self._lock:
            self._is_cancelled = True
            is_idle = self._task is None and not self._log.is_closed
            running = self._running
        if is_idle:
            self._finish_with(
                CancelledCallError("The call was cancelled before it was started; call stream_chat again.")
            )
        elif running is not None and not self._log.is_closed:
            loop, task = running
            if not loop.is_closed():
                loop.call_soon_threadsafe(task.cancel)
        return Later(self._until_done, "cancel")

    async def _pump(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        with self._lock:
            self._running = (asyncio.get_running_loop(), task)
            is_cancelled = self._is_cancelled
        self._began_s = self._deps.clock.monotonic_s()
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
            fault = InvalidResponseError(
                f"The run failed inside deuz_nb: {type(exc).__name__}. Please report it."
            )
            fault.__cause__ = exc
            self._finish_with(fault)
        finally:
            if not self._log.is_closed:
                self._finish_with(
                    CancelledCallError("The call was cancelled; call again for a whole answer.")
                )

    def _fold(self, parts: list[StreamPart]) -> None:
        if self._source.is_ui:
            self._turn.apply_all(parts)
            return
        if not self._folded:
            self._turn.apply({"type": "start", "messageId": self.message_id})
        ui_parts = [to_ui(part) for part in parts]
        self._turn.apply_all([part for part in ui_parts if part is not None])

    def _emit(self, batch: list[StreamPart]) -> None:
        now_ms = (self._deps.clock.monotonic_s() - (self._began_s or 0.0)) * 1000
        self._times_ms.extend([now_ms] * len(batch))
        last = batch[-1]
        if last["type"] in ("finish", "error"):
            self._last = last
            if last["type"] == "error":
                self._error = _error_of(last)
            self._ended_s = self._deps.clock.monotonic_s()
            self._log.items.extend(batch)
            self._log.close()
        else:
            self._log.extend(batch)

    def _finish_with(self, error: DeuzError) -> None:
        if self._source.is_ui:
            # What others told stays as they told it: the end that is missing is not written into the parts.
            self._error = error
            self._ended_s = self._deps.clock.monotonic_s()
            self._log.close()
        else:
            self._emit([{"type": "error", "error": error}])

    def _begin_reading(self) -> None:
        with self._lock:
            self._readers += 1
        self.start()

    def _end_reading(self) -> None:
        with self._lock:
            self._readers -= 1
            is_abandoned = self._readers == 0 and not self._is_kept and not self._log.is_closed
        if is_abandoned:
            self.cancel()

    async def _read_parts(self) -> AsyncIterator[StreamPart]:
        items = self._log.items
        seen = 0
        self._begin_reading()
        try:
            while True:
                end = len(items)
                if seen < end:
                    for part in items[seen:end]:
                        yield part
                    seen = end
                elif self._log.is_closed:
                    return
                else:
                    await self._log.wait_beyond(seen)
        finally:
            self._end_reading()

    async def _read_text(self) -> AsyncIterator[str]:
        async for part in self._read_parts():
            if part["type"] == "text-delta":
                yield part["text"]
        if self._error is not None:
            raise self._error

    async def _until_done(self) -> None:
        self._is_kept = True
        self.start()
        while not self._log.is_closed:
            await self._log.wait_beyond(len(self._log.items))

    async def _finished(self) -> Finish:
        await self._until_done()
        if self._error is not None:
            raise self._error
        return cast("Finish", self._last)

    async def _await_usage(self) -> Usage:
        return (await self._finished())["usage"]

    async def _await_finish_reason(self) -> FinishReason:
        return (await self._finished())["finishReason"]

    async def _await_text(self) -> str:
        await self._finished()
        return "".join([part["text"] for part in self._log.items if part["type"] == "text-delta"])

    async def _await_warnings(self) -> list[CallWarning]:
        await self._until_done()
        return [part["warning"] for part in self._log.items if part["type"] == "warning"]

    def _refuse_own_loop(self) -> None:
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            return
        with self._lock:
            task = self._task
        if isinstance(task, asyncio.Task) and task.get_loop() is here and not self.is_done:
            raise MisuseError(
                "This run lives on the event loop that wait() would block; use: await result.consume()"
            )


def _error_of(part: ErrorPart) -> DeuzError:
    """The exception an error part carries; of a UI part, which carries none, one with its message."""
    told = cast("dict[str, Any]", part)
    error = told.get("error")
    return error if isinstance(error, DeuzError) else RemoteError(str(told.get("message") or "Stream error."))
