"""Server-sent events out of bytes: a machine without I/O that reads any chunking of any stream.

The rules are the WHATWG ones, with three differences the stream contract asks for: an event without its
blank line is still dispatched at the end, a CR ends a line at once (the LF of a CRLF pair is dropped when
it comes), and an event tells whether its id was its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

__all__ = ["Comment", "Decoder", "Event"]

_BOM: Final = b"\xef\xbb\xbf"
_SLICE: Final = 32 * 1024
"""Larger input is read in slices: what is parsed then still lies in the processor's cache."""
_RETRY_DIGITS: Final = 15
_BOM_EXPECTED: Final = 1
_LF_EXPECTED: Final = 2


class Event(NamedTuple):
    """One dispatched event.

    `event` is None for the default type.  `id` is the last id the stream named, None before the first;
    `own_id` tells whether this event's own frame named it.
    """

    event: str | None
    data: str
    id: str | None
    own_id: bool


class Comment(NamedTuple):
    """The text of a comment line, and the number (from 0) of the event that comes after it."""

    before: int
    text: str


# `Event(...)` itself is a Python call; the tuple constructor costs a third of it.
_new: Final = cast(
    "Callable[[type[Event], tuple[str | None, str, str | None, bool]], Event]", cast("Any", tuple).__new__
)


class Decoder:
    """Bytes in, events out, cut anywhere; never raises for what the bytes say.

    `receive` returns the events that the chunk completed; `close` those the end of the stream completes.
    """

    __slots__ = (
        "_comments",
        "_count",
        "_expects",
        "_id",
        "_keep_comments",
        "_pending",
        "_pieces",
        "_retry_ms",
    )

    def __init__(self, *, keep_comments: bool = False) -> None:
        """`keep_comments` collects comment lines in `comments`; otherwise they are dropped."""
        # The unfinished rest stays a list of pieces: joining it per chunk would be quadratic on long lines.
        self._pieces: list[bytes] = []
        self._id: str | None = None
        self._retry_ms: int | None = None
        self._keep_comments = keep_comments
        self._comments: list[Comment] = []
        self._count = 0
        self._expects = _BOM_EXPECTED
        self._pending: bytes = b""

    @property
    def retry_ms(self) -> int | None:
        """The last reconnection time the stream asked for, None before any."""
        return self._retry_ms

    @property
    def comments(self) -> list[Comment]:
        """The comments so far, in order; clear the list to let go of them.  Empty unless kept."""
        return self._comments

    def receive(self, data: bytes) -> list[Event]:
        """The events that `data` completes, in order."""
        if self._expects or 13 in data:
            data = self._plain(data)
        if 10 not in data:
            if data:
                self._pieces.append(data)
            return []
        if len(data) > _SLICE:
            return self._receive_slices(data)
        pieces = self._pieces
        end = data.rfind(b"\n\n") + 2
        # Without a blank line of its own the chunk may still hold the second half of one.
        if end == 1 and (data[0] != 10 or not pieces or pieces[-1][-1] != 10):
            pieces.append(data)
            return []
        if end == len(data):
            region = data
            rest: list[bytes] = []
        else:
            region = data[:end]
            rest = [data[end:]]
        if pieces:
            pieces.append(region)
            region = b"".join(pieces)
        self._pieces = rest
        return self._region(region.decode("utf-8", "replace"))

    def close(self) -> list[Event]:
        """The events that the end of the stream completes: the last one may lack its blank line."""
        rest = b"".join(self._pieces) + self._pending
        self._pieces = []
        self._pending = b""
        return self._lines(rest.decode("utf-8", "replace") + "\n\n") if rest else []

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
            data = self._pending + data
            if len(data) < 3 and _BOM.startswith(data):
                self._pending = data
                return b""
            self._pending = b""
            data = data.removeprefix(_BOM)
        elif self._expects == _LF_EXPECTED:
            data = data.removeprefix(b"\n")
        if 13 not in data:
            self._expects = 0
            return data
        self._expects = _LF_EXPECTED if data[-1] == 13 else 0
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _region(self, text: str) -> list[Event]:
        """The events of `text`, which ends with a blank line.

        A region made of frames of one usual shape is split as a whole; the newline count proves the shape.
        """
        first = text[0]
        newlines = text.count("\n")
        try:
            if first == "i" and text.startswith("id: ") and "\0" not in text:
                frames = text[4:-2].split("\n\nid: ")
                if newlines == 3 * len(frames):
                    events = [
                        _new(Event, (None, data, id_, True))
                        for id_, data in [frame.split("\ndata: ") for frame in frames]
                    ]
                    self._id = events[-1][2]
                    self._count += len(events)
                    return events
            elif first == "d" and text.startswith("data: "):
                frames = text[6:-2].split("\n\ndata: ")
                if newlines == 2 * len(frames):
                    id_ = self._id
                    self._count += len(frames)
                    return [_new(Event, (None, data, id_, False)) for data in frames]
            elif first == "e" and text.startswith("event: "):
                frames = text[7:-2].split("\n\nevent: ")
                if newlines == 3 * len(frames):
                    id_ = self._id
                    events = [
                        _new(Event, (name or None, data, id_, False))
                        for name, data in [frame.split("\ndata: ") for frame in frames]
                    ]
                    self._count += len(events)
                    return events
        except ValueError:
            pass  # a frame of another shape did not unpack
        return self._lines(text)

    def _lines(self, text: str) -> list[Event]:
        """The events of `text`, read line by line; it ends with a blank line."""
        events: list[Event] = []
        name: str | None = None
        data: list[str] = []
        own_id = False
        for line in text.split("\n"):
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
            elif field == "retry":
                if value.isascii() and value.isdigit() and len(value) <= _RETRY_DIGITS:
                    self._retry_ms = int(value)
            elif not field and self._keep_comments:
                self._comments.append(Comment(self._count + len(events), value))
        self._count += len(events)
        return events
