"""Folding by value: a turn state goes in, the next one comes out.  Source: fold.md."""

from __future__ import annotations

from typing import Any, cast

from deuz_nb.fold.agent import AgentFold
from deuz_nb.fold.element import (
    CitationElement,
    DataElement,
    FileElement,
    NoticeElement,
    ReasoningElement,
    StepElement,
    SubAgentElement,
    TextElement,
    ToolElement,
)
from deuz_nb.fold.turn import Turn
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["apply_ui_part"]


def apply_ui_part(state: JSONObject | None, part: JSON) -> JSONObject:
    """The turn state after `part`; `state` (a `Turn.snapshot`, or None) is not changed.

    Costs O(state) per part: a `Turn` folds a stream in O(1) per part.
    """
    turn = Turn() if state is None else _turn_of(state)
    turn.apply(part)
    return turn.snapshot()
