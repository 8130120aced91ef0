"""Reading a result part by part (G6), beside reading and folding the same bytes in batches."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, cast

from deuz_nb.engine.result import StreamResult
from deuz_nb.engine.run import Emit, Source
from deuz_nb.fold import Turn
from deuz_nb.parts.stream import StreamPart
from deuz_nb.providers.model import Model
from deuz_nb.testing import fake_deps
from deuz_nb.wire.reader import Reader
from tests.bench.bench_fold import PART, chunked, frames_of, read_and_fold, text_parts
from tests.bench.harness import Case

FINISH: Any = {"type": "finish", "finishReason": "stop", "usage": {}}
MODEL = Model("bench", "openai-chat", "bench", "")


def cases() -> Iterable[Case]:
    frames = frames_of([*text_parts(50_000), FINISH])
    for label, chunks in (("1 KiB", chunked(frames, 1024)), ("16 KiB", chunked(frames, 16384))):
        yield Case(
            goal="G6",
            name=f"async for part + fold, {label} chunks",
            ours=lambda chunks=chunks: asyncio.run(by_part(chunks)),
            peers={
                "the same result by batches": lambda chunks=chunks: asyncio.run(by_batch(chunks)),
                "no result, parts not kept": lambda chunks=chunks: read_and_fold(chunks),
            },
            against="the same result by batches",
            at_most=1.25,
        )


def result_of(chunks: list[bytes]) -> StreamResult:
    """A run that reads the wire."""

    async def run(emit: Emit) -> None:
        reader = Reader()
        for chunk in chunks:
            if records := reader.receive(chunk):
                emit(cast("list[StreamPart]", list(map(PART, records))))
                await asyncio.sleep(0)

    source = Source(run, [], is_ui=True)
    return StreamResult(source, model=MODEL, messages=(), message_id="bench", deps=fake_deps())


async def by_part(chunks: list[bytes]) -> Turn:
    turn = Turn()
    apply = turn.apply
    async for part in result_of(chunks).full_stream:
        apply(part)
    return turn


async def by_batch(chunks: list[bytes]) -> Turn:
    turn = Turn()
    async for batch in result_of(chunks).batches():
        turn.apply_all(batch)
    return turn
