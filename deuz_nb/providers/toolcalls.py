"""Tool calls as they arrive in fragments: which fragment belongs to which call, and what a call is worth.

Rules of providers.md 5: the id counts first, then the index, then the last open call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, cast

from deuz_nb import jsontext
from deuz_nb.errors import InvalidResponseError
from deuz_nb.parts.stream import StreamPart
from deuz_nb.parts.usage import JSON, JSONObject
from deuz_nb.providers.text import PairJoiner

__all__ = ["OpenCall", "ParsedCall", "ToolCalls", "arguments_text"]


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A tool call as far as it came.  Only a valid one may be run.

    `input` is the parsed object, also of a whole call in a turn that was cut; None when the text is no object;
    a custom tool's is the text itself.
    """

    id: str
    name: str
    input: JSONObject | str | None
    input_text: str
    is_valid: bool
    provider_metadata: JSONObject | None = None


@dataclass(slots=True)
class OpenCall:
    """A call that is being received."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list[str])
    metadata: JSONObject | None = None
    is_whole: bool = False
    is_half: bool = False
    has_id: bool = True
    is_text: bool = False
    size: int = 0
    pairs: PairJoiner = field(default_factory=PairJoiner)

    @property
    def text(self) -> str:
        """The argument text so far."""
        if len(self.pieces) > 1:
            self.pieces[:] = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def is_object(self) -> bool:
        """Whether the text so far is a whole JSON object."""
        # The cheap look comes first: a host that names the call in every fragment asks this for every fragment.
        return bool(self.pieces) and self.pieces[-1].rstrip()[-1:] == "}" and _object(self.text) is not None

    def replace(self, text: str) -> None:
        """Take `text` for the whole argument text."""
        self.pieces = [text] if text else []
        self.size = len(text)


def arguments_text(value: JSON) -> str:
    """Arguments as JSON text, whether a host sent text, an object or nothing.

    Raises InvalidResponseError when they are nested too deeply to be written.
    """
    if value is None:
        return ""
    try:
        return value if isinstance(value, str) else jsontext.dumps(value)
    except ValueError:
        raise InvalidResponseError("The arguments of a tool call are nested too deeply to be read.") from None


def _object(text: str) -> JSONObject | None:
    if not text.strip():
        return {}
    try:
        value = jsontext.loads(text)
    except ValueError:
        return None
    return cast("JSONObject", value) if isinstance(value, dict) else None


class ToolCalls:
    """The calls of one turn, in the order in which they began."""

    def __init__(self, new_id: Callable[[], str], known_tools: Collection[str]) -> None:
        self.calls: list[OpenCall] = []
        self._new_id = new_id
        self._known = known_tools
        self._by_id: dict[str, OpenCall] = {}
        self._by_index: dict[int, OpenCall] = {}

    def open(
        self,
        out: list[StreamPart],
        *,
        call_id: str,
        name: str,
        index: int | None = None,
        text: str = "",
        metadata: JSONObject | None = None,
        fallback_id: str | None = None,
    ) -> OpenCall:
        """Begin a call and emit its first fragment, which carries the name.

        An id that is known already is the same call sent twice: that call, and nothing is emitted.  With other
        arguments it is another call, which gets an id of its own.
        """
        if call_id and (known := self._by_id.get(call_id)) is not None:
            if text in ("", known.text):
                return known
            call_id = ""
        call = OpenCall(call_id or fallback_id or self._new_id(), name, metadata=metadata)
        call.has_id = bool(call_id)
        self.calls.append(call)
        self._by_id.setdefault(call.id, call)
        if index is not None:
            self._by_index[index] = call
        self._emit(out, call, text, is_named=True)
        return call

    def add(self, out: list[StreamPart], call: OpenCall, text: str) -> None:
        """More argument text of a call."""
        self._emit(out, call, text, is_named=False)

    def settle(self, out: list[StreamPart], call: OpenCall, whole: str) -> None:
        """A snapshot of the whole argument text came: emit only what is missing of it."""
        text = call.text
        if whole.startswith(text):
            if len(whole) > len(text):
                self._emit(out, call, whole[len(text) :], is_named=False)
        elif _object(text) is None:
            # The fragments were not the snapshot's beginning: the snapshot is the truth for running the call.
            call.replace(whole)
        call.is_whole = True

    def fragment(
        self,
        out: list[StreamPart],
        *,
        call_id: str,
        index: int | None,
        name: str,
        arguments: JSON,
        metadata: JSONObject | None = None,
    ) -> None:
        """A chat-completions fragment, which may lack (empty text, None) or repeat id, index and name."""
        call = self._owner(call_id, index, name, arguments)
        if call is None:
            if not name and not call_id and arguments in (None, ""):
                return
            text = arguments_text(arguments)
            fallback = f"tool_{index}" if index is not None and f"tool_{index}" not in self._by_id else None
            call = self.open(
                out,
                call_id=call_id,
                name=name,
                index=index,
                text="" if not text.strip() else text,
                metadata=metadata,
                fallback_id=fallback,
            )
            call.is_whole = isinstance(arguments, dict)
            return
        if metadata is not None:
            call.metadata = {**(call.metadata or {}), **metadata}
        is_named = bool(name)
        if name and not call.name:
            call.name = name
        elif name and name != call.name and not call.pieces and (joined := call.name + name) in self._known:
            # Two halves of a tool's name: the fragment that completes it carries the whole.
            call.name = name = joined
        text = arguments_text(arguments)
        if call.is_whole or (len(text) == call.size and text == call.text and call.is_object):
            return
        if isinstance(arguments, dict):
            self.settle(out, call, text)
        elif text or is_named or metadata is not None:
            self._emit(out, call, text, is_named=is_named and name == call.name, metadata=metadata)

    def parsed(self, *, is_complete: bool) -> list[ParsedCall]:
        """The calls; valid only if the whole turn is complete and the arguments are an object."""
        found: list[ParsedCall] = []
        for call in self.calls:
            text = call.text
            value = text if call.is_text else _object(text)
            valid = is_complete and value is not None and bool(call.name) and not call.is_half
            found.append(ParsedCall(call.id, call.name, value, text, valid, call.metadata))
        return found

    def _owner(self, call_id: str, index: int | None, name: str, arguments: JSON) -> OpenCall | None:
        if call_id and (call := self._by_id.get(call_id)) is not None:
            return call
        at_index = self._by_index.get(index) if index is not None else None
        if call_id and name:
            # A new id with a name is a new call, whatever its index (Ollama numbers every call 0) -
            # unless the same call merely gets a new id while its arguments are still open.
            if at_index is not None and at_index.name == name and not at_index.has_id:
                return None if at_index.is_object else at_index
            return None
        if at_index is not None:
            if call_id and not at_index.has_id:
                return at_index
            if name and at_index.is_object:
                # A name after whole arguments is the next call, unless it says the same again.
                is_same = name == at_index.name and arguments_text(arguments) in ("", at_index.text)
                return at_index if is_same else None
            return at_index
        if index is None and not call_id and self.calls:
            last = self.calls[-1]
            if not name:
                return last
            return last if name == last.name and not last.is_object else None
        if index is None and call_id and not name and self.calls:
            return self.calls[-1]
        return None

    def _emit(
        self,
        out: list[StreamPart],
        call: OpenCall,
        text: str,
        *,
        is_named: bool,
        metadata: JSONObject | None = None,
    ) -> None:
        if text:
            text = call.pairs.feed(text)
            if not text and not is_named:
                return
            call.pieces.append(text)
            call.size += len(text)
        part: dict[str, Any] = {"type": "tool-call-delta", "id": call.id}
        if is_named and call.name:
            part["name"] = call.name
        part["argsTextDelta"] = text
        given = metadata if metadata is not None else call.metadata if is_named else None
        if given:
            part["providerMetadata"] = given
        out.append(cast("StreamPart", part))
