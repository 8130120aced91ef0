"""Gemini request bodies, whole, feature by feature."""

from __future__ import annotations

from typing import Any

import pytest

from deuz_nb.providers.catalog import resolve
from deuz_nb.providers.model import Call, ToolSpec
from deuz_nb.providers.requests import build_request

HI: list[Any] = [{"role": "user", "content": "Hi"}]
HI_SENT: list[Any] = [{"role": "user", "parts": [{"text": "Hi"}]}]
SCHEMA = {"type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"]}
TOOLS = (ToolSpec("w", "Weather", {"$schema": "x", **SCHEMA}), ToolSpec("t", "Time", {}, strict=True))
TOOLS_SENT = [
    {
        "functionDeclarations": [
            {"name": "w", "description": "Weather", "parametersJsonSchema": SCHEMA},
            {
                "name": "t",
                "description": "Time",
                "parametersJsonSchema": {"type": "object", "properties": {}},
            },
        ]
    }
]
CALL = {"type": "tool-call", "toolCallId": "c1", "toolName": "w", "input": {"c": "Oslo"}}
CALL_SENT = {"functionCall": {"id": "c1", "name": "w", "args": {"c": "Oslo"}}}
RESULT = {"type": "tool-result", "toolCallId": "c1", "toolName": "w", "output": "3 C"}
RESULT_SENT = {"functionResponse": {"id": "c1", "name": "w", "response": {"output": "3 C"}}}
NO_SIGNATURE = "skip_thought_signature_validator"
PRO = "gemini-3.1-pro-preview"


def body(slug: str, messages: Any = HI, **settings: Any) -> tuple[dict[str, Any], list[str]]:
    """The body and what was warned of."""
    request = build_request(resolve(f"google:{slug}"), Call(tuple(messages), **settings))
    return dict(request.body), [warning.get("setting", "") for warning in request.warnings]


def _signed(signature: str) -> dict[str, Any]:
    return {"providerMetadata": {"google": {"thoughtSignature": signature}}}


MESSAGES: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    "instructions are gathered": (
        PRO,
        [{"role": "system", "content": "A"}, *HI, {"role": "developer", "content": "B"}],
        {"contents": HI_SENT, "systemInstruction": {"parts": [{"text": "A"}, {"text": "B"}]}},
    ),
    "images and files": (
        PRO,
        [
            {
                "role": "user",
                "content": [
                    {"type": "image", "url": "https://x.example/i.JPG?x=1"},
                    {"type": "image", "url": "gs://bucket/i"},
                    {"type": "image", "data": "iVBO", "mediaType": "image/png"},
                    {"type": "file", "data": "UklG", "mediaType": "audio/wav"},
                    {"type": "file", "url": "https://x/a", "mediaType": "application/pdf"},
                ],
            }
        ],
        {
            "contents": [
                {
                    "role": "user",
                    "parts": [
                        {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://x.example/i.JPG?x=1"}},
                        {"fileData": {"fileUri": "gs://bucket/i"}},
                        {"inlineData": {"mimeType": "image/png", "data": "iVBO"}},
                        {"inlineData": {"mimeType": "audio/wav", "data": "UklG"}},
                        {"fileData": {"mimeType": "application/pdf", "fileUri": "https://x/a"}},
                    ],
                }
            ]
        },
    ),
    "signatures go back on their parts, calls and results in one turn each": (
        PRO,
        [
            *HI,
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "text": "hm", "signature": "T0"},
                    {"type": "reasoning", "text": "no signature"},
                    {"type": "text", "text": "Calling.", "signature": "T1"},
                    {**CALL, **_signed("T2")},
                    {**CALL, "toolCallId": "c2"},
                ],
            },
            {"role": "tool", "content": [RESULT]},
            {
                "role": "tool",
                "content": [{**RESULT, "toolCallId": "c2", "output": {"e": 1}, "isError": True}],
            },
            {"role": "user", "content": "Go on"},
            {"role": "assistant", "content": [{"type": "text", "text": "", "signature": "T3"}]},
        ],
        {
            "contents": [
                *HI_SENT,
                {
                    "role": "model",
                    "parts": [
                        {"text": "hm", "thought": True, "thoughtSignature": "T0"},
                        {"text": "Calling.", "thoughtSignature": "T1"},
                        {**CALL_SENT, "thoughtSignature": "T2"},
                        {"functionCall": {"id": "c2", "name": "w", "args": {"c": "Oslo"}}},
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        RESULT_SENT,
                        {"functionResponse": {"id": "c2", "name": "w", "response": {"error": {"e": 1}}}},
                    ],
                },
                {"role": "user", "parts": [{"text": "Go on"}]},
                {"role": "model", "parts": [{"text": "", "thoughtSignature": "T3"}]},
            ]
        },
    ),
    "calls of another model are excused": (
        PRO,
        [
            *HI,
            {"role": "assistant", "content": [CALL, {**CALL, "toolCallId": "c2"}]},
            {"role": "tool", "content": [RESULT]},
        ],
        {
            "contents": [
                *HI_SENT,
                {
                    "role": "model",
                    "parts": [
                        {**CALL_SENT, "thoughtSignature": NO_SIGNATURE},
                        {"functionCall": {"id": "c2", "name": "w", "args": {"c": "Oslo"}}},
                    ],
                },
                {"role": "user", "parts": [RESULT_SENT]},
            ]
        },
    ),
    "older models ask for no signature": (
        "gemini-2.5-flash",
        [*HI, {"role": "assistant", "content": [CALL]}, {"role": "tool", "content": [RESULT]}],
        {
            "contents": [
                *HI_SENT,
                {"role": "model", "parts": [CALL_SENT]},
                {"role": "user", "parts": [RESULT_SENT]},
            ]
        },
    ),
    "what others hid stays away": (
        PRO,
        [
            *HI,
            {
                "role": "assistant",
                "content": [{"type": "reasoning", "text": "gAAA", "encrypted": True, "signature": "rs_1"}],
            },
            *HI,
        ],
        {"contents": [{"role": "user", "parts": [{"text": "Hi"}, {"text": "Hi"}]}]},
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages_become_contents(case: str) -> None:
    slug, messages, expected = MESSAGES[case]
    assert body(slug, messages) == (expected, [])


JSON_ANSWER = {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
SETTINGS: dict[str, tuple[str, dict[str, Any], dict[str, Any], list[str]]] = {
    "tools": (PRO, {"tools": TOOLS, "parallel_tool_calls": True}, {"tools": TOOLS_SENT}, []),
    "auto": (
        PRO,
        {"tools": TOOLS, "tool_choice": "auto"},
        {"tools": TOOLS_SENT, "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}},
        [],
    ),
    "none": (
        PRO,
        {"tools": TOOLS, "tool_choice": "none"},
        {"tools": TOOLS_SENT, "toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
        [],
    ),
    "required": (
        PRO,
        {"tools": TOOLS, "tool_choice": "required"},
        {"tools": TOOLS_SENT, "toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
        [],
    ),
    "one tool": (
        PRO,
        {"tools": TOOLS, "tool_choice": "w", "parallel_tool_calls": False},
        {
            "tools": TOOLS_SENT,
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["w"]}},
        },
        ["parallel_tool_calls"],
    ),
    "level": (
        PRO,
        {"effort": "medium"},
        {"generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "MEDIUM"}}},
        [],
    ),
    "nearest level": (
        "gemini-3-pro-preview",
        {"effort": "medium"},
        {"generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"}}},
        ["effort"],
    ),
    "thinking cannot be off": (
        "gemini-3-flash-preview",
        {"effort": "none"},
        {"generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "MINIMAL"}}},
        ["effort"],
    ),
    "budget": (
        "gemini-2.5-pro",
        {"effort": "low"},
        {"generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 2048}}},
        [],
    ),
    "budget off": (
        "gemini-2.5-flash",
        {"effort": "none"},
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
        [],
    ),
    "no thinking": ("gemini-2.0-flash", {"effort": "low"}, {}, ["effort"]),
    "schema": (PRO, {"output_schema": SCHEMA}, {"generationConfig": JSON_ANSWER}, []),
    "schema beside tools": (
        PRO,
        {"output_schema": SCHEMA, "tools": TOOLS},
        {"tools": TOOLS_SENT, "generationConfig": JSON_ANSWER},
        [],
    ),
    "schema or tools": (
        "gemini-2.5-flash",
        {"output_schema": {}, "tools": TOOLS},
        {
            "systemInstruction": {
                "parts": [
                    {
                        "text": "Answer with one JSON value and nothing else."
                        " It must be valid against this JSON schema:\n{}"
                    }
                ]
            },
            "tools": TOOLS_SENT,
        },
        ["output_schema"],
    ),
    "limit, sampling, stop, seed": (
        PRO,
        {"max_output_tokens": 5, "temperature": 0, "top_p": 0.9, "stop": ("A",), "seed": 0},
        {
            "generationConfig": {
                "maxOutputTokens": 5,
                "temperature": 0,
                "topP": 0.9,
                "seed": 0,
                "stopSequences": ["A"],
            }
        },
        [],
    ),
    "cached anyway": (PRO, {"cache": "5m"}, {}, []),
    "cached anyway, not for long": (PRO, {"cache": "1h"}, {}, ["cache"]),
    "options": (
        PRO,
        {"seed": 1, "provider_options": {"generationConfig": {"topK": 3}, "cachedContent": "c"}},
        {"generationConfig": {"seed": 1, "topK": 3}, "cachedContent": "c"},
        [],
    ),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_settings_are_asked_in_the_wires_own_way(case: str) -> None:
    slug, settings, expected, warned = SETTINGS[case]
    assert body(slug, **settings) == ({"contents": HI_SENT} | expected, warned)


URLS = {
    "gemini-2.5-pro": "models/gemini-2.5-pro",
    "models/gemini-2.5-pro": "models/gemini-2.5-pro",
    "tunedModels/a b?": "tunedModels/a%20b%3F",
}


@pytest.mark.parametrize("model_id", URLS)
def test_address_and_key(model_id: str) -> None:
    request = build_request(resolve(f"google:{model_id}", api_key="k"), Call(tuple(HI)))
    base = "https://generativelanguage.googleapis.com/v1beta"
    assert request.url == f"{base}/{URLS[model_id]}:streamGenerateContent?alt=sse"
    assert request.headers["x-goog-api-key"] == "k"
