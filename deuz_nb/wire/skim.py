"""The few parts of a transcript that say what a run took, without reading the rest.

Most of a transcript is text; searching it for four words is many times faster than parsing it.  The
search is exact or it is not made: anything unusual in it gives None, and the caller reads it all.
"""

from __future__ import annotations

import re
from typing import Final, cast

from deuz_nb.jsontext import loads
from deuz_nb.parts.ui import UIPart
from deuz_nb.parts.usage import JSON

__all__ = ["skim"]

_WORDS: Final = ('"step-', '"finish"', '"cost"', '"sub-agent"')
_ESCAPED_LETTER: Final = re.compile(r"\\u00[2-7]")
_HEAD: Final = re.compile(r"(?:id: \d{1,16}\n)?data: (?=\{)", re.ASCII)
_END: Final = re.compile(r"(?:(?:id: \d{1,16}\n)?data: \[DONE\]\n\n)?", re.ASCII)


def skim(data: bytes) -> list[UIPart] | None:
    """All parts of steps, costs, sub-agents and the finish, in order, and maybe a few others.

    None when the bytes must be read as a whole: they are not as this package and JavaScript servers write
    them (other line ends, letters as escapes, data on several lines), tell the times of these parts, go on
    after the last of them, or are no UTF-8.
    """
    if 13 in data or not data.startswith((b"id: ", b"data: ")):
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if "\\u00" in text and _ESCAPED_LETTER.search(text):
        return None
    mark = text.find("[DONE]")
    if mark >= 0 and mark != len(text) - len("[DONE]\n\n"):
        return None
    parts: list[UIPart] = []
    done = 0
    for position in _positions(text):
        if position < done:
            continue
        begin = text.rfind("\n\n", done, position) + 2
        head = _HEAD.match(text, begin if begin > 1 else done)
        if head is None:
            return None
        end = text.find("\n", head.end())
        if end < position or not text.startswith("\n\n", end):
            return None
        try:
            part: JSON = loads(text[head.end() : end])
        except ValueError:
            return None
        parts.append(cast("UIPart", part))
        done = end + 2
    return parts if _END.fullmatch(text, done) else None


def _positions(text: str) -> list[int]:
    """Where one of the words is, in order."""
    found: list[int] = []
    for word in _WORDS:
        position = text.find(word)
        while position >= 0:
            found.append(position)
            position = text.find(word, position + 6)
    found.sort()
    return found
