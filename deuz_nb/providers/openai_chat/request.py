"""The body of a Chat Completions request, for OpenAI and the compatible family.  Source: providers.md 2."""

from __future__ import annotations

from typing import Any, Final

from deuz_nb.errors import MisuseError
from deuz_nb.parts.usage import JSONObject
from deuz_nb.providers.ask import Ask
from deuz_nb.providers.capabilities import bare_name
from deuz_nb.providers.openai_chat.messages import chat_messages
from deuz_nb.providers.schemas import json_schema_format, object_schema

__all__ = ["chat_body"]

_MOST_STOPS: Final = 4
_HOSTS_WITH_FOUR_STOPS: Final = ("openai", "azure", "groq", "openrouter")


def chat_body(ask: Ask) -> JSONObject:
    """What is POSTed to `/chat/completions`.  Raises MisuseError for content the host has no form for."""
    call, host, takes = ask.call, ask.host, ask.takes
    format_, instruction = _response_format(ask)
    body: JSONObject = {"model": ask.model.model_id, "messages": chat_messages(ask, instruction)}
    if ask.tools:
        body["tools"] = [
            _tool(tool.name, tool.description, tool.parameters, tool.strict) for tool in ask.tools
        ]
        body |= _tool_choice(ask)
    if format_ is not None:
        body["response_format"] = format_
    body |= _effort(ask)
    if call.max_output_tokens is not None:
        # The old name is refused by OpenAI's reasoning models wherever they are reached.
        is_new = takes.reasoning and bare_name(ask.model.model_id).startswith(
            ("o1", "o3", "o4", "gpt-5", "gpt-6")
        )
        body["max_completion_tokens" if is_new else host.max_tokens] = call.max_output_tokens
    body |= ask.sampling()
    body |= _stop(ask)
    if call.seed is not None:
        body[host.seed] = call.seed
    body |= _cache(ask)
    body["stream"] = True
    if takes.stream_usage:
        body["stream_options"] = {"include_usage": True}
    return body


def _tool(name: str, description: str, parameters: JSONObject, strict: bool | None) -> JSONObject:
    function: JSONObject = {"name": name, "description": description, "parameters": object_schema(parameters)}
    return {"type": "function", "function": function | ({} if strict is None else {"strict": strict})}


def _tool_choice(ask: Ask) -> JSONObject:
    choice: Any = ask.call.tool_choice
    chosen: JSONObject = {}
    if choice in ("auto", "required", "none"):
        chosen["tool_choice"] = choice
    elif choice is not None:
        chosen["tool_choice"] = {"type": "function", "function": {"name": choice}}
    parallel = ask.call.parallel_tool_calls
    if parallel is not None and ask.takes.parallel_tools:
        chosen["parallel_tool_calls"] = parallel
    elif parallel:
        ask.warn("parallel_tool_calls", f"{ask.model.model_id} calls one tool at a time.")
    return chosen


def _response_format(ask: Ask) -> tuple[JSONObject | None, str | None]:
    """The format, and the schema as an instruction where the format cannot hold it."""
    schema = ask.output_schema
    if schema is None:
        return None, None
    if ask.takes.structured_output:
        form = json_schema_format(ask.call.output_name, schema)
        return {"type": "json_schema", "json_schema": form}, None
    ask.warn(
        "output_schema", f"{ask.model.model_id} takes no schema here: it is asked for in the instructions."
    )
    return {"type": "json_object"} if ask.takes.json_mode else None, ask.schema_instruction()


def _effort(ask: Ask) -> JSONObject:
    effort, takes = ask.effort, ask.takes
    asked: JSONObject = {}
    if ask.host.slug == "groq" and takes.reasoning and bare_name(ask.model.model_id).startswith("qwen3"):
        # Without it the thinking comes as tags inside the answer.
        asked["reasoning_format"] = "parsed"
    if effort is None:
        return asked
    if takes.thinking == "switch":
        asked["thinking"] = {"type": takes.thinking_off if effort == "none" else "enabled"}
        return asked if effort == "none" else asked | {"reasoning_effort": effort}
    if ask.host.effort == "reasoning":
        return asked | {"reasoning": {"effort": effort}}
    return asked | {"reasoning_effort": effort}


def _stop(ask: Ask) -> JSONObject:
    stop = list(ask.call.stop)
    if not stop:
        return {}
    if not ask.takes.stop_sequences:
        ask.warn("stop", f"stop was left out: {ask.model.model_id} takes no stop sequences.")
        return {}
    if len(stop) > _MOST_STOPS and ask.host.slug in _HOSTS_WITH_FOUR_STOPS:
        raise MisuseError(f"stop has {len(stop)} texts; {ask.host.title} takes at most {_MOST_STOPS}")
    return {"stop": stop}


def _cache(ask: Ask) -> JSONObject:
    """A lifetime where one can be asked for: OpenAI's newer models, and Claude behind OpenRouter."""
    cache = ask.call.cache
    if cache is None:
        return {}
    if ask.takes.prompt_caching and ask.host.slug == "openrouter":
        if bare_name(ask.model.model_id).startswith("claude-"):
            return {"cache_control": {"type": "ephemeral", "ttl": cache}}
    elif ask.takes.prompt_caching and ask.host.slug == "openai":
        if cache == "1h":
            ask.warn("cache", "cache='1h' is not offered on Chat Completions: 30 minutes were asked for.")
        return {"prompt_cache_options": {"ttl": "30m"}}
    ask.no_lifetime()
    return {}
