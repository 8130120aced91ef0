"""Chat completions streams, OpenAI's and its compatible family's, as canonical parts.  Source: providers.md 2."""

from __future__ import annotations

from typing import Any, Final, Unpack, cast

from deuz_nb.errors import APICallError
from deuz_nb.parts.stream import StreamPart
from deuz_nb.parts.usage import JSON, FinishReason, JSONObject, Usage
from deuz_nb.providers.failures import stream_failure
from deuz_nb.providers.machine import Context, Parser
from deuz_nb.providers.openai_chat.details import ReasoningDetails
from deuz_nb.providers.openai_chat.usage import usage_from
from deuz_nb.providers.shapes import Saying
from deuz_nb.providers.text import ThinkSplitter
from deuz_nb.providers.tokens import take_usage
from deuz_nb.providers.values import as_key, as_list, as_object, as_text

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
_TEXTS: Final = ("content", "reasoning", "reasoning_content")
_WITH_EFFECT: Final = ("error", "usage", "x_groq")
"""What may do more than the text beside it: the same text again does not do it again."""
_ERRORS: Final = frozenset({"error", "insufficient_system_resource"})
_RANK: Final[dict[FinishReason, int]] = {
    "stop": 0,
    "tool_calls": 1,
    "length": 2,
    "content_filter": 2,
    "error": 3,
}


class ChatParser(Parser):
    """Reads chat completions."""

    wire = "openai-chat"
    default_provider = "openai"

    def __init__(self, **context: Unpack[Context]) -> None:
        super().__init__(**context)
        self._raw_usage: JSONObject = {}
        self._splitter = ThinkSplitter(self._starts_in_reasoning) if self._think_tags else None
        self._has_refusal = False
        self._tier: str | None = None
        self._details = ReasoningDetails()
        self._saw_choice = False
        self._urls: set[str] = set()

    @property
    def usage(self) -> Usage | None:
        return usage_from(self._raw_usage) if self._raw_usage else None

    def _event(self, body: JSONObject, name: str | None, out: list[StreamPart]) -> None:
        if body.get("error") or body.get("object") == "error" or name == "error":
            self._upstream_error(body, out)
            return
        if not self._saw_choice:
            self._identify(body)
        self._take_usage(body)
        choices = body.get("choices")
        if isinstance(choices, list):
            for item in as_list(choices):
                choice = as_object(item)
                if choice.get("index") in (0, None):
                    self._choice(choice, as_object(choice.get("delta") or choice.get("message")), out)
                    if self.is_done:
                        return
        elif isinstance(body.get("detail"), str) or (
            choices is None and isinstance(body.get("message"), str) and "usage" not in body
        ):
            self._upstream_error(body, out)

    def _only_says(self, body: JSONObject, name: str | None) -> Saying | None:
        choices = as_list(body.get("choices"))
        if self._splitter is not None or len(choices) != 1 or any(body.get(key) for key in _WITH_EFFECT):
            return None
        choice = as_object(choices[0])
        if choice.get("index") not in (0, None) or choice.get("finish_reason") or choice.get("error"):
            return None
        said = [
            (key, value) for key, value in as_object(choice.get("delta")).items() if value and key != "role"
        ]
        if len(said) != 1 or said[0][0] not in _TEXTS:
            return None
        key, text = said[0]
        return "text-delta" if key == "content" else "reasoning-delta", as_text(text)

    def _whole(self, body: JSONObject, out: list[StreamPart]) -> bool:
        if not isinstance(body.get("choices"), list):
            return False
        self._event(body, None, out)
        if not self.is_done:
            self._marker(out)
        return True

    def _identify(self, body: JSONObject) -> None:
        self.model_id = self.model_id or as_text(body.get("model")) or None
        self.response_id = self.response_id or as_text(body.get("id")) or None
        self._saw_choice = bool(self.model_id and self.response_id)

    def _take_usage(self, body: JSONObject) -> None:
        take_usage(self._raw_usage, as_object(as_object(body.get("x_groq")).get("usage")))
        take_usage(self._raw_usage, as_object(body.get("usage")))
        tier = body.get("service_tier")
        if isinstance(tier, str) and tier != self._tier:
            self._tier, self._shape = tier, None
            self._note("serviceTier", tier, under="deuz")

    def _choice(self, choice: JSONObject, delta: JSONObject, out: list[StreamPart]) -> None:
        content = delta.get("content")
        if len(delta) > 1 or "content" not in delta:
            self._thoughts(delta, out)
        if isinstance(content, str):
            self._answer(content, out)
        elif isinstance(content, list):
            self._content_list(as_list(content), out)
        elif isinstance(choice.get("text"), str):
            self._answer(choice["text"], out)
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self._has_refusal = True
            self._text(refusal, out)
        for note in as_list(delta.get("annotations")):
            self._cited(as_object(as_object(note).get("url_citation")), out)
        for fragment in as_list(delta.get("tool_calls")):
            self._fragment(as_object(fragment), out)
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            self._fragment({"index": 0, "function": legacy}, out)
        if choice.get("error"):
            self.raw_finish = as_text(choice.get("finish_reason")) or self.raw_finish
            self._upstream_error(choice, out)
        elif raw := as_text(choice.get("finish_reason")):
            self._set_reason(raw, choice)

    def _answer(self, text: str, out: list[StreamPart]) -> None:
        if text and not self._details.is_empty:
            self._end_details(out)
        if self._splitter is None:
            self._text(text, out)
            return
        for piece, is_thought in self._splitter.feed(text):
            (self._reasoning if is_thought else self._text)(piece, out)

    def _thoughts(self, delta: JSONObject, out: list[StreamPart]) -> None:
        texts = [delta.get(key) for key in ("reasoning_content", "reasoning")]
        found = [text for text in texts if isinstance(text, str) and text]
        if found:
            # Some hosts send the same thought under both names: it is one thought.
            self._reasoning(found[0], out)
        for item in as_list(delta.get("reasoning_details")):
            detail = as_object(item)
            if not found:
                self._reasoning(detail.get("text") or detail.get("summary"), out)
            self._keep_detail(detail, out)

    def _keep_detail(self, detail: JSONObject, out: list[StreamPart]) -> None:
        """What OpenRouter wants back of a reasoning detail beside its text."""
        # The next text ends the details, also a text of a shape that is known.
        self._shape = None
        if detail.get("data"):
            self._end_details(out)
        else:
            self._details.add(detail)
        kept: dict[str, Any] = {"type": "reasoning-delta", "text": ""}
        if signature := as_text(detail.get("signature")):
            kept["signature"] = signature
        if data := as_text(detail.get("data")):
            kept |= {"text": data, "encrypted": True}
        if len(kept) > 2:
            names = {name: as_key(detail.get(name)) for name in ("id", "format", "index")}
            if extra := {name: value for name, value in names.items() if value is not None}:
                kept["providerMetadata"] = {"openrouter": extra}
            self._show(cast("StreamPart", kept), out)

    def _end_details(self, out: list[StreamPart]) -> None:
        details = self._details.take()
        if details:
            metadata: JSONObject = {"openrouter": {"reasoning_details": details}}
            out.append({"type": "reasoning-delta", "text": "", "providerMetadata": metadata})

    def _content_list(self, content: list[JSON], out: list[StreamPart]) -> None:
        for item in content:
            entry = as_object(item)
            if isinstance(item, str):
                self._answer(item, out)
            elif entry.get("type") == "thinking":
                thinking = entry.get("thinking")
                self._reasoning(thinking, out)
                for piece in as_list(thinking):
                    self._reasoning(as_object(piece).get("text"), out)
                if signature := as_text(entry.get("signature")):
                    self._show({"type": "reasoning-delta", "text": "", "signature": signature}, out)
            elif isinstance(entry.get("text"), str):
                self._answer(entry["text"], out)

    def _fragment(self, fragment: JSONObject, out: list[StreamPart]) -> None:
        function = as_object(fragment.get("function"))
        custom = as_object(fragment.get("custom"))
        index, extra = fragment.get("index"), fragment.get("extra_content")
        self._end_details(out)
        self._seal_text(out)
        before = len(out)
        self._calls.fragment(
            out,
            call_id=as_text(fragment.get("id")),
            index=index if isinstance(index, int) and not isinstance(index, bool) else None,
            name=as_text(function.get("name")) or as_text(custom.get("name")),
            arguments=function.get("arguments", custom.get("input")),
            metadata={"extra_content": extra} if isinstance(extra, dict) else None,
        )
        self.has_content = self.has_content or len(out) > before

    def _cited(self, citation: JSONObject, out: list[StreamPart]) -> None:
        url = as_text(citation.get("url"))
        if url and url not in self._urls:
            self._urls.add(url)
            self._source(self._new_id(), url, citation.get("title"), out)

    def _set_reason(self, raw: str, choice: JSONObject) -> None:
        """Take a finish reason; a weaker one never overrules a stronger."""
        reason = "error" if raw in _ERRORS else _REASONS.get(raw, "stop")
        if self._reason is not None and _RANK[reason] < _RANK[self._reason]:
            return
        self.raw_finish, self._reason = raw, reason
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
        self._settle(out)

    def _settle(self, out: list[StreamPart]) -> None:
        reason = self._reason
        if reason is None:
            self._warn("missing-finish-reason", "The provider gave no reason for the end of its answer.", out)
            reason = "stop"
        elif self.raw_finish not in _REASONS and reason != "error":
            self._warn(
                "unknown-finish-reason", f"Unknown finish reason {self.raw_finish!r}; read as a stop.", out
            )
        if reason == "error":
            self._fail(
                out,
                APICallError(
                    f"{self.provider} stopped the answer because of an error ({self.raw_finish}); call again.",
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
        self._end_details(out)
        if self._raw_usage:
            self._note("usage", self._raw_usage, under=self.provider)
        cost = self._raw_usage.get("cost")
        if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < float("inf"):
            self._note("reportedCostUsd", cost, under="deuz")
        super()._finish(out, reason)

    def _at_end(self, out: list[StreamPart]) -> None:
        self._flush_thoughts(out)
        if self._reason is None:
            self._truncated(out)
        else:
            self._settle(out)
