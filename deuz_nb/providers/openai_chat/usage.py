"""Usage of chat completions hosts, each with its own idea of what includes what.  Source: providers.md 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deuz_nb.parts.usage import Usage
from deuz_nb.providers.tokens import count_of, usage_of
from deuz_nb.providers.values import as_object

__all__ = ["usage_from"]


def usage_from(raw: Mapping[str, Any]) -> Usage:
    """The wire usage of a host's usage object."""
    prompt = count_of(raw.get("prompt_tokens")) or 0
    output = count_of(raw.get("completion_tokens")) or 0
    total = count_of(raw.get("total_tokens"))
    prompt_details = as_object(raw.get("prompt_tokens_details") or raw.get("prompt_token_details"))
    output_details = as_object(raw.get("completion_tokens_details"))
    cached = _first(
        prompt_details.get("cached_tokens"), raw.get("prompt_cache_hit_tokens"), raw.get("num_cached_tokens")
    )
    written = _first(prompt_details.get("cache_write_tokens"), raw.get("cache_write_tokens"))
    reasoning = _first(output_details.get("reasoning_tokens"), raw.get("reasoning_tokens"))
    audio = (count_of(prompt_details.get("audio_tokens")) or 0) + (
        count_of(output_details.get("audio_tokens")) or 0
    )
    # More cached than prompted means that the host counts the cached tokens apart.
    is_apart = cached + written > prompt
    fresh = prompt if is_apart else prompt - cached - written
    hidden = 0 if total is None or is_apart else total - prompt - output
    if hidden > 0 and reasoning in (0, hidden):
        # xAI and Gemini's compatible host leave reasoning out of the completion, but not out of the total.
        output, reasoning = output + hidden, hidden
    elif reasoning > output:
        output += reasoning
    return usage_of(
        fresh=fresh,
        output=output,
        reasoning=reasoning,
        cached=cached,
        written=written,
        audio=audio,
        server_tools=_first(
            as_object(raw.get("server_tool_use")).get("web_search_requests"), raw.get("num_sources_used")
        ),
    )


def _first(*values: Any) -> int:
    for value in values:
        count = count_of(value)
        if count is not None:
            return count
    return 0
