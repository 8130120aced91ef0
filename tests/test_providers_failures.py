"""Error bodies and headers of every host's shape, refused or in a running stream."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.providers import http_error
from deuz_nb.providers.failures import fault_of, stream_failure

NOW_S = 1_780_000_000.0  # Thu, 28 May 2026 20:26:40 GMT


def refused(status: int, body: Any, headers: dict[str, str] | None = None, wire: str = "openai-chat") -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return http_error(wire, status=status, headers=headers or {}, body=raw, now_s=NOW_S)


def openai(code: Any = None, kind: Any = None, message: str = "said") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "said", **more}, "request_id": "req_1"}


def google(code: int, status: str, message: str = "said", *details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


PER_DAY = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "RequestsPerDay-Free"}],
}
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "14.5s"}
BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}

REFUSED: dict[str, tuple[int, Any, tuple[str, int, bool, str | None]]] = {
    "anthropic 400": (400, anthropic("invalid_request_error"), ("invalid_request", 400, False, "invalid_request_error")),
    "anthropic 401": (401, anthropic("authentication_error"), ("authentication", 401, False, "authentication_error")),
    "anthropic 402": (402, anthropic("billing_error"), ("invalid_request", 402, False, "billing_error")),
    "anthropic 403": (403, anthropic("permission_error"), ("authentication", 403, False, "permission_error")),
    "anthropic 404": (404, anthropic("not_found_error"), ("model_not_found", 404, False, "not_found_error")),
    "anthropic 409": (409, anthropic("conflict_error"), ("api_call_error", 409, True, "conflict_error")),
    "anthropic 413": (413, anthropic("request_too_large"), ("invalid_request", 413, False, "request_too_large")),
    "anthropic 429": (429, anthropic("rate_limit_error"), ("rate_limit", 429, True, "rate_limit_error")),
    "anthropic spend limit": (
        429,
        anthropic("rate_limit_error", details={"error_code": "enforced_spend_limit_reached"}),
        ("rate_limit", 429, False, "rate_limit_error"),
    ),
    "anthropic 500": (500, anthropic("api_error"), ("api_call_error", 500, True, "api_error")),
    "anthropic 504": (504, anthropic("timeout_error"), ("api_call_error", 504, True, "timeout_error")),
    "anthropic 529": (529, anthropic("overloaded_error"), ("overloaded", 529, True, "overloaded_error")),
    "openai 401": (401, openai("invalid_api_key", "invalid_request_error"), ("authentication", 401, False, "invalid_request_error")),
    "openai 404": (404, openai("model_not_found", "invalid_request_error"), ("model_not_found", 404, False, "invalid_request_error")),
    "openai 408": (408, openai(), ("api_call_error", 408, True, None)),
    "openai 429": (429, openai("rate_limit_exceeded", "requests"), ("rate_limit", 429, True, "requests")),
    "openai no quota": (429, openai("insufficient_quota", "insufficient_quota"), ("rate_limit", 429, False, "insufficient_quota")),
    "openai hard limit": (429, openai("billing_hard_limit_reached"), ("rate_limit", 429, False, "billing_hard_limit_reached")),
    "openai spend limit": (429, openai("project_spend_limit_exceeded"), ("rate_limit", 429, False, "project_spend_limit_exceeded")),
    "openai too long": (400, openai("context_length_exceeded", "invalid_request_error"), ("context_overflow", 400, False, "invalid_request_error")),
    "openai 500": (500, openai(None, "server_error"), ("api_call_error", 500, True, "server_error")),
    "openai 503": (503, openai(), ("api_call_error", 503, True, None)),
    "azure filter": (400, openai("content_filter"), ("invalid_request", 400, False, "content_filter")),
    "too long by message": (400, openai(None, None, "prompt is too long: 1 > 0"), ("context_overflow", 400, False, None)),
    "vllm, flat": (400, {"object": "error", "message": "said", "type": "BadRequestError", "code": 400}, ("invalid_request", 400, False, "BadRequestError")),
    "detail only": (422, {"detail": "said"}, ("invalid_request", 422, False, None)),
    "text only": (403, {"error": "said"}, ("authentication", 403, False, None)),
    "google 400": (400, google(400, "INVALID_ARGUMENT"), ("invalid_request", 400, False, "INVALID_ARGUMENT")),
    "google bad key": (400, google(400, "INVALID_ARGUMENT", "said", BAD_KEY), ("authentication", 400, False, "INVALID_ARGUMENT")),
    "google too long": (400, google(400, "INVALID_ARGUMENT", "The input token count (9) exceeds"), ("context_overflow", 400, False, "INVALID_ARGUMENT")),
    "google 429": (429, google(429, "RESOURCE_EXHAUSTED"), ("rate_limit", 429, True, "RESOURCE_EXHAUSTED")),
    "google per day": (429, google(429, "RESOURCE_EXHAUSTED", "said", PER_DAY), ("rate_limit", 429, False, "RESOURCE_EXHAUSTED")),
    "google array": (429, [google(429, "RESOURCE_EXHAUSTED")], ("rate_limit", 429, True, "RESOURCE_EXHAUSTED")),
    "google 503": (503, google(503, "UNAVAILABLE"), ("api_call_error", 503, True, "UNAVAILABLE")),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refusal_is_read_from_its_body_and_status(
    case: tuple[int, Any, tuple[str, int, bool, str | None]],
) -> None:
    status, body, wanted = case
    error = refused(status, body)
    assert (error.code, error.status, error.is_retryable, error.upstream_type) == wanted


WAITS: dict[str, tuple[dict[str, str], float | None]] = {
    "seconds": ({"Retry-After": "7"}, 7.0),
    "fraction": ({"retry-after": "0.5"}, 0.5),
    "date": ({"retry-after": "Thu, 28 May 2026 20:27:10 GMT"}, 30.0),
    "date without a zone": ({"retry-after": "Thu, 28 May 2026 20:27:10 -0000"}, 30.0),
    "date that is past": ({"retry-after": "Thu, 28 May 2020 20:27:10 GMT"}, 0.0),
    "milliseconds first": ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
    "bad milliseconds": ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
    "nonsense": ({"retry-after": "soon"}, None),
    "negative": ({"retry-after": "-5"}, None),
    "year beyond all": ({"retry-after": "Thu, 28 May 99999999999999999999 20:27:10 GMT"}, None),
    "none": ({}, None),
}


@pytest.mark.parametrize("case", WAITS.values(), ids=WAITS)
def test_wait_is_read_from_the_headers(case: tuple[dict[str, str], float | None]) -> None:
    headers, wanted = case
    assert refused(429, anthropic("rate_limit_error"), headers).retry_after_s == wanted


def test_wait_is_read_from_googles_details_unless_a_header_tells() -> None:
    body = google(429, "RESOURCE_EXHAUSTED", "said", RETRY_INFO)
    assert refused(429, body).retry_after_s == 14.5
    assert refused(429, body, {"retry-after": "3"}).retry_after_s == 3.0
    assert stream_failure("google", body, provider=None).retry_after_s == 14.5


@pytest.mark.parametrize(("wish", "wanted"), [("true", True), ("False", False), ("maybe", True)])
def test_host_may_say_whether_to_retry(wish: str, wanted: bool) -> None:
    assert refused(500, anthropic("api_error"), {"x-should-retry": wish}).is_retryable is wanted


def test_spent_quota_is_not_retried_whatever_the_header_says() -> None:
    assert refused(429, openai("insufficient_quota"), {"x-should-retry": "true"}).is_retryable is False


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [({"Request-Id": "a", "x-request-id": "b"}, "a"), ({"x-request-id": "b"}, "b"), ({}, "req_1")],
)
def test_request_id_comes_from_the_header_or_the_body(headers: dict[str, str], wanted: str) -> None:
    assert refused(500, anthropic("api_error"), headers).request_id == wanted


PAGES: dict[str, tuple[int, bytes, str]] = {
    "page, 404": (404, b"<html>nginx</html>", "Provider request failed (HTTP 404): the answer is a web page, not the API's; check the base URL."),
    "page, 502": (502, b"<html>nginx</html>", "Provider request failed (HTTP 502)."),
    "text": (500, b"upstream connect error", "Provider request failed (HTTP 500)."),
    "nothing": (503, b"", "Provider request failed (HTTP 503)."),
    "no UTF-8": (500, b"\xff\xfe", "Provider request failed (HTTP 500)."),
    "JSON of another kind": (500, b"[1, null]", "Provider request failed (HTTP 500)."),
}  # fmt: skip


@pytest.mark.parametrize("case", PAGES.values(), ids=PAGES)
def test_unknown_body_is_not_quoted(case: tuple[int, bytes, str]) -> None:
    status, body, wanted = case
    assert refused(status, body).message == wanted


STREAMED: dict[str, tuple[str, Any, tuple[str, int | None, bool]]] = {
    "anthropic": ("anthropic", anthropic("overloaded_error"), ("overloaded", 529, True)),
    "anthropic, unknown type": ("anthropic", anthropic("new_error"), ("api_call_error", 200, False)),
    "openrouter": ("openai-chat", {"choices": [], "error": {"code": 502, "message": "said"}}, ("api_call_error", 502, True)),
    "openrouter, limit": ("openai-chat", {"error": {"code": 429, "message": "said"}}, ("rate_limit", 429, True)),
    "groq": ("openai-chat", {"error": {"code": "tool_use_failed", "failed_generation": "x", "status_code": 400}}, ("invalid_request", 400, False)),
    "responses, nested": ("openai-responses", {"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "said"}}}, ("rate_limit", 429, True)),
    "responses, null": ("openai-responses", {"type": "response.failed", "response": {"error": None}}, ("api_call_error", 200, False)),
    "responses, flat": ("openai-responses", {"type": "error", "code": "server_error", "message": "said"}, ("api_call_error", 500, True)),
    "google": ("google", google(503, "UNAVAILABLE"), ("overloaded", 503, True)),
    "text": ("openai-chat", {"error": "said"}, ("invalid_response", None, False)),
    "text that tells": ("openai-chat", {"error": "the model is overloaded"}, ("overloaded", 200, True)),
}  # fmt: skip


@pytest.mark.parametrize("case", STREAMED.values(), ids=STREAMED)
def test_error_in_a_stream_takes_its_status_from_the_body(
    case: tuple[str, Any, tuple[str, int | None, bool]],
) -> None:
    wire, body, wanted = case
    error = stream_failure(wire, body, provider=None)
    assert (error.code, error.status, error.is_retryable) == wanted


@pytest.mark.parametrize(
    "body", [None, 5, "x", [], {}, {"error": None}, {"error": ""}, {"error": 5}, {"message": 5}]
)
def test_body_without_an_error_has_no_fault(body: Any) -> None:
    assert fault_of(body) is None


KNOWN_KEYS = [
    "error",
    "type",
    "code",
    "status",
    "status_code",
    "message",
    "details",
    "metadata",
    "reason",
    "retryDelay",
    "violations",
    "failed_generation",
    "response",
    "object",
    "detail",
    "request_id",
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(KNOWN_KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    body=json_values,
    status=st.integers(300, 600),
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "x-should-retry", "request-id"]),
        st.text(max_size=8) | st.from_regex(r"\A[A-Z][a-z]{2}, [0-9]{1,30} [A-Z][a-z]{2} [0-9]{1,9}\Z"),
    ),
)
def test_any_body_and_headers_give_an_error(body: Any, status: int, headers: dict[str, str]) -> None:
    raw = json.dumps(body).encode()
    for wire in ("anthropic", "openai-chat", "openai-responses", "google"):
        error = http_error(wire, status=status, headers=headers, body=raw, now_s=NOW_S)
        assert error.message
        assert error.retry_after_s is None or error.retry_after_s >= 0
        json.dumps(error.facts())
        assert stream_failure(wire, body, provider=None).message


def test_deeply_nested_body_is_read_all_the_same() -> None:
    deep = b"[" * 900 + b"]" * 900
    assert refused(500, deep).code == "api_call_error"
    assert refused(429, b'{"error":{"message":"m","details":[{"x":' + deep + b"}]}}").code == "rate_limit"
