"""What is called (`Model`), what is asked (`Call`) and the HTTP request it becomes (`ProviderRequest`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from deuz_nb.parts.message import Message
from deuz_nb.parts.stream import CallWarning
from deuz_nb.parts.usage import JSONObject

__all__ = [
    "Call",
    "Capabilities",
    "Effort",
    "Model",
    "ProviderRequest",
    "Thinking",
    "ToolChoice",
    "ToolSpec",
    "Wire",
]

Wire = Literal["anthropic", "openai-chat", "openai-responses", "google"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Thinking = Literal["adaptive", "budget", "level", "switch"]
"""How thinking is asked for beside an effort word: Anthropic's or Gemini's kinds, or an on/off switch."""
ToolChoice = Literal["auto", "required", "none"] | str
"""How tools may be chosen; any other string is the name of the one tool that must be called."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes; conservative where it is not known.

    `efforts` are the words it takes for its effort, weakest first and without "none"; `thinking_off` is the
    wire's word that switches thinking off, None when it cannot be.  `prompt_caching` means a lifetime can be
    asked for: most hosts cache without being asked.
    """

    tools: bool = True
    parallel_tools: bool = True
    images: bool = False
    pdf: bool = False
    structured_output: bool = False
    reasoning: bool = False
    prompt_caching: bool = False
    stop_sequences: bool = True
    temperature: bool = True
    stream_usage: bool = True
    efforts: tuple[Effort, ...] = ()
    thinking: Thinking | None = None
    thinks_by_default: bool = False
    thinking_off: str | None = None
    sampling_while_thinking: bool = True
    forced_tools: bool = True
    forced_tools_while_thinking: bool = True
    structured_output_with_tools: bool = True
    json_mode: bool = False
    inline_system: bool = False
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """One model at one host, and how to talk to it.

    `options` hold what the catalog was told beside that: `base_model`, `think_tags`, `starts_in_reasoning`,
    and any field of `hosts.Host` to be taken instead of the host's own.
    """

    provider: str
    wire: Wire
    model_id: str
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    key_variable: str | None = None
    capabilities: Capabilities = field(default_factory=Capabilities, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    query: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    options: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)
    is_known: bool = True

    def __repr__(self) -> str:
        return f"<Model {self.provider}:{self.model_id}>"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: JSONObject
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """What one model call asks; None leaves a setting to the provider."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    output_schema: JSONObject | None = None
    output_name: str = "output"
    effort: Effort | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    cache: Literal["5m", "1h"] | None = None
    provider_options: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """An HTTP POST: its body is JSON; `warnings` tell what could not be asked as wished."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: JSONObject = field(repr=False)
    warnings: tuple[CallWarning, ...] = ()
