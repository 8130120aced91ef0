"""Chat completions streams, OpenAI's and its compatible family's, as canonical parts.  Source: providers.md 2."""

from __future__ import annotations

from typing import Any, Final, cast

from deuz_nb.errors import APICallError
from deuz_nb.parts.stream import StreamPart
from deuz_nb.parts.usage import JSON, FinishReason, JSONObject, Usage
from deuz_nb.providers.failures import stream_failure
from deuz_nb.providers.machine import Parser
from deuz_nb.providers.openai_chat.usage import usage_from
from deuz_nb.providers.text import ThinkSplitter
from deuz_nb.providers.tokens import as_object

__all__ = ["ChatParser"]

_REASONS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "length": "length",
    "model_length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "content_filter": "content_filter",
    "safety": "content_filter",
}
_ERRORS: Final = frozenset({"error", "insufficient_system_resource"})


class ChatParser(Parser):
    """Reads chat completions."""

    wire = "openai-chat"
    default_provider = "openai"

    def __init__(self, **context: Any) -> None:
        super().__init__(**context)
        self._raw_usage: JSONObject = {}
        self._splitter = ThinkSplitter(self._starts_in_reasoning) if self._think_tags else None
        self._has_refusal = False
        self._thought: tuple[str, str] = ("", "")
        self._saw_choice = False
        self._urls: set[str] = set()

    @property
    def usage(self) -> Usage | None:
        return usage_from(self._raw_usage, self.provider) if self._raw_usage else None

    def _event(self, body: JSONObject, name: str | None, out: list[StreamPart]) -> None:
        if body.get("error") is not None or body.get("object") == "error" or name == "error":
            self._upstream_error(body, out)
            return
        if not self._saw_choice:
            self._identify(body)
        self._take_usage(body)
        choices = body.get("choices")
        if isinstance(choices, list):
            for item in cast("list[JSON]", choices):
                choice = as_object(item)
                if choice.get("index") in (0, None):
                    self._choice(choice, as_object(choice.get("delta") or choice.get("message")), out)
                    if self.is_done:
                        return
        elif isinstance(body.get("detail"), str) or (
            choices is None and isinstance(body.get("message"), str) and "usage" not in body
        ):
            self._upstream_error(body, out)

    def _whole(self, body: JSONObject, out: list[StreamPart]) -> bool:
        if not isinstance(body.get("choices"), list):
            return False
        self._event(body, None, out)
        if not self.is_done:
            self._marker(out)
        return True

    def _identify(self, body: JSONObject) -> None:
        if isinstance(body.get("model"), str) and body["model"]:
            self.model_id = body["model"]
        if isinstance(body.get("id"), str) and body["id"]:
            self.response_id = body["id"]
        self._saw_choice = bool(self.model_id and self.response_id)

    def _take_usage(self, body: JSONObject) -> None:
        groq = as_object(body.get("x_groq"))
        for given in (groq.get("usage"), body.get("usage")):
            if isinstance(given, dict):
                self._raw_usage = {
                    **self._raw_usage,
                    **{key: value for key, value in cast("JSONObject", given).items() if value is not None},
                }
        if isinstance(body.get("service_tier"), str):
            self._note("serviceTier", body["service_tier"], under="deuz")

    def _choice(self, choice: JSONObject, delta: JSONObject, out: list[StreamPart]) -> None:
        content = delta.get("content")
        if len(delta) > 1 or "content" not in delta:
            self._thoughts(delta, out)
        if isinstance(content, str):
            self._answer(content, out)
        elif isinstance(content, list):
            self._content_list(cast("list[JSON]", content), out)
        elif isinstance(choice.get("text"), str):
            self._answer(choice["text"], out)
        if delta.get("refusal"):
            self._has_refusal = True
            self._text(delta["refusal"], out)
        notes = delta.get("annotations")
        for note in cast("list[JSON]", notes) if isinstance(notes, list) else []:
            self._cited(as_object(as_object(note).get("url_citation")), out)
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            for fragment in cast("list[JSON]", calls):
                self._fragment(as_object(fragment), out)
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            self._fragment({"index": 0, "function": legacy}, out)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._set_reason(reason, choice, out)

    def _answer(self, text: str, out: list[StreamPart]) -> None:
        if self._splitter is None:
            self._text(text, out)
            return
        for piece, is_thought in self._splitter.feed(text):
            (self._reasoning if is_thought else self._text)(piece, out)

    def _thoughts(self, delta: JSONObject, out: list[StreamPart]) -> None:
        details = delta.get("reasoning_details")
        texts = [delta.get(key) for key in ("reasoning_content", "reasoning")]
        found = [text for text in texts if isinstance(text, str) and text]
        if found:
            # Some hosts send the same thought under both names: it is one thought.
            self._reasoning(found[0], out)
        if isinstance(details, list):
            self._reasoning_details(cast("list[JSON]", details), bool(found), out)

    def _reasoning_details(self, details: list[JSON], is_said: bool, out: list[StreamPart]) -> None:
        for item in details:
            detail = as_object(item)
            if not is_said:
                self._reasoning(detail.get("text") or detail.get("summary"), out)
            extra = {key: detail[key] for key in ("id", "format", "index") if detail.get(key) is not None}
            kept: dict[str, Any] = {"type": "reasoning-delta", "text": ""}
            if isinstance(detail.get("signature"), str) and detail["signature"]:
                kept["signature"] = detail["signature"]
            if isinstance(detail.get("data"), str) and detail["data"]:
                kept |= {"text": detail["data"], "encrypted": True}
            if len(kept) > 2:
                if extra:
                    kept["providerMetadata"] = {"openrouter": extra}
                out.append(kept)

    def _content_list(self, content: list[JSON], out: list[StreamPart]) -> None:
        for item in content:
            entry = as_object(item)
            if isinstance(item, str):
                self._answer(item, out)
            elif entry.get("type") == "thinking":
                thinking = entry.get("thinking")
                if isinstance(thinking, str):
                    self._reasoning(thinking, out)
                for piece in cast("list[JSON]", thinking) if isinstance(thinking, list) else []:
                    self._reasoning(as_object(piece).get("text"), out)
                if isinstance(entry.get("signature"), str) and entry["signature"]:
                    out.append({"type": "reasoning-delta", "text": "", "signature": entry["signature"]})
            elif isinstance(entry.get("text"), str):
                self._answer(entry["text"], out)

    def _fragment(self, fragment: JSONObject, out: list[StreamPart]) -> None:
        function = as_object(fragment.get("function"))
        custom = as_object(fragment.get("custom"))
        index, call_id, name = (
            fragment.get("index"),
            fragment.get("id"),
            function.get("name") or custom.get("name"),
        )
        extra = fragment.get("extra_content")
        self.has_content = True
        self._seal_text(out)
        self._calls.fragment(
            out,
            call_id=call_id if isinstance(call_id, str) and call_id else None,
            index=index if isinstance(index, int) and not isinstance(index, bool) else None,
            name=name if isinstance(name, str) and name else None,
            arguments=function.get("arguments", custom.get("input")),
            metadata={"extra_content": extra} if isinstance(extra, dict) else None,
        )

    def _cited(self, citation: JSONObject, out: list[StreamPart]) -> None:
        url = citation.get("url")
        if not isinstance(url, str) or not url or url in self._urls:
            return
        self._urls.add(url)
        source: dict[str, Any] = {"type": "source", "id": self._new_id(), "url": url}
        if isinstance(citation.get("title"), str) and citation["title"]:
            source["title"] = citation["title"]
        out.append(source)

    def _set_reason(self, raw: str, choice: JSONObject, out: list[StreamPart]) -> None:
        self.raw_finish = raw
        if raw in _ERRORS:
            self._reason = "error"
            return
        reason = _REASONS.get(raw, "stop")
        if self._reason in ("length", "content_filter") and reason in ("stop", "tool_calls"):
            return
        self._reason = reason
        native = choice.get("native_finish_reason")
        if isinstance(native, str) and native != raw:
            self._note("nativeFinishReason", native, under="deuz")

    def _upstream_error(self, body: JSONObject, out: list[StreamPart]) -> None:
        self._fail(out, stream_failure(self.wire, body, provider=self.provider, request_id=self._request_id))

    def _flush_thoughts(self, out: list[StreamPart]) -> None:
        if self._splitter is not None:
            for piece, is_thought in self._splitter.flush():
                (self._reasoning if is_thought else self._text)(piece, out)

    def _marker(self, out: list[StreamPart]) -> None:
        self._flush_thoughts(out)
        if (
            self._reason is None
            and not self.has_content
            and not self._raw_usage
            and self._has_events is False
        ):
            self._truncated(out)
            return
        self._settle(out)

    def _settle(self, out: list[StreamPart]) -> None:
        reason = self._reason
        if reason is None:
            self._warn("missing-finish-reason", "The provider gave no reason for the end of its answer.", out)
            reason = "stop"
        elif self.raw_finish is not None and self.raw_finish not in _REASONS and reason != "error":
            self._warn(
                "unknown-finish-reason", f"Unknown finish reason {self.raw_finish!r}; read as a stop.", out
            )
        if reason == "error" and self.provider == "deepseek":
            self._fail(
                out,
                APICallError(
                    f"{self.provider} ran out of resources and stopped the answer ({self.raw_finish}); call again.",
                    is_retryable=True,
                    provider=self.provider,
                    upstream_type=self.raw_finish,
                ),
            )
            return
        if reason == "stop" and self._calls.calls:
            reason = "tool_calls"
        if reason == "stop" and self._has_refusal:
            reason = "content_filter"
        self._finish(out, reason)

    def _finish(self, out: list[StreamPart], reason: FinishReason) -> None:
        if self._raw_usage:
            self._note("usage", self._raw_usage, under=self.provider)
        super()._finish(out, reason)

    def _at_end(self, out: list[StreamPart]) -> None:
        self._flush_thoughts(out)
        if self._reason is None:
            self._truncated(out)
        else:
            self._settle(out)
