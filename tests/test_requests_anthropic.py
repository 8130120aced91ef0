"""Anthropic request bodies, whole, feature by feature."""

from __future__ import annotations

from typing import Any

import pytest

from deuz_nb.errors import MisuseError
from deuz_nb.providers.catalog import resolve
from deuz_nb.providers.model import Call, ToolSpec
from deuz_nb.providers.requests import build_request

HI: list[Any] = [{"role": "user", "content": "Hi"}]
HI_SENT: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
SCHEMA = {"type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"]}
CLOSED = SCHEMA | {"additionalProperties": False}
TOOLS = (ToolSpec("w", "Weather", SCHEMA), ToolSpec("t", "Time", {}, strict=True))
TOOLS_SENT = [
    {"name": "w", "description": "Weather", "input_schema": SCHEMA},
    {
        "name": "t",
        "description": "Time",
        "input_schema": {"type": "object", "properties": {}},
        "strict": True,
    },
]
CALL = {"type": "tool-call", "toolCallId": "toolu_1", "toolName": "w", "input": {"c": "Oslo"}}
RESULT = {"type": "tool-result", "toolCallId": "toolu_1", "toolName": "w", "output": "3 C"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "w", "input": {"c": "Oslo"}}


def body(slug: str, messages: Any = HI, **settings: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The body without what every body has, and the warnings as (type, setting)."""
    request = build_request(resolve(f"anthropic:{slug}"), Call(tuple(messages), **settings))
    sent = dict(request.body)
    assert (sent.pop("model"), sent.pop("stream")) == (slug, True)
    return sent, [(warning["type"], warning.get("setting", "")) for warning in request.warnings]


MESSAGES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "text": (HI, {"messages": HI_SENT}),
    "system and developer go before": (
        [{"role": "system", "content": "A"}, {"role": "developer", "content": "B"}, *HI],
        {"system": "A\n\nB", "messages": HI_SENT},
    ),
    "images and files": (
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look"},
                    {"type": "image", "url": "https://x.example/i"},
                    {"type": "image", "data": "iVBO", "mediaType": "image/png"},
                    {"type": "image", "url": "data:image/gif;base64,R0lG"},
                    {"type": "file", "url": "https://x.example/a.pdf", "mediaType": "application/pdf"},
                    {"type": "file", "data": "JVBE", "mediaType": "application/pdf", "filename": "a.pdf"},
                    {"type": "file", "data": "aMOp", "mediaType": "text/plain"},
                    {"type": "file", "data": "/9j/", "mediaType": "image/jpeg"},
                ],
            }
        ],
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Look"},
                        {"type": "image", "source": {"type": "url", "url": "https://x.example/i"}},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"},
                        },
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/gif", "data": "R0lG"},
                        },
                        {"type": "document", "source": {"type": "url", "url": "https://x.example/a.pdf"}},
                        {
                            "type": "document",
                            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
                            "title": "a.pdf",
                        },
                        {
                            "type": "document",
                            "source": {"type": "text", "media_type": "text/plain", "data": "hé"},
                        },
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/jpeg", "data": "/9j/"},
                        },
                    ],
                }
            ]
        },
    ),
    "thinking comes back as it was, in its order": (
        [
            *HI,
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "text": "alpha", "signature": "S1"},
                    {"type": "reasoning", "text": "", "redacted": "OPAQUE"},
                    {"type": "reasoning", "text": "", "signature": "S2"},
                    {"type": "text", "text": "Calling."},
                    {"type": "reasoning", "text": "beta", "signature": "S3"},
                    {**CALL, "providerMetadata": {"anthropic": {"caller": {"type": "direct"}, "x": 1}}},
                ],
            },
            {"role": "tool", "content": [RESULT]},
        ],
        {
            "messages": [
                *HI_SENT,
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "alpha", "signature": "S1"},
                        {"type": "redacted_thinking", "data": "OPAQUE"},
                        {"type": "thinking", "thinking": "", "signature": "S2"},
                        {"type": "text", "text": "Calling."},
                        {"type": "thinking", "thinking": "beta", "signature": "S3"},
                        {**USE, "caller": {"type": "direct"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "3 C"}],
                },
            ]
        },
    ),
    "reasoning of others and blank text stay away": (
        [
            *HI,
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "text": "unsigned"},
                    {"type": "reasoning", "text": "gAAA", "signature": "rs_1", "encrypted": True},
                    {"type": "text", "text": "\n\n"},
                    CALL,
                ],
            },
            {"role": "tool", "content": [RESULT]},
        ],
        {
            "messages": [
                *HI_SENT,
                {"role": "assistant", "content": [USE]},
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "3 C"}],
                },
            ]
        },
    ),
    "results lead the turn they share with the user": (
        [
            *HI,
            {"role": "assistant", "content": [CALL, {**CALL, "toolCallId": "b"}]},
            {"role": "tool", "content": [{**RESULT, "output": {"t": 1.0, "n": None}}]},
            {"role": "user", "content": "Go on"},
            {"role": "tool", "content": [{**RESULT, "toolCallId": "b", "output": "no", "isError": True}]},
        ],
        {
            "messages": [
                *HI_SENT,
                {"role": "assistant", "content": [USE, {**USE, "id": "b"}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "toolu_1", "content": '{"t":1,"n":null}'},
                        {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": True},
                        {"type": "text", "text": "Go on"},
                    ],
                },
            ]
        },
    ),
    "an answer that said nothing is left out; a prefill ends without white space": (
        [*HI, {"role": "assistant", "content": []}, *HI, {"role": "assistant", "content": "It is \n"}],
        {
            "messages": [
                {"role": "user", "content": HI_SENT[0]["content"] * 2},
                {"role": "assistant", "content": [{"type": "text", "text": "It is"}]},
            ]
        },
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages_become_alternating_turns(case: str) -> None:
    messages, expected = MESSAGES[case]
    assert body("claude-opus-5", messages) == ({"max_tokens": 128_000, **expected}, [])


def test_later_instructions_stand_before_the_answer_where_the_model_reads_them_there() -> None:
    story: list[Any] = [
        {"role": "system", "content": "A"},
        *HI,
        {"role": "system", "content": "B"},
        {"role": "user", "content": "Go on"},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": "And?"},
        {"role": "system", "content": "C"},
    ]
    user = {"role": "user", "content": [*HI_SENT[0]["content"], {"type": "text", "text": "Go on"}]}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Yes"}]}
    more = {"role": "user", "content": [{"type": "text", "text": "And?"}]}
    inline = {
        "max_tokens": 128_000,
        "system": "A",
        "messages": [
            user,
            {"role": "system", "content": "B"},
            answer,
            more,
            {"role": "system", "content": "C"},
        ],
    }
    assert body("claude-opus-5-5", story) == (inline, [])
    hoisted = {"max_tokens": 64_000, "system": "A\n\nB\n\nC", "messages": [user, answer, more]}
    assert body("claude-sonnet-4-5", story) == (hoisted, [])


@pytest.mark.parametrize("call_id", ["call.1:0", "x" * 65, "é"])
def test_ids_of_other_providers_are_fitted_alike_for_call_and_result(call_id: str) -> None:
    story = [
        *HI,
        {"role": "assistant", "content": [{**CALL, "toolCallId": call_id}]},
        {"role": "tool", "content": [{**RESULT, "toolCallId": call_id}]},
    ]
    sent, _ = body("claude-opus-5", story)
    fitted = sent["messages"][1]["content"][0]["id"]
    assert len(fitted) == 32
    assert fitted.isalnum()
    assert sent["messages"][2]["content"][0]["tool_use_id"] == fitted


SETTINGS: dict[str, tuple[str, dict[str, Any], dict[str, Any], list[str]]] = {
    "tools": ("claude-opus-5", {"tools": TOOLS}, {"tools": TOOLS_SENT}, []),
    "any tool": (
        "claude-opus-5",
        {"tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": True},
        {"tools": TOOLS_SENT, "tool_choice": {"type": "any"}},
        [],
    ),
    "one tool, one at a time": (
        "claude-opus-5",
        {"tools": TOOLS, "tool_choice": "t", "parallel_tool_calls": False},
        {
            "tools": TOOLS_SENT,
            "tool_choice": {"type": "tool", "name": "t", "disable_parallel_tool_use": True},
        },
        [],
    ),
    "one at a time": (
        "claude-opus-5",
        {"tools": TOOLS, "parallel_tool_calls": False},
        {"tools": TOOLS_SENT, "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        [],
    ),
    "no tool": (
        "claude-opus-5",
        {"tools": TOOLS, "tool_choice": "none", "parallel_tool_calls": False},
        {"tools": TOOLS_SENT, "tool_choice": {"type": "none"}},
        [],
    ),
    "adaptive effort": (
        "claude-opus-5",
        {"effort": "xhigh"},
        {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "xhigh"}},
        [],
    ),
    "nearest effort below": (
        "claude-opus-4-6",
        {"effort": "xhigh"},
        {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}},
        ["effort"],
    ),
    "nearest effort above": (
        "claude-opus-5",
        {"effort": "minimal"},
        {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}},
        ["effort"],
    ),
    "thinking off": ("claude-opus-5", {"effort": "none"}, {"thinking": {"type": "disabled"}}, []),
    "thinking off between tools": (
        "claude-sonnet-5-5",
        {"effort": "none"},
        {"thinking": {"type": "between_tools"}},
        [],
    ),
    "thinking cannot be off": (
        "claude-fable-5",
        {"effort": "none"},
        {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}},
        ["effort"],
    ),
    "budget": (
        "claude-sonnet-4-5",
        {"effort": "high"},
        {"max_tokens": 64_000, "thinking": {"type": "enabled", "budget_tokens": 16_384}},
        [],
    ),
    "budget leaves half for the answer": (
        "claude-sonnet-4-5",
        {"effort": "high", "max_output_tokens": 4000},
        {"max_tokens": 4000, "thinking": {"type": "enabled", "budget_tokens": 2000}},
        [],
    ),
    "smallest budget": (
        "claude-sonnet-4-5",
        {"effort": "max", "max_output_tokens": 1025},
        {"max_tokens": 1025, "thinking": {"type": "enabled", "budget_tokens": 1024}},
        [],
    ),
    "no room for a budget": (
        "claude-sonnet-4-5",
        {"effort": "low", "max_output_tokens": 1024},
        {"max_tokens": 1024},
        ["effort"],
    ),
    "budget gives way to a forced tool": (
        "claude-sonnet-4-5",
        {"effort": "low", "tools": TOOLS, "tool_choice": "required", "temperature": 0},
        {"max_tokens": 64_000, "tools": TOOLS_SENT, "tool_choice": {"type": "any"}, "temperature": 0},
        ["effort"],
    ),
    "adaptive goes with a forced tool": (
        "claude-sonnet-4-6",
        {"effort": "low", "tools": TOOLS, "tool_choice": "required"},
        {
            "tools": TOOLS_SENT,
            "tool_choice": {"type": "any"},
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": "low"},
        },
        [],
    ),
    "no thinking model": ("claude-3-haiku-20240307", {"effort": "low"}, {"max_tokens": 4096}, ["effort"]),
    "no thinking model, none asked": (
        "claude-3-haiku-20240307",
        {"effort": "none"},
        {"max_tokens": 4096},
        [],
    ),
    "schema": (
        "claude-opus-5",
        {"output_schema": {"$schema": "x", **SCHEMA}, "effort": "low"},
        {
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": CLOSED}},
        },
        [],
    ),
    "schema by instruction": (
        "claude-sonnet-4-20250514",
        {"output_schema": SCHEMA},
        {
            "max_tokens": 64_000,
            "system": "Answer with one JSON value and nothing else."
            " It must be valid against this JSON schema:\n"
            '{"type":"object","properties":{"c":{"type":"string"}},"required":["c"]}',
        },
        ["output_schema"],
    ),
    "cache": ("claude-opus-5", {"cache": "1h"}, {"cache_control": {"type": "ephemeral", "ttl": "1h"}}, []),
    "stop": ("claude-opus-5", {"stop": ("A", "B")}, {"stop_sequences": ["A", "B"]}, []),
    "sampling refused": ("claude-opus-4-7", {"temperature": 0.5, "top_p": 0.9}, {}, ["temperature", "top_p"]),
    "sampling while thinking": (
        "claude-sonnet-4-6",
        {"temperature": 0.5, "effort": "low"},
        {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}},
        ["temperature"],
    ),
    "one kind of sampling": (
        "claude-sonnet-4-6",
        {"temperature": 0.5, "top_p": 0.9},
        {"temperature": 0.5},
        ["top_p"],
    ),
    "seed": ("claude-opus-5", {"seed": 1}, {}, ["seed"]),
    "limit": ("claude-opus-5", {"max_output_tokens": 100}, {"max_tokens": 100}, []),
    "limit above the model's": ("claude-opus-5", {"max_output_tokens": 200_000}, {}, ["max_output_tokens"]),
    "options last and deep": (
        "claude-opus-5",
        {
            "effort": "low",
            "provider_options": {
                "max_tokens": 7,
                "thinking": {"display": "omitted"},
                "output_config": None,
                "metadata": {"user_id": "u"},
            },
        },
        {
            "max_tokens": 7,
            "thinking": {"type": "adaptive", "display": "omitted"},
            "output_config": None,
            "metadata": {"user_id": "u"},
        },
        [],
    ),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_settings_are_asked_in_the_models_own_way(case: str) -> None:
    slug, settings, expected, warned = SETTINGS[case]
    plain = {"max_tokens": 128_000, "messages": HI_SENT}
    assert body(slug, **settings) == (plain | expected, [("unsupported", setting) for setting in warned])


def test_an_unknown_model_is_asked_modestly_and_told_of() -> None:
    sent = {"max_tokens": 8192, "messages": HI_SENT}
    unsupported = [("unsupported", "effort"), ("unsupported", "cache")]
    assert body("next-thing", effort="high", cache="5m") == (sent, [("unknown-model", "model"), *unsupported])


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "forced tool": (
        "claude-opus-5-5",
        {"tools": TOOLS, "tool_choice": "w"},
        "cannot be made to call a tool; use tool_choice='auto'",
    ),
    "audio": (
        "claude-opus-5",
        {
            "messages": [
                {"role": "user", "content": [{"type": "file", "data": "AA", "mediaType": "audio/wav"}]}
            ]
        },
        "messages[0]: Anthropic takes images, application/pdf, and text/plain as data, not audio/wav",
    ),
    "text by url": (
        "claude-opus-5",
        {
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "file", "url": "https://x/a", "mediaType": "text/plain"}],
                }
            ]
        },
        "not text/plain by URL; send its text as a text part",
    ),
    "broken text": (
        "claude-opus-5",
        {
            "messages": [
                {"role": "user", "content": [{"type": "file", "data": "/w==", "mediaType": "text/plain"}]}
            ]
        },
        "messages[0]: 'data' is not UTF-8 text in base64",
    ),
    "pdf for a model that reads none": (
        "claude-3-haiku-20240307",
        {
            "messages": [
                {"role": "user", "content": [{"type": "file", "data": "AA", "mediaType": "application/pdf"}]}
            ]
        },
        "messages[0]: claude-3-haiku-20240307 takes no PDF; send its text instead",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_left_out_is_refused_with_what_to_do(case: str) -> None:
    slug, settings, message = REFUSED[case]
    with pytest.raises(MisuseError) as caught:
        body(slug, **settings)
    assert message in str(caught.value)


URLS = {
    "https://api.anthropic.com": "https://api.anthropic.com/v1/messages",
    "https://proxy.example/v1": "https://proxy.example/v1/messages",
    "https://proxy.example/anthropic/?a=b": "https://proxy.example/anthropic/v1/messages?a=b",
}


@pytest.mark.parametrize("base_url", URLS)
def test_address_and_headers(base_url: str) -> None:
    model = resolve(
        "anthropic:claude-opus-5",
        base_url=base_url,
        api_key=" k\n",
        headers={"Anthropic-Beta": "b", "ACCEPT": "a"},
    )
    request = build_request(model, Call(tuple(HI)))
    assert request.url == URLS[base_url]
    assert request.headers == {
        "content-type": "application/json",
        "accept": "a",
        "anthropic-version": "2023-06-01",
        "x-api-key": "k",
        "anthropic-beta": "b",
    }
