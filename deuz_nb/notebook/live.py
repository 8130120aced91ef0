"""The widget tree of a live view: core ipywidgets only, sealed blocks never touched again.

The tree is a column of shelves of at most 16 children each, since a box sends the whole list of its children
whenever one is added.  Small blocks share one HTML child until it is large enough to be left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import ipywidgets as widgets

from deuz_nb.notebook.block import Block, Group, Item
from deuz_nb.notebook.blocks import Page
from deuz_nb.notebook.style import sheet
from deuz_nb.notebook.traffic import Spent

__all__ = ["Live"]

_SHELF: Final = 16
_FULL: Final = 1_000
"""An HTML child of this many characters takes no further block."""

_FULLEST: Final = 4_000
"""The same when text comes fast: opening a child costs about 1,100 bytes."""

_MOST_NEW: Final = 10
"""Widgets made in one update; the rest comes with the next one."""

_NEW_STATE_BYTES: Final = 480
_CHILD_BYTES: Final = 46


class _Kit:
    """Makes and changes widgets, counting what is sent."""

    def __init__(self) -> None:
        self.spent = Spent()
        self.room = _MOST_NEW
        self.made: list[Any] = []
        self._layout: Any = widgets.Layout()
        self._style: Any = cast("Any", widgets).widgets.widget_string.HTMLStyle()
        self.made += [self._layout, self._style]

    def html(self, value: str, classes: Sequence[str] = ()) -> Any:
        made: Any = widgets.HTML(value, layout=self._layout, style=self._style, _dom_classes=tuple(classes))
        self.spent.message(len(value) + _NEW_STATE_BYTES)
        self.made.append(made)
        return made

    def box(self, children: Sequence[Any], classes: Sequence[str] = ()) -> Any:
        made: Any = widgets.VBox(tuple(children), layout=self._layout, _dom_classes=tuple(classes))
        self.spent.message(_CHILD_BYTES * len(children) + _NEW_STATE_BYTES)
        self.made.append(made)
        return made

    def set_html(self, widget: Any, value: str) -> None:
        if widget.value != value:
            widget.value = value
            self.spent.message(len(value))

    def set_children(self, box: Any, children: Sequence[Any]) -> None:
        wanted = tuple(children)
        if box.children != wanted:
            box.children = wanted
            self.spent.message(_CHILD_BYTES * len(wanted))

    def drop(self, widget: Any) -> None:
        widget.close()
        self.made.remove(widget)
        self.spent.message(0)


@dataclass(eq=False, slots=True)
class _Slot:
    """One child: an HTML widget with blocks, or the box of a group with its own column."""

    widget: Any = None
    blocks: list[Block] = field(default_factory=list[Block])
    wanted: list[Block] = field(default_factory=list[Block])
    size: int = 0
    group: Group | None = None
    column: _Column | None = None
    head: Any = None
    shelf: list[_Slot] | None = None

    def takes(self, block: Block, limit: int) -> bool:
        """Whether a new block may join: what a reader may have unfolded is not drawn again."""
        if self.group is not None or self.size >= limit or not self.wanted:
            return False
        last = self.wanted[-1]
        if last.is_open:
            return bool(last.prose) and last.prose == block.prose
        if self.widget is None:
            return bool(block.prose) or not block.is_open
        return bool(block.prose) and all(b.prose for b in self.wanted)


class _Column:
    """Children in order in `box`; `sync` brings them to what is wanted."""

    def __init__(self, kit: _Kit, classes: Sequence[str] = (), head: Any = None) -> None:
        self._kit = kit
        self._head: list[Any] = [] if head is None else [head]
        self._slots: list[_Slot] = []
        self._shelves: list[tuple[Any, list[_Slot]]] = []
        self._slot_of: dict[str, _Slot] = {}
        self.box = kit.box(self._head, classes)

    def sync(self, items: Sequence[Item]) -> bool:
        """Show `items`; False when some are left for the next update."""
        slots, is_whole = self._assigned(items)
        for slot in slots:
            if slot.group is not None:
                is_whole = self._sync_group(slot, slot.group) and is_whole
            elif not _are_same(slot.blocks, slot.wanted):
                self._sync_blocks(slot)
        if slots != self._slots:
            self._arrange(slots)
        return is_whole

    def _assigned(self, items: Sequence[Item]) -> tuple[list[_Slot], bool]:
        """The slots in order, each with the blocks it should show; new ones as far as there is room."""
        slots: list[_Slot] = []
        seen: set[_Slot] = set()
        current: _Slot | None = None
        new = [item for item in items if item.key not in self._slot_of]
        # When much comes at once, a child takes more of it.
        size = sum(len(item.body) for item in new if isinstance(item, Block))
        limit = max(_FULL, min(3 * size, _FULLEST), size // 6)
        is_whole = True
        for item in items:
            slot = self._slot_of.get(item.key)
            if slot is None:
                if (
                    is_whole
                    and current is not None
                    and isinstance(item, Block)
                    and current.takes(item, limit)
                ):
                    slot = current
                elif is_whole and self._kit.room > 0:
                    self._kit.room -= 1
                    slot = _Slot()
                else:
                    is_whole = False
                    continue
                self._slot_of[item.key] = slot
            if slot not in seen:
                seen.add(slot)
                slots.append(slot)
                slot.wanted = []
                slot.size = 0
            current = slot
            if isinstance(item, Group):
                slot.group = item
            else:
                slot.wanted.append(item)
                slot.size += len(item.body)
        return slots, is_whole

    def _sync_blocks(self, slot: _Slot) -> None:
        kept = {block.key for block in slot.wanted}
        for block in slot.blocks:
            if block.key not in kept:
                self._slot_of.pop(block.key, None)
        slot.blocks = slot.wanted
        html = "".join(block.html for block in slot.blocks)
        if slot.widget is None:
            slot.widget = self._kit.html(html)
        else:
            self._kit.set_html(slot.widget, html)

    def _sync_group(self, slot: _Slot, group: Group) -> bool:
        html = f'<div class="dz-line">{group.head.html}</div>'
        if group.kind == "reasoning" and group.items:
            is_open = "" if group.is_folded else " open"
            html = f"<details{is_open}><summary>{group.head.html}</summary></details>"
        if slot.column is None:
            slot.head = self._kit.html(html, ("dz-fold",))
            slot.column = _Column(self._kit, (f"dz-box-{group.kind}",), slot.head)
            slot.widget = slot.column.box
        else:
            self._kit.set_html(slot.head, html)
        return slot.column.sync(group.items)

    def _arrange(self, slots: list[_Slot]) -> None:
        """Put new slots behind the ones before them, on the same shelf or on a new last one."""
        dirty: list[list[_Slot]] = []
        kept = set(slots)
        for slot in self._slots:
            if slot not in kept and slot.shelf is not None:
                slot.shelf.remove(slot)
                dirty.append(slot.shelf)
                for block in slot.blocks:
                    if self._slot_of.get(block.key) is slot:
                        del self._slot_of[block.key]
                self._kit.drop(slot.widget)
        count = len(self._shelves)
        for number, slot in enumerate(slots):
            if slot.shelf is not None:
                continue
            before = slots[number - 1] if number else None
            shelf = before.shelf if before is not None else self._shelves[0][1] if self._shelves else None
            place = 0 if shelf is None or before is None else shelf.index(before) + 1
            if shelf is None or (
                len(shelf) >= _SHELF and place == len(shelf) and shelf is self._shelves[-1][1]
            ):
                shelf, place = list[_Slot](), 0
                self._shelves.append((None, shelf))
            shelf.insert(place, slot)
            slot.shelf = shelf
            dirty.append(shelf)
        self._slots = slots
        for number, (box, shelf) in enumerate(self._shelves):
            if box is None:
                self._shelves[number] = (self._kit.box([slot.widget for slot in shelf]), shelf)
            elif any(shelf is changed for changed in dirty):
                self._kit.set_children(box, [slot.widget for slot in shelf])
        if len(self._shelves) != count:
            self._kit.set_children(self.box, [*self._head, *(box for box, _ in self._shelves)])


class Live:
    """One widget tree; `show` brings it to a page.  `on_stop` is called by the Stop button, on any thread."""

    def __init__(self, page: Page, on_stop: Callable[[], object]) -> None:
        self._kit = _Kit()
        self._head: Any = self._kit.html(page.head.html)

        def pressed(_: object) -> None:
            on_stop()

        button: Any = widgets.Button(description="Stop", tooltip="Stop this run", _dom_classes=("dz-stop",))
        button.on_click(pressed)
        self._button = button
        top: Any = widgets.HBox((self._head, button), _dom_classes=("dz-top",))
        self._column = _Column(self._kit)
        css = self._kit.html(f"<style>{sheet()}</style>")
        self.root: Any = self._kit.box((css, top, self._column.box), ("dz", "jp-RenderedHTMLCommon"))
        self._kit.made += [button, button.layout, button.style, top, top.layout]

    @property
    def model_id(self) -> str:
        """The id a front end finds the tree by."""
        return cast("str", self.root.model_id)

    def show(self, page: Page) -> tuple[bool, Spent]:
        """Bring the tree to `page`: whether all of it is there now, and what was sent."""
        kit = self._kit
        kit.spent = Spent()
        kit.room = _MOST_NEW
        kit.set_html(self._head, page.head.html)
        is_whole = self._column.sync(page.items)
        return is_whole, kit.spent

    def pieces(self) -> list[Any]:
        """Every widget, to be closed when the tree is no longer shown."""
        return self._kit.made[::-1]


def _are_same(one: Sequence[Block], other: Sequence[Block]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
