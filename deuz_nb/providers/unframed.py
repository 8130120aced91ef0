"""The bytes that no event explains: a JSON answer, a JSON error or a web page where a stream was promised.

An error may also come in the middle of a stream without any framing.  Source: providers.md 4 and 5.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["Unframed"]

_LARGEST: Final = 1 << 22
_LINE_END: Final = re.compile("\r\n|\n|\r")
_FIELDS: Final = ("data", "event", "id", "retry")


class Unframed:
    """Keeps the bytes since the last event.

    The chunk that ended the event is kept whole: looking into it at once would cost every chunk of a sound
    stream, and only an unsound one is ever asked.
    """

    __slots__ = ("_is_after_event", "_limit", "_pieces", "_size", "_starts_line")

    def __init__(self, *, is_stream: bool) -> None:
        # A long event in small chunks must not be kept twice; what is no stream is kept whole.
        self._limit = _LARGEST if is_stream else float("inf")
        self._pieces: list[bytes] = []
        self._size = 0
        self._is_after_event = False
        self._starts_line = True

    def add(self, data: bytes) -> None:
        """Bytes that completed no event."""
        if self._size < self._limit:
            self._pieces.append(data)
            self._size += len(data)

    def restart(self, data: bytes) -> None:
        """Bytes that completed an event, and what followed it."""
        pieces = self._pieces
        self._starts_line = not pieces or pieces[-1][-1] in b"\r\n"
        self._is_after_event = True
        self._pieces = [data]
        self._size = len(data)

    def text(self) -> str:
        """What is no SSE field in the bytes since the last event."""
        text = b"".join(self._pieces).decode("utf-8", "replace").removeprefix("\ufeff")
        lines = _LINE_END.split(text)
        if self._is_after_event:
            frames = [number for number, line in enumerate(lines) if line.partition(":")[0] == "data"]
            # Without a data line the event's own began in an earlier chunk: its rest is no line of its own.
            first = frames[-1] + 1 if frames else 0 if self._starts_line else 1
            lines = lines[first:]
        if lines and any(field.startswith(lines[-1]) for field in _FIELDS):
            # A last line that may become a field is none yet.
            lines.pop()
        return "\n".join(line for line in lines if line.partition(":")[0] not in ("", *_FIELDS)).strip()
