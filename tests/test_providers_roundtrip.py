"""What a provider said goes back to it in its own shape: stream, parts, UI parts, turn, message, request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deuz_nb.fold import Turn
from deuz_nb.fold.history import assistant_message
from deuz_nb.providers import parser
from deuz_nb.providers.catalog import resolve
from deuz_nb.providers.model import Call, ToolSpec
from deuz_nb.providers.requests import build_request
from deuz_nb.recordings import load, names
from deuz_nb.wire.frame import to_ui
from tests.provider_streams import sse

TOOLS = (ToolSpec("w", "Weather", {}), ToolSpec("x", "Time", {}))
LISTS = ("messages", "input", "contents")


def sent_again(slug: str, stream: bytes, tools: tuple[ToolSpec, ...] = TOOLS) -> list[Any]:
    """The answer as it is in the next request to the same model: the items after the question."""
    model = resolve(slug)
    machine = parser(model.wire, provider=model.provider)
    parts: list[Any] = [*machine.receive(stream), *machine.close()]
    results: list[Any] = []
    for call in machine.tool_calls:
        if call.is_valid:
            whole = {"type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": call.input}
            parts.append(
                whole | ({"providerMetadata": call.provider_metadata} if call.provider_metadata else {})
            )
            result = {"type": "tool-result", "toolCallId": call.id, "toolName": call.name, "output": "ok"}
            results.append(result)
    turn = Turn()
    turn.apply_all([to_ui(part) for part in parts if part["type"] not in ("finish", "error")])
    answer: list[Any] = [{"role": "user", "content": "Hi"}, json.loads(json.dumps(assistant_message(turn)))]
    then = {"role": "tool", "content": results} if results else {"role": "user", "content": "More"}
    body = build_request(model, Call((*answer, then), tools=tools)).body
    items: list[Any] = next(body[name] for name in LISTS if name in body)
    roles = [item.get("role") for item in items]
    return items[roles.index("user") + 1 :]


def block(index: int, kind: str, *deltas: dict[str, Any], **start: Any) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": {"type": kind, **start}},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def test_anthropic_blocks_go_back_in_order_each_with_its_signature() -> None:
    stream = sse(
        {"type": "message_start", "message": {"id": "m"}},
        *block(
            0,
            "thinking",
            {"type": "thinking_delta", "thinking": "hm "},
            {"type": "thinking_delta", "thinking": "hm"},
            {"type": "signature_delta", "signature": "S1"},
            thinking="",
        ),
        *block(1, "redacted_thinking", data="D"),
        *block(2, "text", {"type": "text_delta", "text": "a"}, text=""),
        *block(3, "thinking", {"type": "signature_delta", "signature": "S2"}, thinking="", signature=""),
        *block(4, "tool_use", {"type": "input_json_delta", "partial_json": '{"c":"Oslo"}'}, id="t", name="w", input={}, caller={"type": "direct"}),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    )  # fmt: skip
    assert sent_again("anthropic:claude-opus-5-5", stream)[0]["content"] == [
        {"type": "thinking", "thinking": "hm hm", "signature": "S1"},
        {"type": "redacted_thinking", "data": "D"},
        {"type": "text", "text": "a"},
        {"type": "thinking", "thinking": "", "signature": "S2"},
        {"type": "tool_use", "id": "t", "name": "w", "input": {"c": "Oslo"}, "caller": {"type": "direct"}},
    ]


def responses(*items: dict[str, Any]) -> bytes:
    done = [
        {"type": "response.output_item.done", "output_index": n, "item": item} for n, item in enumerate(items)
    ]
    return sse(
        *done, {"type": "response.completed", "response": {"status": "completed", "output": list(items)}}
    )


def test_responses_items_go_back_with_their_encrypted_content_and_summary() -> None:
    reasoning = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "s"}], "encrypted_content": "E"}  # fmt: skip
    bare = {"type": "reasoning", "id": "q", "summary": [], "encrypted_content": "F"}
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "w", "arguments": '{"a":1}'}
    assert sent_again("openai-responses:gpt-6.1-sol", responses(reasoning, bare, call)) == [
        {key: reasoning[key] for key in ("type", "id", "summary", "encrypted_content")},
        {key: bare[key] for key in ("type", "id", "summary", "encrypted_content")},
        {"type": "function_call", "call_id": "c", "name": "w", "arguments": '{"a":1}'},
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
    ]


def test_responses_custom_call_goes_back_as_text() -> None:
    call = {"type": "custom_tool_call", "id": "f", "call_id": "c", "name": "w", "input": "free text"}
    assert sent_again("openai-responses:gpt-6.1-sol", responses(call)) == [
        {"type": "custom_tool_call", "call_id": "c", "name": "w", "input": "free text"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "ok"},
    ]


def google(*parts: dict[str, Any]) -> bytes:
    chunks = [{"candidates": [{"content": {"parts": [part]}}]} for part in parts]
    return sse(*chunks, {"candidates": [{"finishReason": "STOP"}]})


def test_gemini_parts_go_back_in_one_content_each_with_its_signature() -> None:
    thought = {"text": "hm", "thought": True, "thoughtSignature": "S1"}
    text = {"text": "a", "thoughtSignature": "S2"}
    first = {"functionCall": {"id": "t", "name": "w", "args": {"a": 1}}, "thoughtSignature": "S3"}
    second = {"functionCall": {"id": "u", "name": "x", "args": {}}}
    answer, results = sent_again("google:gemini-3.8-flash", google(thought, text, first, second))
    assert answer == {"role": "model", "parts": [thought, text, first, second]}
    assert [part["functionResponse"]["id"] for part in results["parts"]] == ["t", "u"]


def test_gemini_signature_of_an_empty_last_part_goes_back_with_the_text_before() -> None:
    answer, _ = sent_again(
        "google:gemini-3.8-flash", google({"text": "a"}, {"text": "", "thoughtSignature": "S"})
    )
    assert answer == {"role": "model", "parts": [{"text": "a", "thoughtSignature": "S"}]}


def chat(*deltas: dict[str, Any], reason: str = "tool_calls") -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    return sse(*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}, "[DONE]")


CALL = {"index": 0, "id": "call00001", "type": "function", "function": {"name": "w", "arguments": '{"a":1}'}}
CALL_SENT = {"id": "call00001", "type": "function", "function": {"name": "w", "arguments": '{"a":1}'}}
EXTRA = {"extra_content": {"google": {"thought_signature": "S"}}}


def details(*given: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"reasoning_details": [detail]} for detail in given]


CHAT: dict[str, tuple[str, bytes, dict[str, Any]]] = {
    "openrouter, signed": (
        "openrouter:anthropic/claude-opus-5",
        chat(
            *details({"type": "reasoning.text", "text": "h", "index": 0, "format": "f"}),
            *details({"type": "reasoning.text", "text": "m", "index": 0, "format": "f"}),
            *details({"type": "reasoning.text", "signature": "S", "index": 0, "format": "f"}),
            {"tool_calls": [CALL]},
        ),
        {
            "reasoning_details": [
                {"type": "reasoning.text", "text": "hm", "signature": "S", "index": 0, "format": "f"}
            ]
        },
    ),
    "openrouter, summary and encrypted": (
        "openrouter:openai/gpt-5.6",
        chat(
            *details({"type": "reasoning.summary", "summary": "h", "index": 0, "format": "f"}),
            *details({"type": "reasoning.summary", "summary": "m", "index": 0, "format": "f"}),
            *details({"type": "reasoning.encrypted", "data": "D", "id": "r", "index": 1, "format": "f"}),
            {"tool_calls": [CALL]},
        ),
        {
            "reasoning_details": [
                {"type": "reasoning.summary", "summary": "hm", "index": 0, "format": "f"},
                {"type": "reasoning.encrypted", "data": "D", "id": "r", "index": 1, "format": "f"},
            ]
        },
    ),
    "openrouter, two texts": (
        "openrouter:anthropic/claude-opus-5",
        chat(
            *details({"type": "reasoning.text", "text": "a", "signature": "S", "index": 0}),
            *details({"type": "reasoning.text", "text": "b", "signature": "T", "index": 1}),
            {"tool_calls": [CALL]},
        ),
        {
            "reasoning_details": [
                {"type": "reasoning.text", "text": "a", "signature": "S", "index": 0},
                {"type": "reasoning.text", "text": "b", "signature": "T", "index": 1},
            ]
        },
    ),
    "deepseek": (
        "deepseek:deepseek-reasoner",
        chat({"reasoning_content": "h"}, {"reasoning_content": "m"}, {"tool_calls": [CALL]}),
        {"reasoning_content": "hm"},
    ),
    "groq": (
        "groq:openai/gpt-oss-120b",
        chat({"reasoning": "hm"}, {"tool_calls": [CALL]}),
        {"reasoning": "hm"},
    ),
    "mistral, thinking and text": (
        "mistral:magistral-medium-latest",
        chat(
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}]},
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "m"}]}]},
            {"content": "a"},
            {"tool_calls": [CALL]},
        ),
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "a"},
            ]
        },
    ),
}


@pytest.mark.parametrize("case", CHAT.values(), ids=CHAT)
def test_chat_hosts_get_their_reasoning_back_in_their_own_member(
    case: tuple[str, bytes, dict[str, Any]],
) -> None:
    slug, stream, wanted = case
    answer = sent_again(slug, stream)[0]
    assert answer == {"role": "assistant", "content": None, **wanted, "tool_calls": [CALL_SENT]}


def test_signature_of_geminis_compatible_endpoint_goes_back_on_its_call() -> None:
    answer = sent_again("openai:gemini-3-pro", chat({"tool_calls": [{**CALL, **EXTRA}]}))[0]
    assert answer["tool_calls"] == [{**CALL_SENT, **EXTRA}]


def test_half_a_call_does_not_go_back() -> None:
    half = {**CALL, "function": {"name": "w", "arguments": '{"a"'}}
    answer, question = sent_again("openai:gpt-4.1", chat({"content": "a"}, {"tool_calls": [half]}))
    assert (answer, question) == ({"role": "assistant", "content": "a"}, {"role": "user", "content": "More"})


@pytest.mark.parametrize("name", names())
def test_recorded_answer_can_be_sent_again_with_all_that_was_signed(name: str) -> None:
    recording = load(name)
    slug = recording.provider if recording.wire != "openai-responses" else recording.wire
    tools = tuple(ToolSpec(tool, "", {}) for tool in ("sea_temperature", "tide_table", "plot_lines"))
    items = json.dumps(sent_again(f"{slug}:{recording.model_id}", recording.body, tools), ensure_ascii=False)
    stream = recording.body.decode()
    for line in stream.splitlines():
        if line.startswith("data: {") and line.endswith("}"):
            for secret in opaque(json.loads(line[6:])):
                assert json.dumps(secret, ensure_ascii=False) in items


OPAQUE = {"redacted_thinking": "data", "reasoning": "encrypted_content", "reasoning.encrypted": "data"}


def opaque(value: Any) -> list[str]:
    """What a provider wants back unchanged."""
    if isinstance(value, list):
        return [found for item in value for found in opaque(item)]
    if not isinstance(value, dict):
        return []
    own = [value.get(key) for key in ("signature", "thoughtSignature", "thought_signature")]
    own += [value.get(OPAQUE[kind]) for kind in OPAQUE if value.get("type") == kind]
    own = [secret for secret in own if isinstance(secret, str) and secret]
    return own + [found for member in value.values() for found in opaque(member)]
