"""What models take, by the beginning of their names: facts as of 2026-11.

The longest beginning that fits wins, so a newer model of a family inherits its family's facts.
Source: providers.md 1-4 and the vendors' model pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from deuz_nb.providers.hosts import Host
from deuz_nb.providers.model import Capabilities, Effort

__all__ = ["THINK_TAG_FAMILIES", "bare_name", "capabilities_of"]

_ALL: Final[tuple[Effort, ...]] = ("minimal", "low", "medium", "high", "xhigh", "max")
_TO_MAX: Final = _ALL[1:]
_TO_XHIGH: Final = _ALL[1:5]
_TO_HIGH: Final = _ALL[1:4]

_CLAUDE_3: Final = Capabilities(images=True, pdf=True, prompt_caching=True, max_output_tokens=8192)
_CLAUDE_BUDGET: Final = replace(
    _CLAUDE_3,
    reasoning=True,
    thinking="budget",
    thinking_off="disabled",
    efforts=_ALL,
    sampling_while_thinking=False,
    forced_tools_while_thinking=False,
    max_output_tokens=32_000,
)
_CLAUDE_45: Final = replace(_CLAUDE_BUDGET, structured_output=True, max_output_tokens=64_000)
_CLAUDE_46: Final = replace(
    _CLAUDE_45,
    thinking="adaptive",
    efforts=(*_TO_HIGH, "max"),
    forced_tools_while_thinking=True,
    max_output_tokens=128_000,
)
_CLAUDE_47: Final = replace(_CLAUDE_46, efforts=_TO_MAX, temperature=False)
_CLAUDE_48: Final = replace(_CLAUDE_47, inline_system=True)
_CLAUDE_5: Final = replace(_CLAUDE_47, thinks_by_default=True)
_CLAUDE_OPUS_5: Final = replace(_CLAUDE_5, inline_system=True)
_CLAUDE_FABLE: Final = replace(_CLAUDE_OPUS_5, thinking_off=None)
_CLAUDE_FABLE_51: Final = replace(_CLAUDE_FABLE, forced_tools=False)

_GPT: Final = Capabilities(images=True, pdf=True, structured_output=True, json_mode=True)
_GPT_OLD: Final = Capabilities(json_mode=True)
_O: Final = replace(
    _GPT,
    reasoning=True,
    thinks_by_default=True,
    efforts=_TO_HIGH,
    sampling_while_thinking=False,
)
_GPT_5: Final = replace(_O, efforts=_ALL[:4])
_GPT_CHAT: Final = replace(_O, efforts=("medium",))
_GPT_PRO: Final = replace(_O, efforts=("medium", "high", "xhigh"))
_GPT_51: Final = replace(_O, thinks_by_default=False, thinking_off="none")
_GPT_52: Final = replace(_GPT_51, efforts=_TO_XHIGH)
_GPT_55: Final = replace(_GPT_52, thinks_by_default=True)
_GPT_56: Final = replace(_GPT_55, efforts=_TO_MAX, prompt_caching=True)
_GPT_6: Final = replace(_GPT_56, thinking_off=None)

_GEMINI: Final = Capabilities(
    images=True, pdf=True, structured_output=True, structured_output_with_tools=False
)
_GEMINI_25_PRO: Final = replace(
    _GEMINI, reasoning=True, thinking="budget", thinks_by_default=True, efforts=_ALL
)
_GEMINI_25: Final = replace(_GEMINI_25_PRO, thinking_off="budget")
_GEMINI_3: Final = replace(
    _GEMINI_25_PRO, thinking="level", efforts=_ALL[:4], structured_output_with_tools=True
)
_GEMINI_3_LOW: Final = replace(_GEMINI_3, efforts=_TO_HIGH)

_DEEPSEEK: Final = Capabilities(json_mode=True)
_DEEPSEEK_ALWAYS: Final = replace(
    _DEEPSEEK,
    reasoning=True,
    thinks_by_default=True,
    sampling_while_thinking=False,
    forced_tools_while_thinking=False,
)
_DEEPSEEK_4: Final = replace(
    _DEEPSEEK_ALWAYS, thinking="switch", thinking_off="disabled", efforts=("low", "high", "max")
)

_GROK: Final = Capabilities(images=True, structured_output=True, json_mode=True)
_GROK_THINKS: Final = replace(_GROK, reasoning=True, thinks_by_default=True, stop_sequences=False)
_GROK_43: Final = replace(_GROK_THINKS, efforts=_TO_HIGH, thinking_off="none")
_GROK_45: Final = replace(_GROK_THINKS, efforts=_TO_HIGH)

_MISTRAL: Final = Capabilities(structured_output=True, json_mode=True)
_MISTRAL_SEES: Final = replace(_MISTRAL, images=True, pdf=True)
_MISTRAL_THINKS: Final = replace(_MISTRAL_SEES, reasoning=True, efforts=("high",), thinking_off="none")
_MAGISTRAL: Final = replace(_MISTRAL_SEES, reasoning=True, thinks_by_default=True)

_OPEN: Final = Capabilities()
_OPEN_SEES: Final = Capabilities(images=True)
_OPEN_THINKS: Final = Capabilities(reasoning=True, thinks_by_default=True)
_OPEN_SEES_AND_THINKS: Final = replace(_OPEN_THINKS, images=True)
_GPT_OSS: Final = replace(_OPEN_THINKS, efforts=_TO_HIGH, structured_output=True, json_mode=True)

_FAMILIES: Final[Mapping[str, Capabilities]] = {
    "claude-3": _CLAUDE_3,
    "claude-3-opus": replace(_CLAUDE_3, pdf=False, max_output_tokens=4096),
    "claude-3-haiku": replace(_CLAUDE_3, pdf=False, max_output_tokens=4096),
    "claude-3-7": replace(_CLAUDE_BUDGET, max_output_tokens=64_000),
    "claude-opus-4": _CLAUDE_BUDGET,
    "claude-opus-4-1": replace(_CLAUDE_BUDGET, structured_output=True),
    "claude-sonnet-4": replace(_CLAUDE_BUDGET, max_output_tokens=64_000),
    "claude-opus-4-5": _CLAUDE_45,
    "claude-sonnet-4-5": _CLAUDE_45,
    "claude-haiku-4-5": _CLAUDE_45,
    "claude-opus-4-6": _CLAUDE_46,
    "claude-sonnet-4-6": _CLAUDE_46,
    "claude-opus-4-7": _CLAUDE_47,
    "claude-opus-4-8": _CLAUDE_48,
    "claude-opus-5": _CLAUDE_OPUS_5,
    "claude-opus-5-5": _CLAUDE_FABLE_51,
    "claude-sonnet-5": _CLAUDE_5,
    "claude-sonnet-5-5": replace(_CLAUDE_OPUS_5, thinking_off="between_tools", forced_tools=False),
    "claude-haiku-5-5": _CLAUDE_OPUS_5,
    "claude-fable-5": _CLAUDE_FABLE,
    "claude-mythos-5": _CLAUDE_FABLE,
    "claude-mythos-preview": replace(_CLAUDE_FABLE, inline_system=False),
    "claude-fable-5-1": _CLAUDE_FABLE_51,
    "claude-fable-5-2": _CLAUDE_FABLE_51,
    "claude-mythos-5-1": _CLAUDE_FABLE_51,
    "claude-mythos-5-2": _CLAUDE_FABLE_51,
    "gpt-3.5": _GPT_OLD,
    "gpt-4": _GPT_OLD,
    "gpt-4-turbo": replace(_GPT_OLD, images=True),
    "gpt-4o": _GPT,
    "gpt-4o-audio": replace(_GPT_OLD, structured_output=False),
    "gpt-audio": _GPT_OLD,
    "gpt-4.1": _GPT,
    "chatgpt-4o": replace(_GPT, tools=False),
    "o1": _O,
    "o3": replace(_O, stop_sequences=False),
    "o3-mini": replace(_O, images=False, pdf=False, stop_sequences=False),
    "o4-mini": replace(_O, stop_sequences=False),
    "codex-mini": replace(_O, stop_sequences=False),
    "gpt-5": _GPT_5,
    "gpt-5-chat": _GPT,
    "gpt-5-pro": replace(_O, efforts=("high",)),
    "gpt-5-codex": _O,
    "gpt-5.1": _GPT_51,
    "gpt-5.1-chat": _GPT_CHAT,
    "gpt-5.1-codex": _O,
    "gpt-5.1-codex-max": replace(_O, efforts=_TO_XHIGH),
    "gpt-5.2": _GPT_52,
    "gpt-5.2-chat": _GPT_CHAT,
    "gpt-5.2-pro": _GPT_PRO,
    "gpt-5.3": _GPT_52,
    "gpt-5.3-chat": _GPT_CHAT,
    "gpt-5.4": _GPT_52,
    "gpt-5.4-pro": _GPT_PRO,
    "gpt-5.5": _GPT_55,
    "gpt-5.5-pro": _GPT_PRO,
    "gpt-5.6": _GPT_56,
    "gpt-6": _GPT_6,
    "gpt-6-sol": _GPT_56,
    "gpt-6-luna": _GPT_56,
    "gpt-6.1-terra": _GPT_56,
    "gpt-oss": _GPT_OSS,
    "gemini-1.5": _GEMINI,
    "gemini-2.0": _GEMINI,
    "gemini-2.5-pro": _GEMINI_25_PRO,
    "gemini-2.5-flash": _GEMINI_25,
    "gemini-2.5-flash-image": replace(_GEMINI, tools=False, structured_output=False),
    "gemini-3": _GEMINI_3_LOW,
    "gemini-3-flash": _GEMINI_3,
    "gemini-3-pro": replace(_GEMINI_3, efforts=("low", "high")),
    "gemini-3.1-flash": _GEMINI_3,
    "gemini-3.1-flash-lite-image": replace(_GEMINI_3, tools=False, efforts=("minimal", "high")),
    "gemini-3.5-flash": _GEMINI_3,
    "gemini-4": _GEMINI_3_LOW,
    "gemini-flash": _GEMINI_3_LOW,
    "gemini-pro": _GEMINI_3_LOW,
    "gemma-": _OPEN_SEES,
    "gemma3": _OPEN_SEES,
    "deepseek-": _DEEPSEEK,
    "deepseek-reasoner": replace(_DEEPSEEK_ALWAYS, forced_tools=False),
    "deepseek-r1": _DEEPSEEK_ALWAYS,
    "deepseek-flash": _DEEPSEEK_4,
    "deepseek-v4": _DEEPSEEK_4,
    "grok-2": replace(_GROK, images=False),
    "grok-2-vision": _GROK,
    "grok-3": replace(_GROK_43, images=False),
    "grok-3-mini": replace(_GROK_THINKS, images=False, efforts=("low", "high"), thinking_off="none"),
    "grok-4": _GROK_THINKS,
    "grok-4-0709": _GROK_43,
    "grok-4-fast": _GROK_43,
    "grok-4-1-fast": _GROK_43,
    "grok-4.3": _GROK_43,
    "grok-4.5": _GROK_45,
    "grok-4.6": _GROK_45,
    "grok-4.7": replace(_GROK_45, efforts=_TO_XHIGH),
    "grok-latest": _GROK_43,
    "grok-build": replace(_GROK_THINKS, images=False),
    "grok-build-latest": replace(_GROK_45, images=False),
    "grok-code": replace(_GROK_THINKS, images=False),
    "mistral-": _MISTRAL,
    "mistral-small": _MISTRAL_SEES,
    "mistral-medium": _MISTRAL_SEES,
    "mistral-large": _MISTRAL_SEES,
    "mistral-small-latest": _MISTRAL_THINKS,
    "mistral-small-2603": _MISTRAL_THINKS,
    "mistral-medium-latest": _MISTRAL_THINKS,
    "mistral-medium-3-5": _MISTRAL_THINKS,
    "mistral-medium-3.5": _MISTRAL_THINKS,
    "mistral-medium-2604": _MISTRAL_THINKS,
    "mistral-large-4": _MISTRAL_THINKS,
    "magistral-": _MAGISTRAL,
    "magistral-small-latest": _MISTRAL_THINKS,
    "magistral-medium-latest": _MISTRAL_THINKS,
    "ministral-": _MISTRAL_SEES,
    "pixtral-": _MISTRAL_SEES,
    "codestral-": _MISTRAL,
    "devstral-": _MISTRAL,
    "open-mi": _MISTRAL,
    "mistral": _OPEN,
    "mixtral": _OPEN,
    "llama-3": _OPEN,
    "llama3": _OPEN,
    "meta-llama-3": _OPEN,
    "llama-4": _OPEN_SEES,
    "llama4": _OPEN_SEES,
    "llama3.2-vision": _OPEN_SEES,
    "llava": _OPEN_SEES,
    "qwen": _OPEN,
    "qwen2.5vl": _OPEN_SEES,
    "qwen2.5-vl": _OPEN_SEES,
    "qwen3": _OPEN_THINKS,
    "qwen3-coder": _OPEN,
    "qwen3-vl": _OPEN_SEES_AND_THINKS,
    "qwq": _OPEN_THINKS,
    "kimi-k2": _OPEN,
    "kimi-k2-thinking": _OPEN_THINKS,
    "glm-4.5": _OPEN_THINKS,
    "glm-4.6": _OPEN_THINKS,
    "glm-4.7": _OPEN_THINKS,
    "glm-5": _OPEN_THINKS,
    "minimax-m": _OPEN_THINKS,
}

THINK_TAG_FAMILIES: Final = ("deepseek-r1", "qwen3", "qwq", "glm-", "minimax-m", "magistral")
"""Open models whose thinking is written between <think> tags unless the host takes it out."""

_VERSION_DOT: Final = re.compile(r"(?<=\d)\.(?=\d)")


def bare_name(model_id: str) -> str:
    """The model's own name: lower case, without the organisation and path a host puts before it."""
    name = model_id.lower().rpartition("/")[2]
    return _VERSION_DOT.sub("-", name) if name.startswith("claude-") else name


def capabilities_of(model_id: str, host: Host) -> tuple[Capabilities, bool]:
    """What `model_id` takes at `host`, and whether that is known; else no more than every model takes."""
    name = bare_name(model_id)
    fits = [beginning for beginning in _FAMILIES if name.startswith(beginning)]
    if not fits:
        return replace(Capabilities(), json_mode=host.json_mode, **_of_host(host)), False
    return _at_host(_FAMILIES[max(fits, key=len)], name, host), True


def _of_host(host: Host) -> dict[str, bool]:
    found = {"stream_usage": host.stream_usage}
    if host.structured == "always":
        found["structured_output"] = True
    return found


def _at_host(family: Capabilities, name: str, host: Host) -> Capabilities:
    """A family's facts as they hold at this host: efforts are asked for in the host's own words."""
    at_host = replace(family, json_mode=family.json_mode or host.json_mode, **_of_host(host))
    if name.startswith(host.families):
        if host.wire == "openai-chat" and name.startswith("gpt-"):
            return replace(at_host, efforts=tuple(word for word in family.efforts if word != "max"))
        return at_host
    at_host = replace(at_host, thinking=None, thinking_off=None, inline_system=False)
    if not family.reasoning:
        return at_host
    if host.effort == "reasoning":
        return replace(at_host, efforts=_ALL, thinking_off=None if family.thinking_off is None else "none")
    if host.slug == "groq" and name.startswith("qwen3"):
        return replace(at_host, efforts=(), thinking_off="none")
    if host.slug in ("fireworks", "ollama"):
        return replace(at_host, efforts=_TO_HIGH, thinking_off=None if name.startswith("gpt-oss") else "none")
    return at_host if name.startswith("gpt-oss") else replace(at_host, efforts=())
