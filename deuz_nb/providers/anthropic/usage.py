"""Anthropic usage: reported at the start, again and cumulatively at the end.  Source: providers.md 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deuz_nb.parts.usage import JSON, JSONObject, Usage
from deuz_nb.providers.tokens import count_of, usage_of
from deuz_nb.providers.values import as_list, as_object

__all__ = ["merged", "usage_from"]

_COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


def merged(known: JSONObject, reported: JSON) -> JSONObject:
    """`known` with what was reported since: null and absent keep, and so does a 0 over a positive count.

    A proxy sends zeros at the end for what it told at the start; with `iterations` a 0 is meant.
    """
    new = as_object(reported)
    result = dict(known)
    zero_is_meant = isinstance(new.get("iterations"), list)
    for key, value in new.items():
        if value is None:
            continue
        if key in _COUNTS:
            count = count_of(value)
            if count is None or (count == 0 and count_of(known.get(key)) and not zero_is_meant):
                continue
        result[key] = value
    return result


def usage_from(raw: Mapping[str, Any]) -> Usage:
    """The wire usage of a merged usage object."""
    totals = [_counts(raw)]
    entries = [as_object(item) for item in as_list(raw.get("iterations"))]
    if not any(entry.get("type") == "fallback_message" for entry in entries):
        # The top level leaves compaction out; message entries are already in it, an advisor is another model.
        totals += [_counts(entry) for entry in entries if entry.get("type") == "compaction"]
    fresh, cached, written, long, output = (sum(column) for column in zip(*totals, strict=True))
    details = as_object(raw.get("output_tokens_details"))
    server = as_object(raw.get("server_tool_use"))
    return usage_of(
        fresh=fresh,
        output=output,
        reasoning=count_of(details.get("thinking_tokens")) or 0,
        cached=cached,
        written=written,
        written_long=long,
        server_tools=sum(count_of(value) or 0 for value in server.values()),
    )


def _counts(raw: Mapping[str, Any]) -> tuple[int, int, int, int, int]:
    creation = as_object(raw.get("cache_creation"))
    short = count_of(creation.get("ephemeral_5m_input_tokens")) or 0
    long = count_of(creation.get("ephemeral_1h_input_tokens")) or 0
    total = count_of(raw.get("cache_creation_input_tokens"))
    written = short + long if total is None else total
    long = min(long, written)
    return (
        count_of(raw.get("input_tokens")) or 0,
        count_of(raw.get("cache_read_input_tokens")) or 0,
        written - long,
        long,
        count_of(raw.get("output_tokens")) or 0,
    )
