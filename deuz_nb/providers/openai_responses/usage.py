"""Usage of the Responses wire.  Source: providers.md 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deuz_nb.parts.usage import Usage
from deuz_nb.providers.tokens import count_of, usage_of
from deuz_nb.providers.values import as_object

__all__ = ["usage_from"]


def usage_from(raw: Mapping[str, Any], searches: int) -> Usage:
    """The wire usage; 12-hour cache writes go into the long class, `searches` is what the host counted or we saw."""
    details = as_object(raw.get("input_tokens_details"))
    prompt = count_of(raw.get("input_tokens")) or 0
    cached = count_of(details.get("cached_tokens")) or 0
    written = count_of(details.get("cache_write_tokens")) or 0
    by_ttl = as_object(details.get("cache_write_tokens_details"))
    long = min(written, count_of(by_ttl.get("ttl_12h")) or 0)
    return usage_of(
        fresh=prompt if cached + written > prompt else prompt - cached - written,
        output=count_of(raw.get("output_tokens")) or 0,
        reasoning=count_of(as_object(raw.get("output_tokens_details")).get("reasoning_tokens")) or 0,
        cached=cached,
        written=written - long,
        written_long=long,
        server_tools=searches,
    )
