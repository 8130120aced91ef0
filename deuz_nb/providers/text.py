"""Text across deltas: surrogate halves that belong together, and reasoning between think tags."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["PairJoiner", "ThinkSplitter", "whole_text"]

_HALF: Final = re.compile("[\ud800-\udfff]")
_REPLACEMENT: Final = "\ufffd"


class PairJoiner:
    """Holds a trailing high surrogate until its mate comes; no text that leaves has a lone half."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    @property
    def is_holding(self) -> bool:
        """Whether half a character waits for the next text."""
        return bool(self._held)

    def feed(self, text: str) -> str:
        """The text that can go out now."""
        if not self._held and (text.isascii() or not _HALF.search(text)):
            return text
        whole = (self._held + text).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        self._held = ""
        if whole and "\ud800" <= whole[-1] <= "\udbff":
            self._held = whole[-1]
            whole = whole[:-1]
        return _HALF.sub(_REPLACEMENT, whole)

    def flush(self) -> str:
        """What was held when its mate can no longer come."""
        held, self._held = self._held, ""
        return _REPLACEMENT if held else ""


def whole_text(text: str) -> str:
    """Text that came in one piece, without lone surrogate halves."""
    if text.isascii():
        return text
    joiner = PairJoiner()
    return joiner.feed(text) + joiner.flush()


class ThinkSplitter:
    """Splits answer text at `<think>` and `</think>`, also when a tag is cut between deltas.

    Only a tag before the first answer text opens reasoning: a later one is text that talks about tags.
    """

    __slots__ = ("_buffer", "_is_thinking", "_may_open", "_trim")

    def __init__(self, starts_in_reasoning: bool) -> None:
        self._buffer = ""
        self._is_thinking = starts_in_reasoning
        self._may_open = True
        self._trim = False

    def feed(self, text: str) -> list[tuple[str, bool]]:
        """(text, is it reasoning) pieces that are certain now."""
        self._buffer += text
        found: list[tuple[str, bool]] = []
        while self._buffer:
            if self._trim:
                self._buffer = self._buffer.lstrip("\r\n")
                if not self._buffer:
                    break
                self._trim = False
            if self._is_thinking:
                before, tag, after = self._buffer.partition("</think>")
                if tag:
                    if before:
                        found.append((before.rstrip("\n"), True))
                    self._buffer, self._is_thinking, self._may_open, self._trim = after, False, False, True
                    continue
                keep = _open_end(before, "</think>")
            elif self._may_open:
                stripped = self._buffer.lstrip()
                if stripped.startswith("<think>"):
                    self._buffer, self._is_thinking, self._trim = stripped[7:], True, True
                    continue
                if "<think>".startswith(stripped):
                    break
                self._may_open = False
                continue
            else:
                keep = 0
            cut = len(self._buffer) - keep
            if cut:
                found.append((self._buffer[:cut], self._is_thinking))
                self._buffer = self._buffer[cut:]
            break
        return [(piece, thinking) for piece, thinking in found if piece]

    def flush(self) -> list[tuple[str, bool]]:
        """What was held when no more text can come."""
        rest, self._buffer = self._buffer, ""
        return [(rest, self._is_thinking)] if rest else []


def _open_end(text: str, tag: str) -> int:
    """How many of the last characters could be the beginning of `tag`."""
    for size in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:size]):
            return size
    return 0
