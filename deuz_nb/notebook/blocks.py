"""A turn as drawn blocks with stable keys; the widget, the static page and the plain text come from these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deuz_nb.fold.element import Element, ReasoningElement, SubAgentElement, TextElement
from deuz_nb.fold.turn import Turn
from deuz_nb.notebook.asides import aside_blocks, foot_block, head_block, outcome_block
from deuz_nb.notebook.block import Block, Group, Item
from deuz_nb.notebook.cards import card
from deuz_nb.notebook.facts import Facts
from deuz_nb.notebook.html import label
from deuz_nb.notebook.prose import Prose
from deuz_nb.notebook.values import seconds

__all__ = ["Composer", "Page", "page_of"]


@dataclass(frozen=True, slots=True)
class Page:
    """A heading, what is below it in order, and a footer once the run has ended."""

    head: Block
    items: Sequence[Item]
    foot: Block | None


def page_of(turn: Turn, facts: Facts | None = None) -> Page:
    """The page of a turn, drawn at once."""
    return Composer().page(turn, facts or Facts())


class Composer:
    """Draws a growing turn again and again; what has not changed since is not drawn anew.

    A block that is not open is the same object in every later page.
    """

    def __init__(self) -> None:
        self._drawn: dict[str, _Drawn] = {}

    def page(self, turn: Turn, facts: Facts) -> Page:
        """The page as it is now."""
        outcome = outcome_block(turn, facts)
        items = [*self.items(turn, facts), *aside_blocks(turn)]
        if outcome is not None:
            items.append(outcome)
        return Page(head_block(turn, facts), items, foot_block(turn, facts))

    def items(self, turn: Turn, facts: Facts) -> list[Item]:
        """What the elements of the turn look like, in order of arrival."""
        found: list[Item] = []
        is_ended = turn.status in ("finished", "failed", "cut")
        citations = 0
        # An element added while this runs is for the next page.
        for element in turn.elements[:]:
            citations += element.kind == "citation"
            drawn = self._drawn.get(element.key)
            if drawn is None:
                drawn = self._drawn[element.key] = _Drawn(citations)
            drawn.update(element, facts, is_ended=is_ended)
            found += drawn.items
        return found


class _Drawn:
    """One element as it was drawn last."""

    def __init__(self, citation: int) -> None:
        self.items: list[Item] = []
        self._citation = citation
        self._version = -1
        self._was_ended = False
        self._fed = 0
        self._prose: Prose | None = None
        self._composer: Composer | None = None
        self._began_s: float | None = None
        self._took_s: float | None = None

    def update(self, element: Element, facts: Facts, *, is_ended: bool) -> None:
        if element.version == self._version and is_ended == self._was_ended:
            return
        self._version = element.version
        self._was_ended = is_ended
        match element.kind:
            case "text":
                self.items = list(self._prose_of(element))
            case "reasoning":
                self.items = [self._reasoning(element, facts)]
            case "sub-agent":
                self.items = [self._sub_agent(element, facts)]
            case _:
                block = card(element, number=self._citation, is_ended=is_ended)
                self.items = [block] if block.body else []

    def _prose_of(self, element: TextElement | ReasoningElement) -> list[Block]:
        if self._prose is None:
            self._prose = Prose(element.key)
        # Asked before the pieces are counted: what closes it is then among them.
        is_open = element.is_open
        pieces = element.pieces
        end = len(pieces)
        if end > self._fed:
            self._prose.feed("".join(pieces[self._fed : end]))
            self._fed = end
        if not is_open:
            self._prose.close()
        return self._prose.blocks()

    def _reasoning(self, element: ReasoningElement, facts: Facts) -> Group:
        if self._began_s is None:
            self._began_s = facts.elapsed_s
        if not element.is_open and self._took_s is None and self._began_s is not None:
            self._took_s = (facts.elapsed_s or self._began_s) - self._began_s
        if element.is_hidden:
            told = "reasoning hidden by the provider"
        elif element.is_open:
            told = "thinking…"
        elif self._took_s:
            told = f"thought for {seconds(self._took_s)}"
        else:
            told = "reasoning"
        items: list[Item] = [] if element.is_hidden else list(self._prose_of(element))
        head = Block(f"{element.key}:head", label(told), told, is_open=element.is_open)
        is_open = element.is_open
        return Group(element.key, "reasoning", head, items, is_folded=not is_open, is_open=is_open)

    def _sub_agent(self, element: SubAgentElement, facts: Facts) -> Group:
        if self._composer is None:
            self._composer = Composer()
        name = " › ".join(element.agent_path)
        turn = element.turn
        word = {"failed": "failed", "cut": "cut off", "finished": "finished"}.get(turn.status, "working")
        symbol = {"failed": "✕", "cut": "✂", "finished": "✓"}.get(turn.status, "●")
        head = Block(
            f"{element.key}:head",
            f'<span class="dz-sym">{symbol}</span> agent <b>{label(name)}</b> <span class="dz-word">{word}</span>',
            f"{symbol} agent {name}: {word}",
            is_open=element.is_open,
        )
        items: list[Item] = [*self._composer.items(turn, facts), *aside_blocks(turn)]
        if turn.error is not None:
            outcome = outcome_block(turn, Facts())
            items += [] if outcome is None else [outcome]
        return Group(element.key, "sub-agent", head, items, is_open=element.is_open)
