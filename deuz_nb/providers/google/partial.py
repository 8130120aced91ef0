"""Arguments that Gemini streams by JSON path, put together.  Source: providers.md 4 (`partialArgs`)."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from deuz_nb.parts.usage import JSON, JSONObject
from deuz_nb.providers.values import as_list, as_object, as_text

__all__ = ["PartialArguments"]

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[([0-9]{1,4})\]|\['([^']*)'\]")
_PATH: Final = re.compile(rf"\$(?:{_STEP.pattern})+")
_MOST_STEPS: Final = 64


class PartialArguments:
    """An object built from `{jsonPath, stringValue | numberValue | boolValue | nullValue}` pieces."""

    def __init__(self) -> None:
        self.value: JSONObject = {}

    def add(self, pieces: JSON) -> None:
        """Take the pieces of one chunk; a string at a path that has one already goes on it."""
        for item in as_list(pieces):
            piece = as_object(item)
            path = as_text(piece.get("jsonPath"))
            if not _PATH.fullmatch(path):
                continue
            steps = [int(index) if index else key or quoted for key, index, quoted in _STEP.findall(path)]
            if len(steps) <= _MOST_STEPS:
                self._put(steps, piece)

    def _put(self, steps: list[str | int], piece: JSONObject) -> None:
        here: JSON = self.value
        for step, following in pairwise(steps):
            form = list if isinstance(following, int) else dict
            if not isinstance(_member(here, step), form):
                _set(here, step, form())
            here = _member(here, step)
        _set(here, steps[-1], _value(piece, _member(here, steps[-1])))


def _member(holder: JSON, step: str | int) -> JSON:
    if isinstance(step, str):
        return as_object(holder).get(step)
    items = as_list(holder)
    return items[step] if step < len(items) else None


def _set(holder: JSON, step: str | int, value: JSON) -> None:
    if isinstance(step, str):
        as_object(holder)[step] = value
    else:
        items = as_list(holder)
        items.extend([None] * (step + 1 - len(items)))
        items[step] = value


def _value(piece: JSONObject, old: JSON) -> JSON:
    if isinstance(piece.get("stringValue"), str):
        return as_text(old) + piece["stringValue"]
    if "numberValue" in piece:
        number = piece["numberValue"]
        return int(number) if isinstance(number, float) and number.is_integer() else number
    if "boolValue" in piece:
        return piece["boolValue"]
    return None if "nullValue" in piece else old
