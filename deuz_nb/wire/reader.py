"""Bytes of a UI stream as records: what a server sent, frame by frame.  Source: wire.md 1 and 4."""

from __future__ import annotations

from typing import Final, NamedTuple, cast

from deuz_nb.jsontext import loads
from deuz_nb.parts.stream import CallWarning
from deuz_nb.parts.ui import UIPart
from deuz_nb.parts.usage import JSON
from deuz_nb.redact import redact
from deuz_nb.sse import Decoder, Event

__all__ = ["DONE", "Reader", "Record", "http_error_part", "malformed_warning"]

DONE: Final = "[DONE]"
_TEXT_HEAD: Final = '{"type":"text-delta","text":"'
_TEXT_TAIL: Final = '"}'
_SHORTEST: Final = len(_TEXT_HEAD) + len(_TEXT_TAIL)


class Record(NamedTuple):
    """One part as it came: `seq` is the frame's own id (None without one), `raw` its JSON text."""

    seq: int | None
    raw: str
    part: UIPart


class Reader:
    """Reads the body of a UI stream.

    A frame whose data is no JSON object is left out of the records and counted in `malformed`.  After the end
    mark (`is_done`) nothing is read.  `is_versioned`: a frame had an id, so the stream is v2.
    """

    def __init__(self) -> None:
        self.is_done = False
        self.is_versioned = False
        self.malformed = 0
        self._decoder = Decoder()

    def receive(self, data: bytes) -> list[Record]:
        """The records that `data` completes."""
        return self._records(self._decoder.receive(data))

    def close(self) -> list[Record]:
        """The records that the end of the body completes."""
        return self._records(self._decoder.close())

    def _records(self, events: list[Event]) -> list[Record]:
        records: list[Record] = []
        for event in events:
            if self.is_done:
                break
            data = event.data
            seq = _seq_of(event.id) if event.own_id else None
            if seq is not None:
                self.is_versioned = True
            if data == DONE:
                self.is_done = True
                break
            part = _part_of(data)
            if part is None:
                self.malformed += 1
            else:
                records.append(Record(seq, data, part))
        return records


def _seq_of(event_id: str | None) -> int | None:
    """The id as a sequence number; None unless it is a plain non-negative integer."""
    if event_id is None or not event_id.isascii() or not event_id.isdigit() or len(event_id) > 16:
        return None
    return int(event_id)


def _part_of(data: str) -> UIPart | None:
    if data.startswith(_TEXT_HEAD) and data.endswith(_TEXT_TAIL):
        text = data[len(_TEXT_HEAD) : -len(_TEXT_TAIL)]
        # Printable, without quote and backslash: the JSON text is the string itself.  The length tells a
        # text whose closing quote is there from one whose opening quote would count twice.
        if len(data) >= _SHORTEST and text.isprintable() and '"' not in text and "\\" not in text:
            return {"type": "text-delta", "text": text}
    try:
        part: JSON = loads(data)
    except (ValueError, RecursionError):
        return None
    return cast("UIPart", part) if isinstance(part, dict) else None


def malformed_warning(count: int) -> CallWarning:
    """What to tell the user about frames that could not be read."""
    what = "1 frame was" if count == 1 else f"{count} frames were"
    return {
        "type": "malformed-frames",
        "message": f"{what} not a JSON object and left out: parts of this stream are missing",
    }


def http_error_part(status: int, reason: str) -> UIPart | None:
    """The one part that a failed answer is read as; None for a 2xx.  The body is never shown."""
    if 200 <= status <= 299:
        return None
    words = f" {redact(reason)}" if reason else ""
    return {"type": "error", "message": f"Deuz stream request failed (status {status}{words})."}
