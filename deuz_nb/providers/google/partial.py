"""Arguments that Gemini streams by JSON path, put together.  Source: providers.md 4 (`partialArgs`)."""

from __future__ import annotations

import re
from typing import Any, Final, cast

from deuz_nb.parts.usage import JSON, JSONObject
from deuz_nb.providers.tokens import as_object

__all__ = ["PartialArguments"]

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d{1,4})\]|\['([^']*)'\]")
_MOST_ITEMS: Final = 10_000


class PartialArguments:
    """An object built from `{jsonPath, stringValue | numberValue | boolValue | nullValue}` pieces."""

    def __init__(self) -> None:
        self.value: JSONObject = {}

    def add(self, pieces: JSON) -> None:
        """Take the pieces of one chunk; a string at a path that has one already goes on it."""
        for item in cast("list[JSON]", pieces) if isinstance(pieces, list) else []:
            piece = as_object(item)
            path = piece.get("jsonPath")
            if isinstance(path, str) and path.startswith("$"):
                self._put([key or bracket or index for key, index, bracket in _STEP.findall(path)], piece)

    def _put(self, steps: list[str], piece: JSONObject) -> None:
        here: Any = self.value
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            key: Any = step
            if isinstance(here, list):
                items = cast("list[Any]", here)
                if not step.isdigit() or int(step) >= _MOST_ITEMS:
                    return
                key = int(step)
                items.extend([None] * (key + 1 - len(items)))
            elif not isinstance(here, dict):
                return
            if following is None:
                old: Any = here[key] if isinstance(here, list) else cast("JSONObject", here).get(key)
                here[key] = _value(piece, old)
                return
            below: Any = here[key] if isinstance(here, list) else cast("JSONObject", here).get(key)
            if not isinstance(below, dict | list):
                below = [] if following.isdigit() else {}
                here[key] = below
            here = below


def _value(piece: JSONObject, old: Any) -> Any:
    if isinstance(piece.get("stringValue"), str):
        return (old if isinstance(old, str) else "") + piece["stringValue"]
    if "numberValue" in piece:
        number = piece["numberValue"]
        return int(number) if isinstance(number, float) and number.is_integer() else number
    if "boolValue" in piece:
        return piece["boolValue"]
    return None if "nullValue" in piece else old
