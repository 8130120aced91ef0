"""The hosts that serve models: where they are, whose key they take, and how their requests differ.

Source: providers.md 2 (the compatible family) and the hosts' own documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final, Literal, cast
from urllib.parse import urlsplit

from deuz_nb.errors import MisuseError
from deuz_nb.providers.model import Model, Wire

__all__ = ["HOSTS", "Auth", "Host", "host_at", "host_of", "with_quirks"]

Auth = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key"]

_OPENAI_FAMILIES: Final = ("gpt-", "o1", "o3", "o4", "chatgpt-", "codex-")
_WIRES: Final[Mapping[Wire, tuple[Auth, tuple[str, ...]]]] = {
    "anthropic": ("x-api-key", ("claude-",)),
    "openai-chat": ("bearer", _OPENAI_FAMILIES),
    "openai-responses": ("bearer", _OPENAI_FAMILIES),
    "google": ("x-goog-api-key", ("gemini-", "gemma-")),
}


@dataclass(frozen=True, slots=True)
class Host:
    """One host.  The fields after `auth` are quirks of its requests; all but `families` may be overridden.

    `families` are the beginnings of its own models' names: there the model facts hold as they are.
    `effort` is the member an effort goes into, None when no model there takes one; `replay` the member
    earlier reasoning goes back in; `pdf` how a PDF is sent; `structured` whether every model takes a JSON
    schema, or only those known to; `leaves_think_tags` whether thinking may come as tags in the text.
    """

    slug: str
    title: str
    wire: Wire
    base_url: str
    key_variable: str | None = None
    other_key_variables: tuple[str, ...] = ()
    base_url_variable: str | None = None
    needs_key: bool = True
    auth: Auth = "bearer"
    families: tuple[str, ...] = ()
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    effort: Literal["reasoning_effort", "reasoning"] | None = None
    replay: Literal["reasoning_content", "reasoning", "reasoning_details", "thinking"] | None = None
    pdf: Literal["file", "file-url", "document_url"] | None = None
    structured: Literal["always", "known"] = "known"
    json_mode: bool = False
    seed: Literal["seed", "random_seed"] = "seed"
    stream_usage: bool = True
    developer_role: bool = False
    caches_by_itself: bool = False
    leaves_think_tags: bool = False

    @property
    def provider(self) -> str:
        """Its name in usage, prices and errors: both wires of one vendor are one provider."""
        return "openai" if self.slug == "openai-responses" else self.slug


def _local(slug: str, title: str, port: int, **quirks: Any) -> Host:
    return Host(
        slug,
        title,
        "openai-chat",
        f"http://localhost:{port}/v1",
        needs_key=False,
        structured="always",
        json_mode=True,
        effort="reasoning_effort",
        caches_by_itself=True,
        **quirks,
    )


_ALL: Final = (
    Host(
        "anthropic",
        "Anthropic",
        "anthropic",
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        auth="x-api-key",
        families=("claude-",),
    ),
    Host(
        "openai",
        "OpenAI (Chat Completions)",
        "openai-chat",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        families=_OPENAI_FAMILIES,
        max_tokens="max_completion_tokens",
        effort="reasoning_effort",
        pdf="file",
        json_mode=True,
        developer_role=True,
        caches_by_itself=True,
    ),
    Host(
        "openai-responses",
        "OpenAI (Responses)",
        "openai-responses",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        families=_OPENAI_FAMILIES,
        pdf="file-url",
        json_mode=True,
        caches_by_itself=True,
    ),
    Host(
        "google",
        "Google Gemini",
        "google",
        "https://generativelanguage.googleapis.com/v1beta",
        "GEMINI_API_KEY",
        other_key_variables=("GOOGLE_API_KEY",),
        auth="x-goog-api-key",
        families=("gemini-", "gemma-"),
        caches_by_itself=True,
    ),
    Host(
        "openrouter",
        "OpenRouter",
        "openai-chat",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        effort="reasoning",
        replay="reasoning_details",
        pdf="file-url",
        json_mode=True,
        caches_by_itself=True,
    ),
    Host(
        "deepseek",
        "DeepSeek",
        "openai-chat",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        families=("deepseek-",),
        effort="reasoning_effort",
        replay="reasoning_content",
        json_mode=True,
        caches_by_itself=True,
    ),
    Host(
        "groq",
        "Groq",
        "openai-chat",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        max_tokens="max_completion_tokens",
        effort="reasoning_effort",
        replay="reasoning",
        json_mode=True,
        stream_usage=False,
        caches_by_itself=True,
    ),
    Host(
        "mistral",
        "Mistral",
        "openai-chat",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        families=("mistral-", "magistral-", "ministral-", "pixtral-", "codestral-", "devstral-", "open-mi"),
        effort="reasoning_effort",
        replay="thinking",
        pdf="document_url",
        structured="always",
        json_mode=True,
        seed="random_seed",
        stream_usage=False,
        caches_by_itself=True,
    ),
    Host(
        "xai",
        "xAI",
        "openai-chat",
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        families=("grok-",),
        max_tokens="max_completion_tokens",
        effort="reasoning_effort",
        json_mode=True,
        caches_by_itself=True,
    ),
    Host(
        "together",
        "Together AI",
        "openai-chat",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        effort="reasoning_effort",
        replay="reasoning",
        json_mode=True,
        caches_by_itself=True,
        leaves_think_tags=True,
    ),
    Host(
        "fireworks",
        "Fireworks AI",
        "openai-chat",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        effort="reasoning_effort",
        replay="reasoning_content",
        structured="always",
        json_mode=True,
        caches_by_itself=True,
        leaves_think_tags=True,
    ),
    Host(
        "azure",
        "Azure OpenAI",
        "openai-chat",
        "",
        "AZURE_OPENAI_API_KEY",
        base_url_variable="AZURE_OPENAI_ENDPOINT",
        auth="api-key",
        families=_OPENAI_FAMILIES,
        max_tokens="max_completion_tokens",
        effort="reasoning_effort",
        pdf="file",
        json_mode=True,
        developer_role=True,
        caches_by_itself=True,
    ),
    _local("ollama", "Ollama", 11434, replay="reasoning"),
    _local("lmstudio", "LM Studio", 1234, replay="reasoning", leaves_think_tags=True),
    _local("vllm", "vLLM", 8000, replay="reasoning", leaves_think_tags=True),
    _local("llamacpp", "llama.cpp", 8080, replay="reasoning_content", leaves_think_tags=True),
)

HOSTS: Final[Mapping[str, Host]] = MappingProxyType({host.slug: host for host in _ALL})
"""Every known host by its slug, in the order of the documentation."""

_BY_WIRE: Final = {(host.provider, host.wire): host for host in _ALL}
_UNKNOWN: Final = Host(
    "",
    "a compatible host",
    "openai-chat",
    "",
    needs_key=False,
    families=_OPENAI_FAMILIES,
    effort="reasoning_effort",
    pdf="file",
    json_mode=True,
)

_QUIRKS: Final = frozenset(field.name for field in fields(Host)) - {"slug", "wire", "base_url", "families"}


def host_of(model: Model) -> Host:
    """How `model` is talked to: its host, with what its `options` override; a plain one when unknown."""
    known = _BY_WIRE.get((model.provider, model.wire)) or HOSTS.get(model.provider)
    host = known or replace(_UNKNOWN, slug=model.provider)
    if host.wire != model.wire:
        auth, families = _WIRES[model.wire]
        if host.wire.startswith("openai") and model.wire.startswith("openai"):
            auth, families = host.auth, host.families
        host = replace(host, wire=model.wire, auth=auth, families=families)
    return with_quirks(host, {name: value for name, value in model.options.items() if name in _QUIRKS})


def host_at(url: str) -> Host | None:
    """The host that is reached at `url`; None when it is not one of ours."""
    place = _spot(url)
    return next((host for host in _ALL if host.base_url and _spot(host.base_url) == place), None)


def with_quirks(host: Host, quirks: Mapping[str, object]) -> Host:
    """`host` with some of its fields replaced.  Raises MisuseError for a name that is no quirk."""
    unknown = sorted(set(quirks) - _QUIRKS)
    if unknown:
        raise MisuseError(f"{unknown[0]!r} is no quirk of a host; there are {', '.join(sorted(_QUIRKS))}")
    return replace(host, **cast("dict[str, Any]", dict(quirks))) if quirks else host


def _spot(url: str) -> str:
    place = urlsplit(url).netloc.rpartition("@")[2].lower()
    name, colon, port = place.partition(":")
    return f"{'localhost' if name in ('127.0.0.1', '0.0.0.0') else name}{colon}{port}"
