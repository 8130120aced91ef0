"""Slugs and URLs become models: host, wire, address, key variable, capabilities, what the parser is told."""

from __future__ import annotations

from typing import Any

import pytest

from deuz_nb.errors import MisuseError, UnknownModelError
from deuz_nb.providers.catalog import HOSTS, openai_compatible, parser_context, resolve
from deuz_nb.providers.model import Capabilities, Model

SLUGS: dict[str, tuple[str, str, str, str | None]] = {
    "anthropic:claude-opus-5-5": ("anthropic", "anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "openai:gpt-5.6": ("openai", "openai-chat", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openai-responses:gpt-5.6": ("openai", "openai-responses", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "google:gemini-3.1-pro-preview": (
        "google",
        "google",
        "https://generativelanguage.googleapis.com/v1beta",
        "GEMINI_API_KEY",
    ),
    "openrouter:z-ai/glm-5": (
        "openrouter",
        "openai-chat",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
    ),
    "deepseek:deepseek-flash": ("deepseek", "openai-chat", "https://api.deepseek.com", "DEEPSEEK_API_KEY"),
    "groq:openai/gpt-oss-120b": ("groq", "openai-chat", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral:mistral-large-latest": (
        "mistral",
        "openai-chat",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
    ),
    "xai:grok-4.5": ("xai", "openai-chat", "https://api.x.ai/v1", "XAI_API_KEY"),
    "together:Qwen/Qwen3-235B": (
        "together",
        "openai-chat",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
    ),
    "fireworks:accounts/fireworks/models/gpt-oss-20b": (
        "fireworks",
        "openai-chat",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
    ),
    "ollama:llama3.2:1b": ("ollama", "openai-chat", "http://localhost:11434/v1", None),
    "lmstudio:qwen3-4b": ("lmstudio", "openai-chat", "http://localhost:1234/v1", None),
    "vllm:Qwen/Qwen3-8B": ("vllm", "openai-chat", "http://localhost:8000/v1", None),
    "llamacpp:gemma-3-4b": ("llamacpp", "openai-chat", "http://localhost:8080/v1", None),
}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_slug_names_provider_wire_address_and_key_variable(slug: str) -> None:
    model = resolve(slug)
    assert (model.provider, model.wire, model.base_url, model.key_variable) == SLUGS[slug]
    assert (model.model_id, model.is_known) == (slug.partition(":")[2], True)


def test_every_host_has_a_slug_that_resolves() -> None:
    assert [resolve(f"{slug}:m", base_url="https://r.example").provider for slug in HOSTS] == [
        "openai" if slug == "openai-responses" else slug for slug in HOSTS
    ]


URLS: dict[str, tuple[dict[str, Any], tuple[str, str, str]]] = {
    "https://llm.example/v1": ({}, ("llm.example", "openai-chat", "https://llm.example/v1")),
    "https://llm.example": ({}, ("llm.example", "openai-chat", "https://llm.example/v1")),
    "https://llm.example/": ({}, ("llm.example", "openai-chat", "https://llm.example/v1")),
    "https://LLM.example/a/v2/?tier=x": (
        {},
        ("llm.example", "openai-chat", "https://LLM.example/a/v2?tier=x"),
    ),
    "https://llm.example/v1/chat/completions": ({}, ("llm.example", "openai-chat", "https://llm.example/v1")),
    "https://llm.example/v1/responses": ({}, ("llm.example", "openai-responses", "https://llm.example/v1")),
    "https://llm.example/v1/messages": ({}, ("llm.example", "anthropic", "https://llm.example/v1")),
    "https://api.openai.com/v1/responses": ({}, ("openai", "openai-responses", "https://api.openai.com/v1")),
    "https://api.deepseek.com": ({}, ("deepseek", "openai-chat", "https://api.deepseek.com")),
    "http://127.0.0.1:11434": ({}, ("ollama", "openai-chat", "http://127.0.0.1:11434/v1")),
    "http://localhost:9999/v1": ({"provider": "mine"}, ("mine", "openai-chat", "http://localhost:9999/v1")),
    "https://api.deepseek.com/anthropic": (
        {"wire": "anthropic"},
        ("deepseek", "anthropic", "https://api.deepseek.com/anthropic"),
    ),
    "https://gemini.example": (
        {"wire": "google"},
        ("gemini.example", "google", "https://gemini.example/v1beta"),
    ),
}


@pytest.mark.parametrize("url", URLS)
def test_a_url_is_a_host_of_its_own_or_a_known_one(url: str) -> None:
    options, expected = URLS[url]
    model = resolve(url, model="m", **options)
    assert (model.provider, model.wire, model.base_url) == expected


def test_any_server_can_be_named_and_known_names_bring_their_ways() -> None:
    mine = openai_compatible(
        "mine", "http://localhost:9/v1", model_id="foo", api_key="k", headers={"X-A": "1"}
    )
    assert mine == Model(
        provider="mine",
        wire="openai-chat",
        model_id="foo",
        base_url="http://localhost:9/v1",
        api_key="k",
        capabilities=Capabilities(json_mode=True),
        headers={"X-A": "1"},
        is_known=False,
    )
    there = openai_compatible("ollama", "http://gpu.example:11434", model_id="gpt-oss:20b")
    assert (there.base_url, there.capabilities) == (
        "http://gpu.example:11434/v1",
        resolve("ollama:gpt-oss:20b").capabilities,
    )


AZURE: dict[str, tuple[str, str | None, str, dict[str, str]]] = {
    "v1": ("https://r.openai.azure.com", None, "https://r.openai.azure.com/openai/v1", {}),
    "dated": (
        "https://r.openai.azure.com/",
        "2024-10-21",
        "https://r.openai.azure.com/openai/deployments/dep",
        {"api-version": "2024-10-21"},
    ),
    "preview": (
        "https://r.openai.azure.com/openai/v1/",
        "preview",
        "https://r.openai.azure.com/openai/v1",
        {"api-version": "preview"},
    ),
}


@pytest.mark.parametrize("case", AZURE)
def test_azure_sends_the_deployment_and_judges_by_the_model_behind_it(case: str) -> None:
    base_url, version, address, query = AZURE[case]
    model = resolve("azure:dep", base_url=base_url, api_version=version, base_model="gpt-5.4")
    assert (model.model_id, model.base_url, model.query) == ("dep", address, query)
    assert (model.options, model.is_known) == ({"base_model": "gpt-5.4"}, True)
    assert model.capabilities == resolve("openai:gpt-5.4").capabilities


KNOWN: dict[str, dict[str, object]] = {
    "anthropic:claude-opus-5-5": {
        "thinking": "adaptive",
        "thinking_off": None,
        "forced_tools": False,
        "temperature": False,
    },
    "anthropic:claude-sonnet-5-5-20261001": {"thinking_off": "between_tools", "thinks_by_default": True},
    "anthropic:claude-haiku-5-5": {
        "thinking_off": "disabled",
        "forced_tools": True,
        "max_output_tokens": 128_000,
    },
    "anthropic:claude-opus-4-8": {"thinks_by_default": False, "temperature": False},
    "anthropic:claude-sonnet-4-5": {"thinking": "budget", "temperature": True, "max_output_tokens": 64_000},
    "anthropic:claude-3-haiku-20240307": {"reasoning": False, "pdf": False, "max_output_tokens": 4096},
    "openai:gpt-5.6-sol": {"efforts": ("low", "medium", "high", "xhigh"), "thinking_off": "none"},
    "openai-responses:gpt-5.6-sol": {
        "efforts": ("low", "medium", "high", "xhigh", "max"),
        "prompt_caching": True,
    },
    "openai:gpt-5": {"efforts": ("minimal", "low", "medium", "high"), "thinking_off": None},
    "openai:gpt-5-chat-latest": {"reasoning": False, "temperature": True},
    "openai:o3": {"stop_sequences": False, "efforts": ("low", "medium", "high")},
    "openai:o3-mini": {"images": False, "pdf": False},
    "openai:gpt-4.1": {"reasoning": False, "structured_output": True, "images": True},
    "google:gemini-2.5-flash": {"thinking": "budget", "thinking_off": "budget"},
    "google:gemini-2.5-pro": {"thinking": "budget", "thinking_off": None},
    "google:gemini-3-flash-preview": {"thinking": "level", "efforts": ("minimal", "low", "medium", "high")},
    "google:gemini-4-argon": {"thinking": "level", "efforts": ("low", "medium", "high")},
    "openrouter:anthropic/claude-sonnet-4.5:beta": {"images": True, "thinking": None, "thinking_off": "none"},
    "openrouter:google/gemini-3-pro": {"efforts": ("minimal", "low", "medium", "high", "xhigh", "max")},
    "deepseek:deepseek-v4-pro": {
        "thinking": "switch",
        "efforts": ("low", "high", "max"),
        "structured_output": False,
    },
    "deepseek:deepseek-reasoner": {"thinking_off": None, "forced_tools": False},
    "groq:qwen/qwen3-32b": {"efforts": (), "thinking_off": "none", "stream_usage": False},
    "mistral:magistral-medium-2509": {"reasoning": True, "efforts": (), "structured_output": True},
    "mistral:mistral-small-latest": {"efforts": ("high",), "thinking_off": "none"},
    "xai:grok-4.5": {"efforts": ("low", "medium", "high"), "stop_sequences": False},
    "together:openai/gpt-oss-120b": {"efforts": ("low", "medium", "high")},
    "vllm:Qwen/Qwen3-8B": {"efforts": (), "structured_output": True, "thinks_by_default": True},
}


@pytest.mark.parametrize("slug", KNOWN)
def test_what_a_model_takes_follows_its_family_and_its_host(slug: str) -> None:
    model = resolve(slug)
    assert model.is_known
    assert {name: getattr(model.capabilities, name) for name in KNOWN[slug]} == KNOWN[slug]


def test_an_unknown_model_takes_no_more_than_every_model() -> None:
    assert (resolve("anthropic:next-thing").capabilities, resolve("anthropic:next-thing").is_known) == (
        Capabilities(),
        False,
    )
    assert resolve("vllm:acme/own").capabilities == Capabilities(structured_output=True, json_mode=True)


def test_capabilities_can_be_told_all_or_singly_and_then_the_model_is_known() -> None:
    told = resolve("ollama:acme", capabilities={"images": True})
    assert (told.capabilities.images, told.capabilities.structured_output, told.is_known) == (
        True,
        True,
        True,
    )
    assert resolve("ollama:acme", capabilities=Capabilities(tools=False)).capabilities == Capabilities(
        tools=False
    )


CONTEXTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "anthropic:claude-opus-5": ({}, {"provider": "anthropic", "model_id": "claude-opus-5"}),
    "openai-responses:gpt-5.6": ({}, {"provider": "openai", "model_id": "gpt-5.6"}),
    "vllm:Qwen/Qwen3-8B": ({}, {"provider": "vllm", "model_id": "Qwen/Qwen3-8B", "think_tags": True}),
    "ollama:qwen3:4b": ({}, {"provider": "ollama", "model_id": "qwen3:4b"}),
    "lmstudio:acme": (
        {"think_tags": True, "starts_in_reasoning": True},
        {"provider": "lmstudio", "model_id": "acme", "think_tags": True, "starts_in_reasoning": True},
    ),
    "llamacpp:deepseek-r1": ({"think_tags": False}, {"provider": "llamacpp", "model_id": "deepseek-r1"}),
}


@pytest.mark.parametrize("slug", CONTEXTS)
def test_the_parser_is_told_of_tags_where_they_may_come(slug: str) -> None:
    options, expected = CONTEXTS[slug]
    plain = {"think_tags": False, "starts_in_reasoning": False}
    assert parser_context(resolve(slug, **options)) == plain | expected


UNKNOWN: dict[str, tuple[str, ...]] = {
    "antropic:claude-opus-5": ("anthropic:claude-opus-5",),
    "gpt-5.6": ("openai:gpt-5.6", "openai-responses:gpt-5.6", "azure:gpt-5.6"),
    "claude-opus-5": ("anthropic:claude-opus-5",),
    "xyzzy:m": (),
    "groq/llama-3.3": ("groq:llama-3.3",),
}


@pytest.mark.parametrize("slug", UNKNOWN)
def test_an_unknown_slug_lists_near_ones_and_all_providers(slug: str) -> None:
    with pytest.raises(UnknownModelError) as caught:
        resolve(slug)
    assert caught.value.near[: len(UNKNOWN[slug])] == UNKNOWN[slug]
    assert all(name in str(caught.value) for name in (*HOSTS, "replay:NAME", *caught.value.near))


MISUSES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no text": (None, {}, "None names no model"),
    "blank": (" ", {}, "names no model"),
    "no model id": ("openai:", {}, "write 'openai:MODEL'"),
    "no colon": ("openai", {}, "write 'openai:MODEL'"),
    "url without model": ("https://u:secret-word@h.example/v1", {}, "needs model="),
    "not http": ("ftp://h.example", {"model": "m"}, "is no http(s) address"),
    "no host": ("https://", {"model": "m"}, "is no http(s) address"),
    "bad base_url": (
        "openai:gpt-5.6",
        {"base_url": "localhost:8000"},
        "base_url='localhost:8000' is no http(s)",
    ),
    "bad wire": ("openai:gpt-5.6", {"wire": "grpc"}, "wire='grpc' is not known"),
    "azure without address": ("azure:dep", {}, "or set AZURE_OPENAI_ENDPOINT"),
    "bad capability": (
        "openai:gpt-5.6",
        {"capabilities": {"image": True}},
        "'image' is no capability: there is images",
    ),
    "bad quirk": ("openai:gpt-5.6", {"quirks": {"colour": 1}}, "'colour' is no quirk of a host"),
}


@pytest.mark.parametrize("case", MISUSES)
def test_what_cannot_be_resolved_says_what_to_write(case: str) -> None:
    slug, options, message = MISUSES[case]
    with pytest.raises(MisuseError) as caught:
        resolve(slug, **options)
    assert message in str(caught.value)
    assert "secret-word" not in str(caught.value)


def test_a_compatible_host_needs_a_name() -> None:
    with pytest.raises(MisuseError, match="needs a name"):
        openai_compatible("", "https://h.example/v1", model_id="m")


def test_keys_are_never_shown() -> None:
    assert "secret" not in repr(resolve("openai:gpt-5.6", api_key="secret", headers={"a": "secret"}))
