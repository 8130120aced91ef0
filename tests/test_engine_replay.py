"""A run told once more: the same parts at the pace at which they came."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from deuz_nb import model, stream_chat
from deuz_nb.engine.replay import replay
from deuz_nb.engine.result import StreamResult
from deuz_nb.errors import MisuseError, RemoteError, StreamTruncatedError
from deuz_nb.testing import Answer, fake_deps, run_in_fake_time
from deuz_nb.wire.transcript import transcript_bytes, transcript_from_bytes
from tests.chat_bodies import END, text


def ask(*chunks: bytes | tuple[float, bytes]) -> StreamResult:
    asked = model("https://host.example/v1", model="gpt-test", api_key="k", capabilities={})
    return stream_chat(asked, "Hi", deps=fake_deps(Answer(chunks)))


WHOLE = (text("a"), (2.0, text("b")), (1.0, END))


@pytest.mark.parametrize(("speed", "seconds"), [(1.0, 3.0), (2.0, 1.5), (None, 0.0)])
def test_a_result_is_replayed_at_its_pace(speed: float | None, seconds: float) -> None:
    async def look() -> None:
        first = await ask(*WHOLE).consume()
        again = replay(first, speed=speed, deps=fake_deps())
        assert not again.is_started
        await again.consume()
        assert again.parts == first.parts
        assert again.elapsed_s == pytest.approx(seconds)
        assert again.usage_rows() == first.usage_rows()
        assert again.turn.snapshot() == first.turn.snapshot()

    run_in_fake_time(look())


def test_a_transcript_with_timings_is_replayed_at_its_pace_and_keeps_every_byte() -> None:
    async def look() -> None:
        first = await ask(*WHOLE).consume()
        kept = transcript_from_bytes(transcript_bytes(first, timings=True))
        again = await replay(kept, deps=fake_deps()).consume()
        assert again.elapsed_s == pytest.approx(3.0)
        assert again.parts == kept.parts
        assert again.turn.snapshot() == first.turn.snapshot()
        assert await again.text == "ab"
        assert (await again.usage) == (await first.usage)
        assert transcript_bytes(again) == transcript_bytes(first)
        row = again.usage_rows()[0]
        assert (row.model, row.total_tokens, row.latency_s) == ("gpt-test", 15, pytest.approx(3.0))

    run_in_fake_time(look())


def test_a_transcript_without_timings_is_there_at_once() -> None:
    async def look() -> None:
        kept = transcript_from_bytes(transcript_bytes(await ask(*WHOLE).consume()))
        assert (await replay(kept, deps=fake_deps()).consume()).elapsed_s == 0

    run_in_fake_time(look())


def test_unknown_parts_of_a_transcript_come_through_as_they_are() -> None:
    body = b'id: 0\ndata: {"type":"start","messageId":"m"}\n\nid: 1\ndata: {"type":"novelty","x":[1]}\n\n'
    body += b'id: 2\ndata: {"type":"error","message":"gone"}\n\nid: 3\ndata: [DONE]\n\n'

    async def look() -> None:
        again = await replay(transcript_from_bytes(body), deps=fake_deps()).consume()
        assert again.parts[1] == {"type": "novelty", "x": [1]}
        assert isinstance(again.error, RemoteError)
        assert str(again.error) == "gone"
        assert again.turn.status == "failed"
        with pytest.raises(RemoteError) as caught:
            await again.usage
        assert caught.value is again.error

    run_in_fake_time(look())


def test_a_transcript_of_a_cut_run_replays_as_cut_off() -> None:
    body = b'id: 0\ndata: {"type":"start","messageId":"m"}\n\nid: 1\ndata: {"type":"text-delta","text":"half"}\n\n'

    async def look() -> None:
        again = await replay(transcript_from_bytes(body), deps=fake_deps()).consume()
        assert isinstance(again.error, StreamTruncatedError)
        assert [part["type"] for part in again.parts] == ["start", "text-delta"]
        assert again.turn.status == "cut"
        pieces: list[str] = []
        reading = aiter(again.text_stream)
        pieces.append(await anext(reading))
        with pytest.raises(StreamTruncatedError):
            await anext(reading)
        assert pieces == ["half"]

    run_in_fake_time(look())


def test_a_run_that_goes_on_is_not_replayed() -> None:
    async def look() -> None:
        result = ask(*WHOLE)
        with pytest.raises(MisuseError, match="still goes on"):
            replay(result, deps=fake_deps())

    run_in_fake_time(look())


@pytest.mark.parametrize("speed", [0, -2.0, True, float("nan")])
def test_a_speed_that_is_none_is_refused(speed: Any) -> None:
    result = stream_chat(model("replay:cove", speed=None)).wait(30)
    with pytest.raises(MisuseError, match="speed"):
        replay(result, speed=speed, deps=fake_deps())


def test_a_stopped_replay_ends_without_a_part_of_its_own() -> None:
    async def look() -> None:
        kept = transcript_from_bytes(transcript_bytes(await ask(*WHOLE).consume(), timings=True))
        again = replay(kept, deps=fake_deps()).start()
        await asyncio.sleep(1)
        await again.cancel()
        assert again.parts == kept.parts[: len(again.parts)]
        assert again.turn.status == "cut"

    run_in_fake_time(look())
