"""What a run needs from outside: clock, transport, ids, jitter, prices.

Nothing in the engine reads a clock, the environment or randomness; it is handed here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from deuz_nb.prices import PriceProvider
from deuz_nb.providers.model import Model, ProviderRequest

__all__ = ["Clock", "Deps", "Response", "Timeouts", "Transport"]


class Clock(Protocol):
    """Wall time and monotonic time, both in seconds."""

    def wall_s(self) -> float:
        """Seconds since the epoch."""
        ...

    def monotonic_s(self) -> float:
        """Seconds since some fixed point; never goes back."""
        ...


class Response(Protocol):
    """An HTTP answer whose body has not been read yet."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers; look-ups ignore case."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives.  Raises NetworkError when the connection breaks."""
        ...


class Transport(Protocol):
    """Sends one request; leaving the context closes the HTTP response."""

    def post(
        self, model: Model, request: ProviderRequest, *, connect_s: float
    ) -> AbstractAsyncContextManager[Response]:
        """Open the response.  Raises NetworkError or CallTimeoutError (connect)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Time limits of one model call, in seconds; None waits for ever.

    `first_part_s` runs from the request to the first content, `silence_s` between two chunks after that.
    """

    connect_s: float = 10.0
    first_part_s: float | None = 120.0
    silence_s: float | None = 120.0
    total_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The outside world of a run."""

    clock: Clock
    transport: Transport
    new_id: Callable[[], str]
    jitter: Callable[[], float]
    prices: PriceProvider
