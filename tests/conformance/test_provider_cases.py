"""Raw bytes of real fault classes, with the outcome wanted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance._streams import body_chunks, cuttings, run
from tests.conformance._vectors import lines, note_checked


def outcome(machine: Any, parts: list[Any]) -> dict[str, Any]:
    """What the parser made of a stream, in the words of the vectors."""
    last = parts[-1]
    calls: list[dict[str, Any]] = []
    for call in machine.tool_calls:
        shown: dict[str, Any] = {"id": call.id, "name": call.name, "input": call.input}
        if not call.is_valid:
            shown["invalid"] = True
            shown["inputText"] = call.input_text
        calls.append(shown)
    return {
        "text": joined(parts, "text-delta"),
        "reasoning": joined(parts, "reasoning-delta"),
        "tool_calls": calls,
        "finishReason": last["finishReason"] if last["type"] == "finish" else "error",
        "usage": machine.usage,
        "error": last["error"] if last["type"] == "error" else None,
        "sources": [part["url"] for part in parts if part["type"] == "source"],
        "reasoning_blocks": reasoning_blocks(parts),
        "raw_finish": machine.raw_finish,
        "warnings": [part["warning"]["type"] for part in parts if part["type"] == "warning"],
    }


def joined(parts: list[Any], kind: str) -> str:
    return "".join(part["text"] for part in parts if part["type"] == kind and not part.get("encrypted"))


def reasoning_blocks(parts: list[Any]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    text = ""
    for part in parts:
        if part["type"] != "reasoning-delta":
            continue
        if part.get("encrypted"):
            if text:
                blocks.append({"text": text})
                text = ""
            block: dict[str, Any] = {"redacted" if part.get("redacted") else "encrypted": part["text"]}
            metadata = part.get("providerMetadata", {})
            found_id = part.get("signature") or next((m["id"] for m in metadata.values() if "id" in m), None)
            if found_id is not None:
                block["id"] = found_id
            blocks.append(block)
            continue
        text += part["text"]
        if "signature" in part:
            blocks.append({"text": text, "signature": part["signature"]})
            text = ""
    if text:
        blocks.append({"text": text})
    return blocks


def check(case: dict[str, Any], found: dict[str, Any]) -> None:
    wanted = case["expected"]
    for key in ("text", "reasoning", "finishReason", "usage", "sources", "raw_finish"):
        if key in wanted:
            assert found[key] == wanted[key], key
    if "reasoning_blocks" in wanted:
        assert [
            {key: ours.get(key) for key in theirs}
            for ours, theirs in zip(found["reasoning_blocks"], wanted["reasoning_blocks"], strict=True)
        ] == wanted["reasoning_blocks"]
    if "tool_calls" in wanted:
        assert len(found["tool_calls"]) == len(wanted["tool_calls"])
        ids = [call["id"] for call in found["tool_calls"]]
        assert len(set(ids)) == len(ids)
        assert all(ids)
        for ours, theirs in zip(found["tool_calls"], wanted["tool_calls"], strict=True):
            assert {key: ours.get(key) for key in theirs} == theirs
            assert bool(ours.get("invalid")) == bool(theirs.get("invalid"))
    if "warnings" in wanted:
        assert set(wanted["warnings"]) <= set(found["warnings"])
    error = wanted.get("error")
    if error is None:
        assert found["error"] is None
        return
    assert found["error"] is not None
    assert found["error"]["code"] == error["code"]
    if "status" in error:
        assert found["error"].get("statusCode") == error["status"]
    if "messageContains" in error:
        assert error["messageContains"] in found["error"]["message"]
    if "retryable" in error:
        assert found["error"]["isRetryable"] == error["retryable"]


@pytest.mark.parametrize("case", lines("provider_cases.jsonl"))
def test_fault_has_the_outcome_wanted_however_it_is_cut(case: dict[str, Any]) -> None:
    chunks = body_chunks(case)
    context = dict(case.get("options") or {})
    context.update(case.get("http") or {})
    machine, parts = run(case["wire"], chunks, breaks=case.get("transport_error"), **context)
    found = outcome(machine, parts)
    deviation = case.get("deviation")
    if deviation is None:
        check(case, found)
    assert sum(part["type"] in ("finish", "error") for part in parts) == 1
    for cut in cuttings(chunks):
        again, cut_parts = run(case["wire"], cut, breaks=case.get("transport_error"), **context)
        assert outcome(again, cut_parts) == found
    note_checked(
        "provider_cases.jsonl", case, None if deviation is None else f"ends as {found['finishReason']}"
    )
