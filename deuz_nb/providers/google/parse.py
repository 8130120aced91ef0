"""Gemini `streamGenerateContent` streams as canonical parts.  Source: providers.md 4."""

from __future__ import annotations

from typing import Final, Literal, Unpack, cast

from deuz_nb.errors import APICallError
from deuz_nb.parts.stream import ReasoningDelta, StreamPart, TextDelta
from deuz_nb.parts.usage import JSON, FinishReason, JSONObject, Usage
from deuz_nb.providers.failures import stream_failure
from deuz_nb.providers.google.partial import PartialArguments
from deuz_nb.providers.google.usage import usage_from
from deuz_nb.providers.machine import Context, Parser
from deuz_nb.providers.toolcalls import OpenCall, arguments_text
from deuz_nb.providers.values import as_list, as_object, as_text

__all__ = ["GoogleParser"]

_FILTERED: Final = frozenset(
    [
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "MODEL_ARMOR",
        "ESCALATION",
        "PUP_LIMITED_DISABLED",
        "LANGUAGE",
    ]
)
_FAILED: Final = frozenset(
    [
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        "MALFORMED_RESPONSE",
        "NO_IMAGE",
        "IMAGE_OTHER",
    ]
)
_CUT: Final = frozenset({"MAX_TOKENS", "CONTINUATION"})
_RANK: Final[dict[FinishReason, int]] = {
    "stop": 0,
    "tool_calls": 1,
    "error": 2,
    "content_filter": 3,
    "length": 3,
}


class GoogleParser(Parser):
    """Reads the Gemini wire.  It has no end marker: it is read to the end of its bytes."""

    wire = "google"
    default_provider = "google"

    def __init__(self, **context: Unpack[Context]) -> None:
        super().__init__(**context)
        self._raw_usage: JSONObject = {}
        self._queries: set[str] = set()
        self._urls: set[str] = set()
        self._open: tuple[OpenCall, PartialArguments] | None = None
        self._finish_message: str | None = None

    @property
    def usage(self) -> Usage | None:
        return usage_from(self._raw_usage, len(self._queries)) if self._raw_usage else None

    def _event(self, body: JSONObject, name: str | None, out: list[StreamPart]) -> None:
        if body.get("error"):
            self._fail(
                out, stream_failure(self.wire, body, provider=self.provider, request_id=self._request_id)
            )
            return
        self.model_id = as_text(body.get("modelVersion")) or self.model_id
        self.response_id = as_text(body.get("responseId")) or self.response_id
        for key, value in as_object(body.get("usageMetadata")).items():
            if value is not None:
                self._raw_usage[key] = value
        blocked = as_object(body.get("promptFeedback")).get("blockReason")
        if isinstance(blocked, str) and blocked and not blocked.endswith("UNSPECIFIED"):
            self.raw_finish, self._reason = blocked, "content_filter"
        for item in as_list(body.get("candidates")):
            candidate = as_object(item)
            if candidate.get("index") in (0, None):
                self._candidate(candidate, out)

    def _whole(self, body: JSONObject, out: list[StreamPart]) -> bool:
        if not any(key in body for key in ("candidates", "promptFeedback", "usageMetadata")):
            return False
        self._event(body, None, out)
        return True

    def _candidate(self, candidate: JSONObject, out: list[StreamPart]) -> None:
        for part in as_list(as_object(candidate.get("content")).get("parts")):
            self._part(as_object(part), out)
        grounding = as_object(candidate.get("groundingMetadata"))
        if grounding:
            self._grounding(grounding, out)
        reason = candidate.get("finishReason")
        if isinstance(reason, str) and reason:
            self._set_reason(reason)
            message = candidate.get("finishMessage")
            self._finish_message = message if isinstance(message, str) else self._finish_message
        if candidate.get("continuationToken"):
            self._note("continuationToken", candidate["continuationToken"])

    def _part(self, part: JSONObject, out: list[StreamPart]) -> None:
        signature = as_text(part.get("thoughtSignature"))
        if isinstance(part.get("functionCall"), dict):
            self._call(part["functionCall"], signature, out)
        elif part.get("thought") is True:
            self._signed("reasoning-delta", part.get("text"), signature, out)
        elif "text" in part:
            self._signed("text-delta", part["text"], signature, out)
        elif isinstance(part.get("inlineData"), dict):
            kind = as_text(as_object(part["inlineData"]).get("mimeType")) or "of no known type"
            self._warn(
                "unsupported-output", f"The model answered with a file ({kind}) that is not shown.", out
            )
        elif "executableCode" in part or "codeExecutionResult" in part:
            self._note_step("codeExecution", part)
        elif "toolCall" in part or "toolResponse" in part:
            self._note_step("serverTools", part)
        elif signature:
            self._signed("text-delta", "", signature, out)

    def _note_step(self, key: str, part: JSONObject) -> None:
        as_list(as_object(self._metadata.setdefault("google", {})).setdefault(key, [])).append(part)

    def _signed(
        self,
        kind: Literal["text-delta", "reasoning-delta"],
        text: JSON,
        signature: str,
        out: list[StreamPart],
    ) -> None:
        """A text or reasoning delta; a signature rides on it, an empty text comes through as it came."""
        before = len(out)
        if kind == "text-delta":
            self._text(text, out)
        else:
            self._reasoning(text, out)
        if len(out) == before and (signature or text == ""):
            out.append(cast("StreamPart", {"type": kind, "text": ""}))
        if signature:
            self.has_content = True
            cast("TextDelta | ReasoningDelta", out[-1])["signature"] = signature

    def _call(self, given: JSONObject, signature: str, out: list[StreamPart]) -> None:
        if self._open is not None and not given.get("name"):
            call, arguments = self._open
            arguments.add(given.get("partialArgs"))
            if not given.get("willContinue"):
                self._close_partial(out, call, arguments)
            return
        self.has_content = True
        self._seal_text(out)
        is_partial = "args" not in given and ("partialArgs" in given or given.get("willContinue") is True)
        args = given.get("args")
        call = self._calls.open(
            out,
            call_id=as_text(given.get("id")),
            name=as_text(given.get("name")),
            text="" if is_partial else arguments_text({} if args is None else args),
            metadata={"google": {"thoughtSignature": signature}} if signature else None,
        )
        # A call whose arguments still go on is none until they ended.
        self._open = None
        call.is_half = is_partial
        if is_partial:
            arguments = PartialArguments()
            arguments.add(given.get("partialArgs"))
            self._open = (call, arguments)
            if not given.get("willContinue"):
                self._close_partial(out, call, arguments)

    def _close_partial(self, out: list[StreamPart], call: OpenCall, arguments: PartialArguments) -> None:
        self._open = None
        self._calls.add(out, call, arguments_text(arguments.value))
        call.is_half = False

    def _grounding(self, grounding: JSONObject, out: list[StreamPart]) -> None:
        queries = as_list(grounding.get("webSearchQueries"))
        self._queries.update(query for query in queries if isinstance(query, str))
        for item in as_list(grounding.get("groundingChunks")):
            web = as_object(as_object(item).get("web"))
            url = as_text(web.get("uri"))
            if url and url not in self._urls:
                self._urls.add(url)
                self._source(self._new_id(), url, web.get("title"), out)

    def _set_reason(self, raw: str) -> None:
        reason: FinishReason = "stop"
        if raw in _CUT:
            reason = "length"
        elif raw in _FILTERED:
            reason = "content_filter"
        elif raw in _FAILED:
            reason = "error"
        if self._reason is None or _RANK[reason] >= _RANK[self._reason]:
            self._reason, self.raw_finish = reason, raw

    def _at_cut_frame(self, out: list[StreamPart]) -> None:
        # More may follow a finish reason: a frame that was cut is an answer that was cut.
        self._truncated(out)

    def _at_end(self, out: list[StreamPart]) -> None:
        reason, raw = self._reason, self.raw_finish
        if reason is None or raw is None:
            self._truncated(out)
            return
        if reason == "error":
            what = self._finish_message or f"The model's answer was refused by the host ({raw})."
            self._fail(
                out,
                APICallError(what, is_retryable=True, provider=self.provider, upstream_type=raw),
            )
            return
        if reason == "stop" and raw != "STOP":
            self._warn("unknown-finish-reason", f"Finish reason {raw!r} gives no cause; read as a stop.", out)
        if reason == "stop" and self._calls.calls:
            reason = "tool_calls"
        if self._raw_usage:
            self._note("usage", self._raw_usage, under=self.provider)
        self._finish(out, reason)
