"""`redact.jsonl`: text in, masked text out; what the source left visible is wanted masked."""

from __future__ import annotations

import re
from typing import Any

import pytest

from deuz_nb.redact import redact
from tests.conformance._vectors import lines, note_checked

FILE = "redact.jsonl"


@pytest.mark.parametrize("case", lines(FILE))
def test_masked_text_equals_the_vector(case: dict[str, Any]) -> None:
    text = _input(case)
    masked = redact(text)
    deviation: dict[str, Any] | None = case.get("deviation")
    better: dict[str, Any] = (deviation or {}).get("better") or {}
    if case.get("js_specific") or (deviation is not None and not better):
        if case.get("output_same"):
            _assert_covered(text, masked)
        note_checked(FILE, case, f"{masked!r:.80}")
        return
    wanted = case | better
    if "output_length" in wanted:
        assert len(masked) == wanted["output_length"]
    if "output_tail" in wanted:
        assert masked.endswith(wanted["output_tail"])
    if wanted.get("output_same"):
        assert masked == text
    if "output" in wanted or "output_parts" in wanted:
        assert masked == wanted.get("output", "".join(wanted.get("output_parts", [])))
    note_checked(FILE, case)


def _input(case: dict[str, Any]) -> str:
    if "input_repeat" in case:
        return "".join(piece * count for piece, count in case["input_repeat"])
    return "".join(case["input_parts"]) if "input_parts" in case else case["input"]


def _assert_covered(text: str, masked: str) -> None:
    """The secret, which is the longest word (with a digit, if one has), is gone up to its last four."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    secret = max([word for word in words if re.search("[0-9]", word)] or words, key=len)
    assert "****" in masked
    assert secret[:-4] not in masked
