"""Reading and folding a UI stream (G4), and that both are linear in its length."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any

from deuz_nb.fold import Turn
from deuz_nb.wire.framer import Framer
from deuz_nb.wire.reader import Reader
from tests.bench.harness import Case

PART = attrgetter("part")
WORDS = ["The", " quick", " brown", " fox", " jumps", " over", " the", " lazy", " dög", ",", " and", ' "so"']
WORDS += [" it", " goes", " on", " for", " a", " while", ".", "\n\n"]
USAGE = dict.fromkeys(("inputTokens", "outputTokens", "cachedReadTokens", "totalTokens"), 1)


def text_parts(count: int) -> list[Any]:
    """Text deltas as models send them: short, now and then with an accent, a quote or a line end."""
    return [{"type": "text-delta", "text": WORDS[n % len(WORDS)]} for n in range(count)]


def mixed_parts(count: int) -> list[Any]:
    """A long agent run: a step with text, a tool, activity, data and cost every ten parts."""
    parts: list[Any] = []
    for n in range(count // 10):
        call = {"toolCallId": f"call-{n}", "toolName": "search"}
        parts += [
            {"type": "step-start", "stepIndex": n},
            {"type": "text-delta", "text": "Looking "},
            {"type": "text-delta", "text": "it up."},
            {"type": "tool-state", **call, "state": "executing"},
            {"type": "tool-call", **call, "input": {"q": f"term {n}", "limit": 5}},
            {"type": "activity", "message": f"searched {n}", "level": "info"},
            {"type": "tool-result", **call, "output": {"hits": [n, n + 1], "more": False}},
            {"type": "data", "name": "progress", "payload": {"done": n}},
            {"type": "cost", "costUsd": 0.001 * n},
            {"type": "step-finish", "stepIndex": n, "finishReason": "tool_calls", "usage": USAGE},
        ]
    return parts


def frames_of(parts: list[Any]) -> list[bytes]:
    framer = Framer(message_id="bench")
    return [frame.data for frame in framer.start() + framer.parts(parts) + framer.close()]


def read_and_fold(chunks: Iterable[bytes]) -> Turn:
    reader, turn = Reader(), Turn()
    for chunk in chunks:
        turn.apply_all(map(PART, reader.receive(chunk)))
    turn.apply_all(map(PART, reader.close()))
    return turn


def chunked(frames: list[bytes], size: int) -> list[bytes]:
    """The stream in chunks of `size` bytes; one frame per chunk for 0."""
    data = b"".join(frames)
    return [data[start : start + size] for start in range(0, len(data), size)] if size else frames


def cases() -> Iterator[Case]:
    for kind, parts in (("text", text_parts(20_000)), ("mixed parts", mixed_parts(20_000))):
        frames = frames_of(parts)
        for size, label, limit in (
            (0, "one frame per chunk", 2.2),
            (1024, "1 KiB", 2.3),
            (16384, "16 KiB", 2.6),
        ):
            chunks = chunked(frames, size)
            yield Case(
                goal="G4" if kind == "text" else "-",
                name=f"SSE + JSON + fold, {kind}, {label}",
                ours=_bound(read_and_fold, chunks),
                peers={"httpx-sse + json.loads": _httpx_sse(chunks)},
                at_least=limit if kind == "text" else None,
            )
    for kind, make in (("text deltas", text_parts), ("mixed parts", mixed_parts)):
        short = chunked(frames_of(make(10_000)), 16384)
        long = chunked(frames_of(make(100_000)), 16384)
        yield Case(
            goal="line",
            name=f"read + fold, 100 k {kind} / ten times 10 k",
            ours=_bound(read_and_fold, long),
            peers={"10 x 10 k": _ten_times(short)},
            at_most=1.3,
        )


def _bound(run: Callable[[Iterable[bytes]], Turn], chunks: list[bytes]) -> Callable[[], object]:
    return lambda: run(chunks)


def _ten_times(chunks: list[bytes]) -> Callable[[], object]:
    # All ten stay alive, as the long one does.
    return lambda: [read_and_fold(chunks) for _ in range(10)]


def _httpx_sse(chunks: list[bytes]) -> Callable[[], object] | None:
    """What a user would write: every event's data through json.loads; nothing is folded."""
    try:
        httpx: Any = importlib.import_module("httpx")
        source: Any = importlib.import_module("httpx_sse").EventSource
    except ImportError:
        return None

    class Body(httpx.SyncByteStream):  # type: ignore[misc] - httpx is imported by name
        def __iter__(self) -> Iterator[bytes]:
            return iter(chunks)

    def run() -> object:
        last: object = None
        response = httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Body())
        for event in source(response).iter_sse():
            if event.data != "[DONE]":
                last = json.loads(event.data)
        return last

    return run
