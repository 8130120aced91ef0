"""The few parts of a transcript that say what a run took, without reading the rest.

Most of a transcript is text; searching its bytes for four words is many times faster than decoding it.  The
search is exact or it is not made: anything unusual about the bytes gives None, and the caller reads it all.
"""

from __future__ import annotations

import re
from typing import Final, cast

from deuz_nb.jsontext import loads
from deuz_nb.parts.ui import UIPart
from deuz_nb.parts.usage import JSON

__all__ = ["skim"]

_WORDS: Final = (b'"step-', b'"finish"', b'"cost"', b'"sub-agent"')
_ESCAPED_LETTER: Final = re.compile(rb"\\u00[2-7]")
_FRAME: Final = re.compile(rb"(?:id: \d{1,16}\n)?data: (\{[^\n]*\})\Z")
_END: Final = b"data: [DONE]\n\n"


def skim(data: bytes) -> list[UIPart] | None:
    """All parts of steps, costs, sub-agents and the finish, in order, and maybe a few others.

    None when the bytes must be read as a whole: they are not as this package and JavaScript servers write
    them (other line ends, letters as escapes, data on several lines), tell the times of these parts, or are
    no UTF-8.
    """
    if 13 in data or not data.startswith((b"id: ", b"data: ")) or not _is_utf8(data):
        return None
    if b"\\u00" in data and _ESCAPED_LETTER.search(data):
        return None
    end = data.find(b"[DONE]")
    if end >= 0 and not (data.endswith(_END) and end == len(data) - len(_END) + _END.index(b"[")):
        return None
    parts: list[UIPart] = []
    done = 0
    for position in _positions(data):
        if position < done:
            continue
        begin = data.rfind(b"\n\n", done, position) + 2
        begin = begin if begin > 1 else done
        done = data.find(b"\n\n", position) + 2
        match = _FRAME.match(data, begin, done - 2) if done > 1 else None
        if match is None:
            return None
        try:
            part: JSON = loads(match[1].decode())
        except ValueError:
            return None
        parts.append(cast("UIPart", part))
    return parts


def _positions(data: bytes) -> list[int]:
    """Where one of the words is, in order."""
    found: list[int] = []
    for word in _WORDS:
        position = data.find(word)
        while position >= 0:
            found.append(position)
            position = data.find(word, position + len(word))
    found.sort()
    return found


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
