"""One drawn block per element of a turn: tools, data, files, citations, steps, notices."""

from __future__ import annotations

from typing import Any, Final, cast

from deuz_nb.fold.element import (
    CitationElement,
    DataElement,
    FileElement,
    NoticeElement,
    StepElement,
    ToolElement,
)
from deuz_nb.notebook.block import Block
from deuz_nb.notebook.html import escape, img_data_url, label, link_target
from deuz_nb.notebook.values import folded, json_text, size, tree
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["card", "line_block", "link"]

_LARGEST_IMAGE: Final = 4_000_000

_RUN_STATES: Final = {
    "input-streaming": ("◌", "writing arguments", "run"),
    "input-complete": ("◌", "called", "run"),
    "awaiting-approval": ("◆", "waiting for approval", "ask"),
    "executing": ("●", "running", "run"),
    "complete": ("✓", "done", "ok"),
    "error": ("✕", "failed", "bad"),
}
_OUTCOMES: Final = {
    "success": ("✓", "done", "ok"),
    "error": ("✕", "failed", "bad"),
    "denied": ("⊘", "declined", "ask"),
    "blocked": ("⊘", "blocked", "ask"),
    "timeout": ("✕", "timed out", "bad"),
    "invalid-input": ("✕", "invalid arguments", "bad"),
    "unknown-tool": ("✕", "unknown tool", "bad"),
    "no-result": ("○", "no result", "quiet"),
    "cancelled": ("■", "cancelled", "quiet"),
}


def card(
    element: ToolElement | DataElement | CitationElement | FileElement | StepElement | NoticeElement,
    *,
    number: int,
    is_ended: bool,
) -> Block:
    """The block of an element that is no text; `number` is a citation's."""
    match element.kind:
        case "tool":
            return _tool(element, is_ended=is_ended)
        case "data":
            return _data(element)
        case "citation":
            return _citation(element, number)
        case "file":
            return _file(element)
        case "step":
            return _step(element)
        case _:
            return _notice(element)


def line_block(key: str, symbol: str, text: str, *, look: str = "quiet", is_open: bool = False) -> Block:
    """A line of foreign text behind a symbol."""
    body = f'<div class="dz-line dz-{look}"><span class="dz-sym dz-is-{look}">{symbol}</span> {escape(text)}</div>'
    return Block(key, body, f"{symbol} {text}", is_open=is_open)


def link(url: str | None, title: str) -> str:
    """A title that leads to a url, when it may."""
    target = link_target(url) if url is not None else None
    if target is None:
        return escape(title)
    return f'<a href="{escape(target)}" target="_blank" rel="noopener noreferrer">{escape(title)}</a>'


def text_of(part: JSONObject, name: str) -> str | None:
    """A member that is a string, else None."""
    found = part.get(name)
    return found if isinstance(found, str) else None


def _tool(tool: ToolElement, *, is_ended: bool) -> Block:
    symbol, word, look = _tool_state(tool, is_ended=is_ended)
    name = tool.tool_name or "tool"
    head = (
        f'<span class="dz-sym dz-is-{look}">{symbol}</span> <code class="dz-name">{label(name)}</code>'
        f' <span class="dz-word">{escape(word)}</span>'
    )
    pieces: list[str] = []
    lines = [f"{symbol} {name}: {word}"]
    if tool.has_input and tool.input != {}:
        pieces.append(_io("arguments", json_text(tool.input)))
        lines.append(f"  arguments: {_short(tool.input)}")
    elif tool.input_text:
        pieces.append(f'<div class="dz-io">{folded(tool.input_text, is_tail=tool.is_open)}</div>')
        lines.append(f"  arguments (not whole): {_short(tool.input_text)}")
    shown = tool.display if tool.display is not None else tool.output
    if tool.has_output or tool.display is not None:
        pieces.append(_io("error" if tool.is_error else "result", json_text(shown)))
        lines.append(f"  {'error' if tool.is_error else 'result'}: {_short(shown)}")
    if tool.denied_reason:
        pieces.append(f'<div class="dz-note">reason: {escape(tool.denied_reason)}</div>')
        lines.append(f"  reason: {tool.denied_reason}")
    body = f'<details open class="dz-card dz-{look}"><summary>{head}</summary>{"".join(pieces)}</details>'
    # A state may still follow the result.
    return Block(tool.key, body, "\n".join(lines), is_open=not is_ended)


def _tool_state(tool: ToolElement, *, is_ended: bool) -> tuple[str, str, str]:
    """Symbol, word and look; a refusal is no failure, half a call is no call."""
    if tool.denied:
        return _OUTCOMES["denied"]
    if tool.outcome is not None:
        return _OUTCOMES.get(tool.outcome, ("✕" if tool.is_error else "✓", tool.outcome[:40], "quiet"))
    if tool.state == "result":
        return _OUTCOMES["error" if tool.is_error else "success"]
    if tool.state == "approval-requested":
        return _RUN_STATES["awaiting-approval"]
    if not tool.is_open and not tool.is_called:
        return ("✂", "cut off: not run", "bad")
    if tool.run_state in ("complete", "error"):
        return _RUN_STATES[tool.run_state]
    if not tool.is_open or is_ended:
        return ("○", "called", "quiet")
    if tool.run_state is not None:
        return _RUN_STATES.get(tool.run_state, ("●", tool.run_state[:40], "run"))
    return _RUN_STATES["input-complete" if tool.is_called else "input-streaming"]


def _io(name: str, text: str) -> str:
    return f'<div class="dz-io"><div class="dz-label">{name}</div>{folded(text)}</div>'


def _short(value: JSON) -> str:
    text = " ".join(json_text(value).split())
    return text if len(text) <= 160 else f"{text[:140]}… ({size(json_text(value))})"


def _data(data: DataElement) -> Block:
    body = (
        f'<details open class="dz-card dz-quiet"><summary><span class="dz-sym">▤</span>'
        f' <code class="dz-name">{label(data.name)}</code></summary>{tree(data.payload)}</details>'
    )
    # The same name and id may be replaced until the run has ended.
    return Block(data.key, body, f"▤ {data.name}: {_short(data.payload)}", is_open=data.id is not None)


def _citation(citation: CitationElement, number: int) -> Block:
    part = citation.part
    title = text_of(part, "title") or text_of(part, "url") or "source"
    snippet = text_of(part, "snippet")
    quote = f' <span class="dz-note">“{label(snippet, 200)}”</span>' if snippet else ""
    body = f'<div class="dz-line dz-quiet">[{number}] {link(text_of(part, "url"), title[:200])}{quote}</div>'
    return Block(citation.key, body, f"[{number}] {title}")


def _file(file: FileElement) -> Block:
    part = file.part
    media = text_of(part, "mediaType") or "file"
    name = text_of(part, "name") or text_of(part, "filename") or "file"
    data = text_of(part, "data") or text_of(part, "base64") or ""
    source = img_data_url(media, data) if data and len(data) <= _LARGEST_IMAGE else None
    if source is not None:
        shown = f'<img class="dz-image" alt="{label(name)}" src="{escape(source)}">'
    else:
        shown = (
            f'<div class="dz-line dz-quiet">▣ {link(text_of(part, "url"), name[:200])} ({label(media)})</div>'
        )
    return Block(file.key, shown, f"▣ {name} ({media})")


def _step(step: StepElement) -> Block:
    if step.index == 0:
        return Block(step.key, "", "")
    name = f"step {int(step.index) + 1}"
    return Block(step.key, f'<div class="dz-step">{name}</div>', f"-- {name} --")


def _notice(notice: NoticeElement) -> Block:
    part = notice.part
    match notice.kind:
        case "handoff":
            text = f"handed over to {text_of(part, 'to') or 'another agent'}"
        case "compaction":
            before, after = part.get("tokensBefore"), part.get("tokensAfter")
            text = f"context compacted: {json_text(before)} to {json_text(after)} tokens"
        case _:
            name = text_of(part, "name") or text_of(part, "hook") or "guardrail"
            text = f"guardrail {name}: {text_of(part, 'action') or 'acted'}"
    reason = text_of(part, "reason")
    return line_block(notice.key, "↪", text if reason is None else f"{text} ({reason})")


def members(value: Any) -> list[JSONObject]:
    """The objects in a list; nothing for any other value."""
    if not isinstance(value, list):
        return []
    return [cast("JSONObject", item) for item in cast("list[Any]", value) if isinstance(item, dict)]
