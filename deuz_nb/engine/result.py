"""A run's result: lazy, read by any number of readers, each of which sees every part."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from typing import cast

from deuz_nb.engine.call import CallRecord
from deuz_nb.engine.deps import Deps
from deuz_nb.engine.later import Later
from deuz_nb.engine.run import Run, Source
from deuz_nb.errors import DeuzError, MisuseError
from deuz_nb.fold import Turn
from deuz_nb.fold.ledger import UsageRow, usage_rows
from deuz_nb.parts.message import Message
from deuz_nb.parts.stream import CallWarning, Finish, StreamPart
from deuz_nb.parts.usage import FinishReason, Usage
from deuz_nb.providers.model import Model
from deuz_nb.wire.frame import to_ui
from deuz_nb.wire.transcript import Transcript, transcript_bytes, transcript_from_bytes

__all__ = ["StreamResult"]


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
        self._run = Run(source, deps.clock)
        self._log = self._run.log
        self._lock = threading.Lock()
        self._turn = Turn()
        self._folded = 0
        self._readers = 0
        self._is_kept = False

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
        return self._run.times_ms

    @property
    def turn(self) -> Turn:
        """The parts so far, folded; kept up to date on each look."""
        with self._lock:
            items = self._log.items
            end = len(items)
            if self._folded < end:
                self._fold(items[self._folded : end])
                self._folded = end
            if self._log.is_closed and self._run.last is None and self._folded == len(items):
                self._turn.seal()
            return self._turn

    @property
    def is_started(self) -> bool:
        """Whether the run was started."""
        return self._run.is_started

    @property
    def is_done(self) -> bool:
        """Whether the finish or the error is there."""
        return self._log.is_closed

    @property
    def error(self) -> DeuzError | None:
        """The exception of the error part, once the run failed."""
        return self._run.error

    @property
    def deps(self) -> Deps:
        """The world the run was given: its clock, transport, ids and prices."""
        return self._deps

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
        return self._run.elapsed_s

    def usage_rows(self) -> list[UsageRow]:
        """One row per model call, with what only the caller's side knows (provider, exact price, latency)."""
        if self._source.is_ui:
            return usage_rows(self._log.items, run=self.message_id, times_ms=self._run.times_ms)
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
        self._run.start(on_portal=on_portal)
        return self

    def wait(self, timeout_s: float | None = None) -> StreamResult:
        """Block this thread until the end; for code without an event loop.

        Raises TimeoutError after `timeout_s`; a KeyboardInterrupt cancels the run and goes on.
        """
        self._is_kept = True
        self.start(on_portal=True)
        if self._run.is_on_this_loop and not self.is_done:
            raise MisuseError(
                "This run lives on the event loop that wait() would block; use: await result.consume()"
            )
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
        self._run.cancel()
        return Later(self._until_done, "cancel")

    def _fold(self, parts: list[StreamPart]) -> None:
        if self._source.is_ui:
            self._turn.apply_all(parts)
            return
        if not self._folded:
            self._turn.apply({"type": "start", "messageId": self.message_id})
        ui_parts = [to_ui(part) for part in parts]
        self._turn.apply_all([part for part in ui_parts if part is not None])

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
        if self._run.error is not None:
            raise self._run.error

    async def _until_done(self) -> None:
        self._is_kept = True
        self.start()
        while not self._log.is_closed:
            await self._log.wait_beyond(len(self._log.items))

    async def _finished(self) -> Finish:
        await self._until_done()
        if self._run.error is not None:
            raise self._run.error
        return cast("Finish", self._run.last)

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
