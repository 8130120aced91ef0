"""The composition root: models, keys, prompts, replays."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from deuz_nb import PriceTable, StreamResult, model, openai_compatible, stream_chat
from deuz_nb.api import is_static_asked
from deuz_nb.errors import MissingKeyError, MisuseError, UnknownModelError
from deuz_nb.recordings import load, names


def test_a_missing_key_names_its_variable_and_the_way_without() -> None:
    with pytest.raises(MissingKeyError, match=r"ANTHROPIC_API_KEY.*replay:tides") as caught:
        model("anthropic:claude-sonnet-5-5")
    assert caught.value.variable == "ANTHROPIC_API_KEY"


def test_the_key_comes_from_the_environment_or_the_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " from-env ")
    assert model("openai:gpt-5").api_key == "from-env"
    assert model("openai:gpt-5", api_key="given").api_key == "given"
    monkeypatch.setenv("GOOGLE_API_KEY", "second-name")
    assert model("google:gemini-3-flash").api_key == "second-name"


def test_a_blank_variable_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "  ")
    with pytest.raises(MissingKeyError):
        model("openai:gpt-5")


def test_local_hosts_and_own_servers_need_no_key() -> None:
    assert model("ollama:llama3.2").api_key is None
    assert openai_compatible("mine", "http://127.0.0.1:1/v1", model_id="m").provider == "mine"


def test_azure_takes_its_address_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://me.example")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "k")
    assert model("azure:gpt-5").base_url.startswith("https://me.example")


def test_an_unknown_slug_lists_near_ones() -> None:
    with pytest.raises(UnknownModelError) as caught:
        model("antropic:claude")
    assert caught.value.near == ("anthropic:claude",)
    assert "'anthropic:claude'" in str(caught.value)


def test_an_unknown_recording_lists_near_ones() -> None:
    with pytest.raises(UnknownModelError) as caught:
        model("replay:tide")
    assert caught.value.near == ("tides",)


@pytest.mark.parametrize("given", [None, 5, "", "   ", b"anthropic:x"])
def test_a_model_that_is_no_text_is_refused(given: Any) -> None:
    with pytest.raises(MisuseError):
        model(given)


@pytest.mark.parametrize("speed", [0, -1, True])
def test_a_speed_that_is_none_is_refused(speed: Any) -> None:
    with pytest.raises(MisuseError, match="speed"):
        model("replay:tides", speed=speed)


def test_a_replay_takes_no_other_option() -> None:
    with pytest.raises(MisuseError, match="temperature"):
        model("replay:tides", temperature=1)


@pytest.mark.parametrize(
    ("prompt", "match"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param("  \n", "empty", id="blank"),
        pytest.param([], "message", id="no-messages"),
        pytest.param([{"role": "wizard", "content": "x"}], "wizard", id="unknown-role"),
        pytest.param(7, "prompt", id="number"),
        pytest.param([7], "message", id="list-of-numbers"),
    ],
)
def test_a_prompt_that_cannot_be_sent_is_refused_before_anything_runs(prompt: Any, match: str) -> None:
    with pytest.raises(MisuseError, match=match):
        stream_chat(model("replay:tides"), prompt)


def test_only_a_replay_may_leave_the_prompt_out() -> None:
    assert stream_chat("replay:tides").messages == ({"role": "user", "content": load("tides").prompt},)
    with pytest.raises(MisuseError, match="needs a prompt"):
        stream_chat(model("ollama:llama3.2"))


@pytest.mark.parametrize("given", [None, 5, object()])
def test_what_is_no_model_is_refused(given: Any) -> None:
    with pytest.raises(MisuseError, match="no model"):
        stream_chat(given, "Hi")


@pytest.mark.parametrize("tool", [print, "look", {"description": "no name"}])
def test_what_is_no_tool_is_refused(tool: Any) -> None:
    with pytest.raises(MisuseError, match="no tool"):
        stream_chat("replay:tides", tools=[tool])


def test_two_replays_of_a_recording_are_equal_in_every_part_and_byte() -> None:
    async def once() -> StreamResult:
        return await stream_chat(model("replay:reef", speed=None)).consume()

    async def both() -> tuple[StreamResult, StreamResult]:
        return await once(), await once()

    first, second = asyncio.run(both())
    assert first.parts == second.parts
    assert first.message_id == second.message_id == "replay-reef"


@pytest.mark.parametrize("name", names())
def test_every_recording_replays_through_the_real_client(name: str) -> None:
    result = stream_chat(model(f"replay:{name}", speed=None)).wait(60)
    expected = {"fog": "stream_truncated", "storm": "overloaded", "squall": "network_error"}
    code = getattr(result.error, "code", None)
    assert code == expected.get(name)
    assert result.turn.status == ("failed" if code else "finished")
    assert [part["type"] for part in result.parts].count("finish") == (0 if code else 1)


def test_own_prices_come_before_the_data() -> None:
    result = stream_chat(
        model("replay:tides", speed=None), prices=PriceTable({"claude-*": {"input": 0, "output": 1000}})
    ).wait(60)
    assert str(result.cost_usd) == "0.893"


@pytest.mark.parametrize(
    ("value", "is_asked"), [("", False), ("0", False), ("false", False), ("1", True), ("yes", True)]
)
def test_static_output_is_asked_for_by_a_variable(
    value: str, is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEUZ_NB_STATIC", value)
    assert is_static_asked() is is_asked
