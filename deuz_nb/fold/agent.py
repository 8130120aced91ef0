"""The state of a native agent run, folded from its `data-agent` frames.  Source: frames.md 3 and 4."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, cast

from deuz_nb.fold.values import is_number, is_object, usage_of
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["AgentFold", "Verdict", "agent_state_from_parts"]

Verdict = Literal["applied", "stale", "malformed"]
"""What became of a frame: folded in, older than the state, or not a frame at all."""

_LARGEST_SEQ = 2**53 - 1
_RESULT_STATUSES = frozenset({"completed", "suspended", "stopped", "failed"})
_VERIFICATION_STATUSES = frozenset({"verified", "rejected", "inconclusive"})
_OUTCOME = ("output", "pendingApprovals", "pendingClientCalls", "reason", "error", "refused")


class AgentFold:
    """One run's agent state: `apply` folds a frame's payload, `state` is the JSON shape."""

    def __init__(self, state: JSONObject | None = None) -> None:
        self._members: JSONObject = {}
        self._elements: dict[int, JSON] = {}
        self._tool_outputs: dict[tuple[int | None, str], JSONObject] = {}
        self._snapshot: JSONObject | None = None
        if state is not None:
            self._restore(state)

    @property
    def state(self) -> JSONObject | None:
        """The state now; a later frame makes a new object and never changes this one."""
        if self._snapshot is None and self._members:
            self._snapshot = {
                **self._members,
                "elements": [{"index": i, "value": self._elements[i]} for i in sorted(self._elements)],
                "toolOutputs": list(self._tool_outputs.values()),
            }
        return self._snapshot

    def apply(self, payload: JSON) -> Verdict:
        """Fold one frame; a stale or malformed one changes nothing."""
        if not is_object(payload):
            return "malformed"
        seq = _integer(payload.get("seq"))
        run_id = payload.get("runId")
        if seq is None or not 0 <= seq <= _LARGEST_SEQ or not isinstance(run_id, str) or not run_id:
            return "malformed"
        if not _has_required(payload):
            return "malformed"
        if self._members and seq <= self._members["seq"]:
            return "stale"
        self._snapshot = None
        if self._members.get("runId") != run_id:
            self._members = {"runId": run_id, "seq": seq, "status": "running"}
            self._elements = {}
            self._tool_outputs = {}
        self._members["seq"] = seq
        match payload["kind"]:
            case "run":
                self._run(payload)
            case "phase":
                self._phase(payload)
            case "partial-output" | "array-element":
                self._draft(payload)
            case "tool-output":
                self._tool_output(payload)
            case "verification":
                self._members["verification"] = _verification(payload)
            case "budget":
                self._budget(payload)
            case _:
                self._result(payload)
        return "applied"

    def _run(self, payload: JSONObject) -> None:
        self._reopen("phase", "resumed")
        if payload.get("resumed") is True:
            self._members["resumed"] = True
        self._keep_text(payload, "modelId")
        self._keep_object(payload, "limits")

    def _phase(self, payload: JSONObject) -> None:
        self._reopen()
        self._members["phase"] = payload["phase"]
        self._keep_integer(payload, "modelSteps")

    def _draft(self, payload: JSONObject) -> None:
        attempt = cast("int", _integer(payload["attempt"]))
        current = self._members.get("attempt")
        if current is not None and attempt < current:
            return
        if current is not None and attempt > current:
            self._members.pop("partialOutput", None)
            self._elements = {}
        self._members["attempt"] = attempt
        if payload["kind"] == "partial-output":
            self._members["partialOutput"] = payload["value"]
        else:
            self._elements[cast("int", _integer(payload["index"]))] = payload["value"]

    def _tool_output(self, payload: JSONObject) -> None:
        step = _integer(payload.get("modelStep"))
        output: JSONObject = {"toolCallId": payload["toolCallId"], "toolName": payload["toolName"]}
        if step is not None:
            output["modelStep"] = step
        if "display" in payload:
            output["display"] = payload["display"]
        if isinstance(payload.get("error"), str):
            output["error"] = payload["error"]
        self._tool_outputs[step, payload["toolCallId"]] = output

    def _budget(self, payload: JSONObject) -> None:
        self._members["accounting"] = payload["accounting"]
        self._members.pop("budget", None)
        if is_object(payload.get("limits")):
            self._members["budget"] = payload["limits"]

    def _result(self, payload: JSONObject) -> None:
        self._reopen()
        members = self._members
        members["status"] = payload["status"]
        match payload["status"]:
            case "completed":
                if "output" in payload:
                    members["output"] = payload["output"]
            case "suspended":
                for name in ("pendingApprovals", "pendingClientCalls"):
                    if isinstance(payload.get(name), list):
                        members[name] = payload[name]
            case "stopped":
                members["reason"] = payload["reason"]
            case _:
                error: JSONObject = payload["error"]
                members["error"] = {
                    name: error[name]
                    for name in ("name", "message", "code")
                    if isinstance(error.get(name), str)
                }
                if payload.get("refused") is True:
                    members["refused"] = True
        self._keep_text(payload, "text")
        self._keep_integer(payload, "modelSteps")
        self._keep_object(payload, "accounting")
        if is_object(payload.get("usage")):
            members["usage"] = usage_of(payload["usage"])
        verdict = payload.get("verification")
        if is_object(verdict) and _is_word(verdict.get("status"), _VERIFICATION_STATUSES):
            members["verification"] = _verification(verdict)

    def _reopen(self, *also: str) -> None:
        """The run goes on: whatever outcome an earlier leg had is no longer true."""
        for name in (*_OUTCOME, *also):
            self._members.pop(name, None)
        self._members["status"] = "running"

    def _keep_text(self, payload: JSONObject, name: str) -> None:
        if isinstance(payload.get(name), str):
            self._members[name] = payload[name]

    def _keep_object(self, payload: JSONObject, name: str) -> None:
        if is_object(payload.get(name)):
            self._members[name] = payload[name]

    def _keep_integer(self, payload: JSONObject, name: str) -> None:
        number = _integer(payload.get(name))
        if number is not None:
            self._members[name] = number

    def _restore(self, state: JSONObject) -> None:
        self._members = {k: v for k, v in state.items() if k not in ("elements", "toolOutputs")}
        self._elements = {entry["index"]: entry["value"] for entry in state["elements"]}
        self._tool_outputs = {(o.get("modelStep"), o["toolCallId"]): o for o in state["toolOutputs"]}
        self._snapshot = state


def agent_state_from_parts(parts: Iterable[JSON]) -> JSONObject | None:
    """The agent state after all `data-agent` frames among `parts`; None when there is no frame.

    Ordinary parts, malformed frames and sub-agents' frames are skipped.  Source: frames.md 4.
    """
    fold = AgentFold()
    for part in parts:
        if is_object(part) and part.get("type") == "data-agent":
            fold.apply(part.get("payload"))
    return fold.state


def _integer(value: JSON) -> int | None:
    """The value as an int when it is a whole number: 3.0 is 3, True and "3" are none."""
    return int(value) if is_number(value) and value == int(value) else None


def _is_word(value: JSON, words: frozenset[str]) -> bool:
    return isinstance(value, str) and value in words


def _has_required(payload: JSONObject) -> bool:
    """Whether the kind is known and its required members have the right type.  Source: frames.md 3."""
    match payload.get("kind"):
        case "run":
            return True
        case "phase":
            return isinstance(payload.get("phase"), str)
        case "partial-output":
            return _integer(payload.get("attempt")) is not None and "value" in payload
        case "array-element":
            numbers = (_integer(payload.get("attempt")), _integer(payload.get("index")))
            return None not in numbers and "value" in payload
        case "tool-output":
            return isinstance(payload.get("toolCallId"), str) and isinstance(payload.get("toolName"), str)
        case "verification":
            return _is_word(payload.get("status"), _VERIFICATION_STATUSES)
        case "budget":
            return is_object(payload.get("accounting"))
        case "result":
            return _has_outcome(payload)
        case _:
            return False


def _has_outcome(payload: JSONObject) -> bool:
    status = payload.get("status")
    if status == "stopped":
        return isinstance(payload.get("reason"), str)
    if status == "failed":
        error = payload.get("error")
        return is_object(error) and isinstance(error.get("message"), str)
    return _is_word(status, _RESULT_STATUSES)


def _verification(verdict: dict[str, Any]) -> JSONObject:
    found: JSONObject = {"status": verdict["status"]}
    attempt = _integer(verdict.get("attempt"))
    if attempt is not None:
        found["attempt"] = attempt
    if isinstance(verdict.get("feedback"), str):
        found["feedback"] = verdict["feedback"]
    return found
