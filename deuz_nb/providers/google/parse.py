"""Gemini `streamGenerateContent` streams as canonical parts.  Source: providers.md 4."""

from __future__ import annotations

from typing import Any, Final, cast

from deuz_nb import jsontext
from deuz_nb.errors import APICallError
from deuz_nb.parts.stream import StreamPart
from deuz_nb.parts.usage import JSON, FinishReason, JSONObject, Usage
from deuz_nb.providers.failures import stream_failure
from deuz_nb.providers.google.partial import PartialArguments
from deuz_nb.providers.google.usage import usage_from
from deuz_nb.providers.machine import Parser
from deuz_nb.providers.tokens import as_object
from deuz_nb.providers.toolcalls import OpenCall

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

    def __init__(self, **context: Any) -> None:
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
        if body.get("error") is not None:
            self._fail(
                out, stream_failure(self.wire, body, provider=self.provider, request_id=self._request_id)
            )
            return
        if isinstance(body.get("modelVersion"), str) and body["modelVersion"]:
            self.model_id = body["modelVersion"]
        if isinstance(body.get("responseId"), str):
            self.response_id = body["responseId"]
        for key, value in as_object(body.get("usageMetadata")).items():
            if value is not None:
                self._raw_usage[key] = value
        blocked = as_object(body.get("promptFeedback")).get("blockReason")
        if isinstance(blocked, str) and blocked and not blocked.endswith("UNSPECIFIED"):
            self.raw_finish, self._reason = blocked, "content_filter"
        candidates = body.get("candidates")
        for item in cast("list[JSON]", candidates) if isinstance(candidates, list) else []:
            candidate = as_object(item)
            if candidate.get("index") in (0, None):
                self._candidate(candidate, out)

    def _whole(self, body: JSONObject, out: list[StreamPart]) -> bool:
        if not any(key in body for key in ("candidates", "promptFeedback", "usageMetadata")):
            return False
        self._event(body, None, out)
        return True

    def _candidate(self, candidate: JSONObject, out: list[StreamPart]) -> None:
        parts = as_object(candidate.get("content")).get("parts")
        for part in cast("list[JSON]", parts) if isinstance(parts, list) else []:
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
        signature = part.get("thoughtSignature")
        signature = signature if isinstance(signature, str) and signature else None
        if isinstance(part.get("functionCall"), dict):
            self._call(part["functionCall"], signature, out)
        elif part.get("thought") is True:
            self._signed("reasoning-delta", part.get("text"), signature, out)
        elif "text" in part:
            self._signed("text-delta", part["text"], signature, out)
        elif isinstance(part.get("inlineData"), dict):
            kind = as_object(part["inlineData"]).get("mimeType")
            self._warn(
                "unsupported-output", f"The model answered with a file ({kind}) that is not shown.", out
            )
        elif "executableCode" in part or "codeExecutionResult" in part:
            steps = as_object(self._metadata.get("google")).get("codeExecution")
            self._note("codeExecution", [*cast("list[Any]", steps or []), part])
        elif "toolCall" in part or "toolResponse" in part:
            steps = as_object(self._metadata.get("google")).get("serverTools")
            self._note("serverTools", [*cast("list[Any]", steps or []), part])
        elif signature is not None:
            self._signed("text-delta", "", signature, out)

    def _signed(self, kind: str, text: object, signature: str | None, out: list[StreamPart]) -> None:
        """A text or reasoning delta; a signature rides on it, an empty text comes through as it came."""
        before = len(out)
        if kind == "text-delta":
            self._text(text, out)
        else:
            self._reasoning(text, out)
        if len(out) == before and (signature is not None or text == ""):
            out.append({"type": kind, "text": ""})
        if signature is not None and len(out) > before:
            out[-1]["signature"] = signature

    def _call(self, given: JSONObject, signature: str | None, out: list[StreamPart]) -> None:
        if self._open is not None and not given.get("name"):
            call, arguments = self._open
            arguments.add(given.get("partialArgs"))
            if not given.get("willContinue"):
                self._close_partial(out, call, arguments)
            return
        self.has_content = True
        self._seal_text(out)
        is_partial = "args" not in given and ("partialArgs" in given or given.get("willContinue") is True)
        call_id, name, args = given.get("id"), given.get("name"), given.get("args")
        call = self._calls.open(
            out,
            call_id=call_id if isinstance(call_id, str) and call_id else None,
            name=name if isinstance(name, str) else "",
            text="" if is_partial else jsontext.dumps({} if args is None else args),
            metadata={"google": {"thoughtSignature": signature}} if signature else None,
        )
        if is_partial:
            arguments = PartialArguments()
            arguments.add(given.get("partialArgs"))
            self._open = (call, arguments)
            if not given.get("willContinue"):
                self._close_partial(out, call, arguments)

    def _close_partial(self, out: list[StreamPart], call: OpenCall, arguments: PartialArguments) -> None:
        self._open = None
        self._calls.add(out, call, jsontext.dumps(arguments.value))

    def _grounding(self, grounding: JSONObject, out: list[StreamPart]) -> None:
        queries = grounding.get("webSearchQueries")
        if isinstance(queries, list):
            self._queries.update(query for query in cast("list[Any]", queries) if isinstance(query, str))
        chunks = grounding.get("groundingChunks")
        for item in cast("list[JSON]", chunks) if isinstance(chunks, list) else []:
            web = as_object(as_object(item).get("web"))
            url = web.get("uri")
            if isinstance(url, str) and url and url not in self._urls:
                self._urls.add(url)
                source: dict[str, Any] = {"type": "source", "id": self._new_id(), "url": url}
                if isinstance(web.get("title"), str) and web["title"]:
                    source["title"] = web["title"]
                out.append(source)

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
        if reason == "stop" and self._calls.calls and self._open is None:
            reason = "tool_calls"
        if self._raw_usage:
            self._note("usage", self._raw_usage, under=self.provider)
        self._finish(out, reason)
