"""Transcripts: a recorded UI stream, lossless.

The bytes of a transcript are the body a server would have sent, so every reader of the wire reads it.  They
are kept as they are: reading a transcript and writing it again gives the same bytes.  A comment line
`: t=<ms>` before a frame says when the frame came; readers of SSE ignore it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, cast

from deuz_nb.errors import MisuseError, TranscriptError
from deuz_nb.parts.stream import StreamPart
from deuz_nb.parts.ui import UIPart
from deuz_nb.parts.usage import JSON, JSONObject
from deuz_nb.wire.frame import Wire, encode_done, is_on_v1
from deuz_nb.wire.framer import Frame, Framer
from deuz_nb.wire.plain import plain_text
from deuz_nb.wire.reader import DONE, Reader, Record

__all__ = ["Recorded", "Transcript", "transcript_bytes", "transcript_from_bytes"]

_TIME: Final = re.compile(rb"(?:\A|(?<=[\r\n])): t=(\d{1,15}(?:\.\d{1,9})?)(?=[\r\n])")
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_FIELDS: Final = frozenset({"data", "event", "id", "retry"})


class Recorded(Protocol):
    """A run that can be written: canonical `parts`, and when each came (milliseconds) if that is known."""

    @property
    def parts(self) -> Sequence[StreamPart]: ...
    @property
    def part_times_ms(self) -> Sequence[float] | None: ...
    @property
    def message_id(self) -> str: ...


@dataclass(frozen=True, slots=True, repr=False)
class Transcript:
    """A recorded stream: `records` in order, and `source`, the very bytes.

    `timings` has one entry per record: milliseconds, or None where none was written.  `is_done`: the end mark
    is there; without it the recording stopped before the stream did.  `malformed` counts frames left out.
    """

    records: tuple[Record, ...]
    wire: Wire
    timings: tuple[float | None, ...]
    is_done: bool
    malformed: int
    source: bytes = field(compare=False)
    path: str | None = None

    @property
    def parts(self) -> list[UIPart]:
        """The UI parts, in order."""
        return [record.part for record in self.records]

    def __repr__(self) -> str:
        name = (self.path or "transcript").replace("\\", "/").rsplit("/", 1)[-1][:40]
        return f"<{name}: {len(self.records)} parts, {self.wire}{'' if self.is_done else ', not done'}>"

    def __str__(self) -> str:
        return plain_text(self.parts, malformed=self.malformed)


def transcript_from_bytes(data: bytes, *, path: str | None = None) -> Transcript:
    """Read a transcript, v1 or v2.

    Frames that are no JSON object are counted, not fatal.  Raises TranscriptError when the bytes are not
    UTF-8 or hold no frame at all; `path` is only for the message.
    """
    _check_utf8(data, path)
    reader = Reader()
    records: list[Record] = []
    timings: list[float | None] = []
    begin, time_ms = 0, None
    for mark in _TIME.finditer(data):
        _take(reader.receive(data[begin : mark.start()]), time_ms, records, timings)
        begin, time_ms = mark.start(), float(mark[1])
    _take(reader.receive(data[begin:]), time_ms, records, timings)
    _take(reader.close(), time_ms, records, timings)
    if not records and not reader.is_done:
        raise _no_frame(data, path)
    return Transcript(
        records=tuple(records),
        wire="v2" if reader.is_versioned else "v1",
        timings=tuple(timings),
        is_done=reader.is_done,
        malformed=reader.malformed,
        source=data,
        path=path,
    )


def transcript_bytes(
    source: Transcript | Recorded | Sequence[StreamPart | UIPart], *, wire: Wire = "v2", timings: bool = False
) -> bytes:
    """The bytes of a transcript of `source`.

    A transcript of the same wire gives its own bytes.  A list is taken as UI parts when it begins with a
    `start`, else as canonical parts.  Parts that end with neither finish nor error get no end mark: the run
    was still going on.  `timings` adds when each part came, where that is known.
    """
    if wire not in ("v1", "v2"):
        raise MisuseError(f"wire={wire!r} is no version of the wire; use 'v1' or 'v2'")
    if isinstance(source, Transcript):
        return source.source if source.wire == wire else _converted(source, wire, timings=timings)
    if isinstance(source, Sequence):
        return _framed(source, None, "deuz-msg", wire)
    times = source.part_times_ms if timings else None
    return _framed(source.parts, times, source.message_id, wire)


def _take(
    found: list[Record], time_ms: float | None, records: list[Record], timings: list[float | None]
) -> None:
    """The time before a frame is that frame's only."""
    records += found
    timings += [time_ms, *[None] * (len(found) - 1)] if found else []


def _time_line(time_ms: float | None) -> bytes:
    if time_ms is None:
        return b""
    rounded = round(max(time_ms, 0.0), 3)
    return f": t={int(rounded) if rounded == int(rounded) else rounded}\n".encode()


def _framed(
    parts: Sequence[StreamPart | UIPart], times: Sequence[float] | None, message_id: str, wire: Wire
) -> bytes:
    framer = Framer(wire=wire, message_id=message_id)
    is_ui = bool(parts) and _type_of(parts[0]) in ("start", "capabilities")
    pieces: list[bytes] = [] if is_ui else [frame.data for frame in framer.start()]
    for number, part in enumerate(parts):
        frames: list[Frame]
        if is_ui:
            frames = framer.send(cast("UIPart", part), is_transient=_type_of(part) == "capabilities")
        else:
            frames = framer.parts([cast("StreamPart", part)])
        time_ms = times[number] if times is not None and number < len(times) else None
        pieces += [_time_line(time_ms) + frame.data for frame in frames]
    if any(_type_of(part) in ("finish", "error") for part in parts):
        pieces += [frame.data for frame in framer.close()]
    return b"".join(pieces)


def _type_of(part: JSON) -> JSON:
    return cast("JSONObject", part).get("type") if isinstance(part, dict) else None


def _converted(source: Transcript, wire: Wire, *, timings: bool) -> bytes:
    """The records in the other wire; their JSON text stays as it was."""
    pieces: list[bytes] = []
    seq = 0
    for record, time_ms in zip(source.records, source.timings, strict=True):
        if wire == "v1" and not is_on_v1(record.part):
            continue
        head = f"id: {seq}\n" if wire == "v2" else ""
        lines = "".join(f"data: {line}\n" for line in record.raw.split("\n"))
        pieces.append(_time_line(time_ms if timings else None) + f"{head}{lines}\n".encode())
        seq += 1
    if source.is_done:
        pieces.append(encode_done(seq if wire == "v2" else None))
    return b"".join(pieces)


def _named(path: str | None) -> str:
    return path or "<bytes>"


def _check_utf8(data: bytes, path: str | None) -> None:
    try:
        # Not final: a recording may stop inside a character.
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(data[: error.start])) + 1
        what = f"line {line} is not UTF-8 (byte 0x{data[error.start]:02x})"
        hint = "save the file as UTF-8, or decompress it if it is packed"
        raise TranscriptError(f"{_named(path)}: {what}; {hint}", path=_named(path), line=line) from error


def _no_frame(data: bytes, path: str | None) -> TranscriptError:
    """Why nothing could be read, and at which line."""
    hint = "a transcript is the body of a Deuz UI stream, as write_transcript writes it"
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    for number, line in enumerate(re.split("\r\n|\r|\n", text), 1):
        name, _, value = line.partition(":")
        if not name:
            continue
        if name not in _FIELDS:
            what = f"line {number} is not a line of an event stream"
        elif name == "data" and value.strip() != DONE:
            what = f"line {number} holds no JSON object"
        else:
            continue
        return TranscriptError(f"{_named(path)}: {what}; {hint}", path=_named(path), line=number)
    what = "holds no frame" if text.strip() else "is empty"
    return TranscriptError(f"{_named(path)} {what}; {hint}", path=_named(path))
