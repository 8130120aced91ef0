"""A turn as a JSON value and back.  Source: fold.md; the shape is pinned by the fold vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deuz_nb.fold.element import Element, ReasoningElement, TextElement, ToolElement
from deuz_nb.parts.usage import JSON, JSONObject

if TYPE_CHECKING:
    from deuz_nb.fold.turn import Turn

__all__ = ["snapshot_of"]


def snapshot_of(turn: Turn) -> JSONObject:
    """The turn's state; absent members are absent keys.  Payloads are shared with the turn, not copied."""
    state: JSONObject = {
        "message": _message(turn),
        "approvals": turn.approvals,
        "serverResults": list(turn.tools.server_results),
        "dataParts": [_data(e.name, e.id, e.payload, e.has_payload) for e in turn.data_parts],
        "citations": list(turn.citations),
        "activity": list(turn.activity),
    }
    lists: dict[str, list[JSONObject]] = {
        "steps": turn.steps,
        "sources": turn.sources,
        "compactions": turn.compactions,
        "handoffs": turn.handoffs,
        "guardrails": turn.guardrails,
        "verifications": turn.verifications,
        "warnings": turn.warnings,
        "falseFinishes": turn.false_finishes,
    }
    state |= {name: list(found) for name, found in lists.items() if found}
    if turn.sub_agents:
        state["subAgents"] = [
            {"agentPath": list(e.agent_path), "afterPart": e.after_part, "turn": snapshot_of(e.turn)}
            for e in turn.sub_agents
        ]
    single: dict[str, JSON] = {
        "plan": turn.plan,
        "costUsd": turn.cost_usd,
        "cacheSavingsUsd": turn.cache_savings_usd,
        "budgetExceeded": turn.budget_exceeded,
        "usage": turn.usage,
        "finishReason": turn.finish_reason,
        "modelId": turn.model_id,
        "stoppedBy": turn.stopped_by,
        "error": turn.error,
        "agent": turn.agent,
        "capabilities": turn.capabilities,
    }
    state |= {name: value for name, value in single.items() if value is not None}
    if turn.has_object:
        state["object"] = turn.object
    if turn.unknown:
        state["unknown"] = {kind: dict(seen) for kind, seen in turn.unknown.items()}
    if turn.malformed:
        state["malformed"] = turn.malformed
    return state


def _message(turn: Turn) -> JSONObject:
    message: JSONObject = {"id": turn.message_id, "role": "assistant", "content": turn.text}
    if any(isinstance(e, ReasoningElement) and not e.is_hidden for e in turn.elements):
        message["reasoning"] = turn.reasoning
    if turn.tools.cards or turn.tools.was_asked:
        message["toolCalls"] = [_card(card) for card in turn.tools.cards]
    parts = [part for part in map(_part, turn.elements) if part is not None]
    if parts:
        message["parts"] = parts
    return message


def _part(element: Element) -> JSONObject | None:
    """The element as an ordered part of the message; None for what stands beside the message."""
    match element.kind:
        case "text":
            return _text(element)
        case "reasoning":
            part = _text(element)
            optional: dict[str, JSON] = {
                "encrypted": element.encrypted,
                "redacted": element.redacted,
                "providerMetadata": element.provider_metadata,
            }
            return part | {name: value for name, value in optional.items() if value is not None}
        case "tool":
            return {"type": "tool"} | {k: v for k, v in element.identity.items() if k == "toolCallId"}
        case "data":
            return {"type": "data"} | _data(element.name, element.id, element.payload, element.has_payload)
        case "step":
            return {"type": "step-start", "step": element.index}
        case "citation" | "file":
            return element.part
        case _:
            return None


def _text(element: TextElement | ReasoningElement) -> JSONObject:
    part: JSONObject = {
        "type": element.kind,
        "text": element.text,
        "state": "streaming" if element.is_open else "done",
    }
    if element.signature is not None:
        part["signature"] = element.signature
    if element.held:
        part["held"] = element.held
    return part


def _data(name: str, data_id: str | None, payload: JSON, has_payload: bool) -> JSONObject:
    data: JSONObject = {"name": name}
    if data_id is not None:
        data["id"] = data_id
    if has_payload:
        data["payload"] = payload
    return data


def _card(card: ToolElement) -> JSONObject:
    found: JSONObject = dict(card.identity)
    if card.has_input:
        found["input"] = card.input
    if card.input_pieces:
        found["inputText"] = card.input_text
    found["state"] = card.state
    if card.has_output:
        found["output"] = card.output
    optional: dict[str, JSON] = {
        "runState": card.run_state,
        "isError": card.is_error or None,
        "denied": card.denied or None,
        "deniedReason": card.denied_reason,
        "outcome": card.outcome,
        "display": card.display,
        "providerMetadata": card.provider_metadata,
    }
    return found | {name: value for name, value in optional.items() if value is not None}
