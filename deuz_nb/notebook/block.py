"""What is drawn: blocks, and groups of blocks under a heading."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Block", "Group", "Item"]


@dataclass(frozen=True, slots=True)
class Block:
    """One drawn thing.  A block that is not open never changes again under its key.

    `body` is safe HTML within `frame`, an opening and a closing tag.  Neighbours with the same `joins` are
    pieces of one long list, table, code or paragraph: a page that stays puts them into one frame.
    `text` is the plain text; `prose` names the text element it is a piece of, empty for anything else.
    """

    key: str
    body: str
    text: str
    frame: tuple[str, str] = ("", "")
    joins: str = ""
    prose: str = ""
    is_open: bool = False

    @property
    def html(self) -> str:
        """The block as safe HTML."""
        return f"{self.frame[0]}{self.body}{self.frame[1]}"


@dataclass(slots=True)
class Group:
    """Blocks that belong under one heading: reasoning that can be folded, the turn of a sub-agent.

    `items` is replaced, never changed.  `is_folded`: only the heading is shown until the reader asks.
    """

    key: str
    kind: Literal["reasoning", "sub-agent"]
    head: Block
    items: list[Item] = field(default_factory=list["Item"])
    is_folded: bool = False
    is_open: bool = False


Item = Block | Group
"""What a page is a list of."""
