"""Bytes of a UI stream as records: what a server sent, frame by frame.  Source: wire.md 1 and 4."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple, cast

from deuz_nb.jsontext import loads
from deuz_nb.parts.stream import CallWarning
from deuz_nb.parts.ui import UIPart
from deuz_nb.parts.usage import JSON
from deuz_nb.redact import redact
from deuz_nb.sse import Decoder, Event

__all__ = ["DONE", "Reader", "Record", "http_error_part", "malformed_warning"]

DONE: Final = "[DONE]"
_SMALL: Final = 2048
_LARGE: Final = 32 * 1024
_LONGEST_ID: Final = 16

_usual_frames: Final = re.compile(
    r'^id: ([0-9]{1,16})\ndata: (\{"type":"text-delta","text":"([^"\\\x00-\x1f]*)"\}|[^\n]*)\n\n',
    re.MULTILINE,
).findall
"""Numbered frames of one data line as (id, data, text); text is empty unless JSON spells it as it is."""

# NamedTuple's own constructor costs twice as much.
_new = cast("_New", tuple.__new__)  # pyright: ignore[reportUnknownMemberType] - tuple of anything


class Record(NamedTuple):
    """One part as it came: `seq` is the frame's own id (None without one), `raw` its JSON text."""

    seq: int | None
    raw: str
    part: UIPart


_New = Callable[[type[Record], tuple[int | None, str, UIPart]], Record]


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
        # The decoder waits for a new event, of which `_tail` is the beginning.
        self._is_at_rest = False
        self._tail = b""

    def receive(self, data: bytes) -> list[Record]:
        """The records that `data` completes."""
        if self._tail:
            data = self._tail + data
            self._tail = b""
        if not self._is_at_rest or data[-2:] != b"\n\n" or len(data) > _LARGE or 13 in data:
            return self._receive_odd(data)
        text = data.decode("utf-8", "replace")
        found = _usual_frames(text)
        # Every line end belongs to a frame that begins at a line: then nothing is left over.
        if 3 * len(found) != text.count("\n"):
            return self._decoded(data)
        records: list[Record] = []
        self.is_versioned = True
        for seq, raw, plain in found:
            if plain:
                records.append(_new(Record, (int(seq), raw, {"type": "text-delta", "text": plain})))
            elif self._add(records, int(seq), raw):
                break
        return records

    def close(self) -> list[Record]:
        """The records that the end of the body completes."""
        if self.is_done:
            return []
        tail, self._tail = self._tail, b""
        return self._decoded(tail) + self._records(self._decoder.close())

    def _receive_odd(self, data: bytes) -> list[Record]:
        """Cut at blank lines, so that most of the data can be read as whole frames."""
        if self.is_done or not data:
            return []
        if 13 in data:
            return self._decoded(data)
        records: list[Record] = []
        begin = 0
        if not self._is_at_rest:
            begin = data.find(b"\n\n") + 2
            if begin < 3:
                return self._decoded(data)
            records = self._decoded(data[:begin])
        while begin < len(data) and not self.is_done:
            end = data.rfind(b"\n\n", begin, begin + _LARGE) + 2
            if end == 1:
                rest = data[begin:]
                # A long beginning is the decoder's: to join it with every chunk would be quadratic.
                if len(rest) > _SMALL:
                    return records + self._decoded(rest)
                self._tail = rest
                break
            records += self.receive(data[begin:end])
            begin = end
        return records

    def _decoded(self, data: bytes) -> list[Record]:
        self._is_at_rest = len(data) > 2 and data[-2:] == b"\n\n" and 13 not in data
        return self._records(self._decoder.receive(data))

    def _records(self, events: list[Event]) -> list[Record]:
        records: list[Record] = []
        for _, raw, event_id, own_id in events:
            seq = None
            if own_id and event_id and event_id.isdecimal() and event_id.isascii():
                seq = int(event_id) if len(event_id) <= _LONGEST_ID else None
            if seq is not None:
                self.is_versioned = True
            if self._add(records, seq, raw):
                break
        return records

    def _add(self, records: list[Record], seq: int | None, raw: str) -> bool:
        """Add the frame's record, if its data is a JSON object; True when it is the end mark."""
        try:
            part: JSON = loads(raw)
        except (ValueError, RecursionError):
            part = None
        if isinstance(part, dict):
            records.append(_new(Record, (seq, raw, cast("UIPart", part))))
        elif raw == DONE:
            self.is_done = True
            self._is_at_rest = False
        else:
            self.malformed += 1
        return self.is_done


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
