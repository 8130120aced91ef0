"""Where Markdown that still grows may be cut: what is before can no longer change.

Everything before the last top-level block is final, unless that block starts on the last or next-to-last
line and the text does not end a line: then one more stays open.  A block that grows long is cut into pieces
at an item, a row or a line, at a place that depends only on what is before it, so that a text rendered while
it streams and the same text rendered at once give the same pieces.  Source: view.md 2, performance.md 9.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markdown_it.token import Token

__all__ = ["HARD", "LONG", "Segment", "cut_of", "is_fence_end", "segments_of", "settled"]

LONG: Final = 1_500
"""A list, table, quote or code longer than this many characters is cut."""

HARD: Final = 6_000
"""Anything longer than this is cut somewhere."""

_PARAGRAPH: Final = 3_000
_SENTENCE: Final = re.compile(r"[.!?…:;]\s+(?=[^\W\d_])")
_SPACE: Final = re.compile(r"\s(?=[^\W\d_])")
_WINDOW: Final = 600


@dataclass(frozen=True, slots=True)
class Segment:
    """A top-level block: its lines `[start, end)`, up to where the next one begins, and its tokens."""

    kind: str
    start: int
    end: int
    tokens: Sequence[Token]


def segments_of(tokens: Sequence[Token], lines: Sequence[str]) -> list[Segment]:
    """The top-level blocks; link definitions, which have no token, are segments of kind `reference`."""
    heads = [(n, t) for n, t in enumerate(tokens) if t.level == 0 and t.nesting >= 0 and t.map]
    found: list[tuple[str, int, Sequence[Token]]] = []
    line = 0
    for number, (index, token) in enumerate(heads):
        first, last = token.map or (0, 0)
        gap = _first_filled(lines, line, first)
        if gap is not None:
            found.append(("reference", gap, ()))
        stop = heads[number + 1][0] if number + 1 < len(heads) else len(tokens)
        found.append((token.type.removesuffix("_open"), first, tokens[index:stop]))
        line = last
    gap = _first_filled(lines, line, len(lines))
    if gap is not None:
        found.append(("reference", gap, ()))
    ends = [start for _, start, _ in found[1:]] + [len(lines)]
    return [Segment(kind, start, end, part) for (kind, start, part), end in zip(found, ends, strict=True)]


def settled(segments: Sequence[Segment], lines: Sequence[str]) -> int:
    """How many of the first segments can no longer change, whatever text follows.

    `lines` are the text's lines; the last one is empty when the text ends a line.
    """
    count = len(segments) - 1
    if count < 1:
        return 0
    is_ended = lines[-1] == ""
    if not is_ended and segments[-1].start >= len(lines) - 2:
        count -= 1
    # A definition may still get a title from the lines right below it.
    while count > 0 and segments[count - 1].kind == "reference" and lines[segments[count].start - 1].strip():
        count -= 1
    for number in range(count):
        if _is_open_math(segments[number], lines):
            return number
    return max(count, 0)


def cut_of(segment: Segment, lines: Sequence[str], *, is_whole: bool) -> tuple[int, int] | None:
    """Where to cut a long segment: the line and the column of the first character after the cut.

    None when it is short, or when the place cannot be known yet.  `is_whole`: no more text will come.
    """
    if segment.kind in ("paragraph", "heading", "reference"):
        return _cut_text(segment, lines)
    size = 0
    items = {t.map[0] for t in segment.tokens if t.type == "list_item_open" and t.level == 1 and t.map}
    stop = (segment.tokens[0].map or (0, segment.end))[1]
    for number in range(segment.start, min(stop, segment.end)):
        line = lines[number]
        is_over = size + len(line) > HARD + _WINDOW
        if number == len(lines) - 1 and not is_whole and not is_over:
            return None
        if number > segment.start and (
            size >= HARD or (size >= LONG and _may_cut(segment, line, number, items))
        ):
            return number, 0
        if is_over:
            return number, HARD + _WINDOW - size
        size += len(line) + 1
    return None


def is_fence_end(line: str, markup: str) -> bool:
    """Whether `line` may close a code fence that was opened with `markup`."""
    found = line.strip()
    return len(found) >= len(markup) and not found.strip(markup[0])


def _may_cut(segment: Segment, line: str, number: int, items: set[int]) -> bool:
    match segment.kind:
        case "bullet_list" | "ordered_list":
            return number in items
        case "table":
            return bool(line.strip())
        case "fence":
            return not is_fence_end(line, segment.tokens[0].markup)
        case "blockquote":
            return line.lstrip(" ").startswith(">")
        case "code_block":
            return line.startswith("    ") and bool(line.strip())
        case _:
            return False


def _cut_text(segment: Segment, lines: Sequence[str]) -> tuple[int, int] | None:
    """After a sentence, else a word, else anywhere; always looks at the same window of text."""
    text = "\n".join(lines[segment.start : segment.end])
    end = _PARAGRAPH + _WINDOW
    if len(text) <= end:
        return None
    window = text[:end]
    found = _SENTENCE.search(window, _PARAGRAPH) or _SPACE.search(window, _PARAGRAPH)
    offset = found.end() if found is not None else end
    before = text[:offset]
    return segment.start + before.count("\n"), offset - (before.rfind("\n") + 1)


def _is_open_math(segment: Segment, lines: Sequence[str]) -> bool:
    """Whether a formula was begun here that no blank line has ended and that may still be closed."""
    if segment.kind == "math_block" or not lines[segment.start].lstrip(" ").startswith("$$"):
        return False
    rest = lines[segment.start : -1]
    return all(line.strip() for line in rest) and sum(map(len, rest)) < HARD


def _first_filled(lines: Sequence[str], start: int, stop: int) -> int | None:
    return next((n for n in range(start, stop) if lines[n].strip()), None)
