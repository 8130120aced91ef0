"""Provider streams to canonical parts, part for part.

Compared as JSON values, with these agreed differences (vectors were printed by 1.9):
- `finish.providerMetadata` is compared on the members the vector lists; ours also keeps the raw usage, the raw
  finish word and whether usage was reported (providers.md 8);
- `usage.serverToolUses` is left out where the vector has none: 1.9 counted only Anthropic's (providers.md 8);
- `warning` and `citation` parts, which 1.9 adapters never emitted, are left out before comparing;
- no part of ours holds half a surrogate pair (providers.md 5), 1.9's did: there neighbouring deltas are joined.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance._streams import body_chunks, cuttings, run
from tests.conformance._vectors import lines, note_checked


def comparable(parts: list[Any], expected: list[Any]) -> list[Any]:
    found: list[Any] = []
    kept = [part for part in parts if part["type"] not in ("warning", "citation")]
    for index, part in enumerate(kept):
        if part["type"] == "finish":
            like = expected[index] if index < len(expected) else {}
            listed = like.get("providerMetadata", {})
            part = {key: value for key, value in part.items() if key != "providerMetadata"}
            if "serverToolUses" not in like.get("usage", {"serverToolUses": 0}):
                part["usage"] = {
                    key: value for key, value in part["usage"].items() if key != "serverToolUses"
                }
            own = kept[index].get("providerMetadata", {})
            metadata = {
                group: {key: own[group][key] for key in members if key in own[group]}
                for group, members in listed.items()
                if group in own
            }
            if metadata:
                part["providerMetadata"] = metadata
        found.append(part)
    return found


def joined(parts: list[Any]) -> list[Any]:
    """Neighbouring text deltas as one, their surrogate halves paired."""
    found: list[Any] = []
    for part in parts:
        if found and part["type"] == found[-1]["type"] == "text-delta":
            text = found[-1]["text"] + part["text"]
            found[-1] = {**part, "text": text.encode("utf-16", "surrogatepass").decode("utf-16")}
        else:
            found.append(dict(part))
    return found


def has_half(parts: list[Any]) -> bool:
    return any("\ud800" <= char <= "\udfff" for part in parts for char in str(part.get("text", "")))


def check_better(machine: Any, parts: list[Any], better: dict[str, Any]) -> None:
    last = parts[-1]
    for key, wanted in better.items():
        match key:
            case "last_type":
                assert last["type"] == wanted
            case "finish_reason":
                # A run that ends in an error part ended with the reason "error".
                assert (last["finishReason"] if last["type"] == "finish" else "error") == wanted
            case "usage":
                assert {name: last["usage"].get(name) for name in wanted} == wanted
            case "error":
                assert {name: last["error"].get(name) for name in wanted} == wanted
            case "tool_ids":
                assert [call.id for call in machine.tool_calls] == wanted
            case "text":
                assert "".join(part["text"] for part in parts if part["type"] == "text-delta") == wanted
            case "parts_prefix":
                assert comparable(parts, [])[: len(wanted)] == wanted
            case _:
                pytest.fail(f"a check this test does not know: {key}")


def summary(parts: list[Any]) -> str:
    text = "".join(part["text"] for part in parts if part["type"] == "text-delta")
    kinds = [part["type"] for part in parts if part["type"] != "text-delta"]
    return f"text {text[:40]!r}, then {', '.join(kinds)}"


@pytest.mark.parametrize("case", lines("adapters.jsonl"))
def test_stream_gives_the_expected_parts_however_it_is_cut(case: dict[str, Any]) -> None:
    chunks = body_chunks(case)
    context = case.get("options") or case.get("context") or {}
    machine, parts = run(case["wire"], chunks, breaks=case.get("transport_error"), **context)
    deviation = case.get("deviation")
    choice = None
    if deviation is None:
        shape = joined if has_half(case["parts"]) else list
        found, wanted = shape(parts), shape(case["parts"])
        assert comparable(found, wanted) == wanted
        assert not has_half(parts)
    elif "better" in deviation:
        check_better(machine, parts, deviation["better"])
    else:
        choice = summary(parts)
        assert sum(part["type"] in ("finish", "error") for part in parts) == 1
    for cut in cuttings(chunks):
        assert run(case["wire"], cut, breaks=case.get("transport_error"), **context)[1] == parts
    note_checked("adapters.jsonl", case, choice)
