"""A page that stays: one piece of semantic HTML without script or style sheet, and its plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from deuz_nb.notebook.block import Block, Group, Item
from deuz_nb.notebook.blocks import Page
from deuz_nb.notebook.style import inline

__all__ = ["page_html", "page_text"]

# Foreign text must not drive the terminal it is printed on.
_CONTROLS: Final = dict.fromkeys(
    [n for n in (*range(32), *range(127, 160), *range(0xD800, 0xE000)) if n not in (9, 10)], "\ufffd"
)


def page_html(page: Page) -> str:
    """The page as HTML; the classes keep front ends from typesetting its dollar signs."""
    foot = page.foot.html if page.foot is not None else ""
    body = f"{page.head.html}{_items_html(page.items)}{foot}"
    return inline(f'<div class="dz mathjax_ignore tex2jax_ignore">{body}</div>')


def page_text(page: Page) -> str:
    """The page as plain text: a transcript to read in a terminal."""
    blocks = [page.head.text, *_texts(page.items)]
    if page.foot is not None:
        blocks.append(page.foot.text)
    return "\n\n".join(block for block in blocks if block).translate(_CONTROLS)


def _items_html(items: Sequence[Item]) -> str:
    pieces: list[str] = []
    for joins, run in groupby(items, lambda item: item.joins if isinstance(item, Block) else ""):
        members = list(run)
        if joins:
            blocks = [item for item in members if isinstance(item, Block)]
            bodies = "".join(block.body for block in blocks)
            pieces.append(f"{blocks[0].frame[0]}{bodies}{blocks[-1].frame[1]}")
        else:
            pieces += [_item_html(item) for item in members]
    return "".join(pieces)


def _item_html(item: Item) -> str:
    if isinstance(item, Block):
        return item.html
    inner = _items_html(item.items)
    if item.kind == "reasoning":
        if not item.items:
            return f'<div class="dz-reasoning">{item.head.html}</div>'
        return f'<details class="dz-reasoning"><summary>{item.head.html}</summary>{inner}</details>'
    return f'<div class="dz-sub"><div class="dz-line">{item.head.html}</div>{inner}</div>'


def _texts(items: Sequence[Item]) -> Iterator[str]:
    """One text per thing; the blocks of one text element are its text again."""
    for prose, run in groupby(items, lambda item: item.prose if isinstance(item, Block) else ""):
        members = list(run)
        if prose:
            yield "".join(item.text for item in members if isinstance(item, Block)).strip("\n")
        else:
            yield from [item.text if isinstance(item, Block) else _group_text(item) for item in members]


def _group_text(group: Group) -> str:
    inner = "\n\n".join(text for text in _texts(group.items) if text)
    lines = [f"  {line}" if line else "" for line in inner.split("\n")] if inner else []
    return "\n".join([f"[{group.head.text}]" if group.kind == "reasoning" else group.head.text, *lines])
