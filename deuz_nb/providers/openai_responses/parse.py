"""OpenAI Responses streams as canonical parts.  Source: providers.md 3.

Deltas are keyed by output index, then call id, then item id, since gateways change ids.  `done` events and the
terminal output are snapshots: only what is missing is emitted.
"""

from __future__ import annotations

from typing import Any, Final, cast

from deuz_nb.parts.stream import StreamPart
from deuz_nb.parts.usage import JSON, FinishReason, JSONObject, Usage
from deuz_nb.providers.failures import stream_failure
from deuz_nb.providers.machine import Parser
from deuz_nb.providers.openai_responses.usage import usage_from
from deuz_nb.providers.tokens import as_object, count_of
from deuz_nb.providers.toolcalls import OpenCall

__all__ = ["ResponsesParser"]

_CALLS: Final = frozenset({"function_call", "custom_tool_call"})
_INCOMPLETE: Final[dict[str, FinishReason]] = {
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "content_filter",
}


class ResponsesParser(Parser):
    """Reads the Responses wire."""

    wire = "openai-responses"
    default_provider = "openai"

    def __init__(self, **context: Any) -> None:
        super().__init__(**context)
        self._raw_usage: JSONObject = {}
        self._reported_searches: int | None = None
        self._searches: set[Any] = set()
        self._texts: dict[tuple[Any, Any, Any], str] = {}
        self._summary_at: Any = None
        self._items: dict[Any, OpenCall] = {}
        self._early: dict[Any, list[str]] = {}
        self._sealed: set[Any] = set()
        self._urls: set[str] = set()
        self._has_refusal = False

    @property
    def usage(self) -> Usage | None:
        if not self._raw_usage:
            return None
        seen = self._reported_searches
        return usage_from(self._raw_usage, len(self._searches) if seen is None else seen)

    def _event(self, body: JSONObject, name: str | None, out: list[StreamPart]) -> None:
        kind = body.get("type") or name
        if not isinstance(kind, str):
            if "error" in body:
                self._failed(body, out)
            return
        match kind.removeprefix("response."):
            case "output_text.delta":
                self._said("text", body, body.get("delta"), out)
            case "output_text.done":
                self._said("text", body, body.get("text"), out, is_snapshot=True)
            case "function_call_arguments.delta" | "custom_tool_call_input.delta":
                self._arguments(body, out)
            case "function_call_arguments.done":
                self._arguments_done(body, body.get("arguments"), out)
            case "custom_tool_call_input.done":
                self._arguments_done(body, body.get("input"), out)
            case "reasoning_summary_text.delta":
                self._said("summary", body, body.get("delta"), out)
            case "reasoning_summary_text.done":
                self._said("summary", body, body.get("text"), out, is_snapshot=True)
            case "reasoning_text.delta":
                self._said("thought", body, body.get("delta"), out)
            case "reasoning_text.done":
                self._said("thought", body, body.get("text"), out, is_snapshot=True)
            case "refusal.delta":
                self._said("refusal", body, body.get("delta"), out)
            case "refusal.done":
                self._said("refusal", body, body.get("refusal"), out, is_snapshot=True)
            case "output_text.annotation.added":
                self._annotation(as_object(body.get("annotation")), out)
            case "output_item.added":
                self._item(as_object(body.get("item")), body.get("output_index"), out)
            case "output_item.done":
                self._item(as_object(body.get("item")), body.get("output_index"), out, is_done=True)
            case "created" | "in_progress" | "queued":
                self._identify(as_object(body.get("response")))
            case "completed" | "incomplete" | "cancelled":
                self._terminal(as_object(body.get("response")), kind.removeprefix("response."), out)
            case "failed":
                self._identify(as_object(body.get("response")))
                self._failed(body, out)
            case "error":
                self._failed(body, out)
            case _:
                pass

    def _whole(self, body: JSONObject, out: list[StreamPart]) -> bool:
        if not isinstance(body.get("output"), list):
            return False
        self._identify(body)
        self._terminal(body, str(body.get("status") or "completed"), out)
        return True

    def _identify(self, response: JSONObject) -> None:
        if isinstance(response.get("id"), str):
            self.response_id = response["id"]
        if isinstance(response.get("model"), str) and response["model"]:
            self.model_id = response["model"]
        if isinstance(response.get("usage"), dict):
            self._raw_usage = response["usage"]
        searched = as_object(as_object(response.get("tool_usage")).get("web_search"))
        if (count := count_of(searched.get("num_requests"))) is not None:
            self._reported_searches = count
        if isinstance(response.get("service_tier"), str):
            self._note("serviceTier", response["service_tier"], under="deuz")

    def _said(
        self, kind: str, body: JSONObject, text: object, out: list[StreamPart], *, is_snapshot: bool = False
    ) -> None:
        """Text of one kind at one place; of a snapshot only what the deltas have not said."""
        if not isinstance(text, str) or not text:
            return
        where = body.get("output_index")
        place = body.get("summary_index") if kind == "summary" else body.get("content_index")
        key = (kind, body.get("item_id") if where is None else where, place)
        known = self._texts.get(key, "")
        if is_snapshot:
            if not known and kind != "summary":
                known = self._texts.get((kind, where, None), "")
            if len(text) <= len(known) or not text.startswith(known):
                return
            text = text[len(known) :]
        self._texts[key] = known + text
        if kind in ("text", "refusal"):
            self._has_refusal = self._has_refusal or kind == "refusal"
            self._text(text, out)
            return
        if kind == "summary":
            if self._summary_at is not None and self._summary_at != key:
                # Two summary parts are two paragraphs.
                text = "\n\n" + text
            self._summary_at = key
        self._reasoning(text, out)

    def _call_for(self, body: JSONObject) -> OpenCall | None:
        for key in (
            ("at", body.get("output_index")),
            ("call", body.get("call_id")),
            ("item", body.get("item_id")),
        ):
            if key[1] is not None and (call := self._items.get(key)) is not None:
                return call
        return None

    def _arguments(self, body: JSONObject, out: list[StreamPart]) -> None:
        text = body.get("delta")
        if not isinstance(text, str):
            return
        call = self._call_for(body)
        if call is not None:
            if not call.is_whole:
                self._calls.add(out, call, text)
            return
        for kind, key in (("at", "output_index"), ("call", "call_id"), ("item", "item_id")):
            if body.get(key) is not None:
                self._early.setdefault((kind, body[key]), []).append(text)
                return

    def _arguments_done(self, body: JSONObject, whole: object, out: list[StreamPart]) -> None:
        call = self._call_for(body)
        if call is not None and isinstance(whole, str):
            self._calls.settle(out, call, whole)

    def _item(self, item: JSONObject, where: Any, out: list[StreamPart], *, is_done: bool = False) -> None:
        kind = item.get("type")
        if kind in _CALLS:
            self._call_item(item, where, out, is_done=is_done)
        elif kind == "message":
            if item.get("phase"):
                self._note("phase", item["phase"])
            if is_done:
                self._message_item(item, where, out)
        elif kind == "reasoning" and is_done:
            self._reasoning_item(item, where, out)
        elif kind == "web_search_call":
            self._searches.add(item.get("id") or where)
        elif kind == "mcp_call" and is_done and item.get("error"):
            self._warn("server-tool-error", f"The provider's MCP call {item.get('name')!r} failed.", out)
        elif kind == "compaction" and is_done:
            self._note("compaction", item)

    def _call_item(self, item: JSONObject, where: Any, out: list[StreamPart], *, is_done: bool) -> None:
        call_id, item_id = item.get("call_id"), item.get("id")
        call = self._call_for({"output_index": where, "call_id": call_id, "item_id": item_id})
        is_text = item.get("type") == "custom_tool_call"
        whole = item.get("input" if is_text else "arguments")
        if call is None:
            chosen = call_id or item_id
            metadata: JSONObject = {key: item[key] for key in ("namespace", "caller") if item.get(key)}
            if is_text:
                metadata["type"] = "custom_tool_call"
            self.has_content = True
            self._seal_text(out)
            call = self._calls.open(
                out,
                call_id=chosen if isinstance(chosen, str) else None,
                name=str(item.get("name") or ""),
                metadata={"openai": metadata} if metadata else None,
            )
            call.is_text = is_text
            for key in (("at", where), ("call", call_id), ("item", item_id)):
                if key[1] is not None:
                    self._items[key] = call
                    for piece in self._early.pop(key, []):
                        self._calls.add(out, call, piece)
        elif is_done and isinstance(item.get("name"), str) and not call.name:
            call.name = item["name"]
        if isinstance(whole, str) and whole:
            if is_done:
                self._calls.settle(out, call, whole)
            elif not call.pieces:
                self._calls.add(out, call, whole)
        if is_done:
            call.is_whole = True

    def _message_item(self, item: JSONObject, where: Any, out: list[StreamPart]) -> None:
        content = item.get("content")
        for number, entry in enumerate(cast("list[JSON]", content) if isinstance(content, list) else []):
            part = as_object(entry)
            place = {
                "output_index": where,
                "item_id": item.get("id"),
                "content_index": number,
            }
            if part.get("type") == "output_text":
                self._said("text", place, part.get("text"), out, is_snapshot=True)
                for note in cast("list[JSON]", part.get("annotations") or []):
                    self._annotation(as_object(note), out)
            elif part.get("type") == "refusal":
                self._said("refusal", place, part.get("refusal"), out, is_snapshot=True)
        self._seal_text(out)

    def _reasoning_item(self, item: JSONObject, where: Any, out: list[StreamPart]) -> None:
        key = item.get("id") or where
        if key in self._sealed:
            return
        summary = item.get("summary")
        for number, entry in enumerate(cast("list[JSON]", summary) if isinstance(summary, list) else []):
            place = {"output_index": where, "item_id": item.get("id"), "summary_index": number}
            if not self._is_said("summary", item.get("id"), where, number):
                self._said("summary", place, as_object(entry).get("text"), out, is_snapshot=True)
        content = item.get("content")
        for number, entry in enumerate(cast("list[JSON]", content) if isinstance(content, list) else []):
            place = {"output_index": where, "item_id": item.get("id"), "content_index": number}
            if not self._is_said("thought", item.get("id"), where, number):
                self._said("thought", place, as_object(entry).get("text"), out, is_snapshot=True)
        blob = item.get("encrypted_content")
        if isinstance(blob, str) and blob:
            self._sealed.add(key)
            sealed: dict[str, Any] = {"type": "reasoning-delta", "text": blob}
            if isinstance(item.get("id"), str):
                sealed["signature"] = item["id"]
            sealed["encrypted"] = True
            if summary:
                sealed["providerMetadata"] = {"openai": {"id": item.get("id"), "summary": summary}}
            out.append(sealed)

    def _is_said(self, kind: str, item_id: Any, where: Any, number: int) -> bool:
        return any((kind, key, number) in self._texts for key in (item_id, where) if key is not None)

    def _annotation(self, note: JSONObject, out: list[StreamPart]) -> None:
        url = note.get("url")
        if note.get("type") != "url_citation" or not isinstance(url, str) or not url or url in self._urls:
            return
        self._urls.add(url)
        source: dict[str, Any] = {"type": "source", "id": self._new_id(), "url": url}
        if isinstance(note.get("title"), str) and note["title"]:
            source["title"] = note["title"]
        out.append(source)

    def _failed(self, body: JSONObject, out: list[StreamPart]) -> None:
        self.raw_finish = "failed"
        self._fail(out, stream_failure(self.wire, body, provider=self.provider, request_id=self._request_id))

    def _terminal(self, response: JSONObject, kind: str, out: list[StreamPart]) -> None:
        self._identify(response)
        status = response.get("status") if isinstance(response.get("status"), str) else kind
        if status == "failed" or as_object(response.get("error")):
            self._failed({"response": response}, out)
            return
        if status == "cancelled":
            self.raw_finish = "cancelled"
            self._finish(out, "aborted")
            return
        output = response.get("output")
        for number, item in enumerate(cast("list[JSON]", output) if isinstance(output, list) else []):
            self._item(as_object(item), number, out, is_done=True)
        if self._raw_usage:
            self._note("usage", self._raw_usage, under=self.provider)
        if status == "incomplete":
            raw = as_object(response.get("incomplete_details")).get("reason")
            self.raw_finish = raw if isinstance(raw, str) else "incomplete"
            reason = _INCOMPLETE.get(self.raw_finish)
            if reason is None:
                self._warn(
                    "unknown-finish-reason", f"Unknown reason {self.raw_finish!r}; read as a cut answer.", out
                )
            self._finish(out, reason or "length")
            return
        self.raw_finish = str(status)
        self._finish(
            out, "tool_calls" if self._calls.calls else "content_filter" if self._has_refusal else "stop"
        )

    def _at_end(self, out: list[StreamPart]) -> None:
        self._truncated(out)
