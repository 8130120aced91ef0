"""The machine under every wire's parser: bytes in, parts out, ended exactly once.

A subclass says what one JSON event means (`_event`), what a whole JSON body means (`_whole`) and whether the
turn was complete when the bytes ended (`_at_end`).  Source: providers.md 5.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import count
from typing import Any, ClassVar, Final, TypedDict, cast

from deuz_nb import jsontext
from deuz_nb.errors import InvalidResponseError, ProviderError, StreamTruncatedError
from deuz_nb.parts.stream import Source, StreamPart
from deuz_nb.parts.usage import JSON, FinishReason, JSONObject, Usage, empty_usage
from deuz_nb.providers.failures import fault_of, stream_failure
from deuz_nb.providers.shapes import Saying, TextShape, shape_of
from deuz_nb.providers.text import PairJoiner
from deuz_nb.providers.toolcalls import ParsedCall, ToolCalls
from deuz_nb.providers.unframed import Unframed
from deuz_nb.providers.values import as_list, as_text
from deuz_nb.sse import Decoder, Event

__all__ = ["Context", "Parser"]

_SHOWN_FRAME: Final = 200


class Context(TypedDict, total=False):
    """What a parser may be told beside the bytes.

    `known_tools` are the names that were offered.  `think_tags`: thinking stands between tags in the text;
    `starts_in_reasoning`: its opening tag is in the prompt.  The rest tells of the HTTP answer.
    """

    provider: str | None
    model_id: str | None
    new_id: Callable[[], str] | None
    known_tools: Collection[str]
    think_tags: bool
    starts_in_reasoning: bool
    request_id: str | None
    status: int
    content_type: str | None


class Parser:
    """A provider's answer, byte by byte, as canonical parts.

    `receive` and `close` return lists; the last part of all is one finish or one error.  After it nothing more
    comes out, and `is_done` is true.
    """

    wire: ClassVar[str] = ""
    default_provider: ClassVar[str] = ""

    def __init__(
        self,
        *,
        provider: str | None = None,
        model_id: str | None = None,
        new_id: Callable[[], str] | None = None,
        known_tools: Collection[str] = (),
        think_tags: bool = False,
        starts_in_reasoning: bool = False,
        request_id: str | None = None,
        status: int = 200,
        content_type: str | None = None,
    ) -> None:
        self.provider = provider or self.default_provider
        self.asked_model_id = model_id
        self.model_id: str | None = None
        self.response_id: str | None = None
        self.raw_finish: str | None = None
        self.is_done = False
        self.has_content = False
        self._status = status
        self._request_id = request_id
        self._new_id = new_id or _counter()
        self._think_tags = think_tags
        self._starts_in_reasoning = starts_in_reasoning
        self._calls = ToolCalls(self._new_id, frozenset(known_tools))
        self._decoder = Decoder()
        self._pairs = PairJoiner()
        self._thought_pairs = PairJoiner()
        self._reason: FinishReason | None = None
        self._is_complete = False
        self._metadata: JSONObject = {}
        kind = (content_type or "").partition(";")[0].strip().lower()
        self._is_stream = not (kind.endswith(("json", "html")) and "ndjson" not in kind)
        self._has_events = False
        self._shape: TextShape | None = None
        self._misses = 0
        self._unframed = Unframed(is_stream=self._is_stream)

    def __repr__(self) -> str:
        return f"<Parser {self.wire} {'done' if self.is_done else 'open'}>"

    @property
    def usage(self) -> Usage | None:
        """Usage as reported so far; None while none was."""
        return None

    @property
    def tool_calls(self) -> list[ParsedCall]:
        """The turn's calls; valid only once the turn ended with stop or tool_calls."""
        return self._calls.parsed(is_complete=self._is_complete)

    def receive(self, data: bytes) -> list[StreamPart]:
        """The parts that these bytes complete."""
        out: list[StreamPart] = []
        if self.is_done or not data:
            return out
        events = self._decoder.receive(data) if self._is_stream else None
        if events:
            self._has_events = True
            self._take(events, out)
            self._unframed.restart(data)
        else:
            self._unframed.add(data)
        return out

    def close(self) -> list[StreamPart]:
        """The bytes ended: the parts still owed, the last of which is a finish or an error."""
        out: list[StreamPart] = []
        if self.is_done:
            return out
        if self._is_stream:
            self._take(self._decoder.close(), out, is_last=True)
        if not self.is_done:
            self._body(out)
        if not self.is_done:
            self._at_end(out)
        return out

    def fail(self, error: ProviderError) -> list[StreamPart]:
        """The transport broke or the call was stopped: one error part, with the usage seen so far."""
        out: list[StreamPart] = []
        if not self.is_done:
            self._fail(out, error)
        return out

    # What a wire says

    def _event(self, body: JSONObject, name: str | None, out: list[StreamPart]) -> None:
        raise AssertionError("a wire's parser says what its events mean")

    def _only_says(self, body: JSONObject, name: str | None) -> Saying | None:
        """The text, if the event does nothing but say it, however often it comes."""
        return None

    def _whole(self, body: JSONObject, out: list[StreamPart]) -> bool:
        """Read a body that is one JSON completion; False when it is none."""
        raise AssertionError("a wire's parser says what its bodies mean")

    def _marker(self, out: list[StreamPart]) -> None:
        """The `[DONE]` marker; only chat completions end with it."""

    def _at_end(self, out: list[StreamPart]) -> None:
        """The bytes ended without a terminal event."""
        if self._reason is not None:
            self._finish(out, self._reason)
        else:
            self._truncated(out)

    def _at_cut_frame(self, out: list[StreamPart]) -> None:
        """The bytes ended inside a frame."""
        self._at_end(out)

    # What every wire needs

    def _take(self, events: list[Event], out: list[StreamPart], *, is_last: bool = False) -> None:
        loads, understand, shape = jsontext.loads, self._event, self._shape
        try:
            for name, data, _, _ in events:
                if shape is not None and (text := shape.text_in(name, data)):
                    out.append(cast("StreamPart", {"type": shape.kind, "text": text}))
                    self._misses = 0
                    continue
                try:
                    body: JSON = loads(data)
                except ValueError:
                    self._no_json(data.strip(), out, is_last=is_last)
                else:
                    if type(body) is dict:
                        understand(cast("JSONObject", body), name, out)
                        self._learn(name, data, cast("JSONObject", body))
                        shape = self._shape
                    else:
                        self._no_object(body, name, out)
                if self.is_done:
                    return
        except InvalidResponseError as error:
            self._fail(out, error)

    def _learn(self, name: str | None, data: str, body: JSONObject) -> None:
        """Learn the shape of a frame that only says text; tried ever more seldom while no frame has it."""
        if self._pairs.is_holding or self._thought_pairs.is_holding:
            # What comes next belongs to the half that is held.
            self._shape = None
            return
        self._misses += 1
        if self._misses & (self._misses - 1) == 0:
            said = self._only_says(body, name)
            if said is not None and said[1]:
                found = shape_of(name, data, said, lambda other: self._only_says(other, name))
                self._shape = found or self._shape

    def _no_json(self, text: str, out: list[StreamPart], *, is_last: bool) -> None:
        """A frame that is a keep-alive, the end marker, or broken."""
        if not text or text.startswith(":"):
            return
        if text.startswith("[DONE]"):
            self._marker(out)
        elif is_last:
            # The last frame was cut by the end of the bytes: what came before it decides.
            self._at_cut_frame(out)
        else:
            said = "" if text[0] in "{[<" else f": {text[:_SHOWN_FRAME]}"
            self._invalid(out, f"A frame of the {self.provider} stream is not JSON{said}")

    def _no_object(self, body: JSON, name: str | None, out: list[StreamPart]) -> None:
        """A frame of several objects, of text, or of what no wire sends."""
        for item in as_list(body) if isinstance(body, list) else [body]:
            if isinstance(item, dict):
                self._event(cast("JSONObject", item), name, out)
            elif item is not None and not isinstance(item, str):
                self._invalid(out, f"A frame of the {self.provider} stream is no JSON object.")
            if self.is_done:
                return

    def _invalid(self, out: list[StreamPart], message: str, *, status: int | None = None) -> None:
        self._fail(
            out,
            InvalidResponseError(message, provider=self.provider, status=status, request_id=self._request_id),
        )

    def _body(self, out: list[StreamPart]) -> None:
        """Bytes outside any event: a JSON completion, a JSON error, a web page, or nothing."""
        text = self._unframed.text()
        if not text:
            return
        body: JSON = None
        try:
            # llama.cpp sends an error in a field of that name.
            body = jsontext.loads(text.removeprefix("error:"))
        except ValueError:
            if self._has_events or (text[:1] in "{[" and self._is_stream):
                if not self._has_events:
                    self._truncated(out)
                return
        if fault_of(body) is not None:
            self._fail(
                out, stream_failure(self.wire, body, provider=self.provider, request_id=self._request_id)
            )
            return
        try:
            for item in as_list(body) if isinstance(body, list) else [body]:
                if not self.is_done and isinstance(item, dict) and self._whole(cast("JSONObject", item), out):
                    self._has_events = True
        except InvalidResponseError as error:
            self._fail(out, error)
        if self.is_done or self._has_events:
            return
        what = "a web page" if text.startswith("<") else "neither a stream nor a JSON answer"
        self._invalid(
            out,
            f"{self.provider} answered with {what}; check the base URL and that it speaks {self.wire}.",
            status=self._status,
        )

    def _text(self, text: object, out: list[StreamPart]) -> None:
        if not isinstance(text, str) or not text:
            return
        text = self._pairs.feed(text)
        if text:
            self.has_content = True
            out.append({"type": "text-delta", "text": text})

    def _reasoning(self, text: object, out: list[StreamPart]) -> None:
        if not isinstance(text, str) or not text:
            return
        text = self._thought_pairs.feed(text)
        if text:
            self.has_content = True
            out.append({"type": "reasoning-delta", "text": text})

    def _seal_text(self, out: list[StreamPart]) -> None:
        """A block ended: a surrogate half that still waits will not meet its mate."""
        thought, text = self._thought_pairs.flush(), self._pairs.flush()
        if thought:
            out.append({"type": "reasoning-delta", "text": thought})
        if text:
            out.append({"type": "text-delta", "text": text})

    def _show(self, part: StreamPart, out: list[StreamPart]) -> None:
        """Emit content that is neither text nor a call: from here on the call cannot be made again unseen."""
        self.has_content = True
        out.append(part)

    def _source(self, source_id: str, url: JSON, title: JSON, out: list[StreamPart]) -> None:
        address = as_text(url)
        if not address:
            return
        source: Source = {"type": "source", "id": source_id, "url": address}
        if named := as_text(title):
            source["title"] = named
        self._show(source, out)

    def _warn(self, kind: str, message: str, out: list[StreamPart]) -> None:
        out.append({"type": "warning", "warning": {"type": kind, "message": message}})

    def _note(self, key: str, value: Any, *, under: str | None = None) -> None:
        """Keep a fact in the finish part's providerMetadata, under the provider's name or another."""
        group = cast("JSONObject", self._metadata.setdefault(under or self.default_provider, {}))
        group[key] = value

    def _finish(self, out: list[StreamPart], reason: FinishReason) -> None:
        self._seal_text(out)
        usage = self.usage
        if usage is None:
            self._note("usageReported", False, under="deuz")
        if self.raw_finish is not None:
            self._note("rawFinishReason", self.raw_finish, under="deuz")
        self._is_complete = reason in ("stop", "tool_calls")
        part: dict[str, Any] = {"type": "finish", "usage": usage or empty_usage(), "finishReason": reason}
        if self._metadata:
            part["providerMetadata"] = self._metadata
        self.is_done = True
        out.append(cast("StreamPart", part))

    def _truncated(self, out: list[StreamPart]) -> None:
        self._fail(
            out,
            StreamTruncatedError(
                f"The {self.provider} stream ended before its end marker: the answer is cut off.",
                is_retryable=not self.has_content and not self._calls.calls,
                provider=self.provider,
                request_id=self._request_id,
            ),
        )

    def _fail(self, out: list[StreamPart], error: ProviderError) -> None:
        self._seal_text(out)
        if error.usage is None:
            error.usage = self.usage
        if error.raw_finish is None:
            error.raw_finish = self.raw_finish
        if error.provider is None:
            error.provider = self.provider
        if error.request_id is None:
            error.request_id = self._request_id
        self.is_done = True
        out.append({"type": "error", "error": error})


def _counter() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"gen-{next(numbers)}"
