"""How often a view may speak: a pace per view, and one allowance of messages for the whole kernel.

Jupyter servers drop messages above 1,000 per second; a view that sends less also leaves the page its time.
Source: view.md 2, performance.md G10 and G11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["ENVELOPE_BYTES", "Allowance", "Spent", "pause_s"]

ENVELOPE_BYTES: Final = 614
"""What a message weighs beside its content."""

_SHORTEST_S: Final = 1 / 16
_LONGEST_S: Final = 0.23
_MESSAGES_PER_S: Final = 26
_BYTES_PER_S: Final = 30_000
_BUSY_SHARE: Final = 0.12


@dataclass(slots=True)
class Spent:
    """What one update cost."""

    messages: int = 0
    bytes: int = 0
    cpu_s: float = 0.0

    def message(self, content_bytes: int) -> None:
        """Count one message."""
        self.messages += 1
        self.bytes += content_bytes + ENVELOPE_BYTES


def pause_s(spent: Spent) -> float:
    """How long to wait after an update: the costlier it was, the longer, within what still looks live."""
    wanted = max(
        spent.messages / _MESSAGES_PER_S, spent.bytes / _BYTES_PER_S, spent.cpu_s / _BUSY_SHARE, _SHORTEST_S
    )
    return min(wanted, max(_LONGEST_S - spent.cpu_s, _SHORTEST_S))


class Allowance:
    """Messages that all views together may send; debts are waited for."""

    def __init__(self, per_s: float = 150.0, burst: float = 40.0) -> None:
        self._per_s = per_s
        self._burst = burst
        self._left = burst
        self._at_s: float | None = None

    def wait_s(self, now_s: float) -> float:
        """Seconds until something may be sent again; 0 is now."""
        if self._at_s is not None:
            self._left = min(self._burst, self._left + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        return 0.0 if self._left > 0 else (1.0 - self._left) / self._per_s

    def spend(self, messages: int) -> None:
        """Take off what was sent."""
        self._left -= messages
