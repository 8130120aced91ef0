"""Real answers of real providers: the `recorded` folder beside (or inside) each vector directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance._streams import cuttings, run
from tests.conformance._vectors import directories, note_checked

LARGEST_BY_SINGLE_BYTES = 40_000
"""Larger files are cut at 50 random places only: byte by byte they would take minutes and show nothing new."""


def files() -> list[Any]:
    found: list[Any] = []
    for folder in directories():
        for place in (folder.parent / "recorded", folder / "recorded"):
            index = place / "index.json"
            if index.is_file():
                streams = json.loads(index.read_text("utf-8"))["streams"]
                found += [pytest.param(place / s["file"], s["wire"], id=s["file"]) for s in streams]
    if not found:
        skip = pytest.mark.skip(reason="no recorded folder beside the vectors")
        return [pytest.param(None, "", marks=skip, id="absent")]
    return found


def events(body: bytes) -> list[Any]:
    lines = body.decode().replace("\r\n", "\n").split("\n")
    data = [line[5:].strip() for line in lines if line.startswith("data:")]
    return [json.loads(text) for text in data if text not in ("", "[DONE]")]


def said(wire: str, seen: list[Any]) -> str:
    """The answer's text as a plain reader would join it."""
    pieces: list[str] = []
    snapshot = ""
    for event in seen:
        match wire:
            case "anthropic":
                if event.get("delta", {}).get("type") == "text_delta":
                    pieces.append(event["delta"]["text"])
                pieces.append(event.get("content_block", {}).get("text") or "")
            case "openai-chat":
                for choice in event.get("choices", []):
                    content = choice.get("delta", {}).get("content")
                    if isinstance(content, list):
                        pieces += [part["text"] for part in content if part["type"] == "text"]
                    else:
                        pieces.append(content or "")
            case "google":
                for candidate in event.get("candidates", []):
                    for part in candidate.get("content", {}).get("parts", []):
                        if not part.get("thought"):
                            pieces.append(part.get("text", ""))
            case _:
                if event["type"] == "response.output_text.delta":
                    pieces.append(event["delta"])
                if event["type"] in ("response.completed", "response.incomplete"):
                    snapshot = "".join(
                        part["text"]
                        for item in event["response"].get("output", [])
                        if item["type"] == "message"
                        for part in item["content"]
                        if part["type"] == "output_text"
                    )
    return max("".join(pieces), snapshot, key=len)


@pytest.mark.parametrize(("path", "wire"), files())
def test_recorded_answer_is_read_whole_however_it_is_cut(path: Path, wire: str) -> None:
    body = path.read_bytes()
    seen = events(body)
    machine, parts = run(wire, [body])
    carries_error = any(
        event.get("type") == "error" or ("error" in event and event["error"]) for event in seen
    )
    last = parts[-1]
    assert sum(part["type"] in ("finish", "error") for part in parts) == 1
    if path.name == "anthropic__anthropic__spliced-message-start.sse":
        # Two generations in one body: providers.md and the vector an-spliced-message want an error.
        carries_error = True
    assert (last["type"] == "error") == carries_error, last
    if not carries_error:
        assert "".join(part["text"] for part in parts if part["type"] == "text-delta") == said(wire, seen)
        for call in machine.tool_calls:
            assert call.is_valid
            assert isinstance(call.input, dict | str)
        usage = last["usage"]
        inputs = ("inputTokens", "cachedReadTokens", "cacheWriteTokens", "cacheWrite1hTokens", "outputTokens")
        assert usage["totalTokens"] == sum(usage[name] for name in inputs)
        assert usage["reasoningTokens"] <= usage["outputTokens"]
    for cut in cuttings([body], single_bytes=len(body) < LARGEST_BY_SINGLE_BYTES):
        assert run(wire, cut)[1] == parts
    note_checked("recorded", {"id": path.name})
