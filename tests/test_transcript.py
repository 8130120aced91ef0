"""Transcripts: lossless bytes, timings, conversions, files, and what is said of files that are none."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.errors import MisuseError, StreamTruncatedError, TranscriptError
from deuz_nb.net.files import expand, read_transcript, write_transcript
from deuz_nb.wire.reader import Record
from deuz_nb.wire.transcript import Transcript, transcript_bytes, transcript_from_bytes

pytestmark = pytest.mark.protocol

USAGE = {"inputTokens": 1200, "outputTokens": 40, "cachedReadTokens": 1000}
STREAM = (
    b'id: 0\ndata: {"type":"start","messageId":"m"}\n\n'
    b'id: 1\ndata: {"type":"text-delta","text":"Hi"}\n\n'
    b'data: {"type":"data-progress","payload":1}\n\n'
    b'id: 2\ndata: {"type":"cost","costUsd":0.5}\n\n'
    b"id: 3\ndata: [DONE]\n\n"
)


@dataclass
class Run:
    """What a result offers to be written."""

    parts: Sequence[Any]
    part_times_ms: Sequence[float] | None = None
    message_id: str = "m"


def test_transcript_has_records_parts_and_how_it_ended() -> None:
    transcript = transcript_from_bytes(STREAM, path="runs/a.sse")
    assert transcript == Transcript(
        records=(
            Record(0, '{"type":"start","messageId":"m"}', {"type": "start", "messageId": "m"}),
            Record(1, '{"type":"text-delta","text":"Hi"}', {"type": "text-delta", "text": "Hi"}),
            Record(None, '{"type":"data-progress","payload":1}', {"type": "data-progress", "payload": 1}),
            Record(2, '{"type":"cost","costUsd":0.5}', {"type": "cost", "costUsd": 0.5}),
        ),
        wire="v2",
        timings=(None, None, None, None),
        is_done=True,
        malformed=0,
        source=STREAM,
        path="runs/a.sse",
    )
    assert transcript.parts == [record.part for record in transcript.records]
    assert repr(transcript) == "<a.sse: 4 parts, v2>"


ODD = {
    "usual": STREAM,
    "CRLF": STREAM.replace(b"\n", b"\r\n"),
    "CR": STREAM.replace(b"\n", b"\r"),
    "byte order mark": b"\xef\xbb\xbf" + STREAM,
    "comments and event lines": STREAM.replace(b"id: 1", b": ping\nevent: message\nid: 1"),
    "no end mark": STREAM[: STREAM.index(b"id: 3")],
    "cut in a frame": STREAM[:100],
    "cut in a character": STREAM[: STREAM.index(b"Hi")] + b"\xc4",
    "no last blank line": STREAM[:-1],
    "unknown parts and keys": b'id: 0\ndata: { "new" : 1.50, "type":"hologram" }\n\n',
    "a malformed frame": STREAM.replace(b'{"type":"cost","costUsd":0.5}', b"{broken"),
    "data in two lines": b'id: 0\ndata: {"type":\ndata: "x"}\n\n',
    "text after the end mark": STREAM + b"data: more\n\n",
    "no space after the colon": STREAM.replace(b": ", b":"),
    "timings": STREAM.replace(b"id: 1", b": t=12.5\nid: 1"),
    "only the end mark": b"data: [DONE]\n\n",
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
@pytest.mark.parametrize("name", ["a.sse", "a.sse.gz"])
def test_read_and_written_again_it_has_the_same_bytes(data: bytes, name: str, tmp_path: Path) -> None:
    first = tmp_path / name
    first.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    transcript = read_transcript(first)
    second = tmp_path / f"copy-{name}"
    write_transcript(transcript, second, wire=transcript.wire)
    written = second.read_bytes()
    assert (gzip.decompress(written) if name.endswith(".gz") else written) == data


def test_a_run_is_written_as_the_body_a_server_would_have_sent() -> None:
    parts = [{"type": "text-delta", "text": "Hi"}, {"type": "finish", "finishReason": "stop", "usage": USAGE}]
    usage = b'{"inputTokens":1200,"outputTokens":40,"cachedReadTokens":1000}'
    assert transcript_bytes(Run(parts)) == (
        b'id: 0\ndata: {"type":"start","messageId":"m"}\n\n'
        b'id: 1\ndata: {"type":"text-delta","text":"Hi"}\n\n'
        b'id: 2\ndata: {"type":"finish","finishReason":"stop","usage":' + usage + b"}\n\n"
        b"id: 3\ndata: [DONE]\n\n"
    )
    assert transcript_bytes(Run(parts), wire="v1") == (
        b'data: {"type":"start","messageId":"m"}\n\n'
        b'data: {"type":"text-delta","text":"Hi"}\n\n'
        b'data: {"type":"finish","finishReason":"stop","usage":' + usage + b"}\n\n"
        b"data: [DONE]\n\n"
    )


def test_a_cut_run_ends_with_its_error_and_a_running_one_without_an_end_mark() -> None:
    text = {"type": "text-delta", "text": "Hi"}
    start = (
        b'id: 0\ndata: {"type":"start","messageId":"deuz-msg"}\n\n'
        b'id: 1\ndata: {"type":"text-delta","text":"Hi"}\n\n'
    )
    cut = {"type": "error", "error": StreamTruncatedError("the stream was cut")}
    assert transcript_bytes([text]) == start
    assert transcript_bytes([text, cut]) == (
        start + b'id: 2\ndata: {"type":"error","message":"the stream was cut"}\n\nid: 3\ndata: [DONE]\n\n'
    )


def test_ui_parts_are_written_as_they_are() -> None:
    parts = [
        {"type": "capabilities", "capabilities": ["message-ids"]},
        {"type": "start", "messageId": "m"},
        {"type": "hologram", "x": 1},
        {"type": "tool-input-delta", "toolCallId": "c", "delta": "{"},
        {"type": "error", "message": "late"},
    ]
    data = transcript_bytes(parts)
    assert data == (
        b'data: {"type":"capabilities","capabilities":["message-ids"]}\n\n'
        b'id: 0\ndata: {"type":"start","messageId":"m"}\n\n'
        b'id: 1\ndata: {"type":"hologram","x":1}\n\n'
        b'id: 2\ndata: {"type":"tool-input-delta","toolCallId":"c","delta":"{"}\n\n'
        b'id: 3\ndata: {"type":"error","message":"late"}\n\n'
        b"id: 4\ndata: [DONE]\n\n"
    )
    assert transcript_from_bytes(data).parts == parts


def test_timings_are_comment_lines_before_their_frames() -> None:
    run = Run(
        [{"type": "text-delta", "text": "a"}, {"type": "hologram"}, {"type": "cost", "costUsd": 1}],
        [0.0, 3, 12.3456],
    )
    data = transcript_bytes(run, timings=True)
    assert data == (
        b'id: 0\ndata: {"type":"start","messageId":"m"}\n\n'
        b': t=0\nid: 1\ndata: {"type":"text-delta","text":"a"}\n\n'
        b': t=12.346\nid: 2\ndata: {"type":"cost","costUsd":1}\n\n'
    )
    transcript = transcript_from_bytes(data)
    assert transcript.timings == (None, 0.0, 12.346)
    assert transcript_bytes(run) == b"".join(
        line for line in data.splitlines(keepends=True) if line[:1] != b":"
    )


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_timings_are_read_with_any_line_end_and_other_comments_are_not(end: bytes) -> None:
    lines = [
        b": t=5",
        b"id: 0",
        b'data: {"type":"a"}',
        b"",
        b": t=x",
        b": t=-1",
        b": ping",
        b'data: {"type":"b"}',
        b"",
    ]
    lines += [b'data: {"type":"c",', b": t=7", b'data: "t":": t=9"}', b"", b'data: {"type":"d"}', b"", b""]
    transcript = transcript_from_bytes(end.join(lines))
    assert [
        (part["type"], time) for part, time in zip(transcript.parts, transcript.timings, strict=True)
    ] == [
        ("a", 5.0),
        ("b", None),
        ("c", 7.0),
        ("d", None),
    ]


def test_v2_becomes_v1_without_the_parts_v1_has_no_place_for() -> None:
    assert transcript_bytes(transcript_from_bytes(STREAM), wire="v1") == (
        b'data: {"type":"start","messageId":"m"}\n\n'
        b'data: {"type":"text-delta","text":"Hi"}\n\n'
        b"data: [DONE]\n\n"
    )


def test_v1_becomes_v2_with_numbers_and_the_same_json_text() -> None:
    v1 = b'data: {"type": "start",\ndata: "messageId":"m"}\n\ndata: { "type":"x" }\n\n'
    assert transcript_bytes(transcript_from_bytes(v1)) == (
        b'id: 0\ndata: {"type": "start",\ndata: "messageId":"m"}\n\nid: 1\ndata: { "type":"x" }\n\n'
    )


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(MisuseError, match="wire='v3' is no version"):
        transcript_bytes([], wire="v3")  # pyright: ignore


UNREADABLE = {
    "empty": (b"", None, "is empty"),
    "blank": (b"\n\n", None, "is empty"),
    "comments only": (b": ping\n\n: ping\n", None, "holds no frame"),
    "HTML": (b"\n<!DOCTYPE html>\n<html>", 2, "line 2 is not a line of an event stream"),
    "JSON": (b'{"type":"start"}\n', 1, "line 1 is not a line of an event stream"),
    "broken frames": (b": x\r\nid: 1\r\ndata: {broken\r\n\r\n", 3, "line 3 holds no JSON object"),
    "latin-1": (STREAM.replace(b"Hi", b"caf\xe9"), 5, "line 5 is not UTF-8 (byte 0xe9)"),
    "UTF-16": ("data: x".encode("utf-16"), 1, "line 1 is not UTF-8 (byte 0xff)"),
    "gzip without its suffix, broken": (b"\x1f\x8b\x08rest", None, "broken gzip"),
}


@pytest.mark.parametrize(("data", "line", "words"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_file_says_where_and_what_to_do(
    data: bytes, line: int | None, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.sse"
    path.write_bytes(data)
    with pytest.raises(TranscriptError) as caught:
        read_transcript(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)
    assert words in str(caught.value)
    assert "; " in str(caught.value)


def test_cut_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sse.gz"
    path.write_bytes(gzip.compress(STREAM)[:-9])
    with pytest.raises(TranscriptError, match="broken gzip"):
        read_transcript(path)


def test_packed_file_without_its_suffix_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.sse"
    path.write_bytes(gzip.compress(STREAM))
    assert read_transcript(path).source == STREAM


def test_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_transcript(tmp_path / "none.sse")


def test_packed_bytes_are_the_same_every_time(tmp_path: Path) -> None:
    first, second = tmp_path / "a.sse.gz", tmp_path / "b.sse.gz"
    write_transcript(transcript_from_bytes(STREAM), first)
    write_transcript(transcript_from_bytes(STREAM), second)
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()) == STREAM


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.sse"
    path.write_bytes(STREAM)
    with pytest.raises(TypeError):
        write_transcript([{"type": "start", "messageId": "m"}, {"type": "x", "y": object()}], path)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (STREAM, ["a.sse"])


def test_the_file_behind_a_link_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target.sse", tmp_path / "link.sse"
    target.write_bytes(b"")
    link.symlink_to(target)
    write_transcript(transcript_from_bytes(STREAM), link)
    assert (link.is_symlink(), target.read_bytes()) == (True, STREAM)


def test_patterns_expand_sorted_and_each_file_once(tmp_path: Path) -> None:
    for name in ("b.sse", "a.sse", "c.txt", "in/d.sse.gz", "odd[1].sse"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = expand([tmp_path / "b.sse", f"{tmp_path}/*.sse", f"{tmp_path}/**/*.gz", tmp_path / "odd[1].sse"])
    assert [os.path.relpath(name, tmp_path) for name in found] == [
        "b.sse",
        "a.sse",
        "odd[1].sse",
        os.path.join("in", "d.sse.gz"),
    ]
    assert expand(str(tmp_path / "missing.sse")) == [str(tmp_path / "missing.sse")]


def test_a_pattern_without_a_match_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="no file matches"):
        expand(f"{tmp_path}/*.sse")


def test_transcript_as_text_is_one_line_per_thing() -> None:
    parts: list[Any] = [
        {"type": "start", "messageId": "m"},
        {"type": "step-start", "step": 0},
        {"type": "reasoning-delta", "text": "let me "},
        {"type": "reasoning-delta", "text": "see"},
        {"type": "reasoning-delta", "text": "opaque", "encrypted": True},
        {"type": "text-delta", "text": "Hello \ud83d"},
        {"type": "text-delta", "text": "\udef0 \x1b[31mred\r\nline"},
        {"type": "tool-state", "toolCallId": "c", "toolName": "grep", "state": "executing"},
        {"type": "tool-call", "toolCallId": "c", "toolName": "grep", "input": {"q": "x" * 200}},
        {"type": "tool-input-delta", "toolCallId": "h", "toolName": "half", "delta": '{"a":'},
        {"type": "activity", "message": "working"},
        {"type": "tool-result", "toolCallId": "c", "toolName": "grep", "output": "no", "isError": True},
        {"type": "sub-agent", "agentPath": ["scout"], "part": {"type": "text-delta", "text": "one\ntwo"}},
        {"type": "tool-call", "toolCallId": "d", "toolName": "rm", "input": {}},
        {
            "type": "tool-approval-request",
            "approvalId": "1/d",
            "toolCallId": "d",
            "toolName": "rm",
            "input": {},
        },
        {
            "type": "tool-state",
            "toolCallId": "d",
            "state": "error",
            "denied": True,
            "deniedReason": "not now",
        },
        {"type": "warning", "warning": {"type": "other", "message": "slow"}},
        {"type": "hologram", "x": 1},
        {"type": "step-finish", "step": 0, "finishReason": "stop", "usage": USAGE},
        {"type": "finish", "finishReason": "stop", "usage": USAGE, "costUsd": 0.25},
    ]
    shown = str(transcript_from_bytes(transcript_bytes(parts)))
    assert shown.split("\n") == [
        "[m]",
        "-- step 0 --",
        "(thinking) let me see",
        "(hidden reasoning)",
        "Hello \U0001f6f0 \ufffd[31mred",
        "line",
        'tool grep {"q":"' + "x" * 154 + '… (48 more) -> error "no"',
        'tool half (half a call) {"a": -> no result',
        "activity: working",
        "agent scout:",
        "  one",
        "  two",
        "tool rm {} -> denied: not now",
        "approval wanted: rm {}",
        "warning: slow",
        'hologram: {"x":1}',
        "-- step 0: stop, 1200 in, 1000 cached, 40 out --",
        "finish: stop, 1200 in, 1000 cached, 40 out, $0.25",
    ]


def test_a_cut_transcript_says_so() -> None:
    data = b'data: {"type":"text-delta","text":"Hi"}\n\ndata: {broken\n\n'
    assert (
        str(transcript_from_bytes(data))
        == "Hi\n(cut off: neither finish nor error)\n(1 malformed frame left out)"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
KEYS = [
    "text",
    "toolCallId",
    "toolName",
    "input",
    "output",
    "delta",
    "agentPath",
    "part",
    "usage",
    "warning",
    "message",
]
TYPES = [
    "text-delta",
    "reasoning-delta",
    "tool-call",
    "tool-input-delta",
    "tool-result",
    "sub-agent",
    "finish",
    "warning",
    "x",
]
PARTS = st.builds(
    lambda kind, members: {"type": kind, **members},
    st.sampled_from(TYPES) | JSON,
    st.dictionaries(st.sampled_from(KEYS), JSON, max_size=5),
)


@given(st.lists(PARTS, max_size=6))
def test_any_parts_are_written_read_back_and_shown(parts: list[Any]) -> None:
    given_parts = [{"type": "start", "messageId": "m"}, *parts]
    transcript = transcript_from_bytes(transcript_bytes(given_parts))
    assert transcript.parts == given_parts
    assert transcript_bytes(transcript) == transcript.source
    str(transcript).encode()
