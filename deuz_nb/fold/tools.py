"""The tool cards of a turn and the approvals that wait for a verdict.  Source: fold.md, "Tool card"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deuz_nb.fold.element import ToolElement
from deuz_nb.fold.values import is_object, is_true, pick, segments
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["ToolCards"]


def _id_of(part: JSONObject) -> Any:
    """What two parts of one call have in common; a list or an object is never the same as another."""
    if "toolCallId" not in part:
        return ("absent",)
    found = part["toolCallId"]
    if isinstance(found, str):
        return found
    return object() if isinstance(found, list | dict) else (type(found), found)


def _name_of(part: JSONObject) -> str:
    found = part.get("toolName")
    return found if isinstance(found, str) else ""


class ToolCards:
    """Cards by call id.  A part without a proper id still gets its card, and counts as malformed.

    `opened(identity)` must make a card, `add` it and return it.
    """

    def __init__(self, opened: Callable[[JSONObject], ToolElement]) -> None:
        self.cards: list[ToolElement] = []
        self.server_results: list[JSON] = []
        self.was_asked = False
        self.misfits: int = 0
        self._opened = opened
        self._by_id: dict[Any, ToolElement] = {}
        self._approvals: dict[Any, JSONObject] = {}
        self._asked_by_call: dict[Any, list[Any]] = {}

    @property
    def approvals(self) -> list[JSONObject]:
        """Requests without a verdict, oldest first."""
        return list(self._approvals.values())

    def input_delta(self, part: JSONObject) -> None:
        """More argument text, kept until the whole call arrives."""
        delta = part.get("delta")
        if not isinstance(delta, str):
            self.misfits += 1
            return
        card = self._card(part)
        if not card.is_called:
            card.grow_input(delta)
        self._name(card, part)

    def call(self, part: JSONObject) -> None:
        """The whole call; a repeated one never un-finishes its card."""
        card = self._by_id.get(_id_of(part))
        if card is None:
            card = self._opened(pick(part, "toolCallId", "toolName"))
        else:
            card.identity |= pick(part, "toolName")
        if "input" in part:
            card.input = part["input"]
            card.has_input = True
        card.is_called = True
        card.arguments = None
        if is_object(part.get("providerMetadata")):
            card.provider_metadata = part["providerMetadata"]
        self._display(card, part)
        self._check(part, "toolCallId", "toolName")
        card.version += 1

    def state(self, part: JSONObject) -> None:
        """A new state word."""
        word = part.get("state")
        if not isinstance(word, str):
            self.misfits += 1
            return
        card = self._card(part)
        card.run_state = word
        if word != "error":
            card.denied = False
            card.denied_reason = None
        if is_true(part.get("denied")):
            card.denied = True
        if isinstance(part.get("deniedReason"), str):
            card.denied_reason = part["deniedReason"]
        if isinstance(part.get("outcome"), str):
            card.outcome = part["outcome"]
        self._name(card, part)

    def result(self, part: JSONObject) -> None:
        """A result: the latest one counts, and it settles the call's approval."""
        card = self._card(part)
        card.state = "result"
        card.is_open = False
        card.has_output = "output" in part
        card.output = part.get("output")
        card.is_error = is_true(part.get("isError"))
        card.approval = None
        self._display(card, part)
        self._name(card, part)
        self.server_results.append(part.get("toolCallId"))
        for key in self._asked_by_call.pop(_id_of(part), ()):
            self._approvals.pop(key, None)

    def ask(self, part: JSONObject) -> None:
        """An approval is wanted.  One request is queued once; a finished call is not asked about again."""
        self.was_asked = True
        self._check(part, "approvalId", "toolCallId")
        card = self._by_id.get(_id_of(part))
        if card is not None and card.state == "result":
            return
        request = pick(part, "approvalId", "toolCallId", "toolName", "input")
        if isinstance(part.get("token"), str):
            request["token"] = part["token"]
        if segments(part.get("agentPath")) is not None:
            request["agentPath"] = part["agentPath"]
        if card is not None:
            card.state = "approval-requested"
            card.version += 1
        self.queue(request)

    def queue(self, request: JSONObject) -> None:
        """Queue a request, or put it in the place of the same one; a card that waits for it shows it."""
        call_id = _id_of(request)
        approval_id = request.get("approvalId")
        key = approval_id if isinstance(approval_id, str) else ("unnamed", call_id)
        if key not in self._approvals:
            self._asked_by_call.setdefault(call_id, []).append(key)
        self._approvals[key] = request
        card = self._by_id.get(call_id)
        if card is not None and card.state == "approval-requested":
            card.approval = request

    def add(self, card: ToolElement) -> None:
        """Take a card: a new one, or one that an earlier turn had."""
        self.cards.append(card)
        self._by_id.setdefault(_id_of(card.identity), card)

    def _card(self, part: JSONObject) -> ToolElement:
        card = self._by_id.get(_id_of(part))
        if card is None:
            card = self._opened(pick(part, "toolCallId") | {"toolName": _name_of(part)})
        card.version += 1
        self._check(part, "toolCallId")
        return card

    def _name(self, card: ToolElement, part: JSONObject) -> None:
        """A late name fills an empty one."""
        if not card.tool_name and _name_of(part):
            card.identity["toolName"] = part["toolName"]

    def _display(self, card: ToolElement, part: JSONObject) -> None:
        if part.get("display") is not None:
            card.display = part["display"]

    def _check(self, part: JSONObject, *names: str) -> None:
        for name in names:
            if not isinstance(part.get(name), str):
                self.misfits += 1
                return
