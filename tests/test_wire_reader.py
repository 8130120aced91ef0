"""Bytes of a UI stream to records."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.wire.reader import Reader, Record, http_error_part, malformed_warning

pytestmark = pytest.mark.protocol


def read(data: bytes) -> tuple[list[Record], Reader]:
    reader = Reader()
    return reader.receive(data) + reader.close(), reader


def test_record_keeps_the_raw_text_with_unknown_keys() -> None:
    raw = '{ "type": "text-delta", "text": "a", "new": [1.0] }'
    records, reader = read(f"id: 5\ndata: {raw}\n\nid: 6\ndata: [DONE]\n\n".encode())
    assert records == [Record(5, raw, {"type": "text-delta", "text": "a", "new": [1.0]})]
    assert (reader.is_done, reader.is_versioned, reader.malformed) == (True, True, 0)


IDS = {
    "own id": (b"id: 3\n", 3),
    "zero": (b"id: 0\n", 0),
    "no id": (b"", None),
    "empty": (b"id:\n", None),
    "negative": (b"id: -1\n", None),
    "sign": (b"id: +1\n", None),
    "space": (b"id:  1\n", None),
    "not ASCII": ("id: ٣\n".encode(), None),
    "superscript": ("id: ²\n".encode(), None),
    "too long": (b"id: " + b"9" * 5000 + b"\n", None),
}


@pytest.mark.parametrize(("line", "seq"), IDS.values(), ids=IDS)
def test_seq_is_the_frames_own_plain_number(line: bytes, seq: int | None) -> None:
    records, reader = read(line + b'data: {"type":"x"}\n\n')
    assert (records, reader.is_versioned) == ([Record(seq, '{"type":"x"}', {"type": "x"})], seq is not None)


def test_a_transient_frame_does_not_inherit_the_last_id() -> None:
    records, _ = read(
        b'id: 4\ndata: {"type":"a"}\n\ndata: {"type":"data-x"}\n\nid: 5\ndata: {"type":"b"}\n\n'
    )
    assert [record.seq for record in records] == [4, None, 5]


def test_nothing_is_read_after_the_end_mark() -> None:
    records, reader = read(b'data: [DONE]\n\ndata: {"type":"x"}\n\n')
    assert (records, reader.is_done, reader.is_versioned) == ([], True, False)
    assert reader.receive(b'data: {"type":"x"}\n\n') == []


MALFORMED = {
    "broken": "{broken",
    "null": "null",
    "number": "5",
    "list": "[]",
    "string": '"x"',
    "NaN": '{"type":"x","n":NaN}',
    "two values": '{"type":"x"}{"type":"y"}',
    "empty": "{",
    "deep": "[" * 100_000,
    "text without its end": '{"type":"text-delta","text":"}',
    "text with a control character": '{"type":"text-delta","text":"\x01"}',
    "text with a quote": '{"type":"text-delta","text":"a"b"}',
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
def test_malformed_frame_is_left_out_and_counted(data: str) -> None:
    good = '{"type":"x"}'
    records, reader = read(f"data: {data}\n\ndata: {good}\n\n".encode())
    assert (records, reader.malformed) == ([Record(None, good, {"type": "x"})], 1)


TEXTS = st.text(st.characters(exclude_categories=[])) | st.sampled_from(
    ["", "a", '"', "\\", "\\n", '"}', "\ud83d", "\u2028", "\x7f", "東", '","x":"y']
)


@given(TEXTS, st.booleans())
def test_the_short_way_for_text_reads_what_json_reads(text: str, is_ascii: bool) -> None:
    quoted = json.dumps(text, ensure_ascii=is_ascii or any("\ud800" <= c <= "\udfff" for c in text))
    raw = f'{{"type":"text-delta","text":{quoted}}}'
    records, reader = read(f"data: {raw}\n\n".encode())
    assert (records, reader.malformed) == ([Record(None, raw, {"type": "text-delta", "text": text})], 0)


@given(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])))
def test_the_short_way_for_text_takes_nothing_that_json_refuses(middle: str) -> None:
    raw = f'{{"type":"text-delta","text":"{middle}"}}'
    try:
        expected = [Record(None, raw, json.loads(raw))]
    except ValueError:
        expected = []
    records, reader = read(f"data: {raw}\n\n".encode())
    assert (records, reader.malformed) == (expected, 1 - len(expected))


ANSWERS = {
    "ok": (200, "OK", None),
    "no content": (204, "", None),
    "redirect": (302, "Found", "Deuz stream request failed (status 302 Found)."),
    "no reason": (401, "", "Deuz stream request failed (status 401)."),
    "secret": (502, "Bearer abcdefgh1234", "Deuz stream request failed (status 502 ****1234)."),
}


@pytest.mark.parametrize(("status", "reason", "message"), ANSWERS.values(), ids=ANSWERS)
def test_a_failed_answer_is_one_error_part(status: int, reason: str, message: str | None) -> None:
    assert http_error_part(status, reason) == (
        None if message is None else {"type": "error", "message": message}
    )


def test_the_warning_says_how_many_frames_are_missing() -> None:
    assert [malformed_warning(n)["message"] for n in (1, 3)] == [
        "1 frame was not a JSON object and left out: parts of this stream are missing",
        "3 frames were not a JSON object and left out: parts of this stream are missing",
    ]


FRAGMENTS = st.sampled_from(
    [
        b'id: 1\ndata: {"type":"text-delta","text":"a b"}\n\n',
        b'id: 2\ndata: {"type":"text-delta","text":""}\n\n',
        'id: 3\ndata: {"type":"text-delta","text":"東🗼\u2028"}\n\n'.encode(),
        b'id: 4\ndata: {"type":"text-delta","text":"q\\"\\n"}\n\n',
        b'id: 5\ndata: {"type":"text-delta","text":"x","signature":"s"}\n\n',
        b'id: 6\ndata: {"type":"cost","costUsd":0.5}\n\n',
        b"id: 7\ndata: {broken\n\n",
        b"id: 8\ndata: \n\n",
        b"id: 99999999999999999\ndata: {}\n\n",
        b'id: 9\r\ndata: {"type":"text-delta","text":"crlf"}\r\n\r\n',
        b'id: 10\rdata: {"type":"text-delta","text":"cr"}\r\r',
        b'data: {"type":"data-x"}\n\n',
        b'event: e\ndata: {"type":"named"}\n\n',
        b'id: 11\ndata: {"type":\ndata: "two"}\n\n',
        b'id: 12\ndata: {"type":"text-delta","text":"\xff\xc3"}\n\n',
        b": ping\n\n",
        b": t=1\n",
        b"id: 13\n",
        b"\n",
        b"\n\n",
        b"\r",
        b"x",
        b"\xef\xbb\xbf",
        b"id: 14\ndata: [DONE]\n\n",
    ]
)


@given(
    st.lists(FRAGMENTS, max_size=30).map(b"".join), st.lists(st.integers(0, 1500), max_size=6), st.booleans()
)
def test_any_cut_reads_what_single_bytes_read(data: bytes, cuts: list[int], is_long: bool) -> None:
    if is_long:
        data += b'id: 1\ndata: {"type":"text-delta","text":"long"}\n\n' * 900 + data
    plain = Reader()
    expected = [r for n in range(len(data)) for r in plain.receive(data[n : n + 1])] + plain.close()
    reader = Reader()
    bounds = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
    records = [r for begin, end in pairwise(bounds) for r in reader.receive(data[begin:end])] + reader.close()
    assert records == expected
    assert (reader.is_done, reader.is_versioned, reader.malformed) == (
        plain.is_done,
        plain.is_versioned,
        plain.malformed,
    )
