"""Usage of the Gemini wire: cumulative, and merged field by field.  Source: providers.md 4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deuz_nb.parts.usage import JSON, Usage
from deuz_nb.providers.tokens import count_of, usage_of
from deuz_nb.providers.values import as_list, as_object

__all__ = ["usage_from"]


def usage_from(raw: Mapping[str, Any], searches: int) -> Usage:
    """The wire usage.  The total tells whether candidates include thoughts: backends differ."""
    prompt = count_of(raw.get("promptTokenCount")) or 0
    cached = min(prompt, count_of(raw.get("cachedContentTokenCount")) or 0)
    tools = count_of(raw.get("toolUsePromptTokenCount")) or 0
    thoughts = count_of(raw.get("thoughtsTokenCount")) or 0
    candidates = count_of(raw.get("candidatesTokenCount")) or count_of(raw.get("responseTokenCount")) or 0
    total = count_of(raw.get("totalTokenCount"))
    output = candidates + thoughts
    if total is not None and total >= prompt + tools + max(candidates, thoughts):
        output = total - prompt - tools
    return usage_of(
        fresh=prompt + tools - cached,
        output=output,
        reasoning=thoughts,
        cached=cached,
        audio=_audio(raw.get("promptTokensDetails")) + _audio(raw.get("candidatesTokensDetails")),
        server_tools=searches,
    )


def _audio(details: JSON) -> int:
    entries = [as_object(item) for item in as_list(details)]
    return sum(
        count_of(entry.get("tokenCount")) or 0 for entry in entries if entry.get("modality") == "AUDIO"
    )
