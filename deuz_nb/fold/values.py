"""Foreign JSON values made safe: what counts as a number, a true flag, a path, a usage.

The rules are JavaScript's where the wire was made by it: booleans are not numbers, NaN and Infinity are not
numbers, an empty list is a true flag.  Source: fold.md.
"""

from __future__ import annotations

import sys
from typing import Any, TypeGuard, cast

from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["is_number", "is_object", "is_true", "pick", "segments", "usage_of"]

_LARGEST = sys.float_info.max
_COUNTED = (
    "inputTokens",
    "outputTokens",
    "reasoningTokens",
    "cachedReadTokens",
    "cacheWriteTokens",
    "cacheWrite1hTokens",
)
_SUMMED = tuple(name for name in _COUNTED if name != "reasoningTokens")


def is_object(value: JSON) -> TypeGuard[JSONObject]:
    """Whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_number(value: JSON) -> TypeGuard[int | float]:
    """Whether `value` is a finite number that JavaScript can hold; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST <= value <= _LARGEST


def is_true(value: JSON) -> bool:
    """JavaScript's truth: lists and objects are true even when empty."""
    return bool(value) or isinstance(value, list | dict)


def segments(value: JSON) -> tuple[str, ...] | None:
    """An agent path as a tuple; None unless it is a non-empty list of strings."""
    if not isinstance(value, list) or not value:
        return None
    path = tuple(cast("list[Any]", value))
    return path if all(isinstance(segment, str) for segment in path) else None


def pick(part: JSONObject, *names: str) -> JSONObject:
    """The named members that are present, in the order asked for."""
    return {name: part[name] for name in names if name in part}


def usage_of(value: JSON) -> JSONObject:
    """A whole usage from any value: counts that are no numbers are 0, a missing total is the sum.

    Unknown members are dropped; `audioTokens` and `serverToolUses` stay absent unless they are numbers.
    """
    given: JSONObject = value if is_object(value) else {}
    usage: JSONObject = {name: given[name] if is_number(given.get(name)) else 0 for name in _COUNTED}
    for name in ("audioTokens", "serverToolUses"):
        if is_number(given.get(name)):
            usage[name] = given[name]
    total = given.get("totalTokens")
    if not is_number(total):
        total = sum(float(usage[name]) if isinstance(usage[name], float) else usage[name] for name in _SUMMED)
    usage["totalTokens"] = total if is_number(total) else 0
    return usage
