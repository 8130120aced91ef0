"""What a host sent, as the type it should have: anything else counts as absent, so no event can break a parser."""

from __future__ import annotations

from typing import cast

from deuz_nb.parts.usage import JSON, JSONObject
from deuz_nb.providers.text import whole_text

__all__ = ["as_key", "as_list", "as_object", "as_text"]


def as_object(value: JSON) -> JSONObject:
    """The value if it is a JSON object, else an empty one."""
    return cast("JSONObject", value) if isinstance(value, dict) else {}


def as_list(value: JSON) -> list[JSON]:
    """The value if it is a JSON array, else an empty one."""
    return cast("list[JSON]", value) if isinstance(value, list) else []


def as_text(value: JSON) -> str:
    """The value if it is text, without lone surrogate halves, else an empty one."""
    return whole_text(value) if isinstance(value, str) else ""


def as_key(value: JSON) -> str | int | None:
    """The value if it can name a place (an index or an id), else None."""
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None
