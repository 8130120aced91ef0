"""OpenAI Responses bodies, whole, feature by feature."""

from __future__ import annotations

from typing import Any

import pytest

from deuz_nb.errors import MisuseError
from deuz_nb.providers.catalog import resolve
from deuz_nb.providers.model import Call, ToolSpec
from deuz_nb.providers.requests import build_request

HI: list[Any] = [{"role": "user", "content": "Hi"}]
HI_SENT: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}]
SCHEMA = {"type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"]}
TOOLS = (ToolSpec("w", "Weather", SCHEMA), ToolSpec("t", "Time", {}, strict=True))
TOOLS_SENT = [
    {"type": "function", "name": "w", "description": "Weather", "parameters": SCHEMA, "strict": False},
    {
        "type": "function",
        "name": "t",
        "description": "Time",
        "parameters": {"type": "object", "properties": {}},
        "strict": True,
    },
]
CALL = {"type": "tool-call", "toolCallId": "call_1", "toolName": "w", "input": {"c": "Oslo"}}
CALL_SENT = {"type": "function_call", "call_id": "call_1", "name": "w", "arguments": '{"c":"Oslo"}'}
RESULT = {"type": "tool-result", "toolCallId": "call_1", "toolName": "w", "output": "3 C"}
RESULT_SENT = {"type": "function_call_output", "call_id": "call_1", "output": "3 C"}
INCLUDE = {"include": ["reasoning.encrypted_content"]}


def body(slug: str, messages: Any = HI, **settings: Any) -> tuple[dict[str, Any], list[str]]:
    """The body without what every body has, and what was warned of."""
    request = build_request(resolve(f"openai-responses:{slug}"), Call(tuple(messages), **settings))
    sent = dict(request.body)
    assert (sent.pop("model"), sent.pop("stream"), sent.pop("store")) == (slug, True, False)
    return sent, [warning.get("setting", "") for warning in request.warnings]


def _openai(**kept: Any) -> dict[str, Any]:
    return {"providerMetadata": {"openai": kept}}


def _thought(item_id: str | None, encrypted: str, *summary: str) -> dict[str, Any]:
    texts = [{"type": "summary_text", "text": text} for text in summary]
    named = {} if item_id is None else {"id": item_id}
    return {"type": "reasoning", **named, "summary": texts, "encrypted_content": encrypted}


def _said(*texts: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "output_text", "text": text} for text in texts], **more}


ANSWERS: dict[str, tuple[list[Any], list[Any]]] = {
    "text": ([{"type": "text", "text": "A"}, {"type": "text", "text": "B"}], [_said("A", "B")]),
    "each message has its phase": (
        [
            {"type": "text", "text": "Looking.", **_openai(phase="commentary")},
            {"type": "text", "text": "Still.", **_openai(phase="commentary")},
            CALL,
            {"type": "text", "text": "Done.", **_openai(phase="final_answer")},
        ],
        [_said("Looking.", "Still.", phase="commentary"), CALL_SENT, _said("Done.", phase="final_answer")],
    ),
    "reasoning with its summary and payload": (
        [
            {"type": "reasoning", "text": "First."},
            {"type": "reasoning", "text": "Second."},
            {"type": "reasoning", "text": "", "encrypted": "gAA1", **_openai(id="rs_1")},
            {"type": "reasoning", "text": "", "encrypted": "gAA2", **_openai(id="rs_2")},
            CALL,
            {"type": "reasoning", "text": "OPAQUE", "redacted": True},
            {"type": "reasoning", "text": "Third.", "encrypted": "gAA3", "signature": "S"},
            {"type": "text", "text": "So."},
        ],
        [
            _thought("rs_1", "gAA1", "First.", "Second."),
            _thought("rs_2", "gAA2"),
            CALL_SENT,
            _thought(None, "gAA3", "Third."),
            _said("So."),
        ],
    ),
    "payload in the text, id as signature": (
        [{"type": "reasoning", "text": "gAAA", "encrypted": True, "signature": "rs_9"}, CALL],
        [_thought("rs_9", "gAAA"), CALL_SENT],
    ),
    "summary as kept": (
        [
            {"type": "reasoning", "text": "AB"},
            {
                "type": "reasoning",
                "text": "",
                "encrypted": "gAAA",
                **_openai(id="rs_1", summary=[{"type": "summary_text", "text": "A"}]),
            },
        ],
        [_thought("rs_1", "gAAA", "A")],
    ),
    "reasoning that cannot be replayed": (
        [
            {"type": "reasoning", "text": "hm", "signature": "S"},
            {"type": "reasoning", "text": "OPAQUE", "redacted": True},
            {"type": "text", "text": "A"},
            {"type": "text", "text": "", "signature": "S"},
        ],
        [_said("A")],
    ),
    "call as named by the host": (
        [{**CALL, **_openai(id="fc_1", namespace="n", other=1)}],
        [{**CALL_SENT, "id": "fc_1", "namespace": "n"}],
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_is_its_items_in_order(case: str) -> None:
    content, items = ANSWERS[case]
    story = [*HI, {"role": "assistant", "content": content}]
    assert body("gpt-5.6", story) == ({"input": [*HI_SENT, *items]} | INCLUDE, [])


def test_results_and_later_instructions_keep_their_place() -> None:
    story = [
        {"role": "system", "content": "A"},
        {"role": "developer", "content": "B"},
        *HI,
        {"role": "assistant", "content": [CALL, {**CALL, "toolCallId": "x" * 65}]},
        {
            "role": "tool",
            "content": [RESULT, {**RESULT, "toolCallId": "x" * 65, "output": [1], "isError": True}],
        },
        {"role": "developer", "content": "C"},
    ]
    sent, warned = body("gpt-5.6", story)
    fitted = sent["input"][2]["call_id"]
    assert (len(fitted), warned) == (64, [])
    assert sent == INCLUDE | {
        "instructions": "A\n\nB",
        "input": [
            *HI_SENT,
            CALL_SENT,
            {**CALL_SENT, "call_id": fitted},
            RESULT_SENT,
            {**RESULT_SENT, "call_id": fitted, "output": '{"error":[1]}'},
            {"role": "developer", "content": [{"type": "input_text", "text": "C"}]},
        ],
    }


def test_calls_of_custom_tools_keep_their_free_text() -> None:
    call = {**CALL, "input": "print(1)", **_openai(type="custom_tool_call")}
    story = [*HI, {"role": "assistant", "content": [call]}, {"role": "tool", "content": [RESULT]}]
    assert body("gpt-5.6", story)[0]["input"][1:] == [
        {"type": "custom_tool_call", "call_id": "call_1", "name": "w", "input": "print(1)"},
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "3 C"},
    ]


def test_images_and_files() -> None:
    parts = [
        {"type": "text", "text": "Look"},
        {"type": "image", "url": "https://x.example/i", "detail": "high"},
        {"type": "image", "data": "iVBO", "mediaType": "image/png"},
        {"type": "file", "url": "https://x/a.pdf", "mediaType": "application/pdf"},
        {"type": "file", "data": "JVBE", "mediaType": "application/pdf"},
        {"type": "file", "data": "YSxi", "mediaType": "text/csv", "filename": "t.csv"},
    ]
    assert body("gpt-4.1", [{"role": "user", "content": parts}]) == (
        {
            "input": [
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "Look"},
                        {"type": "input_image", "image_url": "https://x.example/i", "detail": "high"},
                        {"type": "input_image", "image_url": "data:image/png;base64,iVBO", "detail": "auto"},
                        {"type": "input_file", "file_url": "https://x/a.pdf"},
                        {
                            "type": "input_file",
                            "filename": "document.pdf",
                            "file_data": "data:application/pdf;base64,JVBE",
                        },
                        {"type": "input_file", "filename": "t.csv", "file_data": "data:text/csv;base64,YSxi"},
                    ],
                }
            ]
        },
        [],
    )


SETTINGS: dict[str, tuple[str, dict[str, Any], dict[str, Any], list[str]]] = {
    "tools say whether they are strict": ("gpt-4.1", {"tools": TOOLS}, {"tools": TOOLS_SENT}, []),
    "one tool, one at a time": (
        "gpt-4.1",
        {"tools": TOOLS, "tool_choice": "w", "parallel_tool_calls": False},
        {
            "tools": TOOLS_SENT,
            "tool_choice": {"type": "function", "name": "w"},
            "parallel_tool_calls": False,
        },
        [],
    ),
    "required": (
        "gpt-4.1",
        {"tools": TOOLS, "tool_choice": "required"},
        {"tools": TOOLS_SENT, "tool_choice": "required"},
        [],
    ),
    "schema": (
        "gpt-4.1",
        {"output_schema": SCHEMA, "output_name": "w"},
        {
            "text": {
                "format": {
                    "type": "json_schema",
                    "name": "w",
                    "schema": SCHEMA | {"additionalProperties": False},
                    "strict": True,
                }
            }
        },
        [],
    ),
    "schema by instruction": (
        "gpt-4",
        {"output_schema": {}},
        {
            "instructions": "Answer with one JSON value and nothing else."
            " It must be valid against this JSON schema:\n{}"
        },
        ["output_schema"],
    ),
    "effort": (
        "gpt-5.6",
        {"effort": "max"},
        {"reasoning": {"effort": "max", "summary": "auto"}} | INCLUDE,
        [],
    ),
    "effort off": ("gpt-5.6", {"effort": "none"}, {"reasoning": {"effort": "none"}} | INCLUDE, []),
    "fixed effort": (
        "gpt-5.2-chat-latest",
        {"effort": "low"},
        {"reasoning": {"effort": "medium", "summary": "auto"}} | INCLUDE,
        ["effort"],
    ),
    "limit and sampling": (
        "gpt-4.1",
        {"max_output_tokens": 5, "temperature": 0.5, "top_p": 0.9},
        {"max_output_tokens": 5, "temperature": 0.5, "top_p": 0.9},
        [],
    ),
    "stop and seed": ("gpt-4.1", {"stop": ("A",), "seed": 1}, {}, ["stop", "seed"]),
    "cache": ("gpt-5.6", {"cache": "5m"}, {"prompt_cache_options": {"ttl": "30m"}} | INCLUDE, []),
    "long cache": ("gpt-5.6", {"cache": "1h"}, {"prompt_cache_options": {"ttl": "12h"}} | INCLUDE, []),
    "cached anyway": ("gpt-4.1", {"cache": "5m"}, {}, []),
    "cached anyway, not for long": ("gpt-4.1", {"cache": "1h"}, {}, ["cache"]),
    "unknown": ("next-thing", {"effort": "low"}, {}, ["model", "effort"]),
    "options": (
        "gpt-5.6",
        {"effort": "low", "provider_options": {"reasoning": {"summary": None}, "truncation": "auto"}},
        {"reasoning": {"effort": "low", "summary": None}, "truncation": "auto"} | INCLUDE,
        [],
    ),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_settings_are_asked_in_the_wires_own_way(case: str) -> None:
    slug, settings, expected, warned = SETTINGS[case]
    assert body(slug, **settings) == ({"input": HI_SENT} | expected, warned)


def test_sound_is_refused_with_what_to_do() -> None:
    part = {"type": "file", "data": "AA", "mediaType": "audio/wav"}
    with pytest.raises(
        MisuseError, match=r"messages\[0\]: the Responses API takes no audio/wav; use 'openai:'"
    ):
        body("gpt-4.1", [{"role": "user", "content": [part]}])


def test_address_and_key() -> None:
    request = build_request(resolve("openai-responses:gpt-5.6", api_key="k"), Call(tuple(HI)))
    assert (request.url, request.headers["authorization"]) == (
        "https://api.openai.com/v1/responses",
        "Bearer k",
    )
