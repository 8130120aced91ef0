"""The recordings: what each gives, and what all of them hold."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from deuz_nb.errors import OverloadedError, StreamTruncatedError, UnknownModelError
from deuz_nb.parts.usage import usage_total
from deuz_nb.prices import GenaiPrices, reported_price
from deuz_nb.providers import parser
from deuz_nb.recordings import Recording, load, names


@dataclass
class Read:
    """A recording as its parser reads it."""

    parts: list[Any]
    calls: list[tuple[str, Any]]
    whole_calls: list[bool]

    @property
    def last(self) -> Any:
        return self.parts[-1]

    def joined(self, kind: str) -> str:
        return "".join(part["text"] for part in self.parts if part["type"] == kind)


def read(recording: Recording, chunks: list[bytes] | None = None) -> Read:
    machine = parser(recording.wire, provider=recording.provider, model_id=recording.model_id)
    parts: list[Any] = []
    for chunk in chunks or [data for _, data in recording.chunks]:
        parts += machine.receive(chunk)
    parts += machine.close()
    calls = machine.tool_calls
    return Read(parts, [(call.name, call.input) for call in calls], [call.is_valid for call in calls])


# name: (how it ends, the finish reason or the error, fresh, cached, written, output and reasoning tokens)
FINISHED = {
    "tides": ("stop", (57, 0, 0, 893, 0)),
    "reef": ("tool_calls", (412, 2304, 512, 341, 83)),
    "lighthouse": ("stop", (41, 0, 0, 489, 192)),
    "kelp": ("tool_calls", (196, 0, 0, 407, 176)),
    "harbor": ("stop", (153, 896, 0, 214, 0)),
    "cove": ("stop", (24, 0, 0, 78, 0)),
}
FAILED = {"fog": StreamTruncatedError, "squall": StreamTruncatedError, "storm": OverloadedError}
TEXTS = {  # name: (how the answer begins and ends, how the reasoning begins)
    "tides": ("Most coasts see **two high tides a day**", "the local tide table *how much*.\n", ""),
    "reef": (
        "The latest bulletin puts Cala Serena",
        "temperatures and at the tide.",
        "The diver wants two things",
    ),
    "lighthouse": (
        "From the deck of a small yacht",
        "early, but no distance.\n",
        "**Working out the horizon**",
    ),
    "kelp": (
        "In **cold, nitrate-rich water**",
        "Here are both curves side by side.",
        "**Finding the growth rate**",
    ),
    "harbor": ("Coming alongside is mostly", "everybody remembers a dent.\n", ""),
    "cove": ("A cove has a beach", "would keep it moving.", "The user asks for one sentence."),
    "fog": ("Fog over the strait is **advection fog**", "look up the visibility at both ends.", ""),
    "squall": ("You can see a squall coming", "Ease the main, bear away,", ""),
    "storm": ("A barometer that falls", "write the last position into the", ""),
}
CALLS: dict[str, list[tuple[str, Any]]] = {
    "reef": [
        ("sea_temperature", {"station": "cala-serena", "depth_m": 6, "days": 7}),
        ("tide_table", {"station": "cala-serena", "date": "2026-11-19"}),
    ],
    "fog": [("visibility", None)],
}


def test_every_recording_is_in_the_tables() -> None:
    assert names() == tuple(sorted({**FINISHED, **FAILED})) == tuple(sorted(TEXTS))


@pytest.mark.parametrize("name", FINISHED)
def test_finished_recording_gives_its_reason_and_usage(name: str) -> None:
    reason, counts = FINISHED[name]
    finish = read(load(name)).last
    usage = finish["usage"]
    keys = ("inputTokens", "cachedReadTokens", "cacheWriteTokens", "outputTokens", "reasoningTokens")
    assert (finish["type"], finish["finishReason"]) == ("finish", reason)
    assert tuple(usage[key] for key in keys) == counts
    assert usage["totalTokens"] == usage_total(usage)


@pytest.mark.parametrize("name", FAILED)
def test_failed_recording_ends_with_its_error(name: str) -> None:
    last = read(load(name)).last
    assert (last["type"], type(last["error"])) == ("error", FAILED[name])


@pytest.mark.parametrize("name", TEXTS)
def test_recording_says_what_it_is_there_for(name: str) -> None:
    begin, end, reasoning = TEXTS[name]
    got = read(load(name))
    text = got.joined("text-delta")
    assert (text[: len(begin)], text[-len(end) :]) == (begin, end)
    assert got.joined("reasoning-delta")[: len(reasoning)] == reasoning
    assert bool(reasoning) == any(part["type"] == "reasoning-delta" for part in got.parts)


def test_recorded_calls_have_their_input_and_the_cut_one_has_none() -> None:
    assert {name: read(load(name)).calls for name in CALLS} == CALLS
    (plot,) = read(load("kelp")).calls
    assert plot[0] == "plot_lines"
    assert [series["name"] for series in plot[1]["series"]] == ["cold water", "warm water"]
    assert [name for name in names() if False in read(load(name)).whole_calls] == ["fog"]


def test_default_recording_has_a_table_a_code_block_and_math() -> None:
    text = read(load("tides")).joined("text-delta")
    assert re.search(r"^\|---+\|.*\|$", text, re.MULTILINE)
    assert re.search(r"^```python\n.+?^```$", text, re.MULTILINE | re.DOTALL)
    assert re.search(r"^\$\$\n.+?\n\$\$$", text, re.MULTILINE)
    assert 300 <= len(text.split()) <= 450


def test_code_of_the_default_recording_prints_what_the_answer_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = read(load("tides")).joined("text-delta")
    code = re.search(r"^```python\n(.+?)^```$", text, re.MULTILINE | re.DOTALL)
    assert code is not None
    exec(code[1], {})
    printed = capsys.readouterr().out.splitlines()
    assert [printed[0], printed[2], printed[4]] == ["day  0: 3.30 m", "day  7: 1.54 m", "day 14: 3.30 m"]
    assert "3.30 m at springs, 1.54 m a week later, and 3.30 m again" in text


def test_searched_answer_has_sources_and_citations() -> None:
    parts = read(load("reef")).parts
    urls = [part["url"] for part in parts if part["type"] == "source"]
    assert [part["url"] for part in parts if part["type"] == "citation"] == urls
    assert len(urls) == 2


@pytest.mark.parametrize(
    ("name", "key"), [("reef", "signature"), ("lighthouse", "encrypted")], ids=["reef", "lighthouse"]
)
def test_reasoning_can_be_sent_back(name: str, key: str) -> None:
    parts = read(load(name)).parts
    assert sum(bool(part.get(key)) for part in parts if part["type"] == "reasoning-delta") == 1


def test_which_recordings_have_a_price() -> None:
    priced: dict[str, bool] = {}
    for name in FINISHED:
        recording, finish = load(name), read(load(name)).last
        raw = finish["providerMetadata"][recording.provider]["usage"]
        at = datetime.fromtimestamp(recording.at_s).astimezone()
        price = reported_price(raw, provider=recording.provider) or GenaiPrices().price(
            finish["usage"], model=recording.model_id, provider=recording.provider, at=at
        )
        priced[name] = price is not None and price.total > 0
    assert priced == {**dict.fromkeys(FINISHED, True), "cove": False}


@pytest.mark.parametrize("name", names())
def test_cuts_do_not_change_what_is_read(name: str) -> None:
    def merged(got: Read) -> list[Any]:
        return [{**part, "error": str(part.get("error"))} for part in got.parts]

    recording = load(name)
    body = recording.body
    whole = merged(read(recording))
    for size in (1, 7, len(body)):
        cut = [body[start : start + size] for start in range(0, len(body), size)]
        assert merged(read(recording, cut)) == whole


@pytest.mark.parametrize("name", names())
def test_recording_runs_as_a_provider_does(name: str) -> None:
    recording = load(name)
    times = [time_ms for time_ms, _ in recording.chunks]
    assert times == sorted(times)
    assert 300 <= times[0] <= 900
    assert times[-1] <= 10_000
    assert all(data for _, data in recording.chunks[: -1 if recording.breaks else None])
    assert recording.status == 200
    assert recording.headers["content-type"].startswith("text/event-stream")
    assert recording.prompt.endswith(("?", "."))


def test_only_the_squall_breaks_the_connection() -> None:
    assert [name for name in names() if load(name).breaks] == ["squall"]
    assert load("squall").chunks[-1][1] == b""


def test_recordings_name_only_hosts_that_do_not_exist() -> None:
    for name in names():
        hosts = re.findall(r"https?://([^/\"\s\\]+)", load(name).body.decode())
        assert all(host.endswith(".example.org") for host in hosts), name


def test_recording_has_the_facts_of_its_header() -> None:
    recording = load("harbor")
    lines = resources.files("deuz_nb.recordings").joinpath("harbor.jsonl").read_text("utf-8").splitlines()
    header = json.loads(lines[0])
    assert recording == Recording(
        name="harbor",
        title=header["title"],
        wire="openai-chat",
        provider="openrouter",
        model_id="mistralai/mistral-medium-3.1",
        status=200,
        headers={"content-type": "text/event-stream", **header["headers"]},
        prompt=header["prompt"],
        at_s=datetime.fromisoformat("2026-11-18T15:42:22+00:00").timestamp(),
        chunks=(),
        breaks=False,
    )
    assert len(recording.chunks) == len(lines) - 1
    assert recording.chunks[0] == (310.0, b": OPENROUTER PROCESSING\n\n")
    assert repr(recording) == "<Recording harbor: openrouter:mistralai/mistral-medium-3.1, 78 chunks>"


UNKNOWN = {
    "tide": ("tides", "no recording is named 'tide'; did you mean tides?"),
    "TIDES": ("tides", "no recording is named 'TIDES'; did you mean tides?"),
    "../README": (None, "no recording is named '../README'; there are cove, fog, "),
    "": (None, "no recording is named ''; there are cove, fog, "),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_name_lists_names_like_it(name: str) -> None:
    near, message = UNKNOWN[name]
    with pytest.raises(UnknownModelError) as caught:
        load(name)
    assert caught.value.near == (() if near is None else (near,))
    assert str(caught.value).startswith(message)


def test_readme_describes_every_recording() -> None:
    readme = (Path(__file__).parent.parent / "deuz_nb" / "recordings" / "README.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", readme, re.MULTILINE)) == list(names())
