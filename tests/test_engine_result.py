"""The result of a run: lazy, shared by readers, ended once, stopped when nobody reads."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from deuz_nb import model, stream_chat
from deuz_nb.engine.portal import Portal, get_portal
from deuz_nb.engine.result import StreamResult
from deuz_nb.errors import CancelledCallError, InvalidResponseError, MisuseError, StreamTruncatedError
from deuz_nb.testing import Answer, FakeTransport, fake_deps, run_in_fake_time
from tests.chat_bodies import END, HELLO, text


def ask(*answers: Answer) -> tuple[StreamResult, FakeTransport]:
    deps = fake_deps(*answers)
    asked = model("https://host.example/v1", model="gpt-test", api_key="k", capabilities={})
    transport = deps.transport
    assert isinstance(transport, FakeTransport)
    return stream_chat(asked, "Hi", deps=deps), transport


def replay(name: str = "tides") -> StreamResult:
    return stream_chat(model(f"replay:{name}", speed=None))


def test_nothing_is_sent_before_the_result_is_read() -> None:
    async def look() -> None:
        result, transport = ask(Answer([HELLO]))
        assert repr(result) == "<StreamResult host.example:gpt-test not started, 0 parts>"
        assert not result.is_started
        await asyncio.sleep(5)
        assert transport.requests == []
        assert await result.text == "Hello"
        assert len(transport.requests) == 1

    run_in_fake_time(look())


def test_every_reader_sees_every_part_whenever_it_comes() -> None:
    async def look() -> None:
        result, transport = ask(Answer([text("a"), (1.0, text("b")), (1.0, END)]))

        async def read(wait_s: float) -> list[Any]:
            await asyncio.sleep(wait_s)
            return [part async for part in result.full_stream]

        early, middle, late = await asyncio.gather(read(0), read(1.5), read(60))
        assert early == middle == late == result.parts
        assert early[-1]["type"] == "finish"
        assert [piece async for piece in result.text_stream] == ["a", "b"]
        assert len(transport.requests) == 1

    run_in_fake_time(look())


def test_batches_hold_every_part_once() -> None:
    async def look() -> None:
        result, _ = ask(Answer([text("a") + text("b"), (1.0, text("c")), (1.0, END)]))
        batches = [batch async for batch in result.batches()]
        assert [part for batch in batches for part in batch] == result.parts

    run_in_fake_time(look())


def test_usage_and_finish_reason_raise_the_object_of_the_error_part() -> None:
    async def look() -> None:
        result, _ = ask(Answer([text("half")]))
        raised: list[BaseException] = []
        for waiting in (result.usage, result.finish_reason, result.text):
            with pytest.raises(StreamTruncatedError) as caught:
                await waiting
            raised.append(caught.value)
        last: Any = result.parts[-1]
        assert all(error is last["error"] is result.error for error in raised)
        assert await result.warnings == []
        assert await result.consume() is result

    run_in_fake_time(look())


def test_text_stream_raises_the_error_after_the_text() -> None:
    async def look() -> None:
        result, _ = ask(Answer([text("half")]))
        reading = aiter(result.text_stream)
        assert await anext(reading) == "half"
        with pytest.raises(StreamTruncatedError):
            await anext(reading)

    run_in_fake_time(look())


def test_the_last_reader_that_stops_early_closes_the_response() -> None:
    async def look() -> None:
        result, transport = ask(Answer([text("a"), (100.0, END)]))
        async for part in result.full_stream:
            if part["type"] == "text-delta":
                break
        await asyncio.sleep(0.5)
        assert transport.closed == 1
        assert isinstance(result.error, CancelledCallError)

    run_in_fake_time(look())


def test_one_reader_may_stop_while_another_goes_on() -> None:
    async def look() -> None:
        result, _ = ask(Answer([text("a"), (10.0, text("b")), (10.0, END)]))
        whole = asyncio.create_task(_read(result))
        async for part in result.full_stream:
            if part["type"] == "text-delta":
                break
        assert (await whole)[-1]["type"] == "finish"

    run_in_fake_time(look())


async def _read(result: StreamResult) -> list[Any]:
    return [part async for part in result.full_stream]


def test_cancel_ends_the_run_with_one_error_and_closes_the_response() -> None:
    async def look() -> None:
        result, transport = ask(Answer([text("a"), (100.0, END)]))
        reading = asyncio.create_task(_read(result))
        await asyncio.sleep(1)
        await result.cancel()
        parts = await reading
        assert [part["type"] for part in parts] == ["step-start", "text-delta", "error"]
        assert isinstance(result.error, CancelledCallError)
        assert transport.closed == 1
        await result.cancel()
        assert len(result.parts) == 3

    run_in_fake_time(look())


def test_cancel_before_the_start_sends_nothing() -> None:
    async def look() -> None:
        result, transport = ask(Answer([HELLO]))
        await result.cancel()
        with pytest.raises(CancelledCallError):
            await result.text
        assert transport.requests == []
        assert [part["type"] for part in result.parts] == ["error"]

    run_in_fake_time(look())


def test_a_cancelled_task_ends_the_run_it_carries() -> None:
    async def look() -> None:
        result, transport = ask(Answer([text("a"), (100.0, END)]))

        async def reader() -> None:
            async for _ in result.full_stream:
                pass

        task = asyncio.create_task(reader())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(1)
        assert transport.closed == 1

    run_in_fake_time(look())


def test_an_event_loop_that_ends_takes_its_run_along() -> None:
    deps: list[StreamResult] = []

    async def start() -> None:
        result, _ = ask(Answer([text("a"), (100.0, END)]))
        result.start()
        await asyncio.sleep(1)
        deps.append(result)

    run_in_fake_time(start())
    assert isinstance(deps[0].error, CancelledCallError)


def test_a_fault_of_ours_ends_the_run_with_its_cause() -> None:
    async def look() -> None:
        result, _ = ask(Answer(refuses=ZeroDivisionError("inside")))
        await result.consume()
        assert isinstance(result.error, InvalidResponseError)
        assert isinstance(result.error.__cause__, ZeroDivisionError)

    run_in_fake_time(look())


def test_a_script_without_a_loop_waits_on_the_portal() -> None:
    result = replay().wait(30)
    assert result.turn.status == "finished"
    assert result.wait() is result


def test_a_run_on_the_portal_is_read_from_any_loop() -> None:
    result = replay().start(on_portal=True)

    async def read() -> list[Any]:
        return [part async for part in result.full_stream]

    assert asyncio.run(read()) == result.parts
    assert result.is_done


def test_readers_on_several_threads_see_the_same() -> None:
    result = replay()
    found: list[list[Any]] = []

    def work() -> None:
        found.append(asyncio.run(_read(result)))

    result.start(on_portal=True)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [result.parts] * 4


def test_wait_with_a_limit_lets_the_run_go_on() -> None:
    result = stream_chat(model("replay:tides"))
    with pytest.raises(TimeoutError, match="goes on"):
        result.wait(0)
    assert not result.is_done
    result.cancel()
    result.wait(30)
    assert isinstance(result.error, CancelledCallError)


def test_wait_on_the_loop_that_carries_the_run_is_refused() -> None:
    async def look() -> None:
        result, _ = ask(Answer([(5.0, HELLO)]))
        result.start()
        with pytest.raises(MisuseError, match="consume"):
            result.wait()
        await result.cancel()

    run_in_fake_time(look())


def test_change_callbacks_come_after_every_batch_until_undone() -> None:
    async def look() -> None:
        result, _ = ask(Answer([text("a"), (1.0, text("b")), (1.0, END)]))
        seen: list[int] = []
        undo = result.on_change(lambda: seen.append(len(result.parts)))
        result.start()
        await asyncio.sleep(1.5)
        undo()
        undo()
        await result.consume()
        assert seen == [1, 2, 3]

    run_in_fake_time(look())


def test_the_turn_is_folded_as_far_as_the_parts_are() -> None:
    async def look() -> None:
        result, _ = ask(Answer([text("a"), (1.0, text("b")), (1.0, END)]))
        assert result.turn.status == "empty"
        result.start()
        await asyncio.sleep(0.5)
        assert (result.turn.text, result.turn.status) == ("a", "streaming")
        await result.consume()
        assert (result.turn.text, result.turn.status) == ("ab", "finished")
        assert result.turn.snapshot()["message"]["id"] == result.message_id

    run_in_fake_time(look())


def test_the_transcript_of_a_finished_run_has_its_end_mark_and_of_a_running_one_not() -> None:
    async def look() -> None:
        result, _ = ask(Answer([text("a"), (1.0, END)]))
        result.start()
        await asyncio.sleep(0.5)
        assert not result.to_transcript().is_done
        await result.consume()
        transcript = result.to_transcript()
        assert transcript.is_done
        assert [part["type"] for part in transcript.parts] == ["start", *[p["type"] for p in result.parts]]

    run_in_fake_time(look())


def test_looking_at_an_awaitable_does_not_start_anything() -> None:
    result, transport = ask(Answer([HELLO]))
    assert repr(result.usage) == "<usage: await it>"
    assert repr(result.text) == "<text: await it>"
    assert transport.requests == []


def test_a_stopped_portal_is_replaced_and_stops_its_work() -> None:
    portal = Portal()
    ended = threading.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    future = portal.submit(work)
    portal.submit(_nothing).result(5)
    portal.stop()
    assert ended.is_set()
    assert future.cancelled()
    assert not portal.is_running
    assert get_portal().is_running
    assert get_portal() is get_portal()


async def _nothing() -> None:
    return None
