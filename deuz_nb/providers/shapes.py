"""Frames that say the same again but for their text: read without reading the JSON around it once more.

Most frames of a stream differ from the frame before only in one string.  When head and tail of a frame are
those of a frame that was read, and what is between needs no escape, then that is the string's value: the rest
of the document is the same, character for character.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from deuz_nb import jsontext
from deuz_nb.parts.usage import JSON

__all__ = ["Saying", "TextShape", "shape_of"]

Saying = tuple[Literal["text-delta", "reasoning-delta"], str]
"""What a frame does when it does nothing but say this text, as this type of part."""

_PROBE: Final = "probe"


class TextShape:
    """The event name, head and tail of frames that only say more text, and the type of part they give."""

    __slots__ = ("_head", "_name", "_start", "_stop", "_tail", "kind")

    def __init__(
        self, kind: Literal["text-delta", "reasoning-delta"], name: str | None, head: str, tail: str
    ) -> None:
        self.kind: Literal["text-delta", "reasoning-delta"] = kind
        self._name = name
        self._head = head
        self._tail = tail
        self._start = len(head)
        self._stop = -len(tail)

    def text_in(self, name: str | None, data: str) -> str:
        """The text of a frame of this shape; empty for any other, and for text that has to be read as JSON."""
        if name == self._name and data.startswith(self._head) and data.endswith(self._tail):
            text = data[self._start : self._stop]
            # Control characters are no JSON text; those are not printable, and few others are not.
            if text.isprintable() and '"' not in text and "\\" not in text:
                return text
        return ""


def shape_of(
    name: str | None, data: str, said: Saying, understand: Callable[[JSON], Saying | None]
) -> TextShape | None:
    """The shape of `data`, a frame of which `understand` says that it only says `said`; None if it has none."""
    kind, text = said
    before, found, after = data.partition(f':"{text}"')
    if not found:
        return None
    head, tail = f'{before}:"', f'"{after}'
    # Whether it is this string that is read, another text in its place tells.
    try:
        is_it = understand(jsontext.loads(f"{head}{_PROBE}{tail}")) == (kind, _PROBE)
    except ValueError:
        is_it = False
    return TextShape(kind, name, head, tail) if is_it else None
