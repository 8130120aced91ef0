"""What every wire has in common: mistakes named with their place, input kept whole, bodies that are JSON."""

from __future__ import annotations

import contextlib
import copy
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.errors import MisuseError
from deuz_nb.jsontext import dumps
from deuz_nb.providers.catalog import resolve
from deuz_nb.providers.forms import call_input, merged
from deuz_nb.providers.model import Call, Model, ToolSpec
from deuz_nb.providers.requests import build_request
from deuz_nb.providers.schemas import closed, is_strict

MODELS = {
    slug: resolve(slug, api_key="k")
    for slug in (
        "anthropic:claude-opus-5-5",
        "anthropic:claude-sonnet-4-5",
        "anthropic:unknown",
        "openai:gpt-5.6",
        "openai-responses:gpt-5.6",
        "google:gemini-3.1-pro-preview",
        "google:gemini-2.0-flash",
        "openrouter:anthropic/claude-opus-5",
        "deepseek:deepseek-flash",
        "mistral:mistral-small-latest",
        "groq:qwen/qwen3-32b",
        "ollama:llava",
        "vllm:acme",
    )
}
HI: list[Any] = [{"role": "user", "content": "Hi"}]
TOOL = ToolSpec("w", "Weather", {"type": "object"})


def _with(part: Any, role: str = "user") -> list[Any]:
    return [*HI, {"role": role, "content": [{"type": "text", "text": "a"}, part]}]


def _result(**more: Any) -> list[Any]:
    part = {"type": "tool-result", "toolCallId": "c", "toolName": "w", "output": 1}
    return [*HI, {"role": "tool", "content": [{**part, **more}]}]


LOOP: dict[str, Any] = {}
LOOP["self"] = LOOP

WRONG: dict[str, tuple[Any, str]] = {
    "text for messages": (
        "Hi",
        "messages must be a list of messages such as {'role': 'user', 'content': 'Hello'}",
    ),
    "none": ([], "messages hold nothing to answer"),
    "instructions only": ([{"role": "system", "content": "A"}], "messages hold nothing to answer"),
    "thoughts only": (
        [{"role": "assistant", "content": [{"type": "reasoning", "text": "a"}]}],
        "messages hold nothing to answer",
    ),
    "white space only": ([{"role": "user", "content": " \n"}], "messages hold nothing to answer"),
    "no message": ([*HI, "Hi"], "messages[1] must be a dict with 'role' and 'content', not str"),
    "no role": (
        [{"content": "Hi"}],
        "messages[0]: role None is not known: use one of system, developer, user",
    ),
    "wrong role": ([{"role": "human", "content": "Hi"}], "messages[0]: role 'human' is not known"),
    "strange role": ([{"role": ["user"], "content": "Hi"}], "messages[0]: role ['user'] is not known"),
    "no content": (
        [{"role": "user"}],
        "messages[0]: content must be text or a list of parts (text, image, file)",
    ),
    "number as content": ([{"role": "user", "content": 5}], "not int"),
    "empty text": ([{"role": "user", "content": ""}], "messages[0] is empty: give it text or image or file"),
    "no parts": (
        [{"role": "tool", "content": []}],
        "messages[0] is empty: give it tool-result, or leave it out",
    ),
    "text as result": (
        [{"role": "tool", "content": "3 C"}],
        "messages[0]: a tool message holds a list of tool-result",
    ),
    "no part": (_with("Hi"), "messages[1].content[1] must be a part, a dict with 'type', not str"),
    "no type": (
        _with({"text": "Hi"}),
        "messages[1].content[1]: a part of type None cannot be in a user message",
    ),
    "unknown part": (
        _with({"type": "video"}),
        "a part of type 'video' cannot be in a user message: use text, image, file",
    ),
    "misplaced part": (
        _with({"type": "image", "url": "https://x/i"}, "assistant"),
        "a part of type 'image' cannot be in a assistant message: use text, reasoning, tool-call",
    ),
    "no text": (
        _with({"type": "text"}),
        "messages[1].content[1]: a text part needs 'text' as text, not None",
    ),
    "neither url nor data": (
        _with({"type": "image"}),
        "messages[1].content[1]: give either 'url' or base64 'data'",
    ),
    "url and data": (
        _with({"type": "image", "url": "https://x/i", "data": "AA"}),
        "give either 'url' or base64 'data'",
    ),
    "data without type": (_with({"type": "image", "data": "AA"}), "'data' needs its 'mediaType'"),
    "bytes": (
        _with({"type": "image", "data": b"AA", "mediaType": "image/png"}),
        "'data' must be text, not bytes: encode bytes as base64 text",
    ),
    "a path": (_with({"type": "image", "url": "cat.png"}), "'url' must be an address on the network"),
    "a file url": (
        _with({"type": "image", "url": "file:///cat.png"}),
        "'url' must be an address on the network",
    ),
    "a data url in plain text": (
        _with({"type": "image", "url": "data:text/plain,hi"}),
        "a data: URL must be",
    ),
    "file without type": (
        _with({"type": "file", "url": "https://x/a"}),
        "a file part needs 'mediaType' as text",
    ),
    "call without id": (
        _with({"type": "tool-call", "toolName": "w", "input": {}}, "assistant"),
        "messages[1].content[1]: a tool-call part needs 'toolCallId' as text, not None",
    ),
    "call with empty name": (
        _with({"type": "tool-call", "toolCallId": "c", "toolName": "", "input": {}}, "assistant"),
        "messages[1].content[1]: 'toolName' is empty",
    ),
    "call without input": (
        _with({"type": "tool-call", "toolCallId": "c", "toolName": "w"}, "assistant"),
        "a tool-call part needs 'input'",
    ),
    "result that is no JSON": (
        _result(output={1, 2}),
        "messages[1].content[0].output: a set has no JSON form",
    ),
    "result that holds itself": (
        _result(output=LOOP),
        "messages[1].content[0].output: the value is nested too deeply",
    ),
    "metadata that is no dict": (
        _with({"type": "text", "text": "a", "providerMetadata": 5}),
        "'providerMetadata' must be a dict",
    ),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("slug", ["anthropic:claude-opus-5-5", "openai-responses:gpt-5.6"])
def test_a_wrong_message_is_named_with_its_place(slug: str, case: str) -> None:
    messages, message = WRONG[case]
    with pytest.raises(MisuseError) as caught:
        build_request(MODELS[slug], Call(messages))
    assert message in str(caught.value)


SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "effort": ({"effort": "huge"}, "effort='huge' is not known: use one of none, minimal, low, medium, high"),
    "cache": ({"cache": True}, "cache=True is not known: use '5m' or '1h'"),
    "limit of zero": ({"max_output_tokens": 0}, "max_output_tokens=0 must be a whole number of at least 1"),
    "limit in text": ({"max_output_tokens": "9"}, "max_output_tokens='9' must be"),
    "limit of truth": ({"max_output_tokens": True}, "max_output_tokens=True must be"),
    "temperature in text": ({"temperature": "hot"}, "temperature='hot' must be a number"),
    "endless top_p": ({"top_p": math.inf}, "top_p=inf must be a number"),
    "broken seed": ({"seed": 1.5}, "seed=1.5 must be a whole number"),
    "stop as text": ({"stop": "END"}, "stop='END' must be a tuple of texts, such as ('END',)"),
    "empty stop": ({"stop": ("",)}, "must be a tuple of texts"),
    "options": ({"provider_options": [1]}, "provider_options must be a dict, not list"),
    "options that are no JSON": (
        {"provider_options": {"a": object()}},
        "provider_options: a object has no JSON form",
    ),
    "choice without tools": (
        {"tool_choice": "required"},
        "tool_choice='required' needs tools to choose from",
    ),
    "choice of no tool": (
        {"tools": (TOOL,), "tool_choice": "x"},
        "tool_choice='x' is no tool: use 'auto', 'required'",
    ),
    "strange choice": ({"tools": (TOOL,), "tool_choice": ["w"]}, "tool_choice=['w'] is no tool"),
    "nameless tool": ({"tools": (ToolSpec("", "", {}),)}, "tools[0] needs a name"),
    "twins": ({"tools": (TOOL, TOOL)}, "tools[1]: a tool named 'w' is already there; rename one"),
    "no schema": (
        {"tools": (ToolSpec("w", "", [1]),)},
        "tools[0].parameters must be a JSON schema object, not list",
    ),  # type: ignore[arg-type]
    "no output schema": ({"output_schema": "str"}, "output_schema must be a JSON schema object, not str"),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_a_wrong_setting_says_what_is_accepted(case: str) -> None:
    settings, message = SETTINGS[case]
    with pytest.raises(MisuseError) as caught:
        build_request(MODELS["openai:gpt-5.6"], Call(tuple(HI), **settings))
    assert message in str(caught.value)


INPUTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "object": ({"a": 1}, {"a": 1}),
    "nothing": (None, {}),
    "blank": (" \n", {}),
    "an object in text": ('{"a": 1}', {"a": 1}),
    "broken text": ('{"a": ', {"INVALID_JSON": '{"a": '}),
    "a string in text": ('"a"', {"INVALID_JSON": '"a"'}),
    "a list": ([1, "a"], {"INVALID_JSON": '[1,"a"]'}),
    "a number": (5, {"INVALID_JSON": "5"}),
}


@pytest.mark.parametrize("case", INPUTS)
def test_invalid_input_of_a_call_is_replayed_as_an_object(case: str) -> None:
    given_input, expected = INPUTS[case]
    call = {"type": "tool-call", "toolCallId": "abcdefgh1", "toolName": "w", "input": given_input}
    call_ = Call((*HI, {"role": "assistant", "content": [call]}))
    assert call_input(given_input) == expected
    sent = {slug: build_request(model, call_).body for slug, model in MODELS.items()}
    assert sent["anthropic:unknown"]["messages"][1]["content"][0]["input"] == expected
    assert sent["google:gemini-2.0-flash"]["contents"][1]["parts"][0]["functionCall"]["args"] == expected
    assert json.loads(sent["openai-responses:gpt-5.6"]["input"][1]["arguments"]) == expected
    assert (
        json.loads(sent["openai:gpt-5.6"]["messages"][1]["tool_calls"][0]["function"]["arguments"])
        == expected
    )


def test_not_a_number_in_a_result_is_null() -> None:
    body = build_request(
        MODELS["google:gemini-2.0-flash"], Call(tuple(_result(output=[math.nan, (1,)])))
    ).body
    assert body["contents"][1]["parts"][0]["functionResponse"]["response"] == {"output": [None, [1]]}


def test_a_key_that_is_missing_or_blank_sends_no_header() -> None:
    for key in (None, "", " \n"):
        request = build_request(resolve("openai:gpt-5.6", api_key=key), Call(tuple(HI)))
        assert request.headers == {"content-type": "application/json", "accept": "text/event-stream"}


def test_a_model_made_by_hand_is_a_plain_compatible_one() -> None:
    model = Model(
        provider="scripted", wire="google", model_id="m", base_url="https://h.example/v1", api_key="k"
    )
    request = build_request(model, Call(tuple(HI)))
    assert request.url == "https://h.example/v1/models/m:streamGenerateContent?alt=sse"
    assert (request.headers["x-goog-api-key"], request.warnings) == ("k", ())


MERGES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "deep": ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3, "d": 4}}, {"a": {"b": 1, "c": 3, "d": 4}}),
    "lists are replaced": ({"a": [1]}, {"a": [2]}, {"a": [2]}),
    "null is a value": ({"a": {"b": 1}}, {"a": None}, {"a": None}),
    "object over text": ({"a": "x"}, {"a": {"b": 1}}, {"a": {"b": 1}}),
}


@pytest.mark.parametrize("case", MERGES)
def test_options_go_over_the_body_member_by_member(case: str) -> None:
    body, options, expected = MERGES[case]
    before = copy.deepcopy((body, options))
    assert merged(body, options) == expected
    assert (body, options) == before


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
SHUT = OPEN | {"additionalProperties": False}
CLOSINGS: dict[str, tuple[Any, Any, bool]] = {
    "object": (OPEN, SHUT, True),
    "optional member": (OPEN | {"required": []}, SHUT | {"required": []}, False),
    "in an array": ({"type": "array", "items": OPEN}, {"type": "array", "items": SHUT}, True),
    "in a choice": ({"anyOf": [OPEN, {"type": "null"}]}, {"anyOf": [SHUT, {"type": "null"}]}, True),
    "in a definition": (
        {"$defs": {"o": OPEN}, "$ref": "#/$defs/o"},
        {"$defs": {"o": SHUT}, "$ref": "#/$defs/o"},
        True,
    ),
    "members that are none": (SHUT | {"properties": [1]}, SHUT | {"properties": [1]}, False),
    "free members": (
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        False,
    ),
    "exclusive choice": ({"oneOf": [OPEN]}, {"oneOf": [SHUT]}, False),
    "a member called items": (
        {"type": "object", "properties": {"items": OPEN}, "required": ["items"]},
        {
            "type": "object",
            "properties": {"items": SHUT},
            "required": ["items"],
            "additionalProperties": False,
        },
        True,
    ),
    "truth": (True, True, True),
    "nonsense": (
        {"properties": [1], "required": 5, "anyOf": 3},
        {"properties": [1], "required": 5, "anyOf": 3},
        False,
    ),
}


@pytest.mark.parametrize("case", CLOSINGS)
def test_schemas_are_closed_and_judged_strict(case: str) -> None:
    schema, expected, strict = CLOSINGS[case]
    before = copy.deepcopy(schema)
    assert (closed(schema), is_strict(closed(schema))) == (expected, strict)
    assert schema == before


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
names = st.text(min_size=1, max_size=12)
said = st.text(min_size=1, max_size=8).filter(lambda text: bool(text.strip()))
kept = st.fixed_dictionaries(
    {},
    optional={
        "providerMetadata": st.dictionaries(
            st.sampled_from(["anthropic", "openai", "google", "openrouter", "extra_content"]),
            json_values,
            max_size=2,
        ),
        "signature": st.text(max_size=4),
    },
)


def _part(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(kind), **fields})


def _and_kept(part: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda own, more: own | more, part, kept)


hidden = st.fixed_dictionaries(
    {}, optional={"encrypted": st.text(max_size=4) | st.just(True)}
) | st.fixed_dictionaries({}, optional={"redacted": st.text(max_size=4) | st.just(True)})
reasoning = st.builds(
    lambda own, more: own | more, _and_kept(_part("reasoning", text=st.text(max_size=5))), hidden
)
call = _and_kept(_part("tool-call", toolCallId=names, toolName=names, input=json_values))
result = st.builds(
    lambda own, error: own | error,
    _part("tool-result", toolCallId=names, toolName=names, output=json_values),
    st.fixed_dictionaries({}, optional={"isError": st.booleans()}),
)
message = st.one_of(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "developer", "user"]), "content": said}),
    st.fixed_dictionaries(
        {"role": st.just("user"), "content": st.lists(_part("text", text=said), min_size=1)}
    ),
    st.fixed_dictionaries({"role": st.just("assistant"), "content": st.text(max_size=5)}),
    st.fixed_dictionaries(
        {
            "role": st.just("assistant"),
            "content": st.lists(
                _and_kept(_part("text", text=st.text(max_size=5))) | reasoning | call, max_size=5
            ),
        }
    ),
    st.fixed_dictionaries({"role": st.just("tool"), "content": st.lists(result, min_size=1, max_size=3)}),
)


@given(
    st.lists(message, max_size=6),
    st.sampled_from(sorted(MODELS)),
    st.sampled_from([None, "none", "low", "max"]),
)
def test_any_valid_messages_give_a_json_body_and_stay_as_they_were(
    messages: list[Any], slug: str, effort: Any
) -> None:
    asked = [*messages, {"role": "user", "content": "And?"}]
    before = copy.deepcopy(asked)
    request = build_request(
        MODELS[slug], Call(tuple(asked), tools=(TOOL,), effort=effort, output_schema=OPEN)
    )
    assert json.loads(dumps(request.body)) == json.loads(json.dumps(request.body, allow_nan=False))
    assert dumps(asked) == dumps(before)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["system", "user", "assistant", "tool"]) | json_values},
            optional={
                "content": json_values
                | st.lists(
                    st.dictionaries(
                        st.sampled_from(
                            ["type", "text", "url", "data", "mediaType", "toolCallId", "toolName", "input"]
                        ),
                        json_values | st.sampled_from(["text", "image", "file", "tool-call", "tool-result"]),
                    )
                )
            },
        )
        | json_values,
        max_size=3,
    )
    | json_values,
    st.sampled_from(sorted(MODELS)),
)
def test_anything_else_is_a_misuse_and_nothing_worse(messages: Any, slug: str) -> None:
    with contextlib.suppress(MisuseError):
        build_request(MODELS[slug], Call(messages))
