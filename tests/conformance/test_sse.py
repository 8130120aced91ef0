"""`sse.jsonl`: chunks in, events out; also byte by byte, at random cuts, and in one piece."""

from __future__ import annotations

import base64
import random
from itertools import pairwise
from typing import Any

import pytest

from deuz_nb.sse import Decoder
from tests.conformance._vectors import lines, note_checked

pytestmark = pytest.mark.protocol
FILE = "sse.jsonl"
RANDOM_CUTS = 50


@pytest.mark.parametrize("case", lines(FILE))
def test_events_equal_the_vector_at_any_cut(case: dict[str, Any]) -> None:
    chunks = [base64.b64decode(chunk) for chunk in case.get("chunks_b64", [])]
    deviation: dict[str, Any] | None = case.get("deviation")
    found, after = _decode(chunks)
    stream = b"".join(chunks)
    for cut in _cuts(stream, str(case.get("id"))):
        assert _decode(cut)[0] == found
    better: dict[str, Any] = (deviation or {}).get("better") or {}
    wanted: dict[str, Any] = case | better
    if case.get("js_specific") or (deviation is not None and not better):
        note_checked(FILE, case, f"events {found!r:.80}")
        return
    assert found == wanted["events"]
    out: list[int] | None = wanted.get("after_chunk_eager", wanted.get("after_chunk"))
    if out is not None:
        assert after == out
    note_checked(FILE, case)


def _decode(chunks: list[bytes]) -> tuple[list[dict[str, Any]], list[int]]:
    """The events as the vectors write them, and how many were out after each chunk."""
    decoder = Decoder()
    events = []
    after: list[int] = []
    for chunk in chunks:
        events += decoder.receive(chunk)
        after.append(len(events))
    events += decoder.close()
    return [{"event": event.event, "data": event.data, "id": event.id} for event in events], after


def _cuts(stream: bytes, seed: str) -> list[list[bytes]]:
    rng = random.Random(seed)
    cuts = [[stream], [stream[n : n + 1] for n in range(len(stream))]]
    for _ in range(RANDOM_CUTS):
        inner = sorted(rng.randrange(len(stream) + 1) for _ in range(rng.randrange(1, 6)))
        cuts.append([stream[start:end] for start, end in pairwise([0, *inner, len(stream)])])
    return cuts
