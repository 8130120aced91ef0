"""Every error this package raises.

    DeuzError
    ├── ProviderError                 the provider, the network or the stream failed; carries the facts
    │   ├── APICallError              the call failed                       api_call_error
    │   │   ├── InvalidRequestError   the request is wrong                  invalid_request
    │   │   │   └── ContextOverflowError  too long for the model            context_overflow
    │   │   ├── AuthenticationError   no, bad or unauthorised key           authentication
    │   │   ├── ModelNotFoundError    the host does not know the model      model_not_found
    │   │   ├── RateLimitError        too many requests, or no quota        rate_limit
    │   │   ├── OverloadedError       the host is overloaded                overloaded
    │   │   ├── NetworkError          no connection, or it broke            network_error
    │   │   └── CallTimeoutError      too slow: connect, first part, silence, total   timeout
    │   └── StreamError               the stream failed
    │       ├── StreamTruncatedError  it ended before its terminal event    stream_truncated
    │       ├── InvalidResponseError  not what the wire says                invalid_response
    │       ├── RemoteError           a server or a transcript tells of one remote_error
    │       └── CancelledCallError    stopped by the reader                 aborted
    ├── TranscriptError               a transcript cannot be read; `path`, `line`
    └── MisuseError (ValueError)      the caller erred
        ├── MissingKeyError           no API key; `variable` names where it is looked for
        └── UnknownModelError         no such slug; `near` lists similar ones

A message says what happened, the value, and what to do.  No body, header or key is ever in a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from deuz_nb.parts.usage import Usage

__all__ = [
    "APICallError",
    "AuthenticationError",
    "CallTimeoutError",
    "CancelledCallError",
    "ContextOverflowError",
    "DeuzError",
    "InvalidRequestError",
    "InvalidResponseError",
    "MissingKeyError",
    "MisuseError",
    "ModelNotFoundError",
    "NetworkError",
    "OverloadedError",
    "ProviderError",
    "RateLimitError",
    "RemoteError",
    "StreamError",
    "StreamTruncatedError",
    "TranscriptError",
    "UnknownModelError",
]

TimeoutPhase = Literal["connect", "first_part", "silence", "total"]


class DeuzError(Exception):
    """Anything this package raises."""


class ProviderError(DeuzError):
    """A model call or its stream failed; the facts are attributes.

    `status` is the HTTP status (or the one the error body names), `retry_after_s` what the host asked
    for, `usage` what had been reported when it failed, `raw_finish` the provider's own finish word.
    """

    code: ClassVar[str] = "provider_error"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        is_retryable: bool = False,
        retry_after_s: float | None = None,
        provider: str | None = None,
        upstream_type: str | None = None,
        request_id: str | None = None,
        usage: Usage | None = None,
        raw_finish: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.is_retryable = is_retryable
        self.retry_after_s = retry_after_s
        self.provider = provider
        self.upstream_type = upstream_type
        self.request_id = request_id
        self.usage = usage
        self.raw_finish = raw_finish

    def facts(self) -> dict[str, object]:
        """The error as a JSON object, absent facts left out.

        Keys: name, code, message, statusCode, isRetryable, provider, upstreamType, requestId.
        """
        found: dict[str, object] = {
            "name": type(self).__name__,
            "code": self.code,
            "message": self.message,
            "statusCode": self.status,
            "isRetryable": self.is_retryable,
            "provider": self.provider,
            "upstreamType": self.upstream_type,
            "requestId": self.request_id,
        }
        return {key: value for key, value in found.items() if value is not None}


class APICallError(ProviderError):
    """The provider answered with an error, or could not be reached."""

    code = "api_call_error"


class InvalidRequestError(APICallError):
    """The provider refused the request as wrong."""

    code = "invalid_request"


class ContextOverflowError(InvalidRequestError):
    """The prompt is longer than the model's context window."""

    code = "context_overflow"


class AuthenticationError(APICallError):
    """The key is missing, wrong, or not allowed to do this."""

    code = "authentication"


class ModelNotFoundError(APICallError):
    """The host does not know this model."""

    code = "model_not_found"


class RateLimitError(APICallError):
    """Too many requests, or the quota is used up (then not retryable)."""

    code = "rate_limit"


class OverloadedError(APICallError):
    """The host has no capacity at the moment."""

    code = "overloaded"


class NetworkError(APICallError):
    """No connection could be made, or it broke."""

    code = "network_error"


class CallTimeoutError(APICallError):
    """A time limit ran out; `phase` says which."""

    code = "timeout"

    def __init__(
        self, message: str, *, phase: TimeoutPhase, limit_s: float, is_retryable: bool = True
    ) -> None:
        super().__init__(message, is_retryable=is_retryable)
        self.phase = phase
        self.limit_s = limit_s


class StreamError(ProviderError):
    """The answer's stream failed after it began."""

    code = "stream_error"


class StreamTruncatedError(StreamError):
    """The stream ended before its terminal event: the answer is cut off, not finished."""

    code = "stream_truncated"


class InvalidResponseError(StreamError):
    """The body is not what the wire promises."""

    code = "invalid_response"


class RemoteError(StreamError):
    """The run failed elsewhere: all that is known is the message of its error part."""

    code = "remote_error"


class CancelledCallError(StreamError):
    """The call was cancelled by its reader."""

    code = "aborted"


class TranscriptError(DeuzError):
    """A transcript file cannot be read; `path` and `line` (1-based) say where."""

    def __init__(self, message: str, *, path: str, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class MisuseError(DeuzError, ValueError):
    """The caller passed something this package cannot use."""


class MissingKeyError(MisuseError):
    """No API key was given or found; `variable` is the environment variable that would hold it."""

    def __init__(self, message: str, *, variable: str) -> None:
        super().__init__(message)
        self.variable = variable


class UnknownModelError(MisuseError):
    """The slug names no known provider or recording; `near` lists similar names."""

    def __init__(self, message: str, *, near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.near = near
