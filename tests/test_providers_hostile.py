"""Any bytes and any JSON at every wire's parser: it never raises, ends exactly once, and does not see the cuts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deuz_nb.errors import NetworkError
from deuz_nb.providers import parser
from tests.conformance._streams import plain, run
from tests.provider_events import ERROR, EVENTS, TELLERS, WHOLE

WIRES = ("anthropic", "openai-chat", "openai-responses", "google")
ENDS = ("finish", "error")

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=4)
    | st.sampled_from(["\ud83d", "\ude00", "1e400", "{", "[DONE]"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["type", "text", "x"]), inner, max_size=2)
    ),
    max_leaves=3,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside `value`."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, member in members:
        yield (*path, key)
        yield from places(member, (*path, key))


@st.composite
def bodies(draw: st.DrawFn, known: list[Any]) -> Any:
    """A body as a host sends it, with some of its values replaced by any other JSON."""
    body = deepcopy(draw(st.sampled_from(known)))
    for _ in range(draw(st.integers(0, 3))):
        path = draw(st.sampled_from(list(places(body)) or [()]))
        if not path:
            return draw(json_values)
        holder = body
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = draw(json_values)
    return body


def text_of(body: Any) -> str:
    """The body as JSON; what JSON has no number for is written as a number that is read as infinite."""
    return json.dumps(body).replace("-Infinity", "-1e999").replace("Infinity", "1e999").replace("NaN", "null")


def check_ended_once(parts: list[Any]) -> None:
    assert [part["type"] in ENDS for part in parts] == [False] * (len(parts) - 1) + [True]
    json.dumps(parts)
    assert not any("\ud800" <= char <= "\udfff" for part in parts for char in str(part.get("text", "")))


contexts = st.fixed_dictionaries(
    {
        "think_tags": st.booleans(),
        "starts_in_reasoning": st.booleans(),
        "provider": st.sampled_from([None, "deepseek"]),
    }
)


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
@settings(max_examples=400)
def test_any_events_end_once_and_never_raise(wire: str, data: st.DataObject) -> None:
    names = st.sampled_from(["", "event: error\n", "event: message_stop\n", "id: 1\n"])
    frames = data.draw(st.lists(st.tuples(names, bodies(EVENTS[wire])), max_size=8))
    ending = data.draw(st.sampled_from(["", "data: [DONE]\n\n", "data: {", "{"]))
    stream = "".join(f"{name}data: {text_of(body)}\n\n" for name, body in frames) + ending
    machine, parts = run(wire, [stream.encode()], **data.draw(contexts))
    check_ended_once(parts)
    assert machine.is_done
    assert [machine.receive(b"data: {}\n\n"), machine.close()] == [[], []]
    assert all(isinstance(call.id, str) and isinstance(call.name, str) for call in machine.tool_calls)


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
@settings(max_examples=200)
def test_any_json_body_ends_once_and_never_raises(wire: str, data: st.DataObject) -> None:
    body = data.draw(bodies([*WHOLE[wire], ERROR, [ERROR]]))
    kind = data.draw(st.sampled_from([None, "application/json", "text/html", "text/event-stream"]))
    check_ended_once(run(wire, [text_of(body).encode()], content_type=kind)[1])


@pytest.mark.parametrize("wire", WIRES)
@given(
    pieces=st.lists(
        st.binary(max_size=12)
        | st.sampled_from(
            [
                b"data: ",
                b"\n\n",
                b"\r",
                b"{}",
                b"[DONE]",
                b"\xef\xbb\xbf",
                b": x\n",
                b"event: error\n",
                b'{"error":',
                b"<html>",
            ]
        ),
        max_size=12,
    ),
    cut=st.integers(0, 80),
    kind=st.sampled_from([None, "application/json", "text/event-stream"]),
)
@settings(max_examples=200)
def test_any_bytes_give_the_same_parts_at_any_cut(
    wire: str, pieces: list[bytes], cut: int, kind: str | None
) -> None:
    stream = b"".join(pieces)
    parts = run(wire, [stream], content_type=kind)[1]
    check_ended_once(parts)
    assert run(wire, [stream[:cut], stream[cut:]], content_type=kind)[1] == parts
    assert run(wire, [stream[i : i + 1] for i in range(len(stream))], content_type=kind)[1] == parts


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
@settings(max_examples=100)
def test_any_events_give_the_same_parts_at_any_cut(wire: str, data: st.DataObject) -> None:
    ends = st.sampled_from(["\n\n", "\r\n\r\n", "\r\r", "\n\r\n"])
    frames = data.draw(st.lists(st.tuples(bodies(EVENTS[wire]), ends), min_size=1, max_size=5))
    stream = "".join(f"data: {text_of(body)}{end}" for body, end in frames).encode()
    parts = run(wire, [stream])[1]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    assert run(wire, [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)])[1] == parts


@pytest.mark.parametrize("wire", ["anthropic", "openai-chat"])
@given(data=st.data())
@settings(max_examples=300)
def test_frames_that_are_alike_are_read_as_if_each_were_new(wire: str, data: st.DataObject) -> None:
    """A number that differs in every frame, and means nothing, keeps frames from being alike."""
    texts = st.sampled_from(
        ['"', "\\", "\n", "a", "probe", "text", "\ud83d", "\ude00", "\u200b", "<think>", "b c"]
    )
    sent = data.draw(
        st.lists(
            st.tuples(st.sampled_from(TELLERS[wire]), st.lists(texts, max_size=3).map("".join)), max_size=25
        )
    )
    ending = (
        json.dumps({"choices": [{"finish_reason": "stop"}]})
        if wire == "openai-chat"
        else '{"type":"message_stop"}'
    )
    is_raw = data.draw(st.booleans())

    def stream(marks: list[str]) -> list[bytes]:
        frames = [
            form.replace("TEXT", json.dumps(text, ensure_ascii=not is_raw)).replace("}", mark, 1)
            for (form, text), mark in zip(sent, marks, strict=True)
        ]
        body = "".join(f"data: {frame}\n\n" for frame in [*frames, ending])
        return [body.encode("utf-8", "replace")]

    alike = stream(["}"] * len(sent))
    different = stream([f',"n":{n}}}' for n in range(len(sent))])
    context = {"think_tags": data.draw(st.booleans())}
    assert run(wire, alike, **context)[1] == run(wire, different, **context)[1]


@pytest.mark.parametrize("wire", WIRES)
def test_fail_before_any_byte_is_the_one_part(wire: str) -> None:
    machine = parser(wire)
    parts = machine.fail(NetworkError("gone", is_retryable=True))
    assert [plain(part) for part in parts] == [
        {
            "type": "error",
            "error": {
                "name": "NetworkError",
                "code": "network_error",
                "message": "gone",
                "isRetryable": True,
                "provider": machine.provider,
            },
        }
    ]
    assert [machine.receive(b"data: {}\n\n"), machine.close(), machine.fail(NetworkError("again"))] == [
        [],
        [],
        [],
    ]
