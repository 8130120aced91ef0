"""One row per tool call of a run.  None is unknown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from deuz_nb.fold.rows import seconds, whole
from deuz_nb.fold.values import is_object, is_true, segments
from deuz_nb.jsontext import dumps
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["ToolRow", "json_text", "tool_rows"]

_ENDED: Final = frozenset({"complete", "error"})


@dataclass(slots=True, kw_only=True)
class ToolRow:
    """One tool call.

    `input` and `output` are text: a string as it is, any other value as JSON; `input` is None for a call
    whose arguments never came to their end.  `state` is the last one told or seen (wire.md 2), `duration_s`
    the seconds from the whole call to its result.
    """

    run: str
    step: int | None = None
    agent: str | None = None
    tool_call_id: str = ""
    tool: str | None = None
    input: str | None = None
    output: str | None = None
    state: str = "input-streaming"
    outcome: str | None = None
    is_error: bool | None = None
    is_denied: bool | None = None
    duration_s: float | None = None


def tool_rows(parts: Iterable[JSON], *, run: str, times_ms: Iterable[float | None] = ()) -> list[ToolRow]:
    """The tool calls among a run's UI parts, sub-agents' calls included, in the order they began."""
    fold = _Fold(run)
    times = iter(times_ms)
    for part in parts:
        if is_object(part):
            fold.apply(part, next(times, None))
        else:
            next(times, None)
    return list(fold.rows.values())


def json_text(value: JSON) -> str:
    """A string as it is, any other value as JSON."""
    return value if isinstance(value, str) else dumps(value)


class _Fold:
    def __init__(self, run: str) -> None:
        self.rows: dict[tuple[tuple[str, ...], str], ToolRow] = {}
        self._run = run
        self._steps: dict[tuple[str, ...], int | None] = {}
        self._begun_ms: dict[tuple[tuple[str, ...], str], float | None] = {}

    def apply(self, part: JSONObject, time_ms: float | None, path: tuple[str, ...] = ()) -> None:
        match part.get("type"):
            case "sub-agent":
                inner, found = part.get("part"), segments(part.get("agentPath"))
                if not path and found is not None and is_object(inner):
                    self.apply(inner, time_ms, found)
            case "step-start":
                self._steps[path] = whole(part.get("step"))
            case "tool-input-delta" | "tool-call" | "tool-result" | "tool-state" | "tool-approval-request":
                call_id = part.get("toolCallId")
                if isinstance(call_id, str):
                    self._tool(part, (path, call_id), time_ms)
            case _:
                pass

    def _tool(self, part: JSONObject, key: tuple[tuple[str, ...], str], time_ms: float | None) -> None:
        path, call_id = key
        row = self.rows.get(key)
        if row is None:
            agent = "/".join(path) or None
            row = ToolRow(run=self._run, step=self._steps.get(path), agent=agent, tool_call_id=call_id)
            self.rows[key] = row
        name = part.get("toolName")
        if isinstance(name, str) and name:
            row.tool = name
        match part["type"]:
            case "tool-call":
                row.input = json_text(part.get("input"))
                self._begun_ms[key] = time_ms
                if row.state == "input-streaming":
                    row.state = "input-complete"
            case "tool-approval-request":
                row.input = json_text(part.get("input")) if row.input is None else row.input
                row.state = "awaiting-approval"
            case "tool-result":
                row.output = json_text(part.get("output"))
                row.is_error = is_true(part.get("isError"))
                row.duration_s = seconds(self._begun_ms.get(key), time_ms)
                if row.state not in _ENDED:
                    row.state = "error" if row.is_error else "complete"
            case "tool-state":
                self._state(row, part)
            case _:
                pass

    def _state(self, row: ToolRow, part: JSONObject) -> None:
        state, outcome = part.get("state"), part.get("outcome")
        if isinstance(state, str):
            row.state = state
        if isinstance(outcome, str):
            row.outcome = outcome
        if is_true(part.get("denied")):
            row.is_denied = True
        elif state in _ENDED:
            row.is_denied = bool(row.is_denied)
