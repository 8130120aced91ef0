"""Results and transcripts as pandas DataFrames.

Unknown is <NA>, never 0.  Counts are Int64, amounts and seconds Float64, words string, times UTC; a frame of
nothing has the same columns and types.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, cast, runtime_checkable

from deuz_nb.errors import MisuseError, TranscriptError
from deuz_nb.fold.ledger import Ledger
from deuz_nb.fold.rows import RunRow, UsageRow, run_row, seconds
from deuz_nb.fold.toolrows import ToolRow, tool_rows
from deuz_nb.fold.values import is_object, segments
from deuz_nb.jsontext import dumps
from deuz_nb.net.files import expand, read_transcript
from deuz_nb.parts.stream import StreamPart
from deuz_nb.parts.ui import UIPart
from deuz_nb.parts.usage import JSON, JSONObject
from deuz_nb.wire.frame import to_ui
from deuz_nb.wire.skim import skim
from deuz_nb.wire.transcript import Transcript

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Result", "Source", "parts_frame", "runs_frame", "tools_frame", "usage_frame"]

OnError = Literal["raise", "skip"]

_TOKENS: Final = {
    "input_tokens": "Int64",
    "input_uncached_tokens": "Int64",
    "cache_read_tokens": "Int64",
    "cache_write_tokens": "Int64",
    "cache_write_long_tokens": "Int64",
    "output_tokens": "Int64",
    "reasoning_tokens": "Int64",
    "audio_tokens": "Int64",
    "total_tokens": "Int64",
}
_USAGE: Final = {
    "run": "string",
    "step": "Int64",
    "agent": "string",
    "provider": "string",
    "model": "string",
    "at": "datetime64[us, UTC]",
    **_TOKENS,
    "cost_usd": "Float64",
    "cost_source": "string",
    "finish_reason": "string",
    "ttft_s": "Float64",
    "latency_s": "Float64",
}
_RUNS: Final = {
    "run": "string",
    "provider": "string",
    "model": "string",
    "at": "datetime64[us, UTC]",
    "calls": "Int64",
    **_TOKENS,
    "unreported_calls": "Int64",
    "cost_usd": "Float64",
    "unpriced_calls": "Int64",
    "finish_reason": "string",
    "error": "string",
    "ttft_s": "Float64",
    "latency_s": "Float64",
}
_TOOLS: Final = {
    "run": "string",
    "step": "Int64",
    "agent": "string",
    "tool_call_id": "string",
    "tool": "string",
    "input": "string",
    "output": "string",
    "state": "string",
    "outcome": "string",
    "is_error": "boolean",
    "is_denied": "boolean",
    "duration_s": "Float64",
}
_PARTS: Final = {
    "run": "string",
    "index": "Int64",
    "seq": "Int64",
    "agent": "string",
    "type": "string",
    "tool_call_id": "string",
    "text": "string",
    "at_s": "Float64",
    "part": "string",
}
_TEXTS: Final = {
    "text-delta": "text",
    "reasoning-delta": "text",
    "tool-input-delta": "delta",
    "error": "message",
}


@runtime_checkable
class Result(Protocol):
    """A run that knows what its calls took: `stream_chat` and `connect` give one."""

    @property
    def parts(self) -> Sequence[StreamPart]: ...
    @property
    def part_times_ms(self) -> Sequence[float] | None: ...
    @property
    def message_id(self) -> str: ...
    def usage_rows(self) -> list[UsageRow]: ...


Source = Result | Transcript | str | os.PathLike[str] | Iterable[Any]
"""A result, a transcript, a path or glob pattern of transcript files, or several of these."""


def usage_frame(*sources: Source, on_error: OnError = "raise") -> DataFrame:
    """One row per model call, sub-agents' calls included; the columns are those of `fold.rows.UsageRow`.

    `run` is a file's path, else the message id.  Transcripts tell neither providers nor times of day.
    A file that cannot be read raises TranscriptError or OSError; on_error="skip" warns and leaves it out.
    """
    return _frame(_rows(sources, on_error, lambda run: run.usage_rows()), _USAGE)


def runs_frame(*sources: Source, on_error: OnError = "raise") -> DataFrame:
    """One row per run: its calls added up, and how it ended; the columns are those of `fold.rows.RunRow`.

    Costs are summed exactly before they become floats.  `unpriced_calls` and `unreported_calls` say how many
    calls are missing in `cost_usd` and in the tokens.  Sources and errors: see `usage_frame`.
    """
    return _frame(_rows(sources, on_error, lambda run: [run.run_row()]), _RUNS)


def tools_frame(*sources: Source, on_error: OnError = "raise") -> DataFrame:
    """One row per tool call; the columns are those of `fold.toolrows.ToolRow`.

    Sources and errors: see `usage_frame`.
    """
    return _frame(_rows(sources, on_error, lambda run: run.tool_rows()), _TOOLS)


def parts_frame(*sources: Source, on_error: OnError = "raise") -> DataFrame:
    """One row per UI part: `text` is what it adds or says, `part` the whole of it as JSON.

    A sub-agent's part has its own type, and the sub-agent in `agent`.  `at_s` is in seconds from the first
    part with a time.  Sources and errors: see `usage_frame`.
    """
    return _frame(_rows(sources, on_error, lambda run: run.part_rows()), _PARTS)


@dataclass(frozen=True, slots=True)
class _PartRow:
    run: str
    index: int
    seq: int | None
    agent: str | None
    type: str | None
    tool_call_id: str | None
    text: str | None
    at_s: float | None
    part: str


class _File:
    """A transcript file, read as far as a frame needs it."""

    def __init__(self, run: str, path: str) -> None:
        self.run = run
        self._path = path

    def usage_rows(self) -> list[UsageRow]:
        return self._ledger().rows()

    def run_row(self) -> RunRow:
        return self._ledger().run_row()

    def tool_rows(self) -> list[ToolRow]:
        return self._read().tool_rows()

    def part_rows(self) -> list[_PartRow]:
        return self._read().part_rows()

    def _read(self) -> _Recording:
        return _Recording(self.run, read_transcript(self._path))

    def _ledger(self) -> Ledger:
        with open(self._path, "rb") as file:
            parts = skim(file.read())
        if parts is not None:
            ledger = Ledger(self.run)
            ledger.apply_all(parts)
            # How far an unfinished run came is told by the parts that were not looked at.
            if ledger.is_settled:
                return ledger
        return self._read().ledger()


class _Recording:
    """A transcript."""

    def __init__(self, run: str, transcript: Transcript) -> None:
        self.run = run
        self._transcript = transcript

    def ledger(self) -> Ledger:
        ledger = Ledger(self.run)
        ledger.apply_all(self._transcript.parts, self._transcript.timings)
        return ledger

    def usage_rows(self) -> list[UsageRow]:
        return self.ledger().rows()

    def run_row(self) -> RunRow:
        return self.ledger().run_row()

    def tool_rows(self) -> list[ToolRow]:
        return tool_rows(self._transcript.parts, run=self.run, times_ms=self._transcript.timings)

    def part_rows(self) -> list[_PartRow]:
        found = self._transcript
        return _part_rows(
            self.run,
            [(r.seq, r.part, r.raw, t) for r, t in zip(found.records, found.timings, strict=True)],
        )


class _Live:
    """A result, as far as it has come."""

    def __init__(self, run: str, result: Result) -> None:
        self.run = run
        self._result = result

    def usage_rows(self) -> list[UsageRow]:
        return [row._replace(run=self.run) for row in self._result.usage_rows()]

    def run_row(self) -> RunRow:
        rows = self.usage_rows()
        for part, _ in reversed(self._parts()):
            match part["type"]:
                case "finish":
                    return run_row(rows, run=self.run, finish_reason=part["finishReason"])
                case "error":
                    return run_row(rows, run=self.run, finish_reason="error", error=part["message"])
                case _:
                    pass
        return run_row(rows, run=self.run)

    def tool_rows(self) -> list[ToolRow]:
        parts = self._parts()
        times = [time_ms for _, time_ms in parts]
        return tool_rows([part for part, _ in parts], run=self.run, times_ms=times)

    def part_rows(self) -> list[_PartRow]:
        parts = [(None, cast("UIPart", part), dumps(part), time_ms) for part, time_ms in self._parts()]
        return _part_rows(self.run, parts)

    def _parts(self) -> list[tuple[JSONObject, float | None]]:
        """The UI parts and their times; parts that do not go over the wire are left out."""
        parts, times = list(self._result.parts), self._result.part_times_ms
        known = [*(times or ())][: len(parts)]
        shown = [to_ui(part) for part in parts]
        padded = [*known, *[None] * (len(parts) - len(known))]
        return [
            (cast("JSONObject", part), t) for part, t in zip(shown, padded, strict=True) if part is not None
        ]


_Run = _File | _Recording | _Live


def _rows(
    sources: Iterable[Source], on_error: OnError, rows_of: Callable[[_Run], Iterable[object]]
) -> list[object]:
    if on_error not in ("raise", "skip"):
        raise MisuseError(f"on_error={on_error!r} is not known; use 'raise' or 'skip'")
    rows: list[object] = []
    for run in _runs(sources):
        try:
            rows += rows_of(run)
        except (TranscriptError, OSError) as error:
            if on_error == "raise":
                raise
            warnings.warn(f"left out {run.run!r}: {error}", stacklevel=3)
    return rows


def _runs(sources: Iterable[Source]) -> Iterator[_Run]:
    """The runs of all sources, each with a name of its own; a file that is named twice is one run."""
    taken: dict[str, int] = {}
    for source in _flat(sources):
        if isinstance(source, str):
            if source not in taken:
                taken[source] = 1
                yield _File(source, source)
        elif isinstance(source, Transcript):
            yield _Recording(_named(source.path or _message_id(source), taken), source)
        else:
            yield _Live(_named(source.message_id, taken), source)


def _flat(sources: Iterable[object]) -> Iterator[str | Transcript | Result]:
    for source in sources:
        if isinstance(source, str | os.PathLike):
            yield from expand(os.fspath(cast("str | os.PathLike[str]", source)))
        elif isinstance(source, Transcript | Result):
            yield source
        elif isinstance(source, Iterable) and not isinstance(source, Mapping | bytes):
            yield from _flat(cast("Iterable[object]", source))
        else:
            hint = "pass a result, a transcript, the path of a transcript file, or a list of these"
            raise MisuseError(f"{repr(cast('object', source))[:80]} is no run; {hint}")


def _named(name: str, taken: dict[str, int]) -> str:
    count = taken[name] = taken.get(name, 0) + 1
    return name if count == 1 else f"{name} #{count}"


def _message_id(transcript: Transcript) -> str:
    found = (record.part.get("messageId") for record in transcript.records if record.part["type"] == "start")
    return next((name for name in found if isinstance(name, str)), "transcript")


def _part_rows(run: str, parts: Sequence[tuple[int | None, UIPart, str, float | None]]) -> list[_PartRow]:
    first_ms = next((time_ms for *_, time_ms in parts if time_ms is not None), None)
    rows: list[_PartRow] = []
    for index, (seq, whole, raw, time_ms) in enumerate(parts):
        part = cast("JSONObject", whole)
        path, inner = segments(part.get("agentPath")), part.get("part")
        agent = None
        if part.get("type") == "sub-agent" and path is not None and is_object(inner):
            agent, part = "/".join(path), inner
        kind = _text(part.get("type"))
        text = part.get(_TEXTS.get(kind or "", ""))
        call_id = part.get("toolCallId")
        at_s = seconds(first_ms, time_ms)
        rows.append(_PartRow(run, index, seq, agent, kind, _text(call_id), _text(text), at_s, raw))
    return rows


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None


def _well_formed(text: str) -> str:
    """Lone surrogates, which pandas may refuse, as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _frame(rows: Sequence[object], types: Mapping[str, str]) -> DataFrame:
    import pandas as pd

    columns: dict[str, Any] = {}
    for name, kind in types.items():
        values: list[Any] = list(map(attrgetter(name), rows))
        if name == "cost_usd":
            values = [None if value is None else float(value) for value in values]
        elif kind == "string":
            values = [value if value is None or value.isascii() else _well_formed(value) for value in values]
        columns[name] = pd.Series(values, dtype=kind)
    return pd.DataFrame(columns, index=pd.RangeIndex(len(rows)))
