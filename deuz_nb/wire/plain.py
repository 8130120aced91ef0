"""UI parts as plain text for a terminal: deterministic, text joined, one line per tool.  Display only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

from deuz_nb.jsontext import dumps
from deuz_nb.parts.ui import UIPart
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["plain_text"]

_WIDTH: Final = 160
"""Longer values are shortened; the transcript itself keeps them whole."""

# Foreign text must not drive the terminal.
_CONTROLS: Final = {n: "\ufffd" for n in (*range(32), *range(127, 160)) if n not in (9, 10)}


def plain_text(parts: Iterable[UIPart], *, malformed: int = 0) -> str:
    """The stream as text, one block per run of text, one line per anything else."""
    lines = _Lines()
    for part in parts:
        lines.add(cast("JSONObject", part))
    if not lines.is_ended:
        lines.line("(cut off: neither finish nor error)")
    if malformed:
        lines.line(f"({malformed} malformed frame{'s' if malformed > 1 else ''} left out)")
    return "\n".join(lines.done())


class _Lines:
    """Lines in order of arrival; a tool's line is completed in place when its result comes."""

    def __init__(self) -> None:
        self.is_ended = False
        self._lines: list[str | _Tool | tuple[str, _Lines]] = []
        self._open = ""
        self._pieces: list[str] = []
        self._tools: dict[str, _Tool] = {}
        self._agents: dict[str, _Lines] = {}

    def add(self, part: JSONObject) -> None:
        match part.get("type"):
            case "text-delta":
                self._grow("text", part.get("text"))
            case "reasoning-delta":
                if part.get("encrypted") or part.get("redacted"):
                    self.line("(hidden reasoning)")
                else:
                    self._grow("reasoning", part.get("text"))
            case "start":
                self.line(f"[{_text(part.get('messageId'))}]")
            case "step-start":
                self.line(f"-- step {_value(part.get('step'))} --")
            case "step-finish":
                self.line(f"-- step {_value(part.get('step'))}: {_outcome(part)} --")
            case "finish":
                self.line(f"finish: {_outcome(part)}")
                self.is_ended = True
            case "error":
                self.line(f"error: {_text(part.get('message'))}")
                self.is_ended = True
            case "tool-input-delta" | "tool-call" | "tool-state" | "tool-result":
                self._tool(part)
            case "sub-agent":
                self._sub_agent(part)
            case "tool-approval-request":
                self.line(f"approval wanted: {_text(part.get('toolName'))} {_value(part.get('input'))}")
            case "warning":
                warning: JSON = part.get("warning")
                words = cast("JSONObject", warning).get("message") if isinstance(warning, dict) else warning
                self.line(f"warning: {_text(words)}")
            case "activity":
                self.line(f"activity: {_text(part.get('message'))}")
            case kind:
                rest = {name: value for name, value in part.items() if name != "type"}
                self.line(f"{_text(kind)}: {_value(rest)}")

    def line(self, text: str) -> None:
        self._close()
        self._lines.append(text)

    def done(self) -> list[str]:
        self._close()
        found: list[str] = []
        for line in self._lines:
            if isinstance(line, tuple):
                path, inner = line
                found.append(f"agent {path}:")
                found += [f"  {text}" for block in inner.done() for text in block.split("\n")]
            else:
                found.append(str(line))
        return found

    def _grow(self, kind: str, text: JSON) -> None:
        if kind != self._open:
            self._close()
            self._open = kind
        if isinstance(text, str):
            self._pieces.append(text)

    def _close(self) -> None:
        text = _text("".join(self._pieces))
        if text:
            self._lines.append(text if self._open == "text" else f"(thinking) {text}")
        self._open = ""
        self._pieces = []

    def _tool(self, part: JSONObject) -> None:
        call_id = part.get("toolCallId")
        key = call_id if isinstance(call_id, str) else ""
        tool = self._tools.get(key)
        if tool is None:
            self._close()
            tool = self._tools[key] = _Tool()
            self._lines.append(tool)
        tool.add(part)

    def _sub_agent(self, part: JSONObject) -> None:
        path: JSON = part.get("agentPath")
        inner: JSON = part.get("part")
        name = "/".join(map(_text, cast("list[JSON]", path))) if isinstance(path, list) else _text(path)
        agent = self._agents.get(name)
        if agent is None:
            self._close()
            agent = self._agents[name] = _Lines()
            self._lines.append((name, agent))
        if isinstance(inner, dict):
            agent.add(cast("JSONObject", inner))


class _Tool:
    """One tool call's line."""

    def __init__(self) -> None:
        self._name = ""
        self._arguments: list[str] = []
        self._call: str | None = None
        self._result: str | None = None
        self._denied: str | None = None

    def add(self, part: JSONObject) -> None:
        if isinstance(part.get("toolName"), str):
            self._name = _text(part["toolName"])
        match part["type"]:
            case "tool-input-delta":
                if isinstance(part.get("delta"), str):
                    self._arguments.append(part["delta"])
            case "tool-call":
                self._call = _value(part.get("input"))
            case "tool-result":
                self._result = ("error " if part.get("isError") else "") + _value(part.get("output"))
            case _:
                if part.get("denied"):
                    self._denied = _text(part.get("deniedReason") or "no reason given")

    def __str__(self) -> str:
        called = self._call if self._call is not None else f"(half a call) {_short(''.join(self._arguments))}"
        if self._denied is not None:
            return f"tool {self._name} {called} -> denied: {self._denied}"
        return f"tool {self._name} {called} -> {'no result' if self._result is None else self._result}"


def _outcome(part: JSONObject) -> str:
    found = [_text(part.get("finishReason"))]
    usage: JSON = part.get("usage")
    if isinstance(usage, dict):
        counts = cast("JSONObject", usage)
        found += [
            f"{counts[name]} {word}"
            for name, word in (("inputTokens", "in"), ("cachedReadTokens", "cached"), ("outputTokens", "out"))
            if isinstance(counts.get(name), int | float)
        ]
    if isinstance(part.get("costUsd"), int | float):
        found.append(f"${part['costUsd']}")
    return ", ".join(found)


def _value(value: JSON) -> str:
    return _short(dumps(value))


def _short(text: str) -> str:
    text = _text(text)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}… ({len(text) - _WIDTH} more)"


def _text(value: JSON) -> str:
    """Text that any terminal and any file can take: whole characters, no control characters."""
    text = value if isinstance(value, str) else "" if value is None else dumps(value)
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\r\n", "\n").translate(_CONTROLS)
