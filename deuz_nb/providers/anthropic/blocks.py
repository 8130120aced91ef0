"""Blocks of the provider's own tools as they came, so that a paused turn can be sent again.

No part can carry a server tool's call or result, a compaction or a change of the model.  Source: providers.md 1.
"""

from __future__ import annotations

from typing import Final

from deuz_nb import jsontext
from deuz_nb.parts.usage import JSON, JSONObject
from deuz_nb.providers.values import as_text

__all__ = ["HostedBlocks", "Place"]

Place = str | int | tuple[str, int] | None
_CARRIED: Final = ("text", "thinking", "redacted_thinking", "tool_use")


class HostedBlocks:
    """The blocks of a turn that parts cannot carry, each with its number among all blocks of the turn."""

    def __init__(self) -> None:
        self._found: list[JSONObject] = []
        self._open: dict[Place, JSONObject] = {}
        self._inputs: dict[Place, list[str]] = {}
        self._count = 0

    def start(self, place: Place, block: JSONObject) -> None:
        """A block begins; any block counts."""
        self._open.pop(place, None)
        if as_text(block.get("type")) not in _CARRIED:
            self._open[place] = kept = dict(block)
            self._found.append({"index": self._count, "block": kept})
        self._count += 1

    def add(self, place: Place, delta: JSONObject) -> None:
        """A delta of a block: a fragment of its input, or members of the block itself."""
        block = self._open.get(place)
        if block is None:
            return
        if delta.get("type") == "input_json_delta":
            self._inputs.setdefault(place, []).append(as_text(delta.get("partial_json")))
        else:
            block |= {name: value for name, value in delta.items() if name != "type" and value is not None}

    def stop(self, place: Place) -> None:
        """A block ended."""
        block = self._open.pop(place, None)
        text = "".join(self._inputs.pop(place, ()))
        if block is not None and text:
            block["input"] = _input(text)

    def facts(self) -> JSONObject:
        """What to keep: `hostedBlocks` as `{index, block}` in order, and the last `compaction` block."""
        for place in list(self._open):
            self.stop(place)
        kept: JSONObject = {}
        for entry in self._found:
            if entry["block"].get("type") != "compaction":
                kept.setdefault("hostedBlocks", []).append(entry)
            elif entry["block"].get("content"):
                kept["compaction"] = entry["block"]
        return kept


def _input(text: str) -> JSON:
    """The input, or its text where it was cut."""
    try:
        return jsontext.loads(text)
    except ValueError:
        return text
