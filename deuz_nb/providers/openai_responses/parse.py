"""OpenAI Responses streams as canonical parts.  Source: providers.md 3.

Deltas are keyed by output index, then call id, then item id, since gateways change ids.  `done` events and the
terminal output are snapshots: only what is missing is emitted.
"""

from __future__ import annotations

from typing import Final, Unpack

from deuz_nb.parts.stream import ReasoningDelta, StreamPart
from deuz_nb.parts.usage import JSON, FinishReason, JSONObject, Usage
from deuz_nb.providers.failures import stream_failure
from deuz_nb.providers.machine import Context, Parser
from deuz_nb.providers.openai_responses.usage import usage_from
from deuz_nb.providers.tokens import count_of, take_usage
from deuz_nb.providers.toolcalls import OpenCall
from deuz_nb.providers.values import as_key, as_list, as_object, as_text

__all__ = ["ResponsesParser"]

_Key = str | int | None
_NAMES: Final = (("at", "output_index"), ("call", "call_id"), ("item", "item_id"))
"""What can name a call, the surest first: gateways change ids."""
_RUN_BY_CLIENT: Final = ("local_shell_call", "apply_patch_call", "computer_call", "mcp_approval_request")
_INCOMPLETE: Final[dict[str, FinishReason]] = {
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "content_filter",
}


class ResponsesParser(Parser):
    """Reads the Responses wire."""

    wire = "openai-responses"
    default_provider = "openai"

    def __init__(self, **context: Unpack[Context]) -> None:
        super().__init__(**context)
        self._raw_usage: JSONObject = {}
        self._reported_searches: int | None = None
        self._searches: set[_Key] = set()
        self._texts: dict[tuple[str, _Key, _Key], list[str]] = {}
        self._summary_at: tuple[str, _Key, _Key] | None = None
        self._places: dict[_Key, _Key] = {}
        self._items: dict[tuple[str, _Key], OpenCall] = {}
        self._early: dict[tuple[str, _Key], list[str]] = {}
        self._sealed: set[_Key] = set()
        self._urls: set[str] = set()
        self._has_refusal = False
        self._custom_tools: set[str] | None = None
        self._waiting: dict[str, str] = {}

    @property
    def usage(self) -> Usage | None:
        if not self._raw_usage:
            return None
        seen = self._reported_searches
        return usage_from(self._raw_usage, len(self._searches) if seen is None else seen)

    def _event(self, body: JSONObject, name: str | None, out: list[StreamPart]) -> None:
        kind = body.get("type") or name
        if not isinstance(kind, str):
            if body.get("error"):
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
                self._item(as_object(body.get("item")), as_key(body.get("output_index")), out)
            case "output_item.done":
                self._item(as_object(body.get("item")), as_key(body.get("output_index")), out, is_done=True)
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
        self._terminal(body, as_text(body.get("status")) or "completed", out)
        return True

    def _identify(self, response: JSONObject) -> None:
        self.response_id = as_text(response.get("id")) or self.response_id
        self.model_id = as_text(response.get("model")) or self.model_id
        take_usage(self._raw_usage, as_object(response.get("usage")))
        if tools := as_list(response.get("tools")):
            named = [as_object(tool) for tool in tools if as_object(tool).get("type") == "custom"]
            self._custom_tools = {as_text(tool.get("name")) for tool in named}
        searched = as_object(as_object(response.get("tool_usage")).get("web_search"))
        if (count := count_of(searched.get("num_requests"))) is not None:
            self._reported_searches = count
        if isinstance(response.get("service_tier"), str):
            self._note("serviceTier", response["service_tier"], under="deuz")

    def _said(
        self, kind: str, body: JSONObject, text: JSON, out: list[StreamPart], *, is_snapshot: bool = False
    ) -> None:
        """Text of one kind at one place; of a snapshot only what the deltas have not said."""
        if not isinstance(text, str) or not text:
            return
        where, item_id = as_key(body.get("output_index")), as_key(body.get("item_id"))
        place = as_key(body.get("summary_index" if kind == "summary" else "content_index"))
        key = (kind, item_id if where is None else where, place)
        pieces = self._texts.get(key)
        if is_snapshot:
            if pieces is None:
                pieces = self._texts.get((kind, item_id, place))
            if pieces is None and kind != "summary":
                pieces = self._texts.get((kind, where, None))
            known = "" if pieces is None else "".join(pieces)
            if len(text) <= len(known) or not text.startswith(known):
                return
            text = text[len(known) :]
        if pieces is None:
            pieces = self._texts[key] = []
            if where is not None and item_id is not None:
                self._places.setdefault(item_id, where)
        pieces.append(text)
        if kind == "text":
            self._text(text, out)
        elif kind == "refusal":
            self._has_refusal = True
            self._text(text, out)
        else:
            if kind == "summary":
                if self._summary_at is not None and self._summary_at != key:
                    # Two summary parts are two paragraphs.
                    text = "\n\n" + text
                self._summary_at = key
            self._reasoning(text, out)

    def _call_for(self, body: JSONObject) -> OpenCall | None:
        for kind, name in _NAMES:
            key = as_key(body.get(name))
            if key is not None and (call := self._items.get((kind, key))) is not None:
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
        for kind, name in _NAMES:
            key = as_key(body.get(name))
            if key is not None:
                self._early.setdefault((kind, key), []).append(text)
                return

    def _arguments_done(self, body: JSONObject, whole: JSON, out: list[StreamPart]) -> None:
        call = self._call_for(body)
        if call is not None and isinstance(whole, str):
            self._calls.settle(out, call, whole)

    def _item(self, item: JSONObject, where: _Key, out: list[StreamPart], *, is_done: bool = False) -> None:
        for name in ("id", "call_id"):
            key = as_key(item.get(name))
            if key is not None and where is not None:
                self._places.setdefault(key, where)
        match item.get("type"):
            case "custom_tool_call" if self._is_run_by_host(as_text(item.get("name"))):
                # xAI shows its own searches in this form: they are no calls to answer.
                self._searches.add(where if item.get("id") is None else as_key(item["id"]))
            case "function_call" | "custom_tool_call":
                self._call_item(item, where, out, is_done=is_done)
            case "message":
                if phase := as_text(item.get("phase")):
                    self._note("phase", phase)
                if is_done:
                    self._message_item(item, where, out)
            case "reasoning" if is_done:
                self._reasoning_item(item, where, out)
            case "web_search_call":
                item_id = as_key(item.get("id"))
                self._searches.add(where if item_id is None else item_id)
            case "mcp_call" if is_done and item.get("error"):
                name = as_text(item.get("name"))
                self._warn("server-tool-error", f"The provider's MCP call {name!r} failed.", out)
            case "compaction" if is_done:
                self._note("compaction", item)
            case str() as kind if is_done:
                self._hosted_item(kind, item)
            case _:
                pass

    def _is_run_by_host(self, name: str) -> bool:
        """Whether a custom tool is none of those that the host says it was offered."""
        return self._custom_tools is not None and name not in self._custom_tools

    def _hosted_item(self, kind: str, item: JSONObject) -> None:
        """A call that waits for the client to run it, in a form that has no part; or the host's own answer to it."""
        call_id = as_text(item.get("call_id")) or as_text(item.get("id"))
        if kind in _RUN_BY_CLIENT or kind == "shell_call" or item.get("execution") == "client":
            self._waiting[call_id] = kind
        elif kind.endswith("_output"):
            self._waiting.pop(call_id, None)

    def _call_item(self, item: JSONObject, where: _Key, out: list[StreamPart], *, is_done: bool) -> None:
        names = {"output_index": where, "call_id": item.get("call_id"), "item_id": item.get("id")}
        call = self._call_for(names)
        is_text = item.get("type") == "custom_tool_call"
        whole = item.get("input" if is_text else "arguments")
        if call is None:
            metadata: JSONObject = {key: item[key] for key in ("namespace", "caller") if item.get(key)}
            if is_text:
                metadata["type"] = "custom_tool_call"
            self.has_content = True
            self._seal_text(out)
            call = self._calls.open(
                out,
                call_id=as_text(item.get("call_id")) or as_text(item.get("id")),
                name=as_text(item.get("name")),
                metadata={"openai": metadata} if metadata else None,
            )
            call.is_text = is_text
            for kind, name in _NAMES:
                key = as_key(names[name])
                if key is not None:
                    self._items[kind, key] = call
                    for piece in self._early.pop((kind, key), ()):
                        self._calls.add(out, call, piece)
        elif is_done and not call.name:
            call.name = as_text(item.get("name"))
        if isinstance(whole, str) and whole:
            if is_done:
                self._calls.settle(out, call, whole)
            elif not call.pieces:
                self._calls.add(out, call, whole)
        if is_done:
            call.is_whole = True

    def _message_item(self, item: JSONObject, where: _Key, out: list[StreamPart]) -> None:
        for number, entry in enumerate(as_list(item.get("content"))):
            part = as_object(entry)
            place = {"output_index": where, "item_id": item.get("id"), "content_index": number}
            if part.get("type") == "output_text":
                self._said("text", place, part.get("text"), out, is_snapshot=True)
                for note in as_list(part.get("annotations")):
                    self._annotation(as_object(note), out)
            elif part.get("type") == "refusal":
                self._said("refusal", place, part.get("refusal"), out, is_snapshot=True)
        self._seal_text(out)

    def _reasoning_item(self, item: JSONObject, where: _Key, out: list[StreamPart]) -> None:
        item_id = as_key(item.get("id"))
        key = where if item_id is None else item_id
        if key in self._sealed:
            return
        summary = as_list(item.get("summary"))
        for kind, index, entries in (
            ("summary", "summary_index", summary),
            ("thought", "content_index", as_list(item.get("content"))),
        ):
            for number, entry in enumerate(entries):
                if not any((kind, at, number) in self._texts for at in (item_id, where) if at is not None):
                    place = {"output_index": where, "item_id": item_id, index: number}
                    self._said(kind, place, as_object(entry).get("text"), out, is_snapshot=True)
        blob = as_text(item.get("encrypted_content"))
        if blob:
            self._sealed.add(key)
            sealed: ReasoningDelta = {"type": "reasoning-delta", "text": blob}
            if isinstance(item_id, str):
                sealed["signature"] = item_id
            sealed["encrypted"] = True
            if summary:
                sealed["providerMetadata"] = {"openai": {"id": item_id, "summary": summary}}
            self._show(sealed, out)

    def _annotation(self, note: JSONObject, out: list[StreamPart]) -> None:
        url = as_text(note.get("url"))
        if note.get("type") == "url_citation" and url and url not in self._urls:
            self._urls.add(url)
            self._source(self._new_id(), url, note.get("title"), out)

    def _failed(self, body: JSONObject, out: list[StreamPart]) -> None:
        self.raw_finish = "failed"
        self._fail(out, stream_failure(self.wire, body, provider=self.provider, request_id=self._request_id))

    def _terminal(self, response: JSONObject, kind: str, out: list[StreamPart]) -> None:
        self._identify(response)
        status = as_text(response.get("status")) or kind
        if status == "failed" or as_object(response.get("error")):
            self._failed({"response": response}, out)
            return
        if status == "cancelled":
            self.raw_finish = "cancelled"
            self._finish(out, "aborted")
            return
        for number, entry in enumerate(as_list(response.get("output"))):
            # A gateway may leave items out of the snapshot: a known id tells the place, else the order does.
            item = as_object(entry)
            keys = (as_key(item.get("call_id")), as_key(item.get("id")))
            where = next((self._places[key] for key in keys if key in self._places), number)
            self._item(item, where, out, is_done=True)
        for waiting in dict.fromkeys(self._waiting.values()):
            self._warn(
                "unsupported-tool-call",
                f"The model asked for a {waiting}, which is not run here: the answer waits for its result.",
                out,
            )
        if self._raw_usage:
            self._note("usage", self._raw_usage, under=self.provider)
        if status == "incomplete":
            self.raw_finish = (
                as_text(as_object(response.get("incomplete_details")).get("reason")) or "incomplete"
            )
            reason = _INCOMPLETE.get(self.raw_finish)
            if reason is None:
                self._warn(
                    "unknown-finish-reason", f"Unknown reason {self.raw_finish!r}; read as a cut answer.", out
                )
            self._finish(out, reason or "length")
            return
        self.raw_finish = status
        self._finish(
            out, "tool_calls" if self._calls.calls else "content_filter" if self._has_refusal else "stop"
        )

    def _at_end(self, out: list[StreamPart]) -> None:
        self._truncated(out)
