"""Anthropic Messages streams as canonical parts.  Source: providers.md 1."""

from __future__ import annotations

from typing import Any, Final, Unpack, cast

from deuz_nb.errors import InvalidResponseError
from deuz_nb.parts.stream import StreamPart
from deuz_nb.parts.usage import JSON, FinishReason, JSONObject, Usage
from deuz_nb.providers.anthropic.blocks import HostedBlocks, Place
from deuz_nb.providers.anthropic.usage import merged, usage_from
from deuz_nb.providers.failures import stream_failure
from deuz_nb.providers.machine import Context, Parser
from deuz_nb.providers.shapes import Saying
from deuz_nb.providers.toolcalls import OpenCall, arguments_text
from deuz_nb.providers.values import as_key, as_list, as_object, as_text

__all__ = ["AnthropicParser"]

_REASONS: Final[dict[str, FinishReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
    "pause_turn": "stop",
    "compaction": "stop",
}
_PAUSED: Final = ("pause_turn", "compaction")
_KEPT_ON_CALLS: Final = ("caller", "toolset_name")


class AnthropicParser(Parser):
    """Reads the Messages wire."""

    wire = "anthropic"
    default_provider = "anthropic"

    def __init__(self, **context: Unpack[Context]) -> None:
        super().__init__(**context)
        self._usage: JSONObject = {}
        self._inputs: dict[Place, OpenCall] = {}
        self._signatures: dict[Place, str] = {}
        self._hosted = HostedBlocks()
        self._citations = 0

    @property
    def usage(self) -> Usage | None:
        return usage_from(self._usage) if self._usage else None

    def _event(self, body: JSONObject, name: str | None, out: list[StreamPart]) -> None:
        kind = body.get("type") or name
        if kind == "content_block_delta":
            self._delta(body, as_object(body.get("delta")), out)
        elif kind == "content_block_start":
            self._block_start(as_key(body.get("index")), as_object(body.get("content_block")), out)
        elif kind == "content_block_stop":
            self._block_stop(as_key(body.get("index")), out)
        elif kind == "message_start":
            self._message_start(as_object(body.get("message")), out)
        elif kind == "message_delta":
            self._message_delta(body, out)
        elif kind == "message_stop":
            self._stop(out)
        elif kind == "error" or ("type" not in body and body.get("error")):
            self._fail(
                out, stream_failure(self.wire, body, provider=self.provider, request_id=self._request_id)
            )

    def _only_says(self, body: JSONObject, name: str | None) -> Saying | None:
        if (body.get("type") or name) != "content_block_delta":
            return None
        delta = as_object(body.get("delta"))
        match delta.get("type"):
            case "text_delta":
                return "text-delta", as_text(delta.get("text"))
            case "thinking_delta":
                return "reasoning-delta", as_text(delta.get("thinking"))
            case _:
                return None

    def _whole(self, body: JSONObject, out: list[StreamPart]) -> bool:
        if body.get("type") != "message" or not isinstance(body.get("content"), list):
            return False
        self._message_start(body, out)
        self._message_delta({"delta": body, "usage": body.get("usage")}, out)
        self._stop(out)
        return True

    def _message_start(self, message: JSONObject, out: list[StreamPart]) -> None:
        if self.response_id is not None and self.response_id != as_text(message.get("id")):
            # Two generations spliced into one body: neither's usage nor signatures can be told apart.
            self._usage = {}
            self._fail(
                out,
                InvalidResponseError(
                    "A second message began inside the stream: the answer cannot be trusted; call again.",
                    provider=self.provider,
                    request_id=self._request_id,
                ),
            )
            return
        self.response_id = as_text(message.get("id"))
        self.model_id = as_text(message.get("model")) or self.model_id
        self._usage = merged(self._usage, message.get("usage"))
        self._keep_tier(message.get("usage"))
        for index, block in enumerate(as_list(message.get("content"))):
            place = ("start", index)
            self._block_start(place, as_object(block), out)
            self._block_stop(place, out)
        if isinstance(message.get("stop_reason"), str):
            self._set_reason(message["stop_reason"])

    def _block_start(self, place: Place, block: JSONObject, out: list[StreamPart]) -> None:
        kind = as_text(block.get("type"))
        self._hosted.start(place, block)
        if kind == "text":
            self._text(block.get("text"), out)
            for citation in as_list(block.get("citations")):
                self._citation(as_object(citation), out)
        elif kind == "thinking":
            self._reasoning(block.get("thinking"), out)
            self._sign(place, block.get("signature"), out)
        elif kind == "redacted_thinking":
            if data := as_text(block.get("data")):
                # `encrypted` keeps readers that do not know `redacted` from showing the payload.
                self._show(
                    {"type": "reasoning-delta", "text": data, "encrypted": True, "redacted": True}, out
                )
        elif kind == "tool_use":
            metadata = {key: block[key] for key in _KEPT_ON_CALLS if block.get(key)}
            # An empty input only holds the place of the fragments that follow.
            given = arguments_text(block.get("input") or "")
            self.has_content = True
            call = self._calls.open(
                out,
                call_id=as_text(block.get("id")),
                name=as_text(block.get("name")),
                text=given,
                metadata={"anthropic": metadata} if metadata else None,
            )
            call.is_whole = call.is_whole or bool(given)
            self._inputs[place] = call
        elif kind == "fallback":
            # Another model took over: it is the one that answers, and that is paid for.
            self.model_id = as_text(as_object(block.get("to")).get("model")) or self.model_id
        elif kind.endswith("_tool_result"):
            self._server_result(block, kind.removesuffix("_tool_result"), out)

    def _block_stop(self, place: Place, out: list[StreamPart]) -> None:
        self._seal_text(out)
        self._hosted.stop(place)
        call = self._inputs.pop(place, None)
        if call is not None:
            call.is_whole = True

    def _delta(self, body: JSONObject, delta: JSONObject, out: list[StreamPart]) -> None:
        kind = delta.get("type")
        if kind == "text_delta":
            self._text(delta.get("text"), out)
        elif kind == "thinking_delta":
            self._reasoning(delta.get("thinking"), out)
        elif kind == "input_json_delta":
            self._input(as_key(body.get("index")), delta, out)
        elif kind == "signature_delta":
            self._sign(as_key(body.get("index")), delta.get("signature"), out)
        elif kind == "citations_delta":
            self._citation(as_object(delta.get("citation")), out)
        else:
            self._hosted.add(as_key(body.get("index")), delta)

    def _input(self, place: Place, delta: JSONObject, out: list[StreamPart]) -> None:
        call, text = self._inputs.get(place), delta.get("partial_json")
        if call is None or not isinstance(text, str):
            self._hosted.add(place, delta)
        elif not call.is_whole:
            self._calls.add(out, call, text)
        elif text.strip():
            # The start carried a whole input and fragments repeat it: the fragments are the wire's own.
            call.replace("")
            call.is_whole = False
            self._calls.add(out, call, text)

    def _sign(self, place: Place, given: JSON, out: list[StreamPart]) -> None:
        signature = as_text(given)
        if not signature or self._signatures.get(place) == signature:
            return
        thought = self._thought_pairs.flush()
        if thought:
            out.append({"type": "reasoning-delta", "text": thought})
        self._signatures[place] = signature
        self._show({"type": "reasoning-delta", "text": "", "signature": signature}, out)

    def _server_result(self, block: JSONObject, tool: str, out: list[StreamPart]) -> None:
        """Sources of a server tool, or a warning when it failed."""
        content = block.get("content")
        failed = as_text(as_object(content).get("error_code"))
        if failed:
            self._warn("server-tool-error", f"The provider's {tool} tool failed: {failed}.", out)
            return
        call_id = as_text(block.get("tool_use_id")) or self._new_id()
        found = [as_object(content), *map(as_object, as_list(content))]
        for number, result in enumerate(result for result in found if as_text(result.get("url"))):
            self._source(f"{call_id}:{number}", result["url"], result.get("title"), out)

    def _citation(self, citation: JSONObject, out: list[StreamPart]) -> None:
        if not citation:
            return
        part: dict[str, Any] = {"type": "citation", "id": f"citation-{self._citations}"}
        self._citations += 1
        url = as_text(citation.get("url") or citation.get("source"))
        if url.startswith(("http://", "https://")):
            part["url"] = url
        if title := as_text(citation.get("title") or citation.get("document_title")):
            part["title"] = title
        if snippet := as_text(citation.get("cited_text")):
            part["snippet"] = snippet
        self._show(cast("StreamPart", part), out)

    def _message_delta(self, body: JSONObject, out: list[StreamPart]) -> None:
        delta = as_object(body.get("delta"))
        self._usage = merged(self._usage, body.get("usage"))
        self._keep_tier(body.get("usage"))
        if isinstance(delta.get("stop_reason"), str):
            self._set_reason(delta["stop_reason"])
        if isinstance(delta.get("stop_details"), dict):
            self._note("stop_details", delta["stop_details"])
        if delta.get("container"):
            self._note("container", delta["container"])
        if body.get("context_management"):
            self._note("contextManagement", body["context_management"])

    def _keep_tier(self, usage: JSON) -> None:
        reported = as_object(usage)
        for key, kept in (
            ("service_tier", "serviceTier"),
            ("speed", "speed"),
            ("inference_geo", "inferenceGeo"),
        ):
            if isinstance(reported.get(key), str):
                self._note(kept, reported[key], under="deuz")

    def _set_reason(self, raw: str) -> None:
        self.raw_finish = raw
        self._reason = _REASONS.get(raw, "stop")

    def _stop(self, out: list[StreamPart]) -> None:
        if self.raw_finish is None and self._inputs:
            self._truncated(out)
            return
        self._finish(out, self._reason or "stop")

    def _finish(self, out: list[StreamPart], reason: FinishReason) -> None:
        raw = self.raw_finish
        if raw is None:
            self._warn("missing-finish-reason", "The provider gave no reason for the end of its answer.", out)
        elif raw == "pause_turn":
            self._warn(
                "pause-turn", "The provider paused the turn; send the conversation again to go on.", out
            )
        elif raw not in _REASONS:
            self._warn("unknown-finish-reason", f"Unknown finish reason {raw!r}; read as a stop.", out)
        if self._usage and "input_tokens" not in self._usage:
            self._warn("partial-usage", "The provider reported only a part of the usage.", out)
        if self._usage:
            self._note("usage", self._usage, under=self.provider)
        for key, fact in self._hosted.facts().items():
            self._note(key, fact)
        if reason == "stop" and self._calls.calls and raw not in _PAUSED:
            reason = "tool_calls"
        super()._finish(out, reason)

    def _at_end(self, out: list[StreamPart]) -> None:
        if self._reason is None:
            self._truncated(out)
            return
        self._warn(
            "missing-terminal-event", "The stream ended without message_stop, after its finish reason.", out
        )
        self._finish(out, self._reason)
