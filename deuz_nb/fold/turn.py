"""The turn: UI parts folded into what a reader sees.  O(1) per part, and total.  Source: fold.md."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from deuz_nb.fold.agent import AgentFold
from deuz_nb.fold.buckets import Buckets
from deuz_nb.fold.element import (
    CitationElement,
    DataElement,
    Element,
    FileElement,
    NoticeElement,
    ReasoningElement,
    StepElement,
    SubAgentElement,
    TextElement,
    ToolElement,
)
from deuz_nb.fold.snapshot import snapshot_of
from deuz_nb.fold.tools import ToolCards
from deuz_nb.fold.values import is_number, is_object, segments, usage_of
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["Status", "Turn"]

Status = Literal["empty", "streaming", "finished", "failed", "cut"]


class Turn(Buckets):
    """One assistant turn, growing as UI parts are applied.

    `elements` is what a view shows, in arrival order; the buckets beside it hold the rest.  `version` grows
    with every applied part.  No JSON value makes `apply` raise: a malformed part is counted, a part of a
    newer server is kept in `unknown` (type -> count and first example).  Payloads are kept by reference and
    never changed.
    """

    def __init__(self, message_id: str = "turn-0") -> None:
        super().__init__()
        self.message_id = message_id
        self.version = 0
        self.elements: list[Element] = []
        self.data_parts: list[DataElement] = []
        self.sub_agents: list[SubAgentElement] = []
        self.steps: list[JSONObject] = []
        self.finish_reason: str | None = None
        self.stopped_by: str | None = None
        self.usage: JSONObject | None = None
        self.model_id: str | None = None
        self.error: str | None = None
        self.tools = ToolCards(self._open_tool)
        self.agent_fold = AgentFold()
        self.ordered_count = 0
        self.ending: Status | None = None
        self._text_tail: TextElement | None = None
        self._reasoning_tail: ReasoningElement | None = None
        self._live: list[ToolElement | StepElement | SubAgentElement] = []
        self._step_starts = 0
        self._open_steps: dict[int | float, StepElement] = {}
        self._data_by_id: dict[tuple[str, str], DataElement] = {}
        self._agents_by_path: dict[tuple[str, ...], SubAgentElement] = {}

    def __repr__(self) -> str:
        return f"<Turn {self.message_id[:40]!r}: {self.status}, {len(self.elements)} elements>"

    @property
    def status(self) -> Status:
        """Empty, streaming, finished, failed, or cut: `seal` came before finish or error."""
        return self.ending or ("streaming" if self.version else "empty")

    @property
    def approvals(self) -> list[JSONObject]:
        """Approval requests without a verdict, oldest first."""
        return self.tools.approvals

    @property
    def agent(self) -> JSONObject | None:
        """The state of the native agent run; None when no frame of one came.  Source: frames.md 4."""
        return self.agent_fold.state

    @property
    def malformed(self) -> int:
        """How many parts were not what their type promises."""
        return self.misfits + self.tools.misfits

    @property
    def text(self) -> str:
        """The answer's text."""
        return "".join(e.text for e in self.elements if isinstance(e, TextElement))

    @property
    def reasoning(self) -> str:
        """The reasoning that may be shown."""
        return "".join(e.text for e in self.elements if isinstance(e, ReasoningElement) and not e.is_hidden)

    def apply(self, part: JSON) -> None:
        """Fold one UI part."""
        tail = self._text_tail
        if (
            tail is not None
            and part.__class__ is dict
            and len(part) == 2
            and part.get("type") == "text-delta"
        ):
            text = part.get("text")
            # As in apply_all, for readers that fold part by part.
            if type(text) is str and text.isascii() and not tail.held:
                self.version += 1
                tail.version += 1
                tail.pieces.append(text)
                return
        self.apply_all((part,))

    def apply_all(self, parts: Iterable[JSON]) -> None:
        """Fold many UI parts."""
        for part in parts:
            self.version += 1
            form = part.__class__
            kind = part.get("type") if form is dict or issubclass(form, dict) else None
            if kind == "text-delta":
                tail = self._text_tail
                text = part.get("text")
                if tail is None or len(part) != 2 or type(text) is not str:
                    self._text(part)
                    continue
                # The commonest part by far: plain text that goes on.
                if text.isascii() and not tail.held:
                    tail.pieces.append(text)
                else:
                    tail.append(text)
                tail.version += 1
            elif isinstance(kind, str):
                self._apply_other(kind, part)
            else:
                self.misfits += 1

    def seal(self) -> None:
        """No more parts will come; without finish or error the turn is cut off."""
        self._close("cut")

    def snapshot(self) -> JSONObject:
        """The turn as JSON, in the shape of the JavaScript client's turn state plus what it lacks."""
        return snapshot_of(self)

    def adopt(self, element: Element) -> None:
        """Add an element at the end as it is; nothing that streams is sealed by it."""
        self.elements.append(element)
        match element.kind:
            case "text":
                if element.is_open:
                    self._text_tail = element
            case "reasoning":
                if element.is_open:
                    self._reasoning_tail = element
            case "tool":
                self.tools.add(element)
                self._live.append(element)
            case "data":
                self.data_parts.append(element)
                if element.id is not None:
                    self._data_by_id[element.name, element.id] = element
            case "step":
                self._step_starts += 1
                if element.is_open:
                    self._open_steps[element.index] = element
                    self._live.append(element)
            case "citation" | "file":
                pass
            case "sub-agent":
                self.sub_agents.append(element)
                self._agents_by_path[element.agent_path] = element
                self._live.append(element)
                return
            case _:
                return
        self.ordered_count += 1

    def close_step(self, step: JSONObject) -> None:
        """Tell the step's element, if there is one, how the step ended."""
        element = self._open_steps.pop(step["step"], None)
        if element is not None:
            element.usage = step["usage"]
            element.finish_reason = step["finishReason"]
            element.model_id = step.get("modelId")
            element.cost_usd = step.get("costUsd")
            element.is_open = False
            element.version += 1

    def _apply_other(self, kind: str, part: JSONObject) -> None:
        match kind:
            case "reasoning-delta":
                self._reasoning(part)
            case "tool-input-delta":
                self.tools.input_delta(part)
            case "tool-call":
                self.tools.call(part)
            case "tool-state":
                self.tools.state(part)
            case "tool-result":
                self.tools.result(part)
            case "tool-approval-request":
                self.tools.ask(part)
            case "sub-agent":
                self._sub_agent(part)
            case "step-start":
                self._step_start(part)
            case "step-finish":
                self._step_finish(part)
            case "finish":
                self._finish(part)
            case "error":
                message = part.get("message")
                self.error = message if isinstance(message, str) else "Stream error."
                self._close("failed")
            case "start":
                self._start(part)
            case "citation":
                self._keep(self.citations, part, "id")
                self._open(CitationElement(self._key(kind), part))
            case "data-agent":
                self._agent_frame(part)
            case "compaction":
                self._notice(self.compactions, kind, part)
            case "handoff":
                self._notice(self.handoffs, kind, part)
            case "guardrail":
                self._notice(self.guardrails, kind, part)
            case "file":
                self._file(part)
            case _:
                if kind.startswith("data-"):
                    self._data(kind.removeprefix("data-"), part)
                else:
                    self.report(kind, part)

    def _text(self, part: JSONObject) -> None:
        text = part.get("text")
        signature = part.get("signature")
        if not isinstance(text, str):
            self.misfits += 1
            if not isinstance(signature, str):
                return
            text = ""
        tail = self._text_tail
        if tail is None:
            tail = TextElement(self._key("text"))
            self._open(tail)
        tail.append(text)
        tail.version += 1
        if isinstance(signature, str):
            tail.signature = signature

    def _reasoning(self, part: JSONObject) -> None:
        text = part.get("text")
        signature = part.get("signature")
        encrypted = _payload(part.get("encrypted"))
        redacted = _payload(part.get("redacted"))
        is_hidden = encrypted is not None or redacted is not None
        if not isinstance(text, str):
            self.misfits += 1
            if not isinstance(signature, str) and not is_hidden:
                return
            text = ""
        tail = self._reasoning_tail
        if tail is None or is_hidden:
            tail = ReasoningElement(self._key("reasoning"))
            self._open(tail)
        tail.append(text)
        tail.version += 1
        if isinstance(signature, str):
            tail.signature = signature
        if is_object(part.get("providerMetadata")):
            tail.provider_metadata = part["providerMetadata"]
        if is_hidden:
            tail.encrypted = encrypted
            tail.redacted = redacted
            self._seal_tail()

    def _data(self, name: str, part: JSONObject) -> None:
        data_id = part.get("id")
        if data_id is not None and not isinstance(data_id, str):
            self.misfits += 1
            data_id = None
        element = None if data_id is None else self._data_by_id.get((name, data_id))
        if element is None:
            element = DataElement(self._key("data"), name, data_id)
            self._open(element)
        else:
            element.version += 1
        element.payload = part.get("payload")
        element.has_payload = "payload" in part

    def _agent_frame(self, part: JSONObject) -> None:
        if self.agent_fold.apply(part.get("payload")) == "malformed":
            self._data("agent", part)

    def _sub_agent(self, part: JSONObject) -> None:
        path = segments(part.get("agentPath"))
        inner = part.get("part")
        if path is None or not is_object(inner) or not isinstance(inner.get("type"), str):
            self.misfits += 1
            return
        if inner["type"] == "sub-agent":
            self.misfits += 1
            return
        element = self._agents_by_path.get(path)
        if element is None:
            element = SubAgentElement(self._key("sub-agent"), path, self.ordered_count, Turn("/".join(path)))
            self.adopt(element)
        element.turn.apply(inner)
        element.version += 1
        was_open, element.is_open = element.is_open, element.turn.status == "streaming"
        if element.is_open and not was_open:
            self._live.append(element)

    def _step_start(self, part: JSONObject) -> None:
        step = part.get("step")
        self._open(StepElement(self._key("step"), step if is_number(step) else self._step_starts))

    def _step_finish(self, part: JSONObject) -> None:
        number = part.get("step")
        reason = part.get("finishReason")
        step: JSONObject = {
            "step": number if is_number(number) else len(self.steps),
            "usage": usage_of(part.get("usage")),
            "finishReason": reason if isinstance(reason, str) else "stop",
        }
        if isinstance(part.get("modelId"), str):
            step["modelId"] = self.model_id = part["modelId"]
        if is_number(part.get("costUsd")):
            step["costUsd"] = part["costUsd"]
        self.steps.append(step)
        self.close_step(step)

    def _start(self, part: JSONObject) -> None:
        message_id = part.get("messageId")
        if isinstance(message_id, str):
            self.message_id = message_id
        else:
            self.misfits += 1

    def _finish(self, part: JSONObject) -> None:
        self.usage = usage_of(part.get("usage"))
        if isinstance(part.get("finishReason"), str):
            self.finish_reason = part["finishReason"]
        if isinstance(part.get("modelId"), str):
            self.model_id = part["modelId"]
        if isinstance(part.get("stoppedBy"), str):
            self.stopped_by = part["stoppedBy"]
        if is_number(part.get("costUsd")):
            self.cost_usd = part["costUsd"]
        self._close("finished")

    def _file(self, part: JSONObject) -> None:
        if isinstance(part.get("mediaType"), str):
            self._open(FileElement(self._key("file"), part))
        else:
            self.misfits += 1

    def _notice(
        self, bucket: list[JSONObject], kind: Literal["compaction", "handoff", "guardrail"], part: JSONObject
    ) -> None:
        bucket.append(part)
        self.adopt(NoticeElement(self._key(kind), kind, part))

    def _key(self, kind: str) -> str:
        return f"{kind}-{len(self.elements)}"

    def _open_tool(self, identity: JSONObject) -> ToolElement:
        element = ToolElement(self._key("tool"), identity)
        self._open(element)
        return element

    def _open(self, element: Element) -> None:
        """Add to the ordered parts: whatever was streaming is complete now."""
        self._seal_tail()
        self.ending = None
        self.adopt(element)

    def _seal_tail(self) -> None:
        for tail in (self._text_tail, self._reasoning_tail):
            if tail is not None:
                tail.settle()
                tail.is_open = False
                tail.version += 1
        self._text_tail = None
        self._reasoning_tail = None

    def _close(self, ending: Status) -> None:
        """The stream ended: nothing is open any more, here and in the sub-agents."""
        self._seal_tail()
        for element in self._live:
            if element.is_open:
                element.is_open = False
                element.version += 1
                if isinstance(element, SubAgentElement):
                    element.turn._close("finished" if ending == "finished" else "cut")
        self._live = []
        if ending != "cut" or self.ending is None:
            self.ending = ending


def _payload(value: JSON) -> str | bool | None:
    """An opaque payload, or True when it is in the text; None when there is none."""
    return value if (isinstance(value, str) and value) or value is True else None
