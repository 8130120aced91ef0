"""From a model and a call to the HTTP request: one body per wire, the host's address and headers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from deuz_nb.parts.usage import JSONObject
from deuz_nb.providers.anthropic.request import anthropic_body
from deuz_nb.providers.ask import Ask, asked
from deuz_nb.providers.forms import merged, plain
from deuz_nb.providers.google.request import google_body, google_path
from deuz_nb.providers.hosts import Auth
from deuz_nb.providers.model import Call, Model, ProviderRequest, Wire
from deuz_nb.providers.openai_chat.request import chat_body
from deuz_nb.providers.openai_responses.request import responses_body

__all__ = ["build_request"]

_BODIES: Final[Mapping[Wire, Callable[[Ask], JSONObject]]] = {
    "anthropic": anthropic_body,
    "openai-chat": chat_body,
    "openai-responses": responses_body,
    "google": google_body,
}
_AUTH_HEADERS: Final[Mapping[Auth, tuple[str, str]]] = {
    "bearer": ("authorization", "Bearer "),
    "x-api-key": ("x-api-key", ""),
    "x-goog-api-key": ("x-goog-api-key", ""),
    "api-key": ("api-key", ""),
}


def build_request(model: Model, call: Call) -> ProviderRequest:
    """The streaming request that asks `call` of `model`; `provider_options` are merged into its body last.

    What cannot be asked as wished is left out with a warning.  Raises MisuseError, with what to do, for
    messages and settings that are wrong, and for content that cannot be left out without changing the
    meaning.  The key's header is left out when the model has no key.
    """
    ask = asked(model, call)
    body = _BODIES[model.wire](ask)
    options = cast("JSONObject", plain(dict(call.provider_options), "provider_options"))
    return ProviderRequest(
        url=_url(model),
        headers=_headers(ask),
        body=merged(body, options),
        warnings=tuple(ask.warnings),
    )


def _url(model: Model) -> str:
    base = urlsplit(model.base_url)
    query = dict(parse_qsl(base.query))
    path = base.path.rstrip("/")
    match model.wire:
        case "anthropic":
            path += "/messages" if path.endswith("/v1") else "/v1/messages"
        case "openai-chat":
            path += "/chat/completions"
        case "openai-responses":
            path += "/responses"
        case "google":
            path += google_path(model)
            query["alt"] = "sse"
    return urlunsplit((base.scheme, base.netloc, path, urlencode(query | dict(model.query)), ""))


def _headers(ask: Ask) -> dict[str, str]:
    model = ask.model
    headers = {"content-type": "application/json", "accept": "text/event-stream"}
    if model.wire == "anthropic":
        headers["anthropic-version"] = "2023-06-01"
    key = (model.api_key or "").strip()
    if key:
        name, scheme = _AUTH_HEADERS[ask.host.auth]
        headers[name] = scheme + key
    return headers | {name.lower(): value for name, value in model.headers.items()}
