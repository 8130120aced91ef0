"""Answers that are not 2xx, as exceptions."""

from __future__ import annotations

from typing import Any

import pytest

from deuz_nb import jsontext
from deuz_nb.providers import http_error
from tests.conformance._vectors import lines, note_checked


@pytest.mark.parametrize("case", lines("http_errors.jsonl"))
def test_refused_request_becomes_the_expected_error(case: dict[str, Any]) -> None:
    body = case["body"]
    data = body.encode() if isinstance(body, str) else b"" if body is None else jsontext.dumps_bytes(body)
    error = http_error(case["wire"], status=case["status"], headers=case["headers"], body=data, now_s=0.0)
    found = error.facts()
    if error.retry_after_s is not None:
        found["retryAfterMs"] = error.retry_after_s * 1000
    deviation = case.get("deviation")
    choice = None
    if deviation is None:
        assert found == case["error"]
    elif "better" in deviation:
        wanted = deviation["better"]["error"]
        assert {key: found.get(key) for key in wanted} == wanted
    else:
        choice = f"{error.code}, retryable {error.is_retryable}"
    note_checked("http_errors.jsonl", case, choice)
