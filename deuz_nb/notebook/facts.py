"""What the caller's side knows of a run beside its turn: model, clock, exact cost, the exception."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Facts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All optional; times are in seconds and left out of a page that must repeat exactly.

    `is_usage_reported` False: the provider told no tokens, zeros on the wire are no counts.
    """

    provider: str | None = None
    model_id: str | None = None
    is_started: bool = True
    elapsed_s: float | None = None
    first_part_s: float | None = None
    cost_usd: Decimal | None = None
    is_usage_reported: bool | None = None
    error_name: str | None = None
    error_code: str | None = None
