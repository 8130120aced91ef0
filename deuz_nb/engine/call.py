"""One model call: request out, parts in, retried before its first content, ended exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NotRequired, TypedDict, cast

import anyio

from deuz_nb.engine.deps import Deps, Response, Timeouts
from deuz_nb.errors import CallTimeoutError, CancelledCallError, ProviderError, TimeoutPhase
from deuz_nb.parts.stream import Finish, StreamPart, ToolCall, ToolState
from deuz_nb.parts.usage import Usage
from deuz_nb.prices import Price, reported_price, unpriced_warning
from deuz_nb.providers import ParsedCall, Parser, http_error, parser
from deuz_nb.providers.catalog import parser_context
from deuz_nb.providers.model import Call, Model, ProviderRequest
from deuz_nb.redact import redact

__all__ = ["CallRecord", "ModelCall"]

LONGEST_RETRY_S = 60.0
ERROR_BODY_BYTES = 1 << 20

Emit = Callable[[list[StreamPart]], None]


@dataclass(slots=True)
class CallRecord:
    """What is known of one model call; None is unknown, times in seconds."""

    step: int
    provider: str
    model_id: str
    at_s: float | None = None
    usage: Usage | None = None
    price: Price | None = None
    finish_reason: str | None = None
    first_part_s: float | None = None
    latency_s: float | None = None
    attempts: int = 0


class _Facts(TypedDict):
    modelId: str
    costUsd: NotRequired[float]


class ModelCall:
    """Runs one call and hands its parts to `emit`; the last is one finish or one error."""

    def __init__(
        self,
        model: Model,
        call: Call,
        request: ProviderRequest,
        *,
        deps: Deps,
        timeouts: Timeouts,
        max_retries: int,
        emit: Emit,
    ) -> None:
        self._model = model
        self._call = call
        self._request = request
        self._deps = deps
        self._timeouts = timeouts
        self._max_retries = max_retries
        self._emit = emit
        self._parser = self._new_parser(200, {})
        self._began_s = 0.0
        self.record = CallRecord(step=0, provider=model.provider, model_id=model.model_id)

    async def run(self) -> None:
        """Call, retrying what may be retried.  A cancel emits its error part, then goes on upwards."""
        self._began_s = self._deps.clock.monotonic_s()
        self.record.at_s = self._deps.clock.wall_s()
        opening: list[StreamPart] = [{"type": "step-start", "stepIndex": 0}]
        opening.extend({"type": "warning", "warning": warning} for warning in self._request.warnings)
        self._emit(opening)
        loop_began = anyio.current_time()
        try:
            while True:
                self.record.attempts += 1
                last = await self._attempt(loop_began)
                delay_s = self._retry_delay_s(last)
                if delay_s is None:
                    break
                self._emit([self._retry_warning(last, delay_s)])
                await anyio.sleep(delay_s)
        except asyncio.CancelledError:
            stopped = CancelledCallError(
                "The call was cancelled before its end; call again to get the whole answer.",
                provider=self._model.provider,
            )
            self._end(self._failed(stopped))
            raise
        self._end(last)

    async def _attempt(self, loop_began: float) -> StreamPart:
        """Send the request once and pass its content on; returns the terminal part, held back."""
        limits = self._timeouts
        self._parser = self._new_parser(200, {})
        total_at = float("inf") if limits.total_s is None else loop_began + limits.total_s
        first_at = float("inf") if limits.first_part_s is None else anyio.current_time() + limits.first_part_s
        silence_s = limits.silence_s
        try:
            with anyio.CancelScope(deadline=min(total_at, first_at)) as scope:
                async with self._deps.transport.post(
                    self._model, self._request, connect_s=limits.connect_s
                ) as response:
                    if not 200 <= response.status < 300:
                        return await self._refused(response)
                    self._parser = machine = self._new_parser(response.status, response.headers)
                    async for chunk in response.chunks():
                        batch = machine.receive(chunk)
                        if machine.has_content:
                            now = anyio.current_time()
                            scope.deadline = total_at if silence_s is None else min(total_at, now + silence_s)
                        if batch and (last := self._pass_on(batch)) is not None:
                            return last
                    last = self._pass_on(machine.close())
                    # close() always ends with the terminal part: that is what a parser promises.
                    return cast("StreamPart", last)
        except ProviderError as error:
            return self._failed(error)
        return self._failed(self._timed_out(anyio.current_time() >= total_at))

    def _new_parser(self, status: int, headers: Mapping[str, str]) -> Parser:
        context: dict[str, Any] = dict(parser_context(self._model))
        return parser(
            self._model.wire,
            **context,
            new_id=self._deps.new_id,
            known_tools=frozenset(tool.name for tool in self._call.tools),
            status=status,
            content_type=headers.get("content-type"),
            request_id=headers.get("request-id") or headers.get("x-request-id"),
        )

    def _pass_on(self, batch: list[StreamPart]) -> StreamPart | None:
        """Emit a batch without its terminal part, which is returned."""
        last = batch[-1] if batch and batch[-1]["type"] in ("finish", "error") else None
        content = batch[:-1] if last is not None else batch
        if content:
            if self.record.first_part_s is None and self._parser.has_content:
                self.record.first_part_s = self._deps.clock.monotonic_s() - self._began_s
            self._emit(content)
        return last

    async def _refused(self, response: Response) -> StreamPart:
        body = bytearray()
        async for chunk in response.chunks():
            body += chunk
            if len(body) > ERROR_BODY_BYTES:
                break
        error = http_error(
            self._model.wire,
            status=response.status,
            headers=response.headers,
            body=bytes(body),
            provider=self._model.provider,
            now_s=self._deps.clock.wall_s(),
        )
        return {"type": "error", "error": error}

    def _failed(self, error: ProviderError) -> StreamPart:
        batch = self._parser.fail(error)
        return batch[-1] if batch else {"type": "error", "error": error}

    def _timed_out(self, is_total: bool) -> CallTimeoutError:
        limits = self._timeouts
        phase: TimeoutPhase = "total" if is_total else "silence" if self._parser.has_content else "first_part"
        limit_s, what = {
            "total": (limits.total_s, "the whole answer"),
            "silence": (limits.silence_s, "the next chunk"),
            "first_part": (limits.first_part_s, "the first content"),
        }[phase]
        return CallTimeoutError(
            f"No sign of {what} within {limit_s:g} s; raise Timeouts({phase}_s=...) to wait longer.",
            phase=phase,
            limit_s=limit_s or 0.0,
            is_retryable=phase == "first_part",
        )

    def _retry_delay_s(self, last: StreamPart) -> float | None:
        """How long to wait before the next attempt; None when there is none."""
        if last["type"] != "error" or self._parser.has_content or self.record.attempts > self._max_retries:
            return None
        error = last["error"]
        if not isinstance(error, ProviderError) or not error.is_retryable:
            return None
        if error.retry_after_s is not None:
            return error.retry_after_s if error.retry_after_s <= LONGEST_RETRY_S else None
        return 0.5 * 2 ** (self.record.attempts - 1) * self._deps.jitter()

    def _retry_warning(self, last: StreamPart, delay_s: float) -> StreamPart:
        error = last["error"] if last["type"] == "error" else None
        message = redact(f"Attempt {self.record.attempts} failed ({error}); the next one in {delay_s:.1f} s.")
        return {"type": "warning", "warning": {"type": "retry", "message": message}}

    def _end(self, last: StreamPart) -> None:
        record = self.record
        record.latency_s = self._deps.clock.monotonic_s() - self._began_s
        record.model_id = self._parser.model_id or self._model.model_id
        if last["type"] == "finish":
            self._emit(self._ending(last))
        else:
            record.finish_reason = "error"
            record.usage = self._parser.usage
            self._emit([*self._call_parts(was_cut=True), last])

    def _ending(self, finish: Finish) -> list[StreamPart]:
        """step-finish, cost, tool calls, finish: the order of agent.md A17."""
        record = self.record
        record.finish_reason = finish["finishReason"]
        metadata = finish.get("providerMetadata", {})
        deuz = cast("dict[str, Any]", metadata.get("deuz", {}))
        if deuz.get("usageReported") is not False:
            record.usage = finish["usage"]
            record.price = self._priced(finish["usage"], metadata)
        cost = None if record.price is None else float(record.price.total)
        facts: _Facts = {"modelId": record.model_id}
        if cost is not None:
            facts["costUsd"] = cost
        ending: list[StreamPart] = []
        if record.usage is not None and record.price is None:
            warning = unpriced_warning(
                self._deps.prices, model=record.model_id, provider=self._model.provider
            )
            ending.append({"type": "warning", "warning": warning})
        ending.append(
            {
                "type": "step-finish",
                "stepIndex": 0,
                "finishReason": finish["finishReason"],
                "usage": finish["usage"],
                **facts,
            }
        )
        if cost is not None:
            ending.append({"type": "cost", "costUsd": cost, "deltaUsd": cost, "stepIndex": 0})
        ending.extend(self._call_parts(was_cut=False))
        ending.append({**finish, **facts})
        return ending

    def _priced(self, usage: Usage, metadata: Mapping[str, Any]) -> Price | None:
        """The provider's own word first, then the price of the model that answered."""
        provider = self._model.provider
        own = cast("dict[str, Any]", metadata.get(provider, {}))
        reported = reported_price(own.get("usage"), provider=provider)
        if reported is not None:
            return reported
        tier = cast("dict[str, Any]", metadata.get("deuz", {})).get("serviceTier")
        base = self._model.options.get("base_model")
        return self._deps.prices.price(
            usage,
            model=base if isinstance(base, str) else self.record.model_id,
            provider=provider,
            at=datetime.fromtimestamp(self.record.at_s or 0.0, UTC),
            tier=tier if isinstance(tier, str) else None,
        )

    def _call_parts(self, *, was_cut: bool) -> list[StreamPart]:
        """A tool-call part for every whole call; a call that may not run is marked with its outcome."""
        parts: list[StreamPart] = []
        for call in self._parser.tool_calls:
            if call.is_valid:
                whole: ToolCall = {
                    "type": "tool-call",
                    "toolCallId": call.id,
                    "toolName": call.name,
                    "input": call.input,
                }
                if call.provider_metadata:
                    whole["providerMetadata"] = call.provider_metadata
                parts += [whole, _state(call, "input-complete")]
            else:
                ended_well = not was_cut and self.record.finish_reason in ("stop", "tool_calls")
                outcome = "invalid-input" if ended_well else "cancelled" if was_cut else "no-result"
                parts.append({**_state(call, "error"), "outcome": outcome})
        return parts


def _state(call: ParsedCall, state: Literal["input-complete", "error"]) -> ToolState:
    return {"type": "tool-state", "toolCallId": call.id, "toolName": call.name, "state": state}
