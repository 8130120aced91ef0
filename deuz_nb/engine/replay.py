"""A run that is over, told once more: its parts at the pace at which they came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import anyio

from deuz_nb.engine.deps import Deps
from deuz_nb.engine.result import StreamResult
from deuz_nb.engine.run import Emit, Source
from deuz_nb.errors import MisuseError, StreamTruncatedError
from deuz_nb.parts.stream import StreamPart
from deuz_nb.providers.model import Model
from deuz_nb.wire.transcript import Transcript

__all__ = ["replay"]


def replay(source: StreamResult | Transcript, *, speed: float | None = 1.0, deps: Deps) -> StreamResult:
    """A new result with the same parts; `speed` 2.0 is twice as fast, None does not wait.

    Without recorded times (a transcript written without `timings=True`) it does not wait either.
    Raises MisuseError for a speed that is not above 0, or a run that still goes on.
    """
    if speed is not None and (isinstance(speed, bool) or not speed > 0):
        raise MisuseError(f"speed={speed!r} must be above 0, or None for no waiting.")
    if isinstance(source, Transcript):
        parts: Sequence[StreamPart] = cast("list[StreamPart]", source.parts)
        times: Sequence[float | None] = source.timings
        model = _model_of(source)
        first = cast("dict[str, Any]", parts[0]) if parts else {}
        message_id, messages, is_ui = str(first.get("messageId", "deuz-msg")), (), True
    else:
        if not source.is_done:
            raise MisuseError("This run still goes on; replay it when it has ended: await result.consume().")
        parts, times, model = list(source.parts), list(source.part_times_ms), source.model
        message_id, messages, is_ui = source.message_id, source.messages, source.is_ui

    async def run(emit: Emit) -> None:
        began = anyio.current_time()
        batch: list[StreamPart] = []
        for part, time_ms in zip(parts, times, strict=True):
            wait_until = began if speed is None or time_ms is None else began + time_ms / 1000 / speed
            if batch and wait_until > anyio.current_time():
                emit(batch)
                batch = []
            await anyio.sleep_until(wait_until)
            batch.append(part)
        if batch:
            emit(batch)
        if not parts or parts[-1]["type"] not in ("finish", "error"):
            raise StreamTruncatedError("The recorded stream stops before its end: the run was cut off there.")

    records = [] if isinstance(source, Transcript) else source.call_records
    return StreamResult(
        Source(run, records, is_ui=is_ui), model=model, messages=messages, message_id=message_id, deps=deps
    )


def _model_of(transcript: Transcript) -> Model:
    """The model that the transcript names, at no known host."""
    for part in reversed(transcript.parts):
        told = cast("dict[str, Any]", part)
        if told.get("type") in ("finish", "step-finish") and isinstance(told.get("modelId"), str):
            return Model("transcript", "openai-chat", told["modelId"], "")
    return Model("transcript", "openai-chat", "unknown model", "")
