"""Markdown to HTML: CommonMark without HTML, with tables, strikethrough, task lists and dollar math.

Every tag comes from this module; the text between them is escaped.  Links lead to http, https, mailto and
anchors only, and an image is a link: nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from deuz_nb.notebook.code import code_lines
from deuz_nb.notebook.html import escape, link_target
from deuz_nb.notebook.math import math_html

__all__ = ["Env", "block_tokens", "fill_inline", "is_too_deep", "opening", "tokens_html"]

Env = MutableMapping[str, Any]
"""What the parser keeps between blocks: the link definitions."""

_NESTING: Final = 40
"""Deeper containers are shown as source; the parser would drop their content."""

_TASK: Final = re.compile(r"\[([ xX])\]\s")
_PLAIN_TAGS: Final = {
    "em_open": "<em>",
    "em_close": "</em>",
    "strong_open": "<strong>",
    "strong_close": "</strong>",
    "s_open": "<s>",
    "s_close": "</s>",
    "softbreak": "\n",
    "hardbreak": "<br>",
    "blockquote_open": '<blockquote class="dz-quote">',
    "blockquote_close": "</blockquote>",
    "bullet_list_open": "<ul>",
    "bullet_list_close": "</ul>",
    "ordered_list_close": "</ol>",
    "list_item_open": "<li>",
    "list_item_close": "</li>",
    "hr": "<hr>",
    "table_open": '<div class="dz-table"><table class="dz-grid">',
    "table_close": "</table></div>",
    "thead_open": "<thead>",
    "thead_close": "</thead>",
    "tbody_open": "<tbody>",
    "tbody_close": "</tbody>",
    "tr_open": "<tr>",
    "tr_close": "</tr>",
    "th_close": "</th>",
    "td_close": "</td>",
}


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING}).enable(
        ["table", "strikethrough"]
    )
    parser.use(
        dollarmath_plugin,
        allow_labels=False,
        allow_space=False,
        allow_digits=False,
        allow_blank_lines=False,
        double_inline=True,
    )
    parser.validateLink = lambda url: link_target(url) is not None  # type: ignore[method-assign] - its hook
    return parser


def block_tokens(source: str, env: Env) -> list[Token]:
    """The block structure of `source`, inline content not parsed; definitions found go into `env`."""
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(source, parser, env, tokens)
    return tokens


def fill_inline(tokens: Sequence[Token], env: Env) -> None:
    """Parse the inline content of `tokens` with the link definitions of `env`."""
    parser = _parser()
    for token in tokens:
        if token.type == "inline":
            token.children = []
            parser.inline.parse(token.content, parser, env, token.children)


def is_too_deep(tokens: Sequence[Token]) -> bool:
    """Whether containers are nested so deep that the parser left something out."""
    return any(token.level >= _NESTING - 2 for token in tokens)


def tokens_html(tokens: Sequence[Token], *, is_coloured: bool = True) -> str:
    """The HTML of block tokens whose inline content is there; code is coloured when asked."""
    pieces: list[str] = []
    tight: list[bool] = []
    previous = ""
    for number, token in enumerate(tokens):
        kind = token.type
        match kind:
            case "inline":
                is_item = previous == "paragraph_open" and number > 1
                is_item = is_item and tokens[number - 2].type == "list_item_open"
                pieces.append(_inline(token.children or [], is_item=is_item))
            case "paragraph_open":
                tight.append(token.hidden)
                if not token.hidden:
                    pieces.append("<p>")
                elif pieces and pieces[-1] not in ("<li>", "\n"):
                    pieces.append("\n")
            case "paragraph_close":
                pieces.append("" if tight.pop() else "</p>")
            case "fence" | "code_block":
                language = token.info if kind == "fence" and is_coloured else ""
                lines = code_lines(token.content.removesuffix("\n"), language)
                pieces.append('<pre class="dz-pre"><code class="dz-in">' + "\n".join(lines) + "</code></pre>")
            case "math_block":
                pieces.append(f'<div class="dz-math">{math_html(token.content, is_block=True)}</div>')
            case _:
                pieces.append(opening(token))
        previous = kind
    return "".join(pieces)


def opening(token: Token) -> str:
    """The tag of a block token that is only a tag."""
    plain = _PLAIN_TAGS.get(token.type)
    if plain is not None:
        return plain
    match token.type:
        case "heading_open" | "heading_close":
            # Small headings: an answer is a part of the page, not the page.
            level = min(int(token.tag[1]) + 2, 6)
            return f"</h{level}>" if token.nesting < 0 else f'<h{level} class="dz-h{min(level, 5)}">'
        case "ordered_list_open":
            start = token.attrGet("start")
            return "<ol>" if start is None else f'<ol start="{int(start)}">'
        case "th_open" | "td_open":
            align = str(token.attrGet("style") or "").removeprefix("text-align:")
            align = align if align in ("center", "right") else "left"
            # The attribute is for readers that strip styles, the style for front ends that have their own.
            return f'<{token.tag} align="{align}" style="text-align:{align}">'
        case _:
            return escape(token.content)


def _inline(tokens: Sequence[Token], *, is_item: bool) -> str:
    pieces: list[str] = []
    targets: list[bool] = []
    for number, token in enumerate(tokens):
        match token.type:
            case "text":
                text = token.content
                task = _TASK.match(text) if is_item and number == 0 else None
                if task is not None:
                    pieces.append("☐ " if task[1] == " " else "☑ ")
                    text = text[task.end() :]
                pieces.append(escape(text))
            case "code_inline":
                pieces.append(f"<code>{escape(token.content)}</code>")
            case "math_inline":
                pieces.append(math_html(token.content))
            case "math_inline_double":
                pieces.append(math_html(token.content, is_block=True))
            case "link_open":
                target = link_target(str(token.attrGet("href") or ""))
                targets.append(target is not None)
                pieces.append("" if target is None else _anchor(target, str(token.attrGet("title") or "")))
            case "link_close":
                pieces.append("</a>" if targets.pop() else "")
            case "image":
                pieces.append(_image(token))
            case kind:
                pieces.append(_PLAIN_TAGS.get(kind) or escape(token.content))
    return "".join(pieces)


def _anchor(target: str, title: str) -> str:
    found = f' title="{escape(title)}"' if title else ""
    if target.startswith("#"):
        return f'<a href="{escape(target)}"{found}>'
    return f'<a href="{escape(target)}"{found} target="_blank" rel="noopener noreferrer">'


def _image(token: Token) -> str:
    target = link_target(str(token.attrGet("src") or ""))
    name = escape(token.content or "image")
    return f"🖼 {name}" if target is None else f"{_anchor(target, '')}🖼 {name}</a>"
