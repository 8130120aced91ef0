"""One top-level Markdown block, or a piece of a long one, as HTML within its frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markdown_it.token import Token

from deuz_nb.notebook.code import plain_lines
from deuz_nb.notebook.html import escape
from deuz_nb.notebook.markdown import is_too_deep, tokens_html

__all__ = ["CODE_FRAMES", "Piece", "draw", "draw_part"]

CODE_FRAMES: Final = (
    ('<pre class="dz-pre"><code class="dz-in">', "</code></pre>"),
    ('<pre class="dz-pre dz-more"><code class="dz-in">', "</code></pre>"),
)
"""The frame of a first piece of code, and of a later one."""

_QUOTES: Final = ('<blockquote class="dz-quote">', '<blockquote class="dz-quote dz-more">')


@dataclass(frozen=True, slots=True)
class Piece:
    """Safe HTML within a frame; `next_number` is what a list that goes on counts from."""

    body: str
    frame: tuple[str, str] = ("", "")
    next_number: int | None = None


def draw(tokens: Sequence[Token], source: str, *, is_coloured: bool) -> Piece:
    """A whole block."""
    if is_too_deep(tokens):
        return Piece(f'<pre class="dz-text">{escape(source)}</pre>')
    return Piece(tokens_html(tokens, is_coloured=is_coloured))


def draw_part(tokens: Sequence[Token], source: str, *, number: int | None, is_first: bool) -> Piece:
    """A piece of a long block, in a frame that its neighbours can share; `number` is its first item's."""
    if is_too_deep(tokens) or not tokens or sum(t.level == 0 and t.nesting >= 0 for t in tokens) != 1:
        return draw(tokens, source, is_coloured=False)
    more = "" if is_first else ' class="dz-more"'
    match tokens[0].type:
        case "paragraph_open":
            return Piece(tokens_html(tokens[1:-1]), (f"<p{more}>", "</p>"))
        case "blockquote_open":
            return Piece(tokens_html(tokens[1:-1]), (_QUOTES[0 if is_first else 1], "</blockquote>"))
        case "bullet_list_open":
            return Piece(tokens_html(tokens[1:-1]), (f"<ul{more}>", "</ul>"))
        case "ordered_list_open":
            return _numbered(tokens, number, more)
        case "table_open":
            return _rows(tokens, is_first=is_first)
        case "fence" | "code_block":
            # The pieces of a fence are coloured together once it is closed.
            return Piece("\n".join(plain_lines(tokens[0].content)), CODE_FRAMES[0 if is_first else 1])
        case _:
            return draw(tokens, source, is_coloured=False)


def _numbered(tokens: Sequence[Token], number: int | None, more: str) -> Piece:
    start = int(tokens[0].attrGet("start") or 1) if number is None else number
    items = sum(token.type == "list_item_open" and token.level == 1 for token in tokens)
    tag = f"<ol{more}>" if start == 1 else f'<ol start="{start}"{more}>'
    return Piece(tokens_html(tokens[1:-1]), (tag, "</ol>"), start + items)


def _rows(tokens: Sequence[Token], *, is_first: bool) -> Piece:
    bodies = [n for n, token in enumerate(tokens) if token.type in ("tbody_open", "tbody_close")]
    if len(bodies) != 2:
        return Piece(tokens_html(tokens))
    first, last = bodies
    more = "" if is_first else " dz-more"
    head = tokens_html(tokens[1:first]) if is_first else ""
    frame = f'<div class="dz-table dz-long{more}"><table class="dz-grid">{head}<tbody>', "</tbody></table></div>"
    return Piece(tokens_html(tokens[first + 1 : last]), frame)
