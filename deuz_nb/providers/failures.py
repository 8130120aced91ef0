"""Error bodies and headers of every host, read as one of this package's exceptions.

The same rules serve a refused request (`http_error`) and an error inside a running stream (`stream_failure`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Final

from deuz_nb import jsontext
from deuz_nb.errors import (
    APICallError,
    AuthenticationError,
    ContextOverflowError,
    InvalidRequestError,
    InvalidResponseError,
    ModelNotFoundError,
    OverloadedError,
    ProviderError,
    RateLimitError,
)
from deuz_nb.parts.usage import JSON, JSONObject
from deuz_nb.providers.values import as_list, as_object, as_text

__all__ = ["Fault", "fault_of", "http_error", "stream_failure"]

TITLES: Final = {"anthropic": "Anthropic"}

# The word an error carries -> class and the HTTP status it stands for.
_WORDS: Final[Mapping[str, tuple[type[APICallError], int | None]]] = {
    "authentication_error": (AuthenticationError, 401),
    "invalid_api_key": (AuthenticationError, 401),
    "api_key_invalid": (AuthenticationError, None),
    "unauthenticated": (AuthenticationError, 401),
    "permission_error": (AuthenticationError, 403),
    "permission_denied": (AuthenticationError, 403),
    "billing_error": (InvalidRequestError, 402),
    "not_found_error": (ModelNotFoundError, 404),
    "model_not_found": (ModelNotFoundError, 404),
    "not_found": (ModelNotFoundError, 404),
    "request_too_large": (InvalidRequestError, 413),
    "rate_limit_error": (RateLimitError, 429),
    "rate_limit_exceeded": (RateLimitError, 429),
    "rate_limited": (RateLimitError, 429),
    "insufficient_quota": (RateLimitError, 429),
    "resource_exhausted": (RateLimitError, 429),
    "overloaded_error": (OverloadedError, 529),
    "overloaded": (OverloadedError, 529),
    "unavailable": (OverloadedError, 503),
    "api_error": (APICallError, 500),
    "server_error": (APICallError, 500),
    "internal_error": (APICallError, 500),
    "internal": (APICallError, 500),
    "timeout_error": (APICallError, 504),
    "deadline_exceeded": (APICallError, 504),
    "context_length_exceeded": (ContextOverflowError, 400),
    "exceed_context_size_error": (ContextOverflowError, 400),
    "invalid_prompt": (InvalidRequestError, 400),
    "bio_policy": (InvalidRequestError, 400),
    "tool_use_failed": (InvalidRequestError, 400),
    "invalid_argument": (InvalidRequestError, 400),
    "failed_precondition": (InvalidRequestError, 400),
    "invalid_request_error": (InvalidRequestError, 400),
    "conflict_error": (APICallError, 409),
}

_OVERFLOW: Final = re.compile(
    r"prompt is too long|input token count|maximum context length|available context size"
    r"|context window|context length|context_length|too many tokens|input is too long",
    re.IGNORECASE,
)
_QUOTA: Final = re.compile(
    r"insufficient_quota|billing_hard_limit|spend_limit|exceeded your current quota|perday", re.IGNORECASE
)
_BAD_KEY: Final = re.compile(r"api key not valid|invalid api key|incorrect api key", re.IGNORECASE)
_OVERLOADED: Final = re.compile(r"\boverloaded\b", re.IGNORECASE)
_SECONDS: Final = re.compile(r"\s*(\d+(?:\.\d+)?)s?\s*\Z")


@dataclass(frozen=True, slots=True)
class Fault:
    """What an error body says; absent facts are None or empty."""

    message: str | None
    kind: str | None = None
    words: tuple[str, ...] = ()
    status: int | None = None
    request_id: str | None = None
    retry_after_s: float | None = None
    is_quota: bool = False


def fault_of(body: JSON) -> Fault | None:
    """The error in a JSON body of any host's shape; None when it holds none."""
    if isinstance(body, list):
        faults = (_fault_in(as_object(item)) for item in as_list(body))
        return next((fault for fault in faults if fault is not None), None)
    return _fault_in(as_object(body))


def _fault_in(top: JSONObject) -> Fault | None:
    response = top.get("response")
    if "error" not in top and isinstance(response, dict):
        top = as_object(response)
    error = top.get("error")
    request_id = _text(top.get("request_id"))
    if isinstance(error, str) and error.strip():
        return Fault(error, request_id=request_id)
    if isinstance(error, dict):
        return _fault(as_object(error), request_id)
    if _is_flat_error(top):
        flat = {key: value for key, value in top.items() if key not in ("object", "sequence_number")}
        if flat.get("type") == "error":
            del flat["type"]
        return _fault(flat, request_id)
    detail = top.get("detail")
    if isinstance(detail, str):
        return Fault(detail)
    if "error" in top and error is None and isinstance(response, dict):
        return Fault(None, request_id=request_id)
    return None


def http_error(
    wire: str,
    *,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    provider: str | None = None,
    now_s: float | None = None,
) -> APICallError:
    """The exception for an answer that is not 2xx.

    `now_s` (epoch seconds) turns a Retry-After date into seconds.  The body never becomes the message unless it
    is an error of a known shape: an HTML page is named, not quoted.
    """
    lowered = {key.lower(): value for key, value in headers.items()}
    text = body.decode("utf-8", "replace").strip()
    try:
        fault = fault_of(jsontext.loads(text)) if text else None
    except ValueError:
        fault = None
    if fault is None:
        fault = Fault(None)
    error = _error(
        fault,
        wire,
        status=status,
        provider=provider,
        request_id=lowered.get("request-id") or lowered.get("x-request-id") or fault.request_id,
        is_page=text[:1] == "<",
    )
    waited = _retry_after(lowered, now_s)
    error.retry_after_s = waited if waited is not None else fault.retry_after_s
    wish = lowered.get("x-should-retry", "").strip().lower()
    if wish in ("true", "false") and not fault.is_quota:
        error.is_retryable = wish == "true"
    return error


def stream_failure(
    wire: str, body: JSON, *, provider: str | None, request_id: str | None = None
) -> ProviderError:
    """The exception for an error object inside a stream that began with HTTP 200."""
    fault = fault_of(body) or Fault(None)
    if fault.message is not None and fault.kind is None and fault.status is None and not fault.words:
        known = _by_message(fault.message)
        if known is None:
            return InvalidResponseError(
                fault.message, provider=provider or _default(wire), request_id=request_id
            )
    error = _error(
        fault, wire, status=200, provider=provider, request_id=fault.request_id or request_id, is_page=False
    )
    error.retry_after_s = fault.retry_after_s
    return error


def _default(wire: str) -> str:
    return {"anthropic": "anthropic", "google": "google"}.get(wire, "openai")


def _error(
    fault: Fault,
    wire: str,
    *,
    status: int | None,
    provider: str | None,
    request_id: str | None,
    is_page: bool,
) -> APICallError:
    provider = provider or _default(wire)
    cls, own_status = _classify(fault, status)
    # A 2xx or absent status says nothing of the failure: the body's own word does.
    if (
        status is None
        or status < 400
        or (own_status is not None and fault.kind is not None and cls is not APICallError)
    ):
        status = own_status if own_status is not None else status
    title = TITLES.get(provider, "Provider")
    message = fault.message
    if message is None:
        message = (
            f"{title} request failed (HTTP {status})."
            if status
            else f"{title} ended the stream with an error."
        )
        if is_page and status is not None and status < 500:
            message = f"{title} request failed (HTTP {status}): the answer is a web page, not the API's; check the base URL."
    is_retryable = not fault.is_quota and _is_retryable(cls, status)
    return cls(
        message,
        status=status,
        is_retryable=is_retryable,
        provider=provider,
        upstream_type=fault.kind,
        request_id=request_id,
    )


def _classify(fault: Fault, status: int | None) -> tuple[type[APICallError], int | None]:
    own_status = fault.status
    by_message = _by_message(fault.message or "")
    if by_message is ContextOverflowError and (status in (None, 200, 400, 413, 422, 500)):
        return ContextOverflowError, own_status or 400
    found: tuple[type[APICallError], int | None] | None = None
    for word in fault.words:
        known = _WORDS.get(word.lower())
        if known is not None and known[0] is OverloadedError and status == 503:
            # By HTTP a 503 says only that the service is away; it is retried all the same.
            continue
        # The vaguest words give way to a more exact one further on, and to the status.
        if known is not None and (found is None or found[0] in (InvalidRequestError, APICallError)):
            found = known
    if found is not None and found[0] not in (InvalidRequestError, APICallError):
        return found[0], own_status or found[1]
    if by_message is not None and (by_message is not OverloadedError or status is None or status < 400):
        return by_message, own_status or status
    by_status = _by_status(own_status or status)
    if found is not None and by_status in (None, APICallError):
        return found[0], own_status or found[1]
    return by_status or APICallError, own_status


def _by_message(message: str) -> type[APICallError] | None:
    if _OVERFLOW.search(message):
        return ContextOverflowError
    if _BAD_KEY.search(message):
        return AuthenticationError
    if _OVERLOADED.search(message):
        return OverloadedError
    return None


def _by_status(status: int | None) -> type[APICallError] | None:
    if status is None or status < 400:
        return None
    if status in (401, 403):
        return AuthenticationError
    if status == 404:
        return ModelNotFoundError
    if status == 429:
        return RateLimitError
    if status == 529:
        return OverloadedError
    if status in (408, 409, 425):
        return APICallError
    return InvalidRequestError if status < 500 else APICallError


def _is_retryable(cls: type[APICallError], status: int | None) -> bool:
    if cls in (RateLimitError, OverloadedError):
        return True
    return cls is APICallError and status is not None and (status >= 500 or status in (408, 409, 425))


def _fault(error: dict[str, Any], request_id: str | None) -> Fault:
    code, kind = error.get("code"), _text(error.get("type"))
    status_word = _text(error.get("status"))
    # As a type, server_error is said of anything; as a code it names the failure.
    words = [word for word in (_text(code), None if kind == "server_error" else kind, status_word) if word]
    details = error.get("details")
    retry_s: float | None = None
    is_quota = False
    for detail in as_list(details) if isinstance(details, list) else [details]:
        item = as_object(detail)
        words += [word for word in (_text(item.get("reason")), _text(item.get("error_code"))) if word]
        delay = _SECONDS.match(as_text(item.get("retryDelay")))
        if delay:
            retry_s = float(delay[1])
        # A quota per day is not back in seconds; Google names it in the details only.
        named = [value for entry in as_list(item.get("violations")) for value in as_object(entry).values()]
        is_quota = is_quota or any("perday" in as_text(value).lower() for value in named)
    message = _text(error.get("message"))
    failed = _text(error.get("failed_generation"))
    if failed and not message:
        message = "The model's tool call was refused by the host (failed_generation)."
    words += [w for w in (_text(as_object(error.get("metadata")).get("error_type")),) if w]
    is_quota = (
        is_quota or any(_QUOTA.search(word) for word in words) or bool(message and _QUOTA.search(message))
    )
    own_status = next(
        (
            value
            for value in (error.get("status_code"), code, error.get("status"))
            if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600
        ),
        None,
    )
    upstream = kind or status_word or _text(code)
    return Fault(message, upstream, tuple(words), own_status, request_id, retry_s, is_quota)


def _is_flat_error(top: dict[str, Any]) -> bool:
    if not isinstance(top.get("message"), str):
        return False
    return top.get("object") == "error" or top.get("type") == "error" or "code" in top or len(top) == 1


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _retry_after(headers: Mapping[str, str], now_s: float | None) -> float | None:
    ms = _SECONDS.match(headers.get("retry-after-ms", ""))
    if ms:
        return float(ms[1]) / 1000
    value = headers.get("retry-after", "")
    seconds = _SECONDS.match(value)
    if seconds:
        return float(seconds[1])
    if value and now_s is not None:
        try:
            when = parsedate_to_datetime(value)
            # A date in the zone -0000 comes without a zone: it is UTC, not the local time.
            return max(0.0, when.replace(tzinfo=when.tzinfo or UTC).timestamp() - now_s)
        except (ValueError, OverflowError):
            return None
    return None
