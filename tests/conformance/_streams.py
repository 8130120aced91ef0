"""Provider streams fed to a parser in every way of cutting them."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from typing import Any

from deuz_nb.errors import NetworkError, ProviderError
from deuz_nb.providers import Parser, parser

WIRES = {"chat_completions": "openai-chat", "responses": "openai-responses"}


def body_chunks(case: dict[str, Any]) -> list[bytes]:
    """The chunks of a vector line."""
    return [base64.b64decode(chunk) for chunk in case["chunks_b64"]]


def cuttings(chunks: list[bytes], *, single_bytes: bool = True) -> Iterator[list[bytes]]:
    """As given, byte by byte, and at 50 random cuts (the same ones every time)."""
    whole = b"".join(chunks)
    yield chunks
    if single_bytes:
        yield [whole[i : i + 1] for i in range(len(whole))]
    random_cut = random.Random(len(whole))
    for _ in range(50):
        count = min(len(whole), random_cut.randint(1, 40))
        places = sorted(random_cut.sample(range(len(whole) + 1), count)) if whole else []
        yield [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]


def run(
    wire: str, chunks: list[bytes], *, breaks: str | None = None, **context: Any
) -> tuple[Parser, list[Any]]:
    """The parser after all chunks, and the parts; an error part's exception is replaced by its facts."""
    machine = parser(WIRES.get(wire, wire), **context)
    parts: list[Any] = []
    for chunk in chunks:
        if machine.is_done:
            break
        parts += machine.receive(chunk)
    if breaks is not None:
        parts += machine.fail(NetworkError(f"The connection broke: {breaks}", is_retryable=True))
    else:
        parts += machine.close()
    return machine, [plain(part) for part in parts]


def plain(part: Any) -> Any:
    """The part as JSON."""
    if part["type"] == "error":
        assert isinstance(part["error"], ProviderError)
        return {"type": "error", "error": part["error"].facts()}
    return part
