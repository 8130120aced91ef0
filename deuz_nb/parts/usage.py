"""Token usage as it goes over the wire, and the words a finish can use."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

__all__ = ["JSON", "FinishReason", "JSONObject", "Usage", "empty_usage", "usage_total"]

JSON = Any  # any JSON value: str, int, float, bool, None, list, dict
JSONObject = dict[str, Any]

FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "error", "aborted"]


class Usage(TypedDict):
    """Tokens of one model call.  Source: providers.md 8.

    `inputTokens` is fresh input only; cache reads and both kinds of cache writes are counted apart.
    `outputTokens` is everything generated; `reasoningTokens` and `audioTokens` are "of which".
    """

    inputTokens: int
    outputTokens: int
    reasoningTokens: int
    cachedReadTokens: int
    cacheWriteTokens: int
    cacheWrite1hTokens: int
    audioTokens: NotRequired[int]
    serverToolUses: NotRequired[int]
    totalTokens: int


def usage_total(usage: Usage) -> int:
    """The total by its definition: fresh input, cache reads, cache writes of both kinds, and output."""
    return (
        usage["inputTokens"]
        + usage["cachedReadTokens"]
        + usage["cacheWriteTokens"]
        + usage["cacheWrite1hTokens"]
        + usage["outputTokens"]
    )


def empty_usage() -> Usage:
    """A usage of zeros: what the wire carries when the provider reported none."""
    return {
        "inputTokens": 0,
        "outputTokens": 0,
        "reasoningTokens": 0,
        "cachedReadTokens": 0,
        "cacheWriteTokens": 0,
        "cacheWrite1hTokens": 0,
        "totalTokens": 0,
    }
