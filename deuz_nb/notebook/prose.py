"""Markdown that grows: blocks that are sealed once they can no longer change, and an open tail.

Only the tail is parsed again when text arrives.  A long list, table, code or paragraph is cut into pieces
(`sealing`); the text after a cut goes on as if the head of its table or the opening of its fence stood before
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from deuz_nb.notebook.block import Block
from deuz_nb.notebook.code import LIMIT, code_lines
from deuz_nb.notebook.markdown import Env, block_tokens, fill_inline
from deuz_nb.notebook.piece import draw, draw_part
from deuz_nb.notebook.sealing import Segment, cut_of, segments_of, settled

__all__ = ["Prose"]

_SLICE: Final = 4_096
"""Text is taken in slices: parsing stays linear when much of it comes at once."""

_HEAD_LINES: Final = {"table": 2, "fence": 1}
"""How many lines must stand before the rest of a cut block for it to go on."""


_LONGEST_HEAD: Final = 1_000
"""A longer head is not repeated: the rest is then a block of its own."""


@dataclass(frozen=True, slots=True)
class _Chain:
    """The pieces of one long block so far, and how the next one goes on.

    `codes`: the place and the content of each piece of a fence that may still be coloured.
    """

    kind: str
    joins: str
    prefix: str
    number: int | None
    codes: tuple[tuple[int, str], ...] = ()


class Prose:
    """A text in Markdown, fed piece by piece; `blocks()` gives it as drawn blocks in order.

    Sealed blocks are the same objects at every call.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self._waiting: list[str] = []
        self._source = ""
        self._env: Env = {}
        self._blocks: list[Block] = []
        self._tail: list[Block] | None = []
        self._chain: _Chain | None = None
        self._open: list[tuple[Segment, str]] = []
        self._open_env: Env = {}

    def feed(self, text: str) -> None:
        """Add text at the end."""
        self._waiting.append(text)

    def close(self) -> None:
        """Seal everything: no more text will come."""
        self._take(is_whole=True)

    def blocks(self) -> list[Block]:
        """The blocks so far: the sealed ones, then the open tail."""
        if self._waiting:
            self._take(is_whole=False)
        if self._tail is None:
            self._tail = self._drawn_tail()
        return [*self._blocks, *self._tail]

    def _take(self, *, is_whole: bool) -> None:
        text = "".join(self._waiting)
        # A carriage return may be half a line end.
        held = "\r" if text.endswith("\r") and not is_whole else ""
        self._waiting = [held] if held else []
        text = text.removesuffix(held).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
        for start in range(0, len(text), _SLICE):
            self._source += text[start : start + _SLICE]
            self._advance(is_whole=False)
        if is_whole:
            self._advance(is_whole=True)
            self._source = ""
            self._chain = None
        self._tail = None

    def _advance(self, *, is_whole: bool) -> None:
        """Seal what can no longer change; after a cut the rest is parsed anew."""
        while self._source.strip() and self._seal_some(is_whole=is_whole):
            pass

    def _seal_some(self, *, is_whole: bool) -> bool:
        """Seal what one parse tells; True when it made a cut."""
        text = self._source if self._chain is None else self._chain.prefix + self._source
        lines = text.split("\n")
        scratch = self._scratch()
        segments = segments_of(block_tokens(text, scratch), lines)
        count = len(segments) if is_whole else settled(segments, lines)
        for number, segment in enumerate(segments[: count + 1]):
            cut = cut_of(segment, lines, is_whole=is_whole or number < count)
            if cut is not None:
                line, column = cut
                before = [*lines[segment.start : line], lines[line][:column]]
                self._seal(segment, "\n".join(before), is_cut=True)
                self._source = "\n".join([lines[line][column:], *lines[line + 1 :]])
                return True
            if number < count:
                self._seal(segment, _between(lines, segment.start, segment.end), is_cut=False)
        if count and count < len(segments):
            self._source = "\n".join(lines[segments[count].start :])
        self._open = [(s, _between(lines, s.start, s.end)) for s in segments[count:]]
        self._open_env = scratch
        return False

    def _scratch(self) -> Env:
        """The link definitions known so far; what the open tail defines is not final."""
        return {"references": dict(self._env["references"])} if "references" in self._env else {}

    def _goes_on(self, segment: Segment) -> bool:
        """Whether the segment is the rest of what was cut."""
        return self._chain is not None and segment.start == 0 and _family(segment.kind) == self._chain.kind

    def _seal(self, segment: Segment, source: str, *, is_cut: bool) -> None:
        """Append a block that is final, or the first piece of one."""
        chain = self._chain if self._goes_on(segment) else None
        place = len(self._blocks)
        joins = f"{self.key}+{place}" if is_cut and chain is None else "" if chain is None else chain.joins
        tokens = segment.tokens
        if is_cut or "]:" in source:
            tokens = block_tokens(source, self._env)
        fill_inline(tokens, self._env)
        if joins:
            number = None if chain is None else chain.number
            piece = draw_part(tokens, source, number=number, is_first=chain is None)
        else:
            piece = draw(tokens, source, is_coloured=True)
        text = source if chain is None else source[len(chain.prefix) :]
        shared = joins if piece.frame[0] else ""
        self._blocks.append(Block(f"{self.key}.{place}", piece.body, text, piece.frame, shared, self.key))
        codes: tuple[tuple[int, str], ...] = ()
        if joins and segment.kind == "fence" and (chain is None or chain.codes):
            before = () if chain is None else chain.codes
            codes = self._coloured((*before, (place, tokens[0].content)), tokens[0].info, is_cut=is_cut)
        head = source.split("\n")[: _HEAD_LINES.get(segment.kind, 0)]
        prefix = "".join(f"{line}\n" for line in head)
        goes_on = is_cut and len(prefix) <= _LONGEST_HEAD
        self._chain = (
            _Chain(_family(segment.kind), joins, prefix, piece.next_number, codes) if goes_on else None
        )
        if codes and not goes_on:
            self._set(place, is_open=False)

    def _coloured(
        self, codes: tuple[tuple[int, str], ...], language: str, *, is_cut: bool
    ) -> tuple[tuple[int, str], ...]:
        """Colour the pieces of a fence once it is closed; until then they stay open, if not too long."""
        contents = [content for _, content in codes]
        is_long = sum(map(len, contents)) > LIMIT or not all(c.endswith("\n") for c in contents[:-1])
        if is_cut and not is_long:
            self._set(codes[-1][0], is_open=True)
            return codes
        lines = [] if is_long else code_lines("".join(contents).removesuffix("\n"), language)
        begin = 0
        for place, content in codes:
            body = self._blocks[place].body
            if not is_long:
                end = begin + content.count("\n")
                is_last = place == codes[-1][0]
                body = "\n".join(lines[begin:] if is_last else [*lines[begin:end], ""])
                begin = end
            self._set(place, body=body, is_open=False)
        return ()

    def _set(self, place: int, *, is_open: bool, body: str | None = None) -> None:
        block = self._blocks[place]
        self._blocks[place] = replace(block, is_open=is_open, body=block.body if body is None else body)

    def _drawn_tail(self) -> list[Block]:
        found: list[Block] = []
        for number, (segment, source) in enumerate(self._open if self._source.strip() else ()):
            chain = self._chain if number == 0 and self._goes_on(segment) else None
            fill_inline(segment.tokens, self._open_env)
            if chain is None:
                piece, joins = draw(segment.tokens, source, is_coloured=False), ""
            else:
                piece = draw_part(segment.tokens, source, number=chain.number, is_first=False)
                joins, source = chain.joins if piece.frame[0] else "", source[len(chain.prefix) :]
            key = f"{self.key}.{len(self._blocks) + number}"
            found.append(Block(key, piece.body, source, piece.frame, joins, self.key, is_open=True))
        return found


def _family(kind: str) -> str:
    """A paragraph can turn out to be a heading at its very end, so the two are cut alike."""
    return "paragraph" if kind in ("heading", "reference") else kind


def _between(lines: Sequence[str], start: int, end: int) -> str:
    return "\n".join(lines[start:end]) + ("\n" if end < len(lines) else "")
