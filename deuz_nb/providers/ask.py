"""One call as the wires see it: checked settings, what the model makes of them, and the warnings so far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast, get_args

from deuz_nb.errors import MisuseError
from deuz_nb.jsontext import dumps
from deuz_nb.parts.stream import CallWarning
from deuz_nb.parts.usage import JSONObject
from deuz_nb.providers.content import Media, Said, media_of, read_messages
from deuz_nb.providers.forms import plain
from deuz_nb.providers.hosts import Host, host_of
from deuz_nb.providers.model import Call, Capabilities, Effort, Model, ToolSpec

__all__ = ["Ask", "asked"]

_EFFORTS: Final[tuple[Effort, ...]] = get_args(Effort)


@dataclass(slots=True)
class Ask:
    """What is asked of a model; `warn` collects what cannot be asked as wished.

    `has_tools` tells whether tools are offered now or were called before.
    `effort` is the word to send: one the model takes, "none" for no thinking, None to leave it to the model.
    """

    model: Model
    call: Call
    host: Host
    said: tuple[Said, ...]
    tools: tuple[ToolSpec, ...]
    output_schema: JSONObject | None
    has_tools: bool
    effort: Effort | None = None
    warnings: list[CallWarning] = field(default_factory=list[CallWarning])

    @property
    def takes(self) -> Capabilities:
        """What the model takes."""
        return self.model.capabilities

    @property
    def is_thinking(self) -> bool:
        """Whether the model thinks before it answers this call."""
        return self.takes.thinks_by_default if self.effort is None else self.effort != "none"

    @property
    def is_forced(self) -> bool:
        """Whether the model must call a tool."""
        return self.call.tool_choice not in (None, "auto", "none")

    def warn(self, setting: str, message: str) -> None:
        """Note that `setting` is not asked as wished."""
        self.warnings.append({"type": "unsupported", "setting": setting, "message": message})

    def sampling(self) -> JSONObject:
        """`temperature` and `top_p` as far as the model takes them now."""
        given = {"temperature": self.call.temperature, "top_p": self.call.top_p}
        wanted = {name: value for name, value in given.items() if value is not None}
        if not wanted:
            return {}
        if not self.takes.temperature:
            why = f"{self.model.model_id} does not take it"
        elif self.is_thinking and not self.takes.sampling_while_thinking:
            off = "; effort='none' switches thinking off" if self.takes.thinking_off else ""
            why = f"{self.model.model_id} does not take it while it thinks{off}"
        else:
            return wanted
        for name in wanted:
            self.warn(name, f"{name} was left out: {why}.")
        return {}

    def media(self, part: JSONObject, said: Said) -> Media:
        """The image or file of a user's part.  Raises MisuseError when a known model does not take it."""
        media = media_of(part, f"messages[{said.index}]")
        if not self.model.is_known:
            return media
        if media.is_image and not self.takes.images:
            raise MisuseError(
                f"{media.where}: {self.model.model_id} takes no images; choose a model that does, or pass"
                " capabilities={'images': True} when you know better"
            )
        if media.media_type == "application/pdf" and not self.takes.pdf:
            raise MisuseError(
                f"{media.where}: {self.model.model_id} takes no PDF; send its text instead, or pass"
                " capabilities={'pdf': True} when you know better"
            )
        return media

    def schema_instruction(self) -> str | None:
        """The output schema as an instruction, for a model that cannot be held to a schema."""
        if self.output_schema is None:
            return None
        return (
            "Answer with one JSON value and nothing else. It must be valid against this JSON schema:\n"
            + dumps(self.output_schema)
        )

    def no_lifetime(self) -> None:
        """Warn where a prompt cache cannot be asked for: hosts that cache anyway keep it a short while."""
        if self.call.cache == "1h" or (self.call.cache and not self.host.caches_by_itself):
            name = self.host.title
            self.warn("cache", f"cache was left out: {name} takes no lifetime for this model's prompt cache.")


def asked(model: Model, call: Call) -> Ask:
    """The call, checked.  Raises MisuseError for messages, tools or settings that cannot be sent anywhere."""
    _check_settings(call)
    schema = call.output_schema
    said = read_messages(call.messages)
    has_calls = any(part["type"] == "tool-call" for one in said for part in one.parts)
    ask = Ask(
        model=model,
        call=call,
        host=host_of(model),
        said=said,
        tools=_checked_tools(call),
        has_tools=bool(call.tools) or has_calls,
        output_schema=None if schema is None else _object(schema, "output_schema"),
    )
    if not model.is_known:
        ask.warnings.append(
            {
                "type": "unknown-model",
                "setting": "model",
                "message": f"{model.provider}:{model.model_id} is not known here: it is asked only for what"
                " every model takes, and files are sent unchecked. capabilities= says what it takes.",
            }
        )
    if ask.tools and model.is_known and not ask.takes.tools:
        raise MisuseError(f"{model.model_id} takes no tools; leave tools out or choose another model")
    ask.effort = _effort(ask)
    _make_way(ask)
    if ask.is_forced and not ask.takes.forced_tools:
        raise MisuseError(
            f"{model.model_id} cannot be made to call a tool; use tool_choice='auto' and ask in the prompt"
        )
    return ask


def _effort(ask: Ask) -> Effort | None:
    """The nearest word the model takes: never more than was asked for above "high"."""
    wanted, takes, name = ask.call.effort, ask.takes, ask.model.model_id
    if wanted is None or (wanted == "none" and takes.thinking_off is not None):
        return wanted
    if not takes.reasoning:
        if wanted != "none":
            ask.warn(
                "effort",
                f"effort={wanted!r} was left out: {name} is not known to think; provider_options can ask.",
            )
        return None
    if not takes.efforts:
        ask.warn("effort", f"effort={wanted!r} was left out: {name} thinks as it sees fit.")
        return None
    if wanted in takes.efforts:
        return wanted
    rank = _EFFORTS.index(wanted)
    below: list[Effort] = [word for word in takes.efforts if _EFFORTS.index(word) < rank]
    above: list[Effort] = [word for word in takes.efforts if _EFFORTS.index(word) > rank]
    sent = above[0] if above and (not below or rank < _EFFORTS.index("high")) else below[-1]
    ask.warn("effort", f"effort={wanted!r} is not taken by {name}: {sent!r} was asked for instead.")
    return sent


def _make_way(ask: Ask) -> None:
    """No thinking where it would forbid that a tool is forced."""
    takes, name = ask.takes, ask.model.model_id
    if takes.forced_tools_while_thinking or not (ask.is_forced and ask.is_thinking):
        return
    if takes.thinks_by_default and takes.thinking_off is None:
        raise MisuseError(f"{name} always thinks, and then no tool can be forced; use tool_choice='auto'")
    ask.warn("effort", f"{name} is asked not to think: it cannot when a tool is forced.")
    ask.effort = "none" if takes.thinks_by_default else None


def _object(value: object, where: str) -> JSONObject:
    copy = plain(value, where)
    if not isinstance(copy, dict):
        raise MisuseError(f"{where} must be a JSON schema object, not {type(value).__name__}")
    return cast("JSONObject", copy)


def _checked_tools(call: Call) -> tuple[ToolSpec, ...]:
    names: set[str] = set()
    checked: list[ToolSpec] = []
    for index, tool in enumerate(call.tools):
        if not tool.name:
            raise MisuseError(f"tools[{index}] needs a name")
        if tool.name in names:
            raise MisuseError(f"tools[{index}]: a tool named {tool.name!r} is already there; rename one")
        names.add(tool.name)
        schema = _object(tool.parameters, f"tools[{index}].parameters")
        checked.append(ToolSpec(tool.name, tool.description, schema, tool.strict))
    choice = call.tool_choice
    if choice in (None, "auto", "none"):
        return tuple(checked)
    if not checked:
        raise MisuseError(f"tool_choice={choice!r} needs tools to choose from")
    if choice != "required" and choice not in sorted(names):
        raise MisuseError(
            f"tool_choice={choice!r} is no tool: use 'auto', 'required', 'none' or one of"
            f" {', '.join(sorted(names))}"
        )
    return tuple(checked)


def _check_settings(call: Call) -> None:
    """Callers need not be typed: what would be sent as nonsense is refused here."""
    if call.effort is not None and call.effort not in _EFFORTS:
        raise MisuseError(f"effort={call.effort!r} is not known: use one of {', '.join(_EFFORTS)}")
    if call.cache not in (None, "5m", "1h"):
        raise MisuseError(f"cache={call.cache!r} is not known: use '5m' or '1h'")
    limit = call.max_output_tokens
    if limit is not None and (not _is_number(limit, int) or limit < 1):
        raise MisuseError(f"max_output_tokens={limit!r} must be a whole number of at least 1")
    if call.seed is not None and not _is_number(call.seed, int):
        raise MisuseError(f"seed={call.seed!r} must be a whole number")
    for name, value in (("temperature", call.temperature), ("top_p", call.top_p)):
        if value is not None and not _is_number(value, (int, float)):
            raise MisuseError(f"{name}={value!r} must be a number")
    stop = cast("object", call.stop)
    words = cast("tuple[object, ...]", stop) if isinstance(stop, list | tuple) else (None,)
    if not all(isinstance(word, str) and word for word in words):
        raise MisuseError(f"stop={stop!r} must be a tuple of texts, such as ('END',)")
    options = cast("object", call.provider_options)
    if not isinstance(options, Mapping):
        raise MisuseError(f"provider_options must be a dict, not {type(options).__name__}")


def _is_number(value: object, kinds: type | tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(cast("float", value))
