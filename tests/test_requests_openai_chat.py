"""Chat Completions bodies, whole: OpenAI's own, and the ways of the compatible family."""

from __future__ import annotations

from typing import Any

import pytest

from deuz_nb.errors import MisuseError
from deuz_nb.providers.catalog import openai_compatible, resolve
from deuz_nb.providers.model import Call, Model, ToolSpec
from deuz_nb.providers.requests import build_request

HI: list[Any] = [{"role": "user", "content": "Hi"}]
SCHEMA = {"type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"]}
CLOSED = SCHEMA | {"additionalProperties": False}
TOOLS = (ToolSpec("w", "Weather", SCHEMA), ToolSpec("t", "Time", {}, strict=False))
TOOLS_SENT = [
    {"type": "function", "function": {"name": "w", "description": "Weather", "parameters": SCHEMA}},
    {
        "type": "function",
        "function": {
            "name": "t",
            "description": "Time",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        },
    },
]
CALL = {"type": "tool-call", "toolCallId": "call_1", "toolName": "w", "input": {"c": "Oslo"}}
CALL_SENT = {"id": "call_1", "type": "function", "function": {"name": "w", "arguments": '{"c":"Oslo"}'}}
RESULT = {"type": "tool-result", "toolCallId": "call_1", "toolName": "w", "output": "3 C"}
RESULT_SENT = {"role": "tool", "tool_call_id": "call_1", "content": "3 C"}
INSTRUCTION = (
    "Answer with one JSON value and nothing else. It must be valid against this JSON schema:\n"
    '{"type":"object","properties":{"c":{"type":"string"}},"required":["c"]}'
)
USAGE = {"stream_options": {"include_usage": True}}


def body(model: str | Model, messages: Any = HI, **settings: Any) -> tuple[dict[str, Any], list[str]]:
    """The body without `model` and `stream`, and what was warned of."""
    model = resolve(model) if isinstance(model, str) else model
    request = build_request(model, Call(tuple(messages), **settings))
    sent = dict(request.body)
    assert (sent.pop("model"), sent.pop("stream")) == (model.model_id, True)
    return sent, [warning.get("setting", "") for warning in request.warnings]


MESSAGES: dict[str, tuple[str, list[Any], list[Any]]] = {
    "developer for models that think": (
        "openai:gpt-5.6",
        [{"role": "system", "content": "A"}, {"role": "developer", "content": "B"}, *HI],
        [{"role": "developer", "content": "A\n\nB"}, *HI],
    ),
    "system for others, later ones in place": (
        "openai:gpt-4.1",
        [{"role": "developer", "content": "A"}, *HI, {"role": "system", "content": "B"}],
        [{"role": "system", "content": "A"}, *HI, {"role": "system", "content": "B"}],
    ),
    "images, files, sound": (
        "openai:gpt-4.1",
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look"},
                    {"type": "image", "url": "https://x.example/i", "detail": "low"},
                    {"type": "image", "data": "iVBO", "mediaType": "image/png"},
                    {"type": "file", "data": "JVBE", "mediaType": "application/pdf", "filename": "a.pdf"},
                    {
                        "type": "file",
                        "url": "data:application/pdf;base64,JVBE",
                        "mediaType": "application/pdf",
                    },
                    {"type": "file", "data": "UklG", "mediaType": "audio/wav"},
                ],
            }
        ],
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look"},
                    {"type": "image_url", "image_url": {"url": "https://x.example/i", "detail": "low"}},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}},
                    {
                        "type": "file",
                        "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"},
                    },
                    {
                        "type": "file",
                        "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,JVBE"},
                    },
                    {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
                ],
            }
        ],
    ),
    "calls and results, no reasoning": (
        "openai:gpt-5.6",
        [
            *HI,
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "text": "hm", "signature": "S"},
                    {"type": "text", "text": "One. "},
                    {"type": "text", "text": "Two."},
                    CALL,
                    {
                        **CALL,
                        "toolCallId": "b",
                        "providerMetadata": {"extra_content": {"google": {"s": "T"}}},
                    },
                ],
            },
            {
                "role": "tool",
                "content": [RESULT, {**RESULT, "toolCallId": "b", "output": "no", "isError": True}],
            },
            {"role": "assistant", "content": [{"type": "reasoning", "text": "only thoughts"}]},
        ],
        [
            *HI,
            {
                "role": "assistant",
                "content": "One. Two.",
                "tool_calls": [CALL_SENT, {**CALL_SENT, "id": "b", "extra_content": {"google": {"s": "T"}}}],
            },
            RESULT_SENT,
            {"role": "tool", "tool_call_id": "b", "content": '{"error":"no"}'},
        ],
    ),
    "pdf at OpenRouter by address": (
        "openrouter:anthropic/claude-opus-5",
        [
            {
                "role": "user",
                "content": [{"type": "file", "url": "https://x/a.pdf", "mediaType": "application/pdf"}],
            }
        ],
        [
            {
                "role": "user",
                "content": [
                    {"type": "file", "file": {"filename": "document.pdf", "file_data": "https://x/a.pdf"}}
                ],
            }
        ],
    ),
    "pdf at Mistral": (
        "mistral:mistral-large-latest",
        [
            {
                "role": "user",
                "content": [{"type": "file", "url": "https://x/a.pdf", "mediaType": "application/pdf"}],
            }
        ],
        [{"role": "user", "content": [{"type": "document_url", "document_url": "https://x/a.pdf"}]}],
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages_keep_their_order_and_parts(case: str) -> None:
    slug, messages, expected = MESSAGES[case]
    usage = {} if slug.startswith("mistral:") else USAGE
    assert body(slug, messages) == ({"messages": expected} | usage, [])


THOUGHT = {"type": "reasoning", "text": "hm"}
DETAILS = [
    {"type": "reasoning.text", "text": "hm", "signature": "S", "index": 0, "format": "anthropic-claude-v1"},
    {"type": "reasoning.encrypted", "data": "BLOB", "id": "rs_1", "index": 1},
]
REPLAYS: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    "openrouter, as kept": (
        "openrouter:anthropic/claude-opus-5",
        [
            {
                **THOUGHT,
                "signature": "S",
                "providerMetadata": {"openrouter": {"reasoning_details": [DETAILS[0]]}},
            },
            {
                "type": "reasoning",
                "text": "",
                "encrypted": "BLOB",
                "providerMetadata": {"openrouter": {"reasoning_details": [DETAILS[1]]}},
            },
        ],
        {"reasoning_details": DETAILS},
    ),
    "openrouter, rebuilt": (
        "openrouter:openai/gpt-5.6",
        [
            {
                **THOUGHT,
                "signature": "S",
                "providerMetadata": {"openrouter": {"format": "anthropic-claude-v1"}},
            },
            {
                "type": "reasoning",
                "text": "",
                "encrypted": "BLOB",
                "providerMetadata": {"openrouter": {"id": "rs_1"}},
            },
            {"type": "reasoning", "text": "", "redacted": "X"},
        ],
        {"reasoning_details": DETAILS},
    ),
    "deepseek": (
        "deepseek:deepseek-flash",
        [THOUGHT, {**THOUGHT, "text": "!"}],
        {"reasoning_content": "hm!"},
    ),
    "deepseek without any": ("deepseek:deepseek-flash", [], {"reasoning_content": ""}),
    "deepseek that does not think": ("deepseek:deepseek-chat", [], {}),
    "groq": ("groq:openai/gpt-oss-120b", [THOUGHT], {"reasoning": "hm"}),
    "ollama": ("ollama:qwen3:4b", [THOUGHT], {"reasoning": "hm"}),
    "vllm": ("vllm:Qwen/Qwen3-8B", [THOUGHT], {"reasoning": "hm"}),
    "llama.cpp": ("llamacpp:qwen3", [THOUGHT], {"reasoning_content": "hm"}),
    "mistral": (
        "mistral:magistral-medium-2509",
        [THOUGHT, {**THOUGHT, "text": "!", "signature": "S"}, {"type": "text", "text": "So."}, THOUGHT],
        {
            "content": [
                {
                    "type": "thinking",
                    "thinking": [{"type": "text", "text": "hm"}, {"type": "text", "text": "!"}],
                    "signature": "S",
                },
                {"type": "text", "text": "So."},
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            ]
        },
    ),
    "xai": ("xai:grok-4.5", [THOUGHT], {}),
    "openai": ("openai:gpt-5.6", [THOUGHT], {}),
}


@pytest.mark.parametrize("case", REPLAYS)
def test_reasoning_of_a_turn_with_calls_goes_back_in_the_hosts_own_member(case: str) -> None:
    slug, thoughts, expected = REPLAYS[case]
    call = {**CALL, "toolCallId": "abcdefgh1"}
    sent, _ = body(slug, [*HI, {"role": "assistant", "content": [*thoughts, call]}])
    tool_calls = {"tool_calls": [{**CALL_SENT, "id": "abcdefgh1"}]}
    assert sent["messages"][1] == {"role": "assistant", "content": None} | expected | tool_calls


def test_deepseek_gets_the_reasoning_of_every_answer_once_tools_are_in_play() -> None:
    answer = {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "Yes"}]}
    plain = {"role": "assistant", "content": "Yes"}
    assert body("deepseek:deepseek-flash", [*HI, answer, *HI])[0]["messages"] == [*HI, plain, *HI]
    with_tools, _ = body("deepseek:deepseek-flash", [*HI, answer, *HI], tools=TOOLS)
    assert with_tools["messages"] == [*HI, plain | {"reasoning_content": "hm"}, *HI]


def test_mistral_ids_are_fitted_alike_for_call_and_result() -> None:
    story = [*HI, {"role": "assistant", "content": [CALL]}, {"role": "tool", "content": [RESULT]}]
    messages = body("mistral:mistral-large-latest", story)[0]["messages"]
    fitted = messages[1]["tool_calls"][0]["id"]
    assert (len(fitted), fitted.isalnum()) == (9, True)
    assert messages[2] == {"role": "tool", "tool_call_id": fitted, "content": "3 C", "name": "w"}


SETTINGS: dict[str, tuple[str, dict[str, Any], dict[str, Any], list[str]]] = {
    "tools": (
        "openai:gpt-5.6",
        {"tools": TOOLS, "tool_choice": "auto"},
        {"tools": TOOLS_SENT, "tool_choice": "auto"},
        [],
    ),
    "one tool, one at a time": (
        "openai:gpt-5.6",
        {"tools": TOOLS, "tool_choice": "w", "parallel_tool_calls": False},
        {
            "tools": TOOLS_SENT,
            "tool_choice": {"type": "function", "function": {"name": "w"}},
            "parallel_tool_calls": False,
        },
        [],
    ),
    "schema": (
        "openai:gpt-4.1",
        {"output_schema": SCHEMA, "output_name": "my answer"},
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "my_answer", "schema": CLOSED, "strict": True},
            }
        },
        [],
    ),
    "schema with optional members is not strict": (
        "openai:gpt-4.1",
        {"output_schema": {**SCHEMA, "required": []}},
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "output", "schema": {**SCHEMA, "required": []}, "strict": False},
            }
        },
        [],
    ),
    "schema in JSON mode": (
        "deepseek:deepseek-chat",
        {"output_schema": SCHEMA},
        {
            "messages": [{"role": "system", "content": INSTRUCTION}, *HI],
            "response_format": {"type": "json_object"},
        },
        ["output_schema"],
    ),
    "effort": ("openai:gpt-5.6", {"effort": "low"}, {"reasoning_effort": "low"}, []),
    "effort off": ("openai:gpt-5.6", {"effort": "none"}, {"reasoning_effort": "none"}, []),
    "no max on chat": ("openai:gpt-5.6", {"effort": "max"}, {"reasoning_effort": "xhigh"}, ["effort"]),
    "off is not to be had": ("openai:gpt-5", {"effort": "none"}, {"reasoning_effort": "minimal"}, ["effort"]),
    "effort without thinking": ("openai:gpt-4.1", {"effort": "low"}, {}, ["effort"]),
    "openrouter effort": (
        "openrouter:openai/gpt-5.6",
        {"effort": "max"},
        {"reasoning": {"effort": "max"}},
        [],
    ),
    "deepseek effort": (
        "deepseek:deepseek-v4-pro",
        {"effort": "medium"},
        {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
        ["effort"],
    ),
    "deepseek xhigh": (
        "deepseek:deepseek-v4-pro",
        {"effort": "xhigh"},
        {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
        ["effort"],
    ),
    "deepseek off": ("deepseek:deepseek-v4-pro", {"effort": "none"}, {"thinking": {"type": "disabled"}}, []),
    "deepseek forced tool": (
        "deepseek:deepseek-v4-pro",
        {"tools": TOOLS, "tool_choice": "required"},
        {"tools": TOOLS_SENT, "tool_choice": "required", "thinking": {"type": "disabled"}},
        ["effort"],
    ),
    "groq qwen": (
        "groq:qwen/qwen3-32b",
        {"effort": "none"},
        {"reasoning_format": "parsed", "reasoning_effort": "none"},
        [],
    ),
    "groq gpt-oss": ("groq:openai/gpt-oss-20b", {"effort": "high"}, {"reasoning_effort": "high"}, []),
    "mistral effort": (
        "mistral:mistral-small-latest",
        {"effort": "low"},
        {"reasoning_effort": "high"},
        ["effort"],
    ),
    "ollama effort": ("ollama:qwen3:4b", {"effort": "none"}, {"reasoning_effort": "none"}, []),
    "vllm has no word": ("vllm:Qwen/Qwen3-8B", {"effort": "low"}, {}, ["effort"]),
    "limit": ("openai:gpt-4.1", {"max_output_tokens": 9}, {"max_completion_tokens": 9}, []),
    "old limit": ("deepseek:deepseek-chat", {"max_output_tokens": 9}, {"max_tokens": 9}, []),
    "new limit elsewhere": (
        "openrouter:openai/o3",
        {"max_output_tokens": 9},
        {"max_completion_tokens": 9},
        [],
    ),
    "sampling": (
        "openai:gpt-4.1",
        {"temperature": 0.5, "top_p": 0.9, "seed": 3},
        {"temperature": 0.5, "top_p": 0.9, "seed": 3},
        [],
    ),
    "sampling while thinking": ("openai:gpt-5.6", {"temperature": 0.5}, {}, ["temperature"]),
    "sampling with thinking off": (
        "openai:gpt-5.6",
        {"temperature": 0.5, "effort": "none"},
        {"temperature": 0.5, "reasoning_effort": "none"},
        [],
    ),
    "sampling where thinking is asked for": (
        "openai:gpt-5.4",
        {"temperature": 0.5},
        {"temperature": 0.5},
        [],
    ),
    "mistral seed": ("mistral:mistral-large-latest", {"seed": 3}, {"random_seed": 3}, []),
    "stop": ("openai:gpt-4.1", {"stop": ("A", "B")}, {"stop": ["A", "B"]}, []),
    "stop refused": ("openai:o3", {"stop": ("A",)}, {}, ["stop"]),
    "many stops elsewhere": ("ollama:llama3.2", {"stop": tuple("ABCDE")}, {"stop": list("ABCDE")}, []),
    "cache": ("openai:gpt-5.6", {"cache": "5m"}, {"prompt_cache_options": {"ttl": "30m"}}, []),
    "long cache": ("openai:gpt-5.6", {"cache": "1h"}, {"prompt_cache_options": {"ttl": "30m"}}, ["cache"]),
    "claude cache": (
        "openrouter:anthropic/claude-opus-5",
        {"cache": "1h"},
        {"cache_control": {"type": "ephemeral", "ttl": "1h"}},
        [],
    ),
    "cached anyway": ("deepseek:deepseek-chat", {"cache": "5m"}, {}, []),
    "cached anyway, not for long": ("deepseek:deepseek-chat", {"cache": "1h"}, {}, ["cache"]),
    "options": (
        "openai:gpt-4.1",
        {"provider_options": {"stream_options": {"include_obfuscation": False}, "user": "u"}},
        {"stream_options": {"include_usage": True, "include_obfuscation": False}, "user": "u"},
        [],
    ),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_settings_are_asked_in_the_hosts_own_way(case: str) -> None:
    slug, settings, expected, warned = SETTINGS[case]
    usage = {} if slug.startswith(("groq:", "mistral:")) else USAGE
    assert body(slug, **settings) == ({"messages": HI} | usage | expected, warned)


def test_an_instruction_joins_the_instructions_there_are() -> None:
    sent, _ = body("deepseek:deepseek-chat", [{"role": "system", "content": "A"}, *HI], output_schema=SCHEMA)
    assert sent["messages"] == [{"role": "system", "content": "A\n\n" + INSTRUCTION}, *HI]


def test_an_unknown_model_is_asked_modestly_but_sent_everything() -> None:
    image = [{"role": "user", "content": [{"type": "image", "data": "iVBO", "mediaType": "image/png"}]}]
    model = openai_compatible("mine", "https://h.example/v1", model_id="acme")
    sent = [
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}],
        }
    ]
    assert body(model, image, effort="high", cache="5m", max_output_tokens=5) == (
        {"messages": sent, "max_tokens": 5} | USAGE,
        ["model", "effort", "cache"],
    )


def test_a_model_that_calls_one_tool_at_a_time_is_not_asked_for_more() -> None:
    model = resolve("ollama:acme", capabilities={"parallel_tools": False})
    assert body(model, tools=TOOLS, parallel_tool_calls=True)[1] == ["parallel_tool_calls"]
    assert body(model, tools=TOOLS, parallel_tool_calls=False)[1] == []


def test_quirks_of_a_host_can_be_told() -> None:
    model = openai_compatible(
        "mine",
        "https://h.example/v1",
        model_id="acme",
        quirks={"replay": "reasoning_content", "max_tokens": "max_completion_tokens", "auth": "api-key"},
        api_key="k",
        capabilities={"stream_usage": False},
    )
    story = [*HI, {"role": "assistant", "content": [THOUGHT, CALL]}]
    turn = {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [CALL_SENT]}
    assert body(model, story, max_output_tokens=5) == (
        {"messages": [*HI, turn], "max_completion_tokens": 5},
        [],
    )
    assert build_request(model, Call(tuple(HI))).headers["api-key"] == "k"


def _user(**part: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [part]}]}


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "pdf by address": (
        "openai:gpt-4.1",
        _user(type="file", url="https://x/a.pdf", mediaType="application/pdf"),
        "messages[0]: OpenAI (Chat Completions) takes a PDF only as data; read it and give base64 'data'",
    ),
    "pdf at a host without": (
        "groq:acme",
        _user(type="file", data="AA", mediaType="application/pdf"),
        "messages[0]: Groq takes no application/pdf here; send its text as a text part",
    ),
    "sound by address": (
        "openai:gpt-4.1",
        _user(type="file", url="https://x/a", mediaType="audio/wav"),
        "takes no audio/wav by URL",
    ),
    "image for a blind model": (
        "deepseek:deepseek-chat",
        _user(type="image", url="https://x/a.png"),
        "messages[0]: deepseek-chat takes no images; choose a model that does",
    ),
    "too many stops": (
        "openai:gpt-4.1",
        {"stop": tuple("ABCDE")},
        "stop has 5 texts; OpenAI (Chat Completions) takes at most 4",
    ),
    "forced tool while always thinking": (
        "deepseek:deepseek-r1",
        {"tools": TOOLS, "tool_choice": "required"},
        "always thinks, and then no tool can be forced; use tool_choice='auto'",
    ),
    "tools for a model without": (
        "openai:chatgpt-4o-latest",
        {"tools": TOOLS},
        "chatgpt-4o-latest takes no tools",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_left_out_is_refused_with_what_to_do(case: str) -> None:
    slug, settings, message = REFUSED[case]
    with pytest.raises(MisuseError) as caught:
        body(slug, **settings)
    assert message in str(caught.value)


ADDRESSES: dict[str, tuple[Model, str, dict[str, str]]] = {
    "openai": (
        resolve("openai:gpt-5.6", api_key="k"),
        "https://api.openai.com/v1/chat/completions",
        {"authorization": "Bearer k"},
    ),
    "azure": (
        resolve("azure:dep", base_url="https://r.example", api_version="2024-10-21", api_key="k"),
        "https://r.example/openai/deployments/dep/chat/completions?api-version=2024-10-21",
        {"api-key": "k"},
    ),
    "azure by the other wire": (
        resolve("azure:dep", base_url="https://r.example", wire="openai-responses", api_key="k"),
        "https://r.example/openai/v1/responses",
        {"api-key": "k"},
    ),
    "without key": (resolve("ollama:m"), "http://localhost:11434/v1/chat/completions", {}),
    "with query": (
        resolve("https://h.example/v1?a=1", model="m", query={"b": "2 3"}, api_key="k"),
        "https://h.example/v1/chat/completions?a=1&b=2+3",
        {"authorization": "Bearer k"},
    ),
}


@pytest.mark.parametrize("case", ADDRESSES)
def test_address_and_key(case: str) -> None:
    model, url, key = ADDRESSES[case]
    request = build_request(model, Call(tuple(HI)))
    plain = {"content-type": "application/json", "accept": "text/event-stream"}
    assert (request.url, request.headers) == (url, plain | key)
