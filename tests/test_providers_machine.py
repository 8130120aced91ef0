"""What every wire's parser does alike: framing, bodies that are no stream, ends, and what comes after them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deuz_nb.errors import MisuseError, NetworkError
from deuz_nb.providers import parser
from tests.provider_streams import NO_USAGE, read, said, sse

WIRES = ("anthropic", "openai-chat", "openai-responses", "google")
HI: dict[str, Any] = {
    "anthropic": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
    "openai-chat": {"choices": [{"index": 0, "delta": {"content": "Hi"}}]},
    "openai-responses": {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"},
    "google": {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]},
}
END: dict[str, Any] = {
    "anthropic": {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    "openai-chat": {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    "openai-responses": {"type": "response.completed", "response": {"status": "completed"}},
    "google": {"candidates": [{"finishReason": "STOP"}]},
}
RAW = {"anthropic": "end_turn", "openai-chat": "stop", "openai-responses": "completed", "google": "STOP"}
ANSWERS: dict[str, Any] = {
    "anthropic": {
        "type": "message",
        "id": "m",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn",
    },
    "openai-chat": {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]},
    "openai-responses": {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}],
    },
    "google": [HI["google"], END["google"]],
}


def finished(wire: str) -> dict[str, Any]:
    deuz = {"usageReported": False, "rawFinishReason": RAW[wire]}
    return {
        "type": "finish",
        "usage": NO_USAGE,
        "finishReason": "stop",
        "providerMetadata": {"deuz": deuz},
    }


def without_warnings(parts: list[Any]) -> list[Any]:
    return [part for part in parts if part["type"] != "warning"]


def failed(wire: str, stream: bytes, **context: Any) -> dict[str, Any]:
    parts = read(wire, stream, **context)[1]
    assert [part["type"] in ("finish", "error") for part in parts] == [False] * (len(parts) - 1) + [True]
    error: dict[str, Any] = parts[-1]["error"]
    return error


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "before", ["", "\ufeff", ": OPENROUTER PROCESSING\n\n", "data:\n\n", "data: : ping\n\n"]
)
def test_framing_does_not_change_the_answer(wire: str, line_end: str, before: str) -> None:
    stream = (before + sse(HI[wire], END[wire]).decode()).replace("\n", line_end).encode()
    assert without_warnings(read(wire, stream)[1]) == [said("Hi"), finished(wire)]


@pytest.mark.parametrize("wire", WIRES)
def test_last_frame_may_lack_its_blank_line(wire: str) -> None:
    stream = sse(HI[wire], END[wire]).removesuffix(b"\n\n")
    assert without_warnings(read(wire, stream)[1]) == [said("Hi"), finished(wire)]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "kind", [None, "application/json", "application/json; charset=utf-8", "text/event-stream"]
)
def test_whole_json_answer_instead_of_a_stream_is_read(wire: str, kind: str | None) -> None:
    for text in (json.dumps(ANSWERS[wire]), json.dumps(ANSWERS[wire], indent=2)):
        parts = read(wire, text.encode(), content_type=kind)[1]
        assert without_warnings(parts) == [said("Hi"), finished(wire)]


ERROR = {"error": {"type": "overloaded_error", "message": "busy"}}
BAD: dict[str, tuple[bytes, str | None, dict[str, Any]]] = {
    "JSON error": (json.dumps(ERROR).encode(), "application/json", {"code": "overloaded", "isRetryable": True}),
    "JSON error without content type": (json.dumps(ERROR).encode(), None, {"code": "overloaded"}),
    "JSON error in an array": (json.dumps([ERROR], indent=1).encode(), None, {"code": "overloaded"}),
    "web page": (b"<!doctype html><html>x</html>", "text/html", {"code": "invalid_response", "statusCode": 200}),
    "web page as a stream": (b"<html>x</html>", "text/event-stream", {"code": "invalid_response"}),
    "JSON that is no answer": (b'{"hello":1}', "application/json", {"code": "invalid_response"}),
    "JSON that is cut": (b'{"choices":[{"mess', None, {"code": "stream_truncated", "isRetryable": True}),
    "plain text": (b"upstream connect error", "text/plain", {"code": "invalid_response"}),
    "nothing": (b"", None, {"code": "stream_truncated", "isRetryable": True}),
    "nothing as JSON": (b"", "application/json", {"code": "stream_truncated", "isRetryable": True}),
    "keep-alives only": (b": ping\n\n: ping\n\n", None, {"code": "stream_truncated", "isRetryable": True}),
    "names only": (b"event: ping\n\n", None, {"code": "stream_truncated", "isRetryable": True}),
    "broken frame": (b'data: {"a":\n\ndata: {}\n\n', None, {"code": "invalid_response"}),
    "NaN in a frame": (b'data: {"a":NaN}\n\ndata: {}\n\n', None, {"code": "invalid_response"}),
    "number as a frame": (b"data: 5\n\n", None, {"code": "invalid_response"}),
    "text as a frame": (b"data: Number of choices\n\ndata: {}\n\n", None, {"code": "invalid_response"}),
}  # fmt: skip


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_what_is_no_answer_is_an_error(wire: str, case: tuple[bytes, str | None, dict[str, Any]]) -> None:
    stream, kind, wanted = case
    error = failed(wire, stream, content_type=kind)
    assert error["provider"] == parser(wire).provider
    assert {key: error[key] for key in wanted} == wanted


@pytest.mark.parametrize("wire", WIRES)
def test_web_page_is_not_quoted(wire: str) -> None:
    error = failed(wire, b"<html>secret</html>", content_type="text/html", provider="acme", request_id="r1")
    assert error["message"] == f"acme answered with a web page; check the base URL and that it speaks {wire}."
    assert error["requestId"] == "r1"


@pytest.mark.parametrize("wire", WIRES)
def test_every_cut_before_the_end_is_a_truncated_stream(wire: str) -> None:
    stream = sse(HI[wire], HI[wire])
    for cut in range(len(stream)):
        machine = parser(wire)
        parts = machine.receive(stream[:cut]) + machine.close()
        has_text = any(part["type"] == "text-delta" for part in parts)
        assert parts[-1]["type"] == "error"
        assert (parts[-1]["error"].code, parts[-1]["error"].is_retryable) == (
            "stream_truncated",
            not has_text,
        )


@pytest.mark.parametrize("wire", WIRES)
def test_error_without_framing_ends_a_running_stream(wire: str) -> None:
    stream = sse(HI[wire]) + json.dumps(ERROR, indent=2).encode()
    assert read(wire, stream)[1][0] == said("Hi")
    assert failed(wire, stream)["code"] == "overloaded"


@pytest.mark.parametrize("wire", WIRES)
def test_error_frame_carries_the_usage_seen_and_nothing_follows(wire: str) -> None:
    reported = {
        "anthropic": {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 3}}},
        "openai-chat": {"choices": [], "usage": {"prompt_tokens": 3}},
        "openai-responses": {"type": "response.created", "response": {"usage": {"input_tokens": 3}}},
        "google": {"usageMetadata": {"promptTokenCount": 3}},
    }[wire]
    machine = parser(wire)
    parts = machine.receive(sse(reported, ERROR, HI[wire], END[wire]))
    assert [part["type"] for part in parts] == ["error"]
    assert parts[0]["error"].usage == NO_USAGE | {"inputTokens": 3, "totalTokens": 3}
    assert [machine.receive(sse(HI[wire])), machine.close(), machine.fail(NetworkError("x"))] == [[], [], []]


@pytest.mark.parametrize("wire", WIRES)
def test_broken_transport_ends_with_its_own_error(wire: str) -> None:
    machine = parser(wire)
    machine.receive(sse(HI[wire]))
    error = NetworkError("gone", is_retryable=True)
    parts = machine.fail(error)
    assert parts == [{"type": "error", "error": error}]
    assert parts[0]["error"] is error
    assert (machine.is_done, machine.close(), error.provider) == (True, [], machine.provider)


@pytest.mark.parametrize("wire", WIRES)
def test_frame_may_hold_several_objects(wire: str) -> None:
    assert without_warnings(read(wire, sse([HI[wire], None, END[wire]]))[1]) == [said("Hi"), finished(wire)]


@pytest.mark.parametrize("wire", WIRES)
def test_first_content_is_told_apart_from_the_rest(wire: str) -> None:
    machine = parser(wire)
    machine.receive(b": ping\n\n")
    assert machine.has_content is False
    machine.receive(sse(HI[wire]))
    assert machine.has_content is True
    assert repr(machine) == f"<Parser {wire} open>"


@pytest.mark.parametrize("wire", WIRES)
def test_halves_of_a_character_are_joined_and_lone_ones_replaced(wire: str) -> None:
    def text(value: str) -> Any:
        return json.loads(json.dumps(HI[wire]).replace('"Hi"', json.dumps(value)))

    stream = sse(text("a\ud83d"), text("\ude00b"), text("\ud83d"), text("c\ude00"), text("\ud83d"), END[wire])
    assert [part["text"] for part in read(wire, stream)[1] if part["type"] == "text-delta"] == [
        "a",
        "\U0001f600b",
        "\ufffdc\ufffd",
        "\ufffd",
    ]


def test_unknown_wire_is_refused_with_the_known_ones() -> None:
    with pytest.raises(MisuseError, match="Unknown wire 'smtp'; use one of anthropic, openai-chat"):
        parser("smtp")
