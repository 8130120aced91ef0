"""The widget tree: what a page shows is the page, and what is sealed is sent once."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from deuz_nb.fold import Turn
from deuz_nb.notebook.block import Block, Item
from deuz_nb.notebook.blocks import Composer, Page
from deuz_nb.notebook.facts import Facts
from deuz_nb.notebook.live import Live
from deuz_nb.notebook.style import sheet
from deuz_nb.notebook.traffic import Allowance, Spent, pause_s
from tests.fake_comm import Wire, counted_comms

TEXT = "A paragraph of some length, so that a few of them fill a child.\n\n- a\n- b\n\n```py\nx = 1\n```\n\n"


@pytest.fixture
def wire() -> Iterator[Wire]:
    with counted_comms() as made:
        yield made


class Seat:
    """A turn, its view, and what the other end of the comms shows."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.turn = Turn()
        self.composer = Composer()
        self.stopped = 0
        self.turn.apply({"type": "start", "messageId": "m"})
        self.live = Live(self.page(), self.stop)

    def stop(self) -> None:
        self.stopped += 1

    def page(self) -> Page:
        return self.composer.page(self.turn, Facts())

    def feed(self, *parts: Any) -> Spent:
        """Apply parts and update until all is shown."""
        self.turn.apply_all(parts)
        total = Spent()
        is_whole = False
        while not is_whole:
            is_whole, spent = self.live.show(self.page())
            total.messages += spent.messages
            total.bytes += spent.bytes
        return total

    def shown(self) -> str:
        html = self.wire.html(self.live.model_id)
        return html.removeprefix(f"<style>{sheet()}</style>")

    def wanted(self) -> str:
        page = self.page()
        return page.head.html + "".join(htmls(page.items))


def htmls(items: Sequence[Item]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Block):
            yield item.html
            continue
        head = f'<div class="dz-line">{item.head.html}</div>'
        if item.kind == "reasoning" and item.items:
            is_open = "" if item.is_folded else " open"
            head = f"<details{is_open}><summary>{item.head.html}</summary></details>"
        yield head
        yield from htmls(item.items)


def delta(text: str) -> dict[str, Any]:
    return {"type": "text-delta", "text": text}


def mixed_parts(source: random.Random) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for n in range(source.randint(5, 40)):
        call = {"toolCallId": f"c{source.randint(0, 5)}", "toolName": "t"}
        parts.append(
            source.choice(
                [
                    delta(source.choice([TEXT, "word ", "\n", "- x\n", "| a |\n|---|\n"])),
                    delta(TEXT * source.randint(1, 9)),
                    {"type": "reasoning-delta", "text": source.choice(["hm ", "so\n\n"])},
                    {"type": "tool-call", **call, "input": {"n": n}},
                    {"type": "tool-state", **call, "state": "executing"},
                    {"type": "tool-result", **call, "output": n},
                    {"type": "step-start", "step": n},
                    {"type": "data-x", "id": source.choice(["a", "b"]), "payload": n},
                    {"type": "sub-agent", "agentPath": [source.choice("pq")], "part": delta("sub ")},
                    {"type": "handoff", "to": "other", "toolCallId": "1"},
                    {"type": "activity", "message": f"m{n}"},
                    {"type": "plan-update", "tasks": [{"id": "1", "title": f"t{n}", "status": "pending"}]},
                    {"type": "warning", "warning": {"type": "x", "message": f"w{n}"}},
                    {"type": "source", "id": f"s{n}", "title": "s"},
                ]
            )
        )
    return parts


@pytest.mark.parametrize("seed", range(40))
def test_the_tree_shows_the_page_after_every_part(wire: Wire, seed: int) -> None:
    source = random.Random(seed)
    seat = Seat(wire)
    for part in [*mixed_parts(source), {"type": "finish", "finishReason": "stop", "usage": {}}]:
        seat.feed(part)
        assert seat.shown() == seat.wanted()


@pytest.mark.parametrize("seed", range(10))
def test_the_tree_shows_the_page_when_all_parts_come_at_once(wire: Wire, seed: int) -> None:
    seat = Seat(wire)
    seat.feed(*mixed_parts(random.Random(seed)))
    assert seat.shown() == seat.wanted()


def test_text_before_a_growing_tail_is_not_sent_again(wire: Wire) -> None:
    seat = Seat(wire)
    seat.feed(delta(TEXT * 100))
    # The first word may open a child of its own, when the ones before are full.
    seat.feed(delta("one "))
    before = {key: dict(state) for key, state in wire.state.items()}
    for word in ("two ", "three ", "four "):
        assert seat.feed(delta(word)).messages == 1
    changed = [key for key, state in before.items() if wire.state[key] != state]
    assert len(changed) == 1


def test_what_is_counted_is_what_is_sent(wire: Wire) -> None:
    seat = Seat(wire)
    messages, size = wire.messages, wire.bytes
    spent = [seat.feed(delta(TEXT)) for _ in range(60)]
    assert sum(s.messages for s in spent) == wire.messages - messages
    assert sum(s.bytes for s in spent) == pytest.approx(wire.bytes - size, rel=0.15)


def test_nothing_new_sends_nothing(wire: Wire) -> None:
    seat = Seat(wire)
    seat.feed(delta(TEXT), {"type": "tool-call", "toolCallId": "1", "toolName": "t", "input": {}})
    assert seat.feed() == Spent()


def test_a_burst_of_cards_is_spread_over_updates(wire: Wire) -> None:
    seat = Seat(wire)
    calls = [{"type": "tool-call", "toolCallId": f"{n}", "toolName": "t", "input": {}} for n in range(200)]
    seat.turn.apply_all(calls)
    is_whole, spent = seat.live.show(seat.page())
    assert not is_whole
    assert spent.messages < 30
    seat.feed()
    assert seat.shown() == seat.wanted()


def test_a_long_burst_of_text_is_whole_after_one_update(wire: Wire) -> None:
    seat = Seat(wire)
    seat.turn.apply(delta(TEXT * 3000))
    is_whole, spent = seat.live.show(seat.page())
    assert is_whole
    assert spent.messages < 30
    assert seat.shown() == seat.wanted()


def test_the_stop_button_only_calls_stop(wire: Wire) -> None:
    seat = Seat(wire)
    button = next(piece for piece in seat.live.pieces() if type(piece).__name__ == "Button")
    messages = wire.messages
    button.click()
    assert (seat.stopped, wire.messages) == (1, messages)


def test_reasoning_is_open_while_it_streams_and_folded_when_the_answer_starts(wire: Wire) -> None:
    seat = Seat(wire)
    seat.feed({"type": "reasoning-delta", "text": "hm"})
    assert "<details open><summary>thinking…</summary>" in seat.shown()
    seat.feed(delta("Answer"))
    assert "<details><summary>reasoning</summary>" in seat.shown()


def test_the_pace_follows_what_an_update_cost() -> None:
    assert pause_s(Spent()) == 1 / 16
    assert pause_s(Spent(messages=4)) == pytest.approx(4 / 26)
    assert pause_s(Spent(bytes=3_000, cpu_s=0.012)) == pytest.approx(0.1)
    assert pause_s(Spent(bytes=1_000_000, cpu_s=0.05)) == pytest.approx(0.18)


def test_all_views_together_stay_below_two_hundred_messages_a_second() -> None:
    allowance = Allowance()
    now_s = 0.0
    sent: list[tuple[float, int]] = []
    while now_s < 10:
        wait_s = allowance.wait_s(now_s)
        if wait_s > 0:
            now_s += wait_s
            continue
        allowance.spend(7)
        sent.append((now_s, 7))
        now_s += 0.001
    for start in range(9):
        assert sum(count for at_s, count in sent if start <= at_s < start + 1) < 200
