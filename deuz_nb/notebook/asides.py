"""What stands beside the answer: heading, plan, activity, sources, warnings, outcome, costs."""

from __future__ import annotations

from typing import Final

from deuz_nb.fold.turn import Turn
from deuz_nb.notebook.block import Block
from deuz_nb.notebook.cards import line_block, link, members, text_of
from deuz_nb.notebook.facts import Facts
from deuz_nb.notebook.html import escape, label
from deuz_nb.notebook.values import count, json_text, money, seconds, tree
from deuz_nb.parts.usage import JSONObject

__all__ = ["aside_blocks", "foot_block", "head_block", "outcome_block"]

_STATES: Final = {
    "waiting": ("○", "waiting", "quiet"),
    "streaming": ("●", "streaming", "run"),
    "finished": ("✓", "finished", "ok"),
    "failed": ("✕", "failed", "bad"),
    "cut": ("✂", "cut off", "bad"),
    "stopped": ("■", "stopped", "quiet"),
}
_FINISH_NOTES: Final = {
    "length": "The answer reached the token limit and is not whole; raise max_tokens to get more.",
    "content_filter": "The provider's content filter ended the answer.",
    "error": "The provider reported an error as the reason to end.",
    "aborted": "The run was aborted.",
}
_HINTS: Final = {
    "authentication": "Check the API key and what it may do.",
    "model_not_found": "Check the model's name; `%deuz models` and the provider's list show what there is.",
    "rate_limit": "Wait and run the cell again, or check the quota of the account.",
    "overloaded": "The host is busy: run the cell again in a moment.",
    "network_error": "Check the connection and the base URL, then run the cell again.",
    "timeout": "Run the cell again, or raise the time limits.",
    "context_overflow": "Shorten the messages, or use a model with a longer context.",
    "invalid_request": "Check the options and messages of the call.",
    "stream_truncated": "The answer above is not whole: run the cell again.",
    "invalid_response": "Check that the base URL is an API of this kind.",
}
_PLAN_STATES: Final = {
    "completed": ("☑", "done"),
    "done": ("☑", "done"),
    "in_progress": ("▸", "in progress"),
    "in-progress": ("▸", "in progress"),
    "failed": ("✕", "failed"),
    "skipped": ("–", "skipped"),
}
_RECENT: Final = 5


def head_block(turn: Turn, facts: Facts) -> Block:
    """Model, state as a word and a symbol, elapsed time when it is told."""
    state = _state(turn, facts)
    symbol, word, look = _STATES[state]
    model = facts.model_id or turn.model_id or "model"
    provider = f'<span class="dz-note">{label(facts.provider)}</span> ' if facts.provider else ""
    is_open = state in ("waiting", "streaming")
    elapsed = ""
    if facts.elapsed_s is not None:
        # Whole seconds while it runs: the heading is sent again only when it reads differently.
        told_s = float(int(facts.elapsed_s)) if is_open else facts.elapsed_s
        elapsed = f' <span class="dz-time">{seconds(told_s)}</span>'
    body = (
        f'<div class="dz-head dz-{look}">{provider}<b>{label(model)}</b>'
        f' <span class="dz-state"><span class="dz-sym dz-is-{look}">{symbol}</span> {word}</span>{elapsed}</div>'
    )
    text = f"{f'{facts.provider}:{model}' if facts.provider else model}  {symbol} {word}"
    return Block("head", body, text, is_open=is_open)


def outcome_block(turn: Turn, facts: Facts) -> Block | None:
    """Why the answer is not simply finished; None when it is, or still comes."""
    match _state(turn, facts):
        case "failed":
            name = facts.error_name or "Error"
            hint = _HINTS.get(facts.error_code or "", "")
            message = turn.error or ""
            more = f'<div class="dz-hint">{escape(hint)}</div>' if hint else ""
            body = (
                f'<div class="dz-card dz-bad dz-error"><b>✕ {label(name)}</b>'
                f"<div>{escape(message)}</div>{more}</div>"
            )
            text = f"✕ {name}: {message}"
            return Block("outcome", body, f"{text}\n  {hint}" if hint else text)
        case "cut":
            note = "The stream ended before its end mark: what is above is cut off, not finished."
            return line_block("outcome", "✂", note, look="bad")
        case "stopped":
            return line_block("outcome", "■", "Stopped: what is above is not the whole answer.")
        case "finished" if turn.finish_reason in _FINISH_NOTES:
            return line_block("outcome", "⚠", _FINISH_NOTES[turn.finish_reason], look="ask")
        case _:
            return None


def aside_blocks(turn: Turn) -> list[Block]:
    """Plan, activity, agent state, object, verdicts, sources and warnings; each replaced as it changes."""
    found = [_plan(turn), _activity(turn), _agent(turn), _object(turn), _verdicts(turn), _sources(turn)]
    blocks = [block for block in found if block is not None]
    for number, warning in enumerate(turn.warnings):
        setting = text_of(warning, "setting")
        kind = json_text(warning.get("type"))
        told = f"{text_of(warning, 'message')} ({kind}{f', {setting}' if setting else ''})"
        blocks.append(line_block(f"warning-{number}", "⚠", told, look="ask"))
    if turn.budget_exceeded is not None:
        part = turn.budget_exceeded
        told = f"budget exceeded: {json_text(part.get('value'))} of {json_text(part.get('limit'))}"
        blocks.append(line_block("budget", "⚠", f"{told} {json_text(part.get('kind'))}", look="ask"))
    if turn.unknown:
        kinds = ", ".join(f"{kind} ×{seen['count']}" for kind, seen in list(turn.unknown.items())[:20])
        blocks.append(line_block("unknown", "ⓘ", f"parts of a newer server: {kinds}", is_open=True))
    if turn.malformed:
        noun = "part" if turn.malformed == 1 else "parts"
        blocks.append(line_block("malformed", "ⓘ", f"{turn.malformed} malformed {noun}", is_open=True))
    return blocks


def foot_block(turn: Turn, facts: Facts) -> Block | None:
    """Tokens, cost, and how fast it was when that is told; None until the run has ended."""
    if turn.status not in ("finished", "failed", "cut"):
        return None
    tokens = _tokens(turn, facts)
    pieces = [*(tokens or ["tokens not reported"]), _cost(turn, facts, is_reported=bool(tokens))]
    if facts.first_part_s is not None:
        pieces.append(f"first part {seconds(facts.first_part_s)}")
    output = _number(turn.usage, "outputTokens")
    if facts.elapsed_s and output and facts.is_usage_reported is not False:
        pieces.append(f"{output / facts.elapsed_s:.0f} tokens/s")
    text = " · ".join(pieces)
    return Block("foot", f'<div class="dz-foot">{escape(text)}</div>', text)


def _state(turn: Turn, facts: Facts) -> str:
    if turn.status in ("failed", "cut") and facts.error_code == "aborted":
        return "stopped"
    if turn.status == "failed" and facts.error_code == "stream_truncated":
        return "cut" if turn.error is None else "failed"
    if turn.status == "empty":
        return "waiting"
    if turn.status == "streaming":
        return "streaming" if facts.is_started else "waiting"
    return turn.status


def _number(usage: JSONObject | None, name: str) -> float:
    return 0 if usage is None else usage.get(name) or 0


def _tokens(turn: Turn, facts: Facts) -> list[str]:
    usage = turn.usage
    is_told = usage is not None and (facts.is_usage_reported or _number(usage, "totalTokens") > 0)
    if usage is None or not is_told or facts.is_usage_reported is False:
        return []
    fresh = sum(_number(usage, n) for n in ("inputTokens", "cacheWriteTokens", "cacheWrite1hTokens"))
    cached = _number(usage, "cachedReadTokens")
    reasoning = _number(usage, "reasoningTokens")
    pieces = [f"{count(fresh + cached)} tokens in"]
    if cached:
        pieces.append(f"{count(cached)} of them cached")
    pieces.append(f"{count(_number(usage, 'outputTokens'))} out")
    if reasoning:
        pieces.append(f"{count(reasoning)} of them reasoning")
    return pieces


def _cost(turn: Turn, facts: Facts, *, is_reported: bool) -> str:
    cost = facts.cost_usd if facts.cost_usd is not None else turn.cost_usd
    if cost is not None:
        return money(cost)
    return "unpriced" if is_reported else "cost unknown"


def _plan(turn: Turn) -> Block | None:
    if turn.plan is None:
        return None
    tasks = members(turn.plan.get("tasks"))
    goal = text_of(turn.plan, "goal") or "Plan"
    rows: list[str] = []
    lines = [f"Plan: {goal}"]
    for task in tasks:
        status = text_of(task, "status") or "pending"
        symbol, word = _PLAN_STATES.get(status, ("☐", status))
        title = text_of(task, "title") or "task"
        notes = text_of(task, "notes")
        note = f' <span class="dz-note">{escape(notes)}</span>' if notes else ""
        rows.append(f'<li>{symbol} {escape(title)} <span class="dz-word">{label(word, 40)}</span>{note}</li>')
        lines.append(f"  {symbol} {title} ({word})")
    body = f'<div class="dz-card dz-quiet"><b>{label(goal, 200)}</b><ul class="dz-plan">{"".join(rows)}</ul></div>'
    return Block("plan", body, "\n".join(lines), is_open=True)


def _activity(turn: Turn) -> Block | None:
    if not turn.activity:
        return None
    told = [text_of(part, "message") or "" for part in turn.activity]
    recent = "".join(f"<li>{escape(message[:500])}</li>" for message in told[-_RECENT:])
    earlier = "".join(f"<li>{escape(message[:500])}</li>" for message in told[-200:-_RECENT])
    more = len(told) - _RECENT
    fold = f"<details><summary>{more:,} earlier</summary><ul>{earlier}</ul></details>" if more > 0 else ""
    body = f'<div class="dz-activity">{fold}<ul>{recent}</ul></div>'
    lines = [f"· {message}" for message in told[-200:]]
    return Block("activity", body, "\n".join(lines), is_open=True)


def _agent(turn: Turn) -> Block | None:
    state = turn.agent
    if state is None:
        return None
    status = json_text(state.get("status"))
    phase = text_of(state, "phase")
    word = f"{status}, {phase}" if phase else status
    hidden = ("runId", "seq")
    body = (
        f'<details class="dz-card dz-quiet"><summary><span class="dz-sym">◇</span> agent run'
        f' <span class="dz-word">{label(word)}</span></summary>'
        f"{tree({k: v for k, v in state.items() if k not in hidden and v not in ([], {})})}</details>"
    )
    return Block("agent", body, f"◇ agent run: {word}", is_open=True)


def _object(turn: Turn) -> Block | None:
    if not turn.has_object:
        return None
    body = (
        '<details open class="dz-card dz-quiet"><summary><span class="dz-sym">▤</span> object</summary>'
        f"{tree(turn.object)}</details>"
    )
    return Block("object", body, f"▤ object: {json_text(turn.object)}", is_open=True)


def _verdicts(turn: Turn) -> Block | None:
    lines: list[tuple[str, str]] = []
    for verdict in turn.verifications[-20:]:
        word = "passed" if verdict["ok"] else "failed, tries again" if verdict["willRetry"] else "failed"
        feedback = verdict.get("feedback")
        told = f"check {json_text(verdict['attempt'])} {word}"
        lines.append(("✓" if verdict["ok"] else "✕", f"{told}: {feedback}" if feedback else told))
    for attempt in turn.false_finishes[-20:]:
        again = ", goes on" if attempt["willRetry"] else ""
        lines.append(("↻", f"stopped too early (attempt {json_text(attempt['attempt'])}){again}"))
    if not lines:
        return None
    body = "".join(
        f'<div class="dz-line dz-quiet"><span class="dz-sym">{symbol}</span> {escape(told)}</div>'
        for symbol, told in lines
    )
    text = "\n".join(f"{symbol} {told}" for symbol, told in lines)
    return Block("verdicts", body, text, is_open=True)


def _sources(turn: Turn) -> Block | None:
    if not turn.sources:
        return None
    rows: list[str] = []
    lines = ["Sources"]
    for number, source in enumerate(turn.sources[:200], 1):
        url = text_of(source, "url")
        title = text_of(source, "title") or url or text_of(source, "id") or "source"
        rows.append(f"<li>{link(url, title[:200])}</li>")
        lines.append(f"  {number}. {title}" + (f" <{url}>" if url and url != title else ""))
    is_open = " open" if len(rows) <= 5 else ""
    body = (
        f'<details{is_open} class="dz-sources"><summary>{len(turn.sources)}'
        f" source{'' if len(turn.sources) == 1 else 's'}</summary><ol>{''.join(rows)}</ol></details>"
    )
    return Block("sources", body, "\n".join(lines), is_open=True)
