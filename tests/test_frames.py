"""Frames: what they are made from, their columns and types, and files that cannot be read."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb import frames
from deuz_nb.errors import MisuseError, OverloadedError, TranscriptError
from deuz_nb.fold.ledger import Ledger
from deuz_nb.fold.rows import UsageRow
from deuz_nb.frames import parts_frame, runs_frame, tools_frame, usage_frame
from deuz_nb.net.files import read_transcript, write_transcript
from deuz_nb.wire.frame import encode, encode_done
from deuz_nb.wire.skim import skim
from deuz_nb.wire.transcript import Transcript, transcript_from_bytes

AT = datetime(2026, 11, 18, 8, 42, tzinfo=UTC)
USAGE = {
    "inputTokens": 10,
    "outputTokens": 5,
    "reasoningTokens": 2,
    "cachedReadTokens": 3,
    "cacheWriteTokens": 1,
    "cacheWrite1hTokens": 0,
    "totalTokens": 19,
}
PARTS: list[Any] = [
    {"type": "step-start", "stepIndex": 0},
    {"type": "text-delta", "text": "Añ"},
    {"type": "step-finish", "stepIndex": 0, "finishReason": "tool_calls", "usage": USAGE, "modelId": "m", "costUsd": 0.1},
    {"type": "tool-call", "toolCallId": "c", "toolName": "t", "input": {"x": 1}},
    {"type": "tool-result", "toolCallId": "c", "toolName": "t", "output": "ok"},
    {"type": "step-start", "stepIndex": 1},
    {"type": "step-finish", "stepIndex": 1, "finishReason": "stop", "usage": USAGE, "modelId": "m", "costUsd": 0.2},
    {"type": "finish", "finishReason": "stop", "usage": USAGE, "costUsd": 0.3},
]  # fmt: skip
FRAMES: dict[str, Callable[..., pd.DataFrame]] = {
    "usage": usage_frame,
    "runs": runs_frame,
    "tools": tools_frame,
    "parts": parts_frame,
}
TOKENS = {
    "input_tokens": 14,
    "input_uncached_tokens": 10,
    "cache_read_tokens": 3,
    "cache_write_tokens": 1,
    "cache_write_long_tokens": 0,
    "output_tokens": 5,
    "reasoning_tokens": 2,
    "audio_tokens": None,
    "total_tokens": 19,
}


@dataclass
class Result:
    """What a result offers."""

    parts: Sequence[Any] = field(default_factory=lambda: PARTS)
    rows: list[UsageRow] = field(default_factory=list)
    part_times_ms: Sequence[float] | None = None
    message_id: str = "msg"

    def usage_rows(self) -> list[UsageRow]:
        return self.rows


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dicts, <NA> as None."""
    return [
        {name: None if pd.isna(value) else value for name, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_transcript(PARTS, tmp_path / "a.sse")
    write_transcript(PARTS[:4], tmp_path / "b.sse.gz")
    write_transcript(PARTS, tmp_path / "c.sse", wire="v1")
    return tmp_path


def test_usage_frame_has_a_row_per_call(folder: Path) -> None:
    path = str(folder / "a.sse")
    shared = {
        "run": path,
        "agent": None,
        "provider": None,
        "model": "m",
        "at": None,
        **TOKENS,
        "cost_source": None,
        "ttft_s": None,
        "latency_s": None,
    }
    assert records(usage_frame(path)) == [
        {**shared, "step": 0, "cost_usd": 0.1, "finish_reason": "tool_calls"},
        {**shared, "step": 1, "cost_usd": 0.2, "finish_reason": "stop"},
    ]


def test_runs_frame_has_a_row_per_run_with_its_exact_cost(folder: Path) -> None:
    path = str(folder / "a.sse")
    assert records(runs_frame(path)) == [
        {
            "run": path,
            "provider": None,
            "model": "m",
            "at": None,
            "calls": 2,
            **{name: None if count is None else 2 * count for name, count in TOKENS.items()},
            "unreported_calls": 0,
            "cost_usd": 0.3,
            "unpriced_calls": 0,
            "finish_reason": "stop",
            "error": None,
            "ttft_s": None,
            "latency_s": None,
        }
    ]


def test_tools_frame_has_a_row_per_call_of_a_tool(folder: Path) -> None:
    path = str(folder / "a.sse")
    assert records(tools_frame(path)) == [
        {
            "run": path,
            "step": 0,
            "agent": None,
            "tool_call_id": "c",
            "tool": "t",
            "input": '{"x":1}',
            "output": "ok",
            "state": "complete",
            "outcome": None,
            "is_error": False,
            "is_denied": None,
            "duration_s": None,
        }
    ]


def test_parts_frame_has_a_row_per_part(tmp_path: Path) -> None:
    sub = {"type": "sub-agent", "agentPath": ["a", "b"], "part": {"type": "text-delta", "text": "Hi"}}
    tool = {"type": "tool-input-delta", "toolCallId": "c", "delta": "{"}
    parts: list[Any] = [{"type": "start", "messageId": "m"}, sub, tool, {"type": "odd", "text": "?"}]
    write_transcript(Result(parts), tmp_path / "x.sse")
    found = transcript_from_bytes((tmp_path / "x.sse").read_bytes())
    write_transcript(parts, tmp_path / "y.sse")
    path = str(tmp_path / "y.sse")
    shared = {"run": path, "at_s": None}
    raws = [json.dumps(part, separators=(",", ":")) for part in parts]
    assert found.wire == "v2"
    assert records(parts_frame(path)) == [
        {**shared, "index": 0, "seq": 0, "agent": None, "type": "start", "tool_call_id": None, "text": None, "part": raws[0]},
        {**shared, "index": 1, "seq": 1, "agent": "a/b", "type": "text-delta", "tool_call_id": None, "text": "Hi", "part": raws[1]},
        {**shared, "index": 2, "seq": 2, "agent": None, "type": "tool-input-delta", "tool_call_id": "c", "text": "{", "part": raws[2]},
        {**shared, "index": 3, "seq": 3, "agent": None, "type": "odd", "tool_call_id": None, "text": None, "part": raws[3]},
    ]  # fmt: skip


# Columns and types

ALIKE = {
    "run": "string",
    "model": "string",
    "at": "datetime64[us, UTC]",
    "cost_usd": "Float64",
    "ttft_s": "Float64",
}
TYPES = {
    "usage": {
        **ALIKE,
        "step": "Int64",
        "input_tokens": "Int64",
        "audio_tokens": "Int64",
        "cost_source": "string",
    },
    "runs": {
        **ALIKE,
        "calls": "Int64",
        "total_tokens": "Int64",
        "unpriced_calls": "Int64",
        "error": "string",
    },
    "tools": {"step": "Int64", "is_error": "boolean", "is_denied": "boolean", "duration_s": "Float64"},
    "parts": {"index": "Int64", "seq": "Int64", "at_s": "Float64", "part": "string"},
}


@pytest.mark.parametrize("name", FRAMES)
def test_frame_of_nothing_has_the_columns_and_types_of_a_full_one(name: str, folder: Path) -> None:
    make = FRAMES[name]
    full = make(folder / "a.sse")
    assert len(full) > 0
    for empty in (make(), make([])):
        assert len(empty) == 0
        pd.testing.assert_series_equal(empty.dtypes, full.dtypes)
    assert {column: str(full.dtypes[column]) for column in TYPES[name]} == TYPES[name]


def test_unknown_is_na_never_zero(tmp_path: Path) -> None:
    zeros = dict.fromkeys(USAGE, 0)
    write_transcript([{"type": "finish", "finishReason": "stop", "usage": zeros}], tmp_path / "a.sse")
    frame = usage_frame(tmp_path / "a.sse")
    assert frame.loc[0, list(TOKENS)].isna().all()
    assert frame.loc[0, "cost_usd"] is pd.NA
    assert frame["cost_usd"].sum(min_count=1) is pd.NA
    run = runs_frame(tmp_path / "a.sse").loc[0]
    assert (run["calls"], run["unreported_calls"], run["unpriced_calls"]) == (1, 1, 1)
    assert run["cost_usd"] is pd.NA


def test_text_that_is_no_text_does_not_break_a_frame(tmp_path: Path) -> None:
    lone = {"type": "text-delta", "text": "a\ud83d"}
    (tmp_path / "a.sse").write_bytes(encode({"type": "start", "messageId": "m"}, 0) + encode(lone, 1))
    frame = parts_frame(tmp_path / "a.sse")
    assert list(frame["text"])[1] == "a�"
    assert [text.encode() for text in frame["part"]]


# Sources


def test_sources_are_paths_patterns_transcripts_results_and_lists_of_these(folder: Path) -> None:
    result = Result(rows=[UsageRow(run="msg", step=0)])
    transcript = read_transcript(folder / "c.sse")
    path = str(folder / "a.sse")
    frame = usage_frame(folder / "a.sse", [f"{folder}/b*", (transcript, [result])], folder.glob("a.*"))
    assert list(frame["run"]) == [
        path,
        path,
        str(folder / "b.sse.gz"),
        str(folder / "c.sse"),
        str(folder / "c.sse"),
        "msg",
    ]


def test_files_of_every_form_give_the_same_rows(folder: Path) -> None:
    frame = usage_frame(f"{folder}/*").drop(columns="run")
    first = frame.iloc[[0]].reset_index(drop=True)
    for row in (2, 3):
        pd.testing.assert_frame_equal(frame.iloc[[row]].reset_index(drop=True), first)


def test_file_named_twice_is_one_run(folder: Path) -> None:
    assert len(runs_frame(f"{folder}/*.sse", folder / "a.sse", [str(folder / "a.sse")])) == 2


def test_runs_of_one_name_are_told_apart() -> None:
    rows = [UsageRow(run="msg", step=0)]
    body = encode({"type": "start", "messageId": "msg"}, 0) + encode(PARTS[1], 1)
    unnamed = transcript_from_bytes(encode(PARTS[1], 0))
    sources = [Result(rows=rows), Result(rows=rows), transcript_from_bytes(body), unnamed, unnamed]
    names = ["msg", "msg #2", "msg #3", "transcript", "transcript #2"]
    assert list(usage_frame(sources)["run"]) == names
    assert list(runs_frame(sources)["run"]) == names


def test_result_tells_what_a_transcript_cannot() -> None:
    facts = UsageRow(
        run="msg",
        step=0,
        provider="acme",
        model="m",
        at=AT,
        cost_usd=Decimal("0.1"),
        cost_source="table",
        finish_reason="stop",
        ttft_s=0.5,
        latency_s=2.0,
    )
    (usage,) = records(usage_frame(Result(rows=[facts])))
    assert {
        name: usage[name] for name in ("provider", "at", "cost_usd", "cost_source", "ttft_s", "latency_s")
    } == {
        "provider": "acme",
        "at": pd.Timestamp(AT),
        "cost_usd": 0.1,
        "cost_source": "table",
        "ttft_s": 0.5,
        "latency_s": 2.0,
    }
    (run,) = records(runs_frame(Result(rows=[facts])))
    assert (run["provider"], run["finish_reason"], run["latency_s"]) == ("acme", "stop", 2.0)


def test_result_that_failed_or_goes_on_says_so() -> None:
    error = OverloadedError("Overloaded, key sk-ant-abcdefghijklmnopqrstuvwxyz012345")
    (failed,) = records(runs_frame(Result(parts=[*PARTS[:2], {"type": "error", "error": error}])))
    assert failed["finish_reason"] == "error"
    assert failed["error"].startswith("Overloaded")
    assert "abcdefghijklmnop" not in failed["error"]
    (live,) = records(runs_frame(Result(parts=PARTS[:2])))
    assert (live["finish_reason"], live["error"]) == (None, None)


def test_result_gives_the_tools_and_parts_of_its_transcript(tmp_path: Path) -> None:
    times = [float(100 * number) for number in range(len(PARTS))]
    result = Result(part_times_ms=times)
    write_transcript(result, tmp_path / "a.sse", timings=True)
    transcript = read_transcript(tmp_path / "a.sse")
    for make in (tools_frame, parts_frame):
        live, kept = make(result), make(transcript)
        if make is parts_frame:
            # The frame of a transcript begins with its start, which a result does not have.
            kept = kept.iloc[1:].reset_index(drop=True)
            kept["index"] -= 1
        dropped = ["run", "seq"] if make is parts_frame else ["run"]
        pd.testing.assert_frame_equal(live.drop(columns=dropped), kept.drop(columns=dropped))
    assert list(tools_frame(result)["duration_s"]) == [0.1]


def test_timed_transcript_gives_latencies(tmp_path: Path) -> None:
    write_transcript(
        Result(part_times_ms=[0, 400, 1000, 1000, 1500, 2000, 3000, 3000]), tmp_path / "a.sse", timings=True
    )
    frame = usage_frame(tmp_path / "a.sse")
    assert frame["ttft_s"].tolist() == [0.4, pd.NA]
    assert frame["latency_s"].tolist() == [1.0, 1.0]
    assert runs_frame(tmp_path / "a.sse")["latency_s"].tolist() == [3.0]


NO_SOURCES: dict[str, tuple[Any, str]] = {
    "a number": (3, "3 is no run; pass a result, a transcript, the path of a transcript file, or a list"),
    "nothing": (None, "None is no run"),
    "parts": ([{"type": "start"}], "{'type': 'start'} is no run"),
    "bytes": (b"data: {}", "b'data: {}' is no run"),
    "no match": ("no/such/*.sse", "no file matches 'no/such/*.sse'"),
}


@pytest.mark.parametrize("case", NO_SOURCES)
def test_what_is_no_source_is_refused(case: str) -> None:
    source, message = NO_SOURCES[case]
    with pytest.raises(MisuseError) as caught:
        usage_frame(source)
    assert str(caught.value).startswith(message)


# Files that cannot be read


@pytest.fixture
def mixed(folder: Path) -> Path:
    (folder / "d.sse").write_bytes(b'id: 0\ndata: {}\n\nid: 1\ndata: {"text":"\xff"}\n\n')
    (folder / "e.sse").write_bytes(b"<html>\n")
    (folder / "f.sse.gz").write_bytes(b"\x1f\x8bno")
    (folder / "g.sse").mkdir()
    return folder


BAD_FILES: dict[str, tuple[type[Exception], int | None]] = {
    "d.sse": (TranscriptError, 5),
    "e.sse": (TranscriptError, 1),
    "f.sse.gz": (TranscriptError, None),
    "g.sse": (IsADirectoryError, None),
    "missing.sse": (FileNotFoundError, None),
}


@pytest.mark.parametrize("make", FRAMES)
@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_named_with_its_line(name: str, make: str, mixed: Path) -> None:
    kind, line = BAD_FILES[name]
    with pytest.raises(kind) as caught:
        FRAMES[make](mixed / name)
    assert name in str(caught.value)
    assert getattr(caught.value, "line", None) == line


@pytest.mark.parametrize("make", FRAMES)
def test_bad_file_can_be_left_out_with_a_warning(make: str, mixed: Path) -> None:
    bad = str(mixed / "d.sse")
    with pytest.warns(UserWarning, match="left out .*d.sse': .*line 5 is not UTF-8") as caught:
        frame = FRAMES[make](bad, mixed / "a.sse", on_error="skip")
    assert set(frame["run"]) == {str(mixed / "a.sse")}
    assert [warning.filename for warning in caught] == [__file__]


def test_other_ways_to_treat_bad_files_are_refused() -> None:
    with pytest.raises(MisuseError, match="on_error='ignore' is not known"):
        usage_frame(on_error="ignore")  # type: ignore[arg-type]


# Skimming gives what reading gives

USAGES = st.sampled_from([USAGE, dict.fromkeys(USAGE, 0), {}, None])
TEXTS = st.text(max_size=8) | st.sampled_from(
    [
        "[DONE]",
        '"finish"',
        'data: {"type":"finish"}',
        "\n\n",
        "\x01",
        "\x1b[0m",
        '"step-',
        "ñ",
        "\u2028",
        "\ud83d",
    ]
)
FLAT: Any = st.one_of(
    st.builds(lambda t: {"type": "text-delta", "text": t}, TEXTS),
    st.builds(lambda t: {"type": "tool-result", "toolCallId": "c", "output": {"usage": t, "cost": 1}}, TEXTS),
    st.builds(lambda n: {"type": "step-start", "step": n}, st.integers(0, 2)),
    st.builds(lambda n, u: {"type": "step-finish", "step": n, "usage": u}, st.integers(0, 2), USAGES),
    st.builds(lambda c: {"type": "cost", "costUsd": c}, st.floats(0, 1)),
    st.builds(lambda u: {"finishReason": "stop", "usage": u, "type": "finish"}, USAGES),
    st.just({"type": "finish"}),
    st.just({"type": "error", "message": "x"}),
)
UI_PARTS = st.lists(
    FLAT | st.builds(lambda p: {"type": "sub-agent", "agentPath": ["a"], "part": p}, FLAT), max_size=8
)
FINISH = {"type": "finish", "finishReason": "stop", "usage": USAGE}


def _escaped(text: str) -> str:
    return text.replace("finish", "\\u0066inish").replace("step-", "\\u0073tep-")


WRITERS: dict[str, Callable[[list[bytes]], bytes]] = {
    "as it is": b"".join,
    "other line ends": lambda found: b"".join(found).replace(b"\n", b"\r\n"),
    "byte order mark": lambda found: b"\xef\xbb\xbf" + b"".join(found),
    "keep-alives": lambda found: b": keep-alive\n\n".join(found),
    "times": lambda found: b": t=5\n" + b": t=5\n".join(found),
    "spaces": lambda found: b"".join(found).replace(b":", b": ").replace(b"data: ", b"data:"),
    "letters escaped": lambda found: _escaped(b"".join(found).decode()).encode(),
    "two lines of data": lambda found: b"".join(found).replace(b'{"', b'{\ndata: "'),
    "a line that is no data": lambda found: b"".join(found).replace(b'{"', b'{\n"'),
    "events named": lambda found: b"".join(b"event: x\n" + frame for frame in found),
    "more after the end": lambda found: b"".join([*found, encode_done(99), *found]),
    "no end mark": lambda found: b"".join(found[:-1]),
    "cut in the last frame": lambda found: b"".join(found)[:-1],
    "cut in the middle": lambda found: b"".join(found)[: len(b"".join(found)) // 2],
    "ids left out": lambda found: b"".join(frame.partition(b"\n")[2] for frame in found),
    "blank lines": lambda found: b"\n".join(found),
}


@pytest.mark.parametrize("writer", WRITERS)
@given(parts=UI_PARTS)
def test_rows_of_skimmed_parts_are_those_of_all_parts(writer: str, parts: list[Any]) -> None:
    whole = [{"type": "start", "messageId": "m"}, *parts, FINISH]
    data = WRITERS[writer]([*(encode(part, seq) for seq, part in enumerate(whole)), encode_done(len(whole))])
    skimmed = skim(data)
    if skimmed is None:
        return
    quick, slow = Ledger("r"), Ledger("r")
    quick.apply_all(skimmed)
    found = transcript_from_bytes(data)
    slow.apply_all(found.parts, found.timings)
    if quick.is_settled:
        assert (quick.rows(), quick.run_row()) == (slow.rows(), slow.run_row())


def test_usual_files_are_skimmed_and_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object) -> Transcript:
        raise AssertionError(f"{path} was read as a whole")

    monkeypatch.setattr(frames, "read_transcript", refuse)
    assert len(usage_frame(folder / "a.sse", folder / "c.sse")) == 4


def test_frames_are_imported_without_pandas() -> None:
    code = "import deuz_nb.frames, sys; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
