"""The composition root: puts engine, net, prices and clock together, and alone reads the environment."""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

import httpx

from deuz_nb.engine.call import CallRecord, ModelCall
from deuz_nb.engine.deps import Deps, Timeouts
from deuz_nb.engine.replay import replay
from deuz_nb.engine.result import StreamResult
from deuz_nb.engine.run import Emit, Source
from deuz_nb.errors import MissingKeyError, MisuseError
from deuz_nb.net.replay import ReplayTransport
from deuz_nb.net.transport import HTTPTransport
from deuz_nb.parts.message import Message
from deuz_nb.parts.usage import JSONObject
from deuz_nb.prices import FirstOf, GenaiPrices, PriceProvider
from deuz_nb.providers import catalog
from deuz_nb.providers.hosts import host_of
from deuz_nb.providers.model import Call, Effort, Model, ToolChoice, ToolSpec
from deuz_nb.providers.requests import build_request
from deuz_nb.recordings import load
from deuz_nb.wire.transcript import Transcript

if TYPE_CHECKING:
    from deuz_nb.notebook.view import StreamView

__all__ = [
    "default_deps",
    "is_static_asked",
    "load_ipython_extension",
    "model",
    "openai_compatible",
    "show",
    "stream_chat",
    "stream_view",
]

REPLAY = "replay:"


class SystemClock:
    """The machine's clocks."""

    def wall_s(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic_s(self) -> float:
        """Seconds since some fixed point."""
        return time.monotonic()


class FixedWall:
    """The wall clock of a recording, so that its prices and dates do not change with the day."""

    def __init__(self, at_s: float) -> None:
        self._at_s = at_s

    def wall_s(self) -> float:
        """When the recording was made."""
        return self._at_s

    def monotonic_s(self) -> float:
        """Seconds since some fixed point."""
        return time.monotonic()


def _replayed(asked: Model) -> httpx.AsyncBaseTransport | None:
    name = asked.options.get("recording")
    if not isinstance(name, str):
        return None
    return ReplayTransport(load(name), cast("float | None", asked.options.get("speed")))


_transport = HTTPTransport(_replayed)
_prices = GenaiPrices()


def default_deps() -> Deps:
    """The real world: the machine's clock, httpx, random ids, genai-prices."""
    return Deps(
        clock=SystemClock(),
        transport=_transport,
        new_id=lambda: uuid.uuid4().hex[:16],
        jitter=random.random,
        prices=_prices,
    )


def is_static_asked() -> bool:
    """Whether DEUZ_NB_STATIC asks for static output instead of a live view."""
    return os.environ.get("DEUZ_NB_STATIC", "").strip().lower() not in ("", "0", "false", "no")


def model(slug_or_url: str, *, speed: float | None = 1.0, **options: Any) -> Model:
    """A model by slug (`anthropic:...`, `openai:...`, `google:...`, `ollama:...`, `replay:NAME`) or base URL.

    The key comes from `api_key=` or the host's environment variable.  `speed` is the pace of a replay: 1.0 as
    recorded, None without waiting.  Further options: those of `deuz_nb.providers.catalog.resolve`.
    Raises UnknownModelError (with near names), MissingKeyError (with the variable), MisuseError.
    """
    if isinstance(slug_or_url, str) and slug_or_url.startswith(REPLAY):
        return _replay_model(slug_or_url.removeprefix(REPLAY), speed, options)
    name = slug_or_url.partition(":")[0] if isinstance(slug_or_url, str) else ""
    known = catalog.HOSTS.get(name)
    if known is not None and known.base_url_variable and options.get("base_url") is None:
        options["base_url"] = os.environ.get(known.base_url_variable)
    return _with_key(catalog.resolve(slug_or_url, **options))


def openai_compatible(name: str, base_url: str, *, model_id: str, **options: Any) -> Model:
    """A model at any server that speaks OpenAI Chat Completions; `name` is its provider in usage and prices."""
    return _with_key(catalog.openai_compatible(name, base_url, model_id=model_id, **options))


def _with_key(asked: Model) -> Model:
    if asked.api_key is not None:
        return asked
    host = host_of(asked)
    variables = [name for name in (asked.key_variable, *host.other_key_variables) if name]
    key = next((value for name in variables if (value := os.environ.get(name, "").strip())), None)
    if key is None and host.needs_key and variables:
        raise MissingKeyError(
            f"No API key for {asked.provider}: set the environment variable {variables[0]}, "
            f"or pass api_key=...  Without a key, model('replay:tides') replays a recording.",
            variable=variables[0],
        )
    return asked if key is None else replace(asked, api_key=key)


def _replay_model(name: str, speed: float | None, options: Mapping[str, Any]) -> Model:
    if options:
        raise MisuseError(f"A replay takes only speed=, not {', '.join(sorted(options))}.")
    if speed is not None and (isinstance(speed, bool) or not speed > 0):
        raise MisuseError(f"speed={speed!r} must be above 0, or None for no waiting.")
    recording = load(name)
    found = catalog.resolve(
        f"{recording.provider}:{recording.model_id}",
        wire=cast("Any", recording.wire),
        base_url="http://replay.invalid/v1",
        api_key="",
    )
    extra = {"recording": name, "speed": speed, "at_s": recording.at_s}
    return replace(found, options={**found.options, **extra})


def stream_chat(
    model: Model | str,
    prompt: str | Sequence[Message] | None = None,
    *,
    system: str | None = None,
    tools: Sequence[ToolSpec | JSONObject] | None = None,
    tool_choice: ToolChoice | None = None,
    parallel_tool_calls: bool | None = None,
    output_schema: JSONObject | None = None,
    output_name: str = "output",
    effort: Effort | None = None,
    max_output_tokens: int | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    stop: str | Sequence[str] = (),
    seed: int | None = None,
    cache: Literal["5m", "1h"] | None = None,
    provider_options: Mapping[str, object] | None = None,
    timeouts: Timeouts | None = None,
    max_retries: int = 2,
    prices: PriceProvider | None = None,
    message_id: str | None = None,
    deps: Deps | None = None,
) -> StreamResult:
    """One model call as a lazy result: nothing is sent until it is read, awaited, started or shown.

    `prompt` is a text or a list of messages; a replay may leave it out.  `tools` are JSON schemas (`ToolSpec` or
    `{name, description, parameters}`).  `prices` is asked before the built-in price data.
    Raises MisuseError at once for a request that cannot be built.
    """
    chosen = _chosen(model)
    messages = _messages(chosen, prompt, system)
    call = Call(
        messages=messages,
        tools=tuple(_tool(tool) for tool in tools or ()),
        tool_choice=tool_choice,
        parallel_tool_calls=parallel_tool_calls,
        output_schema=output_schema,
        output_name=output_name,
        effort=effort,
        max_output_tokens=max_output_tokens,
        temperature=temperature,
        top_p=top_p,
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
        seed=seed,
        cache=cache,
        provider_options=dict(provider_options or {}),
    )
    request = build_request(chosen, call)
    world = deps or _deps_of(chosen)
    if prices is not None:
        world = replace(world, prices=FirstOf(prices, world.prices))
    records: list[CallRecord] = []

    async def run(emit: Emit) -> None:
        one = ModelCall(
            chosen,
            call,
            request,
            deps=world,
            timeouts=timeouts or Timeouts(),
            max_retries=max_retries,
            emit=emit,
        )
        records.append(one.record)
        await one.run()

    recording = chosen.options.get("recording")
    own_id = f"replay-{recording}" if isinstance(recording, str) else f"msg-{world.new_id()}"
    return StreamResult(
        Source(run, records),
        model=chosen,
        messages=messages,
        message_id=own_id if message_id is None else message_id,
        deps=world,
    )


def stream_view(source: StreamResult | Transcript) -> StreamView:
    """A live view of a result, or of a transcript: `display` it, `await` it, or call `wait()`.

    Displaying returns at once and the run goes on; at its end the output becomes static HTML and text.  With
    DEUZ_NB_STATIC=1, or where no front end is alive, it waits and shows the static form only.
    `view.replay(speed=2)` tells an ended run, or a transcript with timings, once more.
    """
    from deuz_nb import notebook

    _tell_static()
    if isinstance(source, StreamResult):
        return notebook.stream_view(source)
    if not isinstance(source, Transcript):
        raise MisuseError(f"{source!r} cannot be viewed: pass a result of stream_chat, or a transcript.")
    told = replay(source, speed=None, deps=default_deps())
    return notebook.stream_view(told, origin=source)


def show(transcript: Transcript) -> None:
    """Show a transcript: in a notebook as a card, elsewhere as plain text on standard output."""
    from deuz_nb import notebook

    _tell_static()
    notebook.show(transcript)


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext deuz_nb` does: results and transcripts are shown as last expressions."""
    from deuz_nb import notebook

    _tell_static()
    notebook.load_ipython_extension(shell)


def _tell_static() -> None:
    from deuz_nb.notebook import bridge

    bridge.set_static(True if is_static_asked() else None)


def _chosen(given: Model | str) -> Model:
    if isinstance(given, Model):
        return given
    if isinstance(given, str):
        return model(given)
    raise MisuseError(f"{given!r} is no model: pass model('provider:name') or the slug itself.")


def _deps_of(chosen: Model) -> Deps:
    at_s = chosen.options.get("at_s")
    world = default_deps()
    if not isinstance(at_s, float):
        return world
    numbers = iter(range(1, 1 << 30))
    return replace(world, clock=FixedWall(at_s), new_id=lambda: f"id-{next(numbers)}")


def _messages(
    chosen: Model, prompt: str | Sequence[Message] | None, system: str | None
) -> tuple[Message, ...]:
    recording = chosen.options.get("recording")
    if prompt is None and isinstance(recording, str):
        prompt = load(recording).prompt
    if prompt is None:
        raise MisuseError("stream_chat needs a prompt: a text, or a list of messages.")
    found: list[Message] = [] if system is None else [{"role": "system", "content": system}]
    if isinstance(prompt, str):
        if not prompt.strip():
            raise MisuseError("The prompt is empty: pass the text to send, or a list of messages.")
        found.append({"role": "user", "content": prompt})
    elif isinstance(prompt, Sequence):
        found.extend(prompt)
    else:
        raise MisuseError(f"{prompt!r} is no prompt: pass a text, or a list of messages.")
    return tuple(found)


def _tool(given: ToolSpec | JSONObject) -> ToolSpec:
    if isinstance(given, ToolSpec):
        return given
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        raise MisuseError(
            f"{given!r} is no tool: pass a ToolSpec or {{'name', 'description', 'parameters'}} with a JSON schema."
        )
    return ToolSpec(
        name=given["name"],
        description=str(given.get("description", "")),
        parameters=cast("JSONObject", given.get("parameters") or {"type": "object", "properties": {}}),
        strict=cast("bool | None", given.get("strict")),
    )
