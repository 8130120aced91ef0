"""Folding by value: a turn state goes in, the next one comes out.  Source: fold.md."""

from __future__ import annotations

from collections.abc import Iterator

from deuz_nb.fold.agent import AgentFold
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
from deuz_nb.fold.turn import Turn
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["apply_ui_part", "turn_of"]


def apply_ui_part(state: JSONObject | None, part: JSON) -> JSONObject:
    """The turn state after `part`; `state` (a `Turn.snapshot()`, or None at the start) is not changed.

    Costs as much as the state is long; a `Turn` folds a stream in constant time per part.
    """
    turn = Turn() if state is None else turn_of(state)
    turn.apply(part)
    return turn.snapshot()


def turn_of(state: JSONObject) -> Turn:
    """A turn that goes on from a snapshot."""
    message: JSONObject = state["message"]
    turn = Turn(message["id"])
    turn.version = 1
    pending = list(state.get("subAgents", ()))
    for element in _elements(message):
        _adopt_agents(turn, pending)
        turn.adopt(element)
    _adopt_agents(turn, pending)
    _restore_buckets(turn, state)
    for step in turn.steps:
        turn.close_step(step)
    tools = turn.tools
    tools.was_asked = "toolCalls" in message
    for request in state["approvals"]:
        tools.queue(request)
    tools.server_results = list(state["serverResults"])
    turn.agent_fold = AgentFold(state.get("agent"))
    turn.misfits = state.get("malformed", 0)
    if turn.usage is not None or turn.error is not None:
        is_streaming = any(isinstance(e, TextElement | ReasoningElement) and e.is_open for e in turn.elements)
        turn.ending = None if is_streaming else "finished" if turn.usage is not None else "failed"
    return turn


def _adopt_agents(turn: Turn, pending: list[JSONObject]) -> None:
    while pending and pending[0]["afterPart"] <= turn.ordered_count:
        found = pending.pop(0)
        child = turn_of(found["turn"])
        path = tuple(found["agentPath"])
        element = SubAgentElement(f"sub-agent-{len(turn.elements)}", path, found["afterPart"], child)
        element.is_open = child.status == "streaming"
        turn.adopt(element)


def _elements(message: JSONObject) -> Iterator[Element]:
    cards = iter(message.get("toolCalls", ()))
    for number, part in enumerate(message.get("parts", ())):
        key = f"{part['type']}-{number}"
        match part["type"]:
            case "text":
                text = TextElement(key)
                _restore_text(text, part)
                yield text
            case "reasoning":
                reasoning = ReasoningElement(key)
                _restore_text(reasoning, part)
                reasoning.encrypted = part.get("encrypted")
                reasoning.redacted = part.get("redacted")
                reasoning.provider_metadata = part.get("providerMetadata")
                yield reasoning
            case "tool":
                yield _card(key, next(cards))
            case "data":
                data = DataElement(key, part["name"], part.get("id"))
                data.payload = part.get("payload")
                data.has_payload = "payload" in part
                yield data
            case "step-start":
                yield StepElement(key, part["step"])
            case "citation":
                yield CitationElement(key, part)
            case _:
                yield FileElement(key, part)


def _restore_text(element: TextElement | ReasoningElement, part: JSONObject) -> None:
    element.append(part["text"])
    element.held = part.get("held", "")
    element.is_open = part["state"] == "streaming"
    element.signature = part.get("signature")


def _card(key: str, found: JSONObject) -> ToolElement:
    card = ToolElement(key, {k: found[k] for k in ("toolCallId", "toolName") if k in found})
    card.has_input = card.is_called = "input" in found
    card.input = found.get("input")
    if "inputText" in found:
        card.grow_input(found["inputText"])
    card.state = found["state"]
    card.is_open = card.state != "result"
    card.run_state = found.get("runState")
    card.has_output = "output" in found
    card.output = found.get("output")
    card.is_error = "isError" in found
    card.denied = "denied" in found
    card.denied_reason = found.get("deniedReason")
    card.outcome = found.get("outcome")
    card.display = found.get("display")
    card.provider_metadata = found.get("providerMetadata")
    return card


def _restore_buckets(turn: Turn, state: JSONObject) -> None:
    turn.citations = list(state["citations"])
    turn.activity = list(state["activity"])
    turn.steps = list(state.get("steps", ()))
    turn.sources = list(state.get("sources", ()))
    turn.verifications = list(state.get("verifications", ()))
    turn.warnings = list(state.get("warnings", ()))
    turn.false_finishes = list(state.get("falseFinishes", ()))
    turn.compactions = list(state.get("compactions", ()))
    turn.handoffs = list(state.get("handoffs", ()))
    turn.guardrails = list(state.get("guardrails", ()))
    for part in turn.compactions:
        turn.adopt(NoticeElement(f"compaction-{len(turn.elements)}", "compaction", part))
    for part in turn.handoffs:
        turn.adopt(NoticeElement(f"handoff-{len(turn.elements)}", "handoff", part))
    for part in turn.guardrails:
        turn.adopt(NoticeElement(f"guardrail-{len(turn.elements)}", "guardrail", part))
    turn.plan = state.get("plan")
    turn.cost_usd = state.get("costUsd")
    turn.cache_savings_usd = state.get("cacheSavingsUsd")
    turn.budget_exceeded = state.get("budgetExceeded")
    turn.usage = state.get("usage")
    turn.finish_reason = state.get("finishReason")
    turn.model_id = state.get("modelId")
    turn.stopped_by = state.get("stoppedBy")
    turn.error = state.get("error")
    turn.capabilities = state.get("capabilities")
    turn.has_object = "object" in state
    turn.object = state.get("object")
    turn.unknown = {kind: dict(seen) for kind, seen in state.get("unknown", {}).items()}
