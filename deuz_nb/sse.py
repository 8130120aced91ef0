"""Server-sent events out of bytes: a machine without I/O that reads any chunking of any stream.

The rules are the WHATWG ones, with three differences the stream contract asks for: an event without its
blank line is still dispatched at the end, a CR ends a line at once (the LF of a CRLF pair is dropped when
it comes), and an event tells whether its id was its own.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any, Final, NamedTuple, cast

__all__ = ["Decoder", "Event"]

_BOM: Final = b"\xef\xbb\xbf"
_BOM_EXPECTED: Final = 1
_LF_EXPECTED: Final = 2
_SLICE: Final = 32 * 1024
"""Larger input is read in slices: what is parsed then still lies in the processor's cache."""
_LONGEST_RETRY: Final = 15


class Event(NamedTuple):
    """One dispatched event.

    `event` is None for the default type.  `id` is the last id the stream named, None before the first;
    `own_id` tells whether this event's own frame named it.
    """

    event: str | None
    data: str
    id: str | None
    own_id: bool


_New = Callable[[type[Event], tuple[str | None, str, str | None, bool]], Event]

# `Event(...)` is a Python call; the tuple constructor beneath it costs a third of that.
_new: Final[_New] = cast("Any", tuple).__new__


class Decoder:
    """Bytes in, events out, cut anywhere; never raises for what the bytes say.

    `receive` returns the events that the chunk completed; `close` those the end of the stream completes.
    """

    __slots__ = ("_expects", "_head", "_id", "_pieces", "_retry_ms")

    def __init__(self) -> None:
        # The unfinished rest stays a list of pieces: joining it per chunk would be quadratic on long lines.
        self._pieces: list[bytes] = []
        self._id: str | None = None
        self._retry_ms: int | None = None
        self._expects = _BOM_EXPECTED
        self._head: bytes = b""

    @property
    def retry_ms(self) -> int | None:
        """The last reconnection time the stream asked for, None before any."""
        return self._retry_ms

    def receive(self, data: bytes) -> list[Event]:
        """The events that `data` completes, in order."""
        if len(data) > _SLICE:
            # Before line ends are made plain: a CR at the end of the whole must not meet the LF of its beginning.
            return self._receive_slices(data)
        if self._expects or 13 in data:
            data = self._plain(data)
        if 10 not in data:
            if data:
                self._pieces.append(data)
            return []
        region, has_blank, rest = data.rpartition(b"\n\n")
        pieces = self._pieces
        if not has_blank:
            if data[0] != 10 or not pieces or pieces[-1][-1] != 10:
                pieces.append(data)
                return []
            # The blank line straddles the chunks.
            pieces[-1] = pieces[-1][:-1]
            rest = data[1:]
        if pieces:
            if len(pieces) == 1:
                region = pieces[0] + region
            else:
                pieces.append(region)
                region = b"".join(pieces)
        self._pieces = [rest] if rest else []
        try:
            text = region.decode()
        except UnicodeDecodeError:
            text = region.decode("utf-8", "replace")
        if "\n" not in text:
            if text[:6] == "data: ":
                return [_new(Event, (None, text[6:], self._id, False))]
            return self._lines(text)
        head, has_data, value = text.partition("\ndata: ")
        if has_data:
            if "\n" in value or "\n" in head:
                return self._frames(text)
            if head[:4] == "id: " and "\0" not in head:
                self._id = head = head[4:]
                return [_new(Event, (None, value, head, True))]
            if head[:7] == "event: ":
                return [_new(Event, (head[7:] or None, value, self._id, False))]
        return self._lines(text)

    def close(self) -> list[Event]:
        """The events that the end of the stream completes: the last one may lack its blank line."""
        rest = self._head + b"".join(self._pieces)
        self._pieces = []
        self._head = b""
        return self._lines(rest.decode("utf-8", "replace")) if rest else []

    def _receive_slices(self, data: bytes) -> list[Event]:
        events: list[Event] = []
        for start in range(0, len(data), _SLICE):
            events += self.receive(data[start : start + _SLICE])
        return events

    def _plain(self, data: bytes) -> bytes:
        """`data` with LF as its only line end and without the stream's BOM."""
        if not data:
            return data
        if self._expects == _BOM_EXPECTED:
            data = self._head + data
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._head = data
                return b""
            self._head = b""
            data = data.removeprefix(_BOM)
        elif self._expects == _LF_EXPECTED:
            data = data.removeprefix(b"\n")
        if 13 not in data:
            self._expects = 0
            return data
        self._expects = _LF_EXPECTED if data[-1] == 13 else 0
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _frames(self, text: str) -> list[Event]:
        """The events of `text`, frames joined by blank lines; those of one usual shape are split as a whole.

        The number of line ends proves the shape: none may be left for a line that is not looked at.
        """
        newlines = text.count("\n")
        if text.startswith("data: "):
            frames = text.split("\n\ndata: ")
            frames[0] = frames[0][6:]
            if newlines == 2 * len(frames) - 2:
                id_ = self._id
                return [_new(Event, (None, data, id_, False)) for data in frames]
        elif text.startswith("id: "):
            frames = text.split("\n\nid: ")
            frames[0] = frames[0][4:]
            if newlines == 3 * len(frames) - 2 and "\0" not in text:
                events = [
                    _new(Event, (None, data, id_, True))
                    for id_, has_data, data in map(str.partition, frames, repeat("\ndata: "))
                    if has_data
                ]
                if len(events) == len(frames):
                    self._id = events[-1][2]
                    return events
        elif text.startswith("event: "):
            frames = text.split("\n\nevent: ")
            frames[0] = frames[0][7:]
            if newlines == 3 * len(frames) - 2:
                id_ = self._id
                events = [
                    _new(Event, (name or None, data, id_, False))
                    for name, has_data, data in map(str.partition, frames, repeat("\ndata: "))
                    if has_data
                ]
                if len(events) == len(frames):
                    return events
        return self._lines(text)

    def _lines(self, text: str) -> list[Event]:
        """The events of `text`, read line by line; a blank line is understood at its end."""
        events: list[Event] = []
        name: str | None = None
        data: list[str] = []
        own_id = False
        lines = text.split("\n")
        lines.append("")
        for line in lines:
            if not line:
                if data:
                    events.append(Event(name or None, "\n".join(data), self._id, own_id))
                    data = []
                name, own_id = None, False
                continue
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                data.append(value)
            elif field == "event":
                name = value
            elif field == "id":
                if "\0" not in value:
                    self._id = value
                    own_id = True
            elif field == "retry" and value.isascii() and value.isdigit() and len(value) <= _LONGEST_RETRY:
                self._retry_ms = int(value)
        return events
