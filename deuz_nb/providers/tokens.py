"""Token counts out of a provider's usage object: numbers only, never below 0."""

from __future__ import annotations

from typing import Any, cast

from deuz_nb.parts.usage import JSON, Usage, usage_total

__all__ = ["count_of", "usage_of"]


def count_of(value: JSON) -> int | None:
    """A token count; None for null, booleans, text, fractions that are no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return max(0, int(value))


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
