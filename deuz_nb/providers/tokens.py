"""Token counts out of a provider's usage object: numbers only, never below 0."""

from __future__ import annotations

from typing import Any, Final, cast

from deuz_nb.parts.usage import JSON, JSONObject, Usage, usage_total
from deuz_nb.providers.values import as_object

__all__ = ["count_of", "take_usage", "usage_of"]

_LARGEST: Final = 1 << 53
"""More tokens than a JavaScript number can count are no count."""


def count_of(value: JSON) -> int | None:
    """A token count; None for null, booleans, text, and what is beyond counting."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return max(0, int(value)) if -_LARGEST <= value <= _LARGEST else None


def take_usage(known: JSONObject, reported: JSONObject) -> None:
    """Put what was `reported` over what is `known`, member by member; null never overwrites."""
    for key, value in reported.items():
        if isinstance(value, dict):
            known[key] = as_object(known.get(key)) | {
                name: member for name, member in as_object(value).items() if member is not None
            }
        elif value is not None:
            known[key] = value


def usage_of(
    *,
    fresh: int,
    output: int,
    reasoning: int = 0,
    cached: int = 0,
    written: int = 0,
    written_long: int = 0,
    audio: int = 0,
    server_tools: int = 0,
) -> Usage:
    """A wire usage whose total is the sum of its parts.  Source: providers.md 8."""
    usage: dict[str, Any] = {
        "inputTokens": max(0, fresh),
        "outputTokens": max(0, output),
        "reasoningTokens": max(0, min(reasoning, output)),
        "cachedReadTokens": cached,
        "cacheWriteTokens": written,
        "cacheWrite1hTokens": written_long,
    }
    if audio:
        usage["audioTokens"] = audio
    if server_tools:
        usage["serverToolUses"] = server_tools
    usage["totalTokens"] = 0
    typed = cast("Usage", usage)
    typed["totalTokens"] = usage_total(typed)
    return typed
