"""Foreign values as text and HTML: JSON, long output, sizes, money."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final, cast

from deuz_nb.notebook.html import escape, label

__all__ = ["count", "folded", "json_text", "money", "seconds", "size", "tree"]

FOLD_LINES: Final = 20
_FOLD_CHARS: Final = 2_000
_MOST_CHARS: Final = 200_000
_DEPTH: Final = 8
_SHORT: Final = 60
_MEMBERS: Final = 100


def json_text(value: Any) -> str:
    """A value as a reader wants it: strings as they are, short JSON on a line, long JSON indented."""
    if isinstance(value, str):
        return value
    try:
        short = json.dumps(value, ensure_ascii=False, default=repr)
        return short if len(short) <= 80 else json.dumps(value, ensure_ascii=False, indent=2, default=repr)
    except (RecursionError, ValueError):
        return "(too deeply nested to show)"


def folded(text: str, *, is_tail: bool = False) -> str:
    """Preformatted text; beyond 20 lines the rest is behind a size note.

    `is_tail` shows the end instead, for text that is still coming.
    """
    lines = text.split("\n", FOLD_LINES)
    if len(lines) <= FOLD_LINES and len(text) <= _FOLD_CHARS:
        return f'<pre class="dz-text">{escape(text)}</pre>'
    if is_tail:
        end = "\n".join(text[-_FOLD_CHARS:].split("\n")[-FOLD_LINES:])
        return f'<div class="dz-note">{size(text)} so far</div><pre class="dz-text">{escape(end)}</pre>'
    first = "\n".join(lines[:FOLD_LINES])
    if len(first) > _FOLD_CHARS:
        first, rest = text[:_FOLD_CHARS], text[_FOLD_CHARS:]
    else:
        rest = lines[-1] if len(lines) > FOLD_LINES else text[len(first) :]
    left_out = len(rest) - _MOST_CHARS
    note = f"\n… {left_out:,} characters more are in the transcript" if left_out > 0 else ""
    summary = f"<summary>show the rest ({size(text)} in all)</summary>"
    hidden = f'<pre class="dz-text">{escape(rest[:_MOST_CHARS])}{note}</pre>'
    return f'<pre class="dz-text">{escape(first)}</pre><details>{summary}{hidden}</details>'


def size(text: str) -> str:
    """How long a text is."""
    lines = text.count("\n") + 1
    characters = f"{len(text):,} characters"
    return characters if lines == 1 else f"{lines:,} lines, {characters}"


def tree(value: Any, depth: int = 0) -> str:
    """A JSON value as a tree that folds."""
    if isinstance(value, dict | list) and depth:
        short = json_text(cast("Any", value))
        if depth >= _DEPTH or (len(short) <= _SHORT and "\n" not in short):
            return f"<code>{label(short)}</code>"
    if isinstance(value, dict):
        found = cast("dict[Any, Any]", value)
        rows = [(label(str(key)), child) for key, child in list(found.items())[:_MEMBERS]]
        return _branch("{}", _counted(len(found), "member"), rows, len(found), depth)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        rows = [(str(number), child) for number, child in enumerate(items[:_MEMBERS])]
        return _branch("[]", _counted(len(items), "item"), rows, len(items), depth)
    if isinstance(value, str):
        return folded(value) if len(value) > 120 or "\n" in value else f"<span>{escape(value)}</span>"
    return f"<code>{escape(json_text(value))}</code>"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _branch(empty: str, what: str, rows: list[tuple[str, Any]], total: int, depth: int) -> str:
    if not rows:
        return f"<code>{empty}</code>"
    items = [f"<li><b>{name}</b> {tree(child, depth + 1)}</li>" for name, child in rows]
    if total > len(rows):
        items.append(f"<li>… {total - len(rows):,} more</li>")
    body = f'<ul class="dz-tree">{"".join(items)}</ul>'
    if depth == 0 and total <= FOLD_LINES:
        return body
    return f"<details{' open' if depth < 2 and total <= 8 else ''}><summary>{what}</summary>{body}</details>"


def count(number: float) -> str:
    """A number of tokens."""
    return f"{int(number):,}" if abs(number) < 1e15 else f"{number:.3g}"


def money(cost_usd: Decimal | float) -> str:
    """Dollars with the digits that matter; a call that is known to cost nothing is free."""
    value = cost_usd if isinstance(cost_usd, Decimal) else Decimal(str(cost_usd))
    if value == 0:
        return "free"
    if abs(value) >= 1:
        return f"${value:,.2f}" if abs(value) < 10**9 else f"${value:.3g}"
    digits = max(3 - value.adjusted(), 4)
    whole, _, cents = f"{value:.{digits}f}".rstrip("0").partition(".")
    return f"${whole}.{cents:0<2}" if digits <= 12 else f"${value:.3g}"


def seconds(value_s: float) -> str:
    """A duration."""
    if value_s < 10:
        return f"{value_s:.1f} s".replace(".0 ", " ")
    if value_s < 100:
        return f"{value_s:.0f} s"
    return f"{int(value_s // 60)} min {int(value_s % 60):02} s"
