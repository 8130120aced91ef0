"""The SSE decoder: any bytes, any cut, the same events."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.sse import Decoder, Event

pytestmark = pytest.mark.protocol


def oracle(stream: bytes) -> list[Event]:
    """The events of a whole stream, read plainly and slowly from the rules."""
    text = stream.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    events: list[Event] = []
    last_id: str | None = None
    name, data, own_id = "", [], False
    for line in [*re.split("\r\n|\r|\n", text), ""]:
        field, _, value = line.partition(":")
        if value[:1] == " ":
            value = value[1:]
        if line == "":
            if data:
                events.append(Event(name or None, "\n".join(data), last_id, own_id))
            name, data, own_id = "", [], False
        elif field == "data":
            data = [*data, value]
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            last_id, own_id = value, True
    return events


def decode(chunks: list[bytes]) -> list[Event]:
    decoder = Decoder()
    return [event for chunk in chunks for event in decoder.receive(chunk)] + decoder.close()


def counts(chunks: list[bytes]) -> list[int]:
    """How many events were out after each chunk."""
    decoder = Decoder()
    out = [len(decoder.receive(chunk)) for chunk in chunks]
    return [sum(out[: n + 1]) for n in range(len(out))]


def data(*values: str) -> list[Event]:
    return [Event(None, value, None, False) for value in values]


CASES: dict[str, tuple[bytes, list[Event]]] = {
    "lf": (b"data: a\n\ndata: b\n\n", data("a", "b")),
    "crlf": (b"data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", data("a\nb", "c")),
    "cr": (b"data: a\rdata: b\r\rdata: c\r\r", data("a\nb", "c")),
    "lf then cr is two line ends": (b"data: x\n\rdata: y\n\r", data("x", "y")),
    "blank lines dispatch nothing": (b"\n\r\n\rdata: a\n\n\n\n", data("a")),
    "bom": (b"\xef\xbb\xbfdata: a\n\n", data("a")),
    "only the first bom": (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: \xef\xbb\xbf\n\n", data("\ufeff")),
    "part of a bom": (b"\xef\xbbdata: a\n\ndata: b\n\n", data("b")),
    "bom only": (b"\xef\xbb\xbf", []),
    "broken bom only": (b"\xef\xbb", []),
    "comments": (b": open\n\ndata: a\n:ping\ndata: b\n\n: bye", data("a\nb")),
    "ping after id gives no event": (
        b"id: 7\n: ping\n\n: ping\n\ndata: a\n\n",
        [Event(None, "a", "7", False)],
    ),
    "event names": (
        b"event: e\ndata: 1\n\ndata: 2\n\nevent:\ndata: 3\n\n",
        [Event("e", "1", None, False), *data("2", "3")],
    ),
    "an empty name among named frames": (
        b"event: e\ndata: 1\n\nevent: \ndata: 2\n\n",
        [Event("e", "1", None, False), *data("2")],
    ),
    "a name without data leaks nowhere": (b"event: ghost\n\ndata: a\n\n", data("a")),
    "the last name wins": (b"event: a\nevent: b\ndata: 1\n\n", [Event("b", "1", None, False)]),
    "empty data": (b"data:\n\ndata: \n\ndata\n\n", data("", "", "")),
    "empty data lines keep their place": (b"data: a\ndata:\ndata\ndata: b\ndata\n\n", data("a\n\n\nb\n")),
    "one space is dropped": (b"data:  a \ndata:b\n\n", data(" a \nb")),
    "only the first colon separates": (b"data: a:b\ndata::c\n\n", data("a:b\n:c")),
    "field names are exact": (b"Data: n\n data: n\ndata : n\nx: n\nnodata\ndata: y\n\n", data("y")),
    "nul in data": (b"data: a\0b\n\n", data("a\0b")),
    "ids stick": (
        b"data: a\n\nid: 1\ndata: b\n\ndata: c\n\nid:\ndata: d\n\ndata: e\n\n",
        [
            Event(None, "a", None, False),
            Event(None, "b", "1", True),
            Event(None, "c", "1", False),
            Event(None, "d", "", True),
            Event(None, "e", "", False),
        ],
    ),
    "an id after the data is the event's own": (b"data: a\nid: 8\n\n", [Event(None, "a", "8", True)]),
    "an id with nul is no id": (
        b"id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid: 3\ndata: c\n\n",
        [Event(None, "a", "1", True), Event(None, "b", "1", False), Event(None, "c", "3", True)],
    ),
    "an id keeps its other spaces": (b"id:  1 \ndata: a\n\n", [Event(None, "a", " 1 ", True)]),
    "unusual frames among numbered ones": (
        b"id: 1\ndata: a\n\nid: 2\n\nid: 3\ndata: b\ndata: c\n\nid: 4\ndata: d\n\n",
        [Event(None, "a", "1", True), Event(None, "b\nc", "3", True), Event(None, "d", "4", True)],
    ),
    "as many lines as if each frame had two": (
        b"id: 1\n\nid: 2\ndata: a\ndata: b\n\n",
        [Event(None, "a\nb", "2", True)],
    ),
    "as many lines as if each frame had two, named": (
        b"event: a\n\nevent: b\ndata: a\ndata: b\n\n",
        [Event("b", "a\nb", None, False)],
    ),
    "as many lines as if each frame had one": (
        b"data: a\ndata: b\ndata: c\n\n\ndata: d\n\n",
        data("a\nb\nc", "d"),
    ),
    "field lines in values": (
        b"id: data: 1\ndata: id: 2\n\nid: id: \ndata: event: \n\n",
        [Event(None, "id: 2", "data: 1", True), Event(None, "event: ", "id: ", True)],
    ),
    "an unterminated event is dispatched": (
        b"data: a\n\nid: 3\nevent: e\ndata: x\ndata: y",
        [
            *data("a"),
            Event("e", "x\ny", "3", True),
        ],
    ),
    "an unterminated event after its line end": (b"data: a\r", data("a")),
    "a cut field name is dropped": (b"data: a\n\nda", data("a")),
    "a cut character at the end": (b"data: \xe2\x82", data("\ufffd")),
    "nothing": (b"", []),
    "other separators are data": (
        "data: a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh\x1ei\x1fj\n\n".encode(),
        data("a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh\x1ei\x1fj"),
    ),
    "invalid utf-8": (
        b"data: \x80|\xe2\x82|\xf0\x9f\x9b|\xc0\xaf|\xf4\x90\x80\x80|\xed\xa0\x80|\xf8\xff\n\n",
        data("\ufffd|\ufffd|\ufffd|\ufffd\ufffd|\ufffd\ufffd\ufffd\ufffd|\ufffd\ufffd\ufffd|\ufffd\ufffd"),
    ),
    "a cut character does not eat the line end": (b"data: a\xe2\x82\ndata: b\n\n", data("a\ufffd\nb")),
    "four-byte characters": ("data: \U0001f6f0\ufe0f e\u0301\n\n".encode(), data("\U0001f6f0\ufe0f e\u0301")),
}


@pytest.mark.parametrize(("stream", "events"), CASES.values(), ids=CASES.keys())
def test_every_cut_gives_the_same_events(stream: bytes, events: list[Event]) -> None:
    assert oracle(stream) == events
    assert decode([stream]) == events
    assert decode([bytes([byte]) for byte in stream]) == events
    assert decode([part for byte in stream for part in (bytes([byte]), b"")]) == events
    for cut in range(len(stream) + 1):
        assert decode([stream[:cut], stream[cut:]]) == events


LINES = [
    *[
        b"data: a",
        b"data:b",
        b"data",
        b"data: ",
        b"data: \xe2\x82",
        "data: \U0001f6f0\u2028".encode(),
        b"data: id: ",
    ],
    *[b"id: 1", b"id:2", b"id", b"id: \0", b"id: data: ", b"event: e", b"event:", b"event"],
    *[b": ping", b":", b"retry: 9", b"x: y", b" data: n", b"\xef\xbb\xbf", b"", b"", b"", b""],
]
streams = st.one_of(
    st.binary(max_size=40),
    st.lists(
        st.sampled_from([b"\n", b"\r", b":", b" ", b"data", b"id", b"event", b"\xef", b"\xbb\xbf", b"a"])
    ).map(b"".join),
    st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r"]))).map(
        lambda lines: b"".join(line + end for line, end in lines)
    ),
    st.lists(
        st.sampled_from(
            [b"id: 1\n", b"id: \n", b"id: data: \n", b"event: e\n", b"data: a\n", b"data: \n", b"\n", b"\n"]
        )
    ).map(b"".join),
)


@given(streams, st.lists(st.integers(0, 120), max_size=6))
def test_any_bytes_at_any_cut_equal_the_oracle(stream: bytes, cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    assert decode([stream[start:end] for start, end in pairwise(bounds)]) == oracle(stream)
    assert decode([bytes([byte]) for byte in stream]) == oracle(stream)


EAGER: dict[str, tuple[list[bytes], list[int]]] = {
    "cr ends the event": ([b"data: a\r", b"\r", b"data: b\r\r"], [0, 1, 2]),
    "the lf of a crlf comes later": ([b"data: a\r\n\r", b"\ndata: b\r\n\r", b"\n"], [1, 2, 2]),
    "an empty chunk between cr and lf": ([b"data: a\r", b"", b"\ndata: b\r", b"\r"], [0, 0, 0, 1]),
    "blank line across chunks": ([b"data: a\n", b"\n", b"data: b\n", b"\ndata: c"], [0, 1, 1, 2]),
    "an empty chunk inside the blank line": ([b"data: a\n", b"", b"\n"], [0, 0, 1]),
    "a bom byte by byte": ([b"\xef", b"\xbb", b"\xbf", b"data: a\n\n"], [0, 0, 0, 1]),
    "several at once": ([b"data: a\n\ndata: b\n\ndata: c\n", b"\n"], [2, 3]),
    "one byte before the end": ([b"id: 0\ndata: a\n", b"\nid: 1\ndata: b", b"\n", b"\n"], [0, 1, 1, 2]),
}


@pytest.mark.parametrize(("chunks", "out"), EAGER.values(), ids=EAGER.keys())
def test_an_event_is_out_with_its_last_byte(chunks: list[bytes], out: list[int]) -> None:
    assert counts(chunks) == out


def test_the_last_valid_retry_is_kept() -> None:
    decoder = Decoder()
    assert decoder.retry_ms is None
    decoder.receive(b"retry: 1500\n\nretry: x\n\nretry: -1\n\nretry: \xc2\xb2\n\nretry\n\n")
    assert decoder.retry_ms == 1500
    decoder.receive(b"retry: " + b"9" * 5000 + b"\n\n")
    assert decoder.retry_ms == 1500
    decoder.receive(b"retry: 0\ndata: a\n\n")
    assert decoder.retry_ms == 0


def test_close_twice_gives_the_last_event_once() -> None:
    decoder = Decoder()
    decoder.receive(b"data: a")
    assert decoder.close() == data("a")
    assert decoder.close() == []


def test_input_larger_than_a_slice_gives_every_event() -> None:
    frames = [f"id: {n}\ndata: {'x' * (n % 300)}\n\n" for n in range(2000)]
    expected = [Event(None, "x" * (n % 300), str(n), True) for n in range(2000)]
    for line_end in ("\n", "\r\n", "\r"):
        stream = "".join(frames).replace("\n", line_end).encode()
        assert decode([stream]) == expected
        assert decode([stream[:100_000], stream[100_000:]]) == expected


@pytest.mark.parametrize("line", [b"x" * 64, b"data: " + b"x" * 57 + b"\n"], ids=["long line", "many lines"])
def test_time_grows_with_the_length_of_an_event_only_linearly(line: bytes) -> None:
    def seconds(megabytes: int) -> float:
        decoder = Decoder()
        start = time.process_time()
        decoder.receive(b"data: ")
        for _ in range(megabytes * (1 << 20) // 64):
            decoder.receive(line)
        decoder.receive(b"\n\n")
        return time.process_time() - start

    seconds(1)
    assert seconds(16) < 10 * seconds(4)


def test_a_large_chunk_that_ends_in_cr_keeps_the_lf_at_its_beginning() -> None:
    frame = b'id: 1\ndata: {"type":"text-delta","text":"long"}\n\n'
    body = frame * 2000
    decoder = Decoder()
    events = decoder.receive(body[:5]) + decoder.receive(body[5:] + b"data: x\r\r") + decoder.close()
    assert len(events) == 2001
    assert events[0] == Event(None, '{"type":"text-delta","text":"long"}', "1", True)
