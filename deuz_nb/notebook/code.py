"""Source code as HTML lines, coloured by CSS classes."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType] - partly typed
from pygments.token import (
    Comment,
    Generic,
    Keyword,
    Literal,
    Name,
    Number,
    Operator,
    String,
    _TokenType,  # pyright: ignore[reportPrivateUsage] - the type of its tokens has no public name
)
from pygments.util import ClassNotFound

from deuz_nb.notebook.html import escape

__all__ = ["LIMIT", "code_lines", "plain_lines"]

LIMIT: Final = 16_000
"""Longer code stays plain: colouring it costs too much time and five times its size."""

_CLASSES: Final[tuple[tuple[_TokenType, str], ...]] = (
    (Comment, "dz-c"),
    (Keyword.Constant, "dz-n"),
    (Keyword, "dz-k"),
    (Operator.Word, "dz-k"),
    (String, "dz-s"),
    (Number, "dz-n"),
    (Literal, "dz-n"),
    (Name.Function, "dz-f"),
    (Name.Class, "dz-f"),
    (Name.Decorator, "dz-f"),
    (Name.Tag, "dz-k"),
    (Name.Attribute, "dz-f"),
    (Name.Builtin, "dz-b"),
    (Generic.Inserted, "dz-s"),
    (Generic.Deleted, "dz-k"),
    (Generic.Heading, "dz-f"),
)


def plain_lines(source: str) -> list[str]:
    """The lines of `source` as safe HTML, without line ends."""
    return escape(source).split("\n")


def code_lines(source: str, language: str) -> list[str]:
    """The lines of `source` as HTML, coloured when the language is known and the source not too long.

    There are as many lines as `source.split("\\n")` has.
    """
    lexer = _lexer(language) if len(source) <= LIMIT else None
    if lexer is None:
        return plain_lines(source)
    lines: list[str] = []
    line: list[str] = []
    run: list[str] = []
    current = ""

    def close_run() -> None:
        if run:
            text = escape("".join(run))
            line.append(f'<span class="{current}">{text}</span>' if current else text)
            run.clear()

    for kind, value in lexer.get_tokens(source):
        name = _class_of(kind)
        for number, text in enumerate(value.split("\n")):
            if number:
                close_run()
                lines.append("".join(line))
                line.clear()
            if text:
                if name != current and text.strip():
                    close_run()
                    current = name
                run.append(text)
    close_run()
    lines.append("".join(line))
    wanted = source.count("\n") + 1
    if len(lines) < wanted or any(lines[wanted:]):
        # A lexer that swallows or adds lines cannot be trusted with this text.
        return plain_lines(source)
    return lines[:wanted]


@lru_cache(maxsize=256)
def _class_of(kind: _TokenType) -> str:
    return next((name for parent, name in _CLASSES if kind in parent), "")


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    name = language.strip().split(" ")[0].split("{")[0].lower()
    if not name or len(name) > 40:
        return None
    try:
        return get_lexer_by_name(name, stripnl=False, ensurenl=False, stripall=False)
    except ClassNotFound:
        return None
