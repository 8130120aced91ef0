"""A value that is there once the run has come far enough."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, Generic, TypeVar

__all__ = ["Later"]

T = TypeVar("T")


class Later(Generic[T]):
    """Await it, any number of times; looking at it without awaiting costs nothing and warns of nothing."""

    __slots__ = ("_make", "_name")

    def __init__(self, make: Callable[[], Awaitable[T]], name: str) -> None:
        self._make = make
        self._name = name

    def __await__(self) -> Generator[Any, Any, T]:
        return self._make().__await__()

    def __repr__(self) -> str:
        return f"<{self._name}: await it>"
