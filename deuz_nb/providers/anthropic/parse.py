"""Anthropic Messages streams as canonical parts.  Source: providers.md 1."""

from __future__ import annotations

from typing import Any, Final, cast

from deuz_nb import jsontext
from deuz_nb.errors import InvalidResponseError
from deuz_nb.parts.stream import StreamPart
from deuz_nb.parts.usage import JSON, FinishReason, JSONObject, Usage
from deuz_nb.providers.anthropic.usage import merged, usage_from
from deuz_nb.providers.failures import stream_failure
from deuz_nb.providers.machine import Parser
from deuz_nb.providers.tokens import as_object
from deuz_nb.providers.toolcalls import OpenCall

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
_KEPT_ON_CALLS: Final = ("caller", "toolset_name")


class AnthropicParser(Parser):
    """Reads the Messages wire."""

    wire = "anthropic"
    default_provider = "anthropic"

    def __init__(self, **context: Any) -> None:
        super().__init__(**context)
        self._usage: JSONObject = {}
        self._blocks: dict[Any, str] = {}
        self._inputs: dict[Any, OpenCall] = {}
        self._signatures: dict[Any, str] = {}
        self._citations = 0

    @property
    def usage(self) -> Usage | None:
        return usage_from(self._usage) if self._usage else None

    def _event(self, body: JSONObject, name: str | None, out: list[StreamPart]) -> None:
        kind = body.get("type") or name
        if kind == "content_block_delta":
            self._delta(body.get("index"), as_object(body.get("delta")), out)
        elif kind == "content_block_start":
            self._block_start(body.get("index"), as_object(body.get("content_block")), out)
        elif kind == "content_block_stop":
            self._block_stop(body.get("index"), out)
        elif kind == "message_start":
            self._message_start(as_object(body.get("message")), out)
        elif kind == "message_delta":
            self._message_delta(body, out)
        elif kind == "message_stop":
            self._stop(out)
        elif kind == "error" or (kind is None and "error" in body):
            self._fail(
                out, stream_failure(self.wire, body, provider=self.provider, request_id=self._request_id)
            )

    def _whole(self, body: JSONObject, out: list[StreamPart]) -> bool:
        if body.get("type") != "message" or not isinstance(body.get("content"), list):
            return False
        self._message_start(body, out)
        self._message_delta({"delta": body, "usage": body.get("usage")}, out)
        self._stop(out)
        return True

    def _message_start(self, message: JSONObject, out: list[StreamPart]) -> None:
        if self.response_id is not None and self.response_id != message.get("id"):
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
        self.response_id = cast("str | None", message.get("id")) if isinstance(message.get("id"), str) else ""
        if isinstance(message.get("model"), str) and message["model"]:
            self.model_id = message["model"]
        self._usage = merged(self._usage, message.get("usage"))
        self._keep_tier(message.get("usage"))
        content = message.get("content")
        for index, block in enumerate(cast("list[JSON]", content) if isinstance(content, list) else []):
            key = ("start", index)
            self._block_start(key, as_object(block), out)
            self._block_stop(key, out)
        if isinstance(message.get("stop_reason"), str):
            self._set_reason(message["stop_reason"])

    def _block_start(self, index: Any, block: JSONObject, out: list[StreamPart]) -> None:
        kind = str(block.get("type"))
        self._blocks[index] = kind
        if kind == "text":
            self._text(block.get("text"), out)
            for citation in cast("list[JSON]", block.get("citations") or []):
                self._citation(as_object(citation), out)
        elif kind == "thinking":
            self._reasoning(block.get("thinking"), out)
            self._sign(index, block.get("signature"), out)
        elif kind == "redacted_thinking":
            data = block.get("data")
            if isinstance(data, str) and data:
                # `encrypted` keeps readers that do not know `redacted` from showing the payload.
                out.append({"type": "reasoning-delta", "text": data, "encrypted": True, "redacted": True})
        elif kind == "tool_use":
            metadata = {key: block[key] for key in _KEPT_ON_CALLS if block.get(key)}
            given = block.get("input")
            text = jsontext.dumps(given) if isinstance(given, dict) and given else ""
            call_id, call_name = block.get("id"), block.get("name")
            self.has_content = True
            self._inputs[index] = self._calls.open(
                out,
                call_id=call_id if isinstance(call_id, str) else None,
                name=call_name if isinstance(call_name, str) else "",
                key=index,
                text=text,
                metadata={"anthropic": metadata} if metadata else None,
            )
            self._inputs[index].is_whole = bool(text)
        elif kind == "compaction" and isinstance(block.get("content"), str) and block["content"]:
            self._note("compaction", block)
        elif kind.endswith("_tool_result"):
            self._server_result(block, out)

    def _block_stop(self, index: Any, out: list[StreamPart]) -> None:
        self._seal_text(out)
        self._blocks.pop(index, None)
        call = self._inputs.pop(index, None)
        if call is not None:
            call.is_whole = True

    def _delta(self, index: Any, delta: JSONObject, out: list[StreamPart]) -> None:
        match delta.get("type"):
            case "text_delta":
                self._text(delta.get("text"), out)
            case "thinking_delta":
                self._reasoning(delta.get("thinking"), out)
            case "input_json_delta":
                call = self._inputs.get(index)
                text = delta.get("partial_json")
                if call is not None and isinstance(text, str) and not call.is_whole:
                    self._calls.add(out, call, text)
                elif call is not None and isinstance(text, str) and text.strip():
                    # The start carried a whole input and fragments repeat it: the fragments are the wire's own.
                    call.pieces, call.is_whole = [], False
                    self._calls.add(out, call, text)
            case "signature_delta":
                self._sign(index, delta.get("signature"), out)
            case "citations_delta":
                self._citation(as_object(delta.get("citation")), out)
            case _:
                pass

    def _sign(self, index: Any, signature: object, out: list[StreamPart]) -> None:
        if not isinstance(signature, str) or not signature or self._signatures.get(index) == signature:
            return
        thought = self._thought_pairs.flush()
        if thought:
            out.append({"type": "reasoning-delta", "text": thought})
        self._signatures[index] = signature
        out.append({"type": "reasoning-delta", "text": "", "signature": signature})

    def _server_result(self, block: JSONObject, out: list[StreamPart]) -> None:
        """Sources of a server tool, or a warning when it failed."""
        call_id, content = block.get("tool_use_id"), block.get("content")
        if isinstance(content, dict):
            found = cast("JSONObject", content)
            if isinstance(found.get("error_code"), str):
                tool = str(block.get("type")).removesuffix("_tool_result")
                self._warn(
                    "server-tool-error", f"The provider's {tool} tool failed: {found['error_code']}.", out
                )
                return
            content = [found]
        number = 0
        for item in cast("list[JSON]", content) if isinstance(content, list) else []:
            result = as_object(item)
            url = result.get("url")
            if isinstance(url, str) and url:
                source: dict[str, Any] = {"type": "source", "id": f"{call_id}:{number}", "url": url}
                if isinstance(result.get("title"), str) and result["title"]:
                    source["title"] = result["title"]
                out.append(source)
                number += 1

    def _citation(self, citation: JSONObject, out: list[StreamPart]) -> None:
        if not citation:
            return
        part: dict[str, Any] = {"type": "citation", "id": f"citation-{self._citations}"}
        self._citations += 1
        url = citation.get("url") or citation.get("source")
        if isinstance(url, str) and url.startswith(("http://", "https://")):
            part["url"] = url
        title = citation.get("title") or citation.get("document_title")
        if isinstance(title, str) and title:
            part["title"] = title
        if isinstance(citation.get("cited_text"), str) and citation["cited_text"]:
            part["snippet"] = citation["cited_text"]
        out.append(part)

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
        self._finish(out, self._reason or ("tool_calls" if self._calls.calls else "stop"))

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
        super()._finish(out, reason)

    def _at_end(self, out: list[StreamPart]) -> None:
        if self._reason is None:
            self._truncated(out)
            return
        self._warn(
            "missing-terminal-event", "The stream ended without message_stop, after its finish reason.", out
        )
        self._finish(out, self._reason)
