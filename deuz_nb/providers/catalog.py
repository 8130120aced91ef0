"""From a slug or URL to a model: which host, which wire, which key, what it takes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final, cast
from urllib.parse import urlsplit, urlunsplit

from deuz_nb.errors import MisuseError, UnknownModelError
from deuz_nb.providers.capabilities import THINK_TAG_FAMILIES, bare_name, capabilities_of
from deuz_nb.providers.hosts import HOSTS, Host, host_at, host_of, with_quirks
from deuz_nb.providers.model import Capabilities, Model, Wire
from deuz_nb.redact import redact

__all__ = ["HOSTS", "Host", "host_of", "openai_compatible", "parser_context", "resolve"]

_WIRES: Final[tuple[Wire, ...]] = ("anthropic", "openai-chat", "openai-responses", "google")
_ENDPOINT: Final = re.compile(r"/(?:chat/completions|responses|messages)/?$")
_WIRE_OF_ENDPOINT: Final[Mapping[str, Wire]] = {
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
    "/messages": "anthropic",
}
_DATED_VERSION: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def resolve(
    slug_or_url: str,
    *,
    model: str | None = None,
    provider: str | None = None,
    wire: Wire | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    key_variable: str | None = None,
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
    capabilities: Capabilities | Mapping[str, object] | None = None,
    base_model: str | None = None,
    api_version: str | None = None,
    think_tags: bool | None = None,
    starts_in_reasoning: bool | None = None,
    quirks: Mapping[str, object] | None = None,
) -> Model:
    """The model behind `anthropic:claude-opus-5-5`, `ollama:llama3.2`, or `https://host/v1` with `model=`.

    `model` is sent instead of the slug's own model id.  `base_model` names the model behind a deployment or
    an alias: capabilities and prices follow it.  `capabilities` replace the known ones: all, or, as a
    mapping, single ones.  `quirks` override fields of the host (`hosts.Host`).  `provider` names the host of
    a URL in usage, prices and errors; a known name brings that host's ways along.
    Raises UnknownModelError for a slug whose provider is not known, MisuseError for options that do not fit.
    """
    if wire is not None and wire not in _WIRES:
        raise MisuseError(f"wire={wire!r} is not known: use one of {', '.join(_WIRES)}")
    named, model_id, url = _named(slug_or_url, model)
    if provider is not None:
        named = HOSTS.get(provider) or replace(named, slug=provider)
    own_wire = wire or _WIRE_OF_ENDPOINT.get(_endpoint(base_url or url)) or named.wire
    options = dict(quirks or {})
    with_quirks(named, options)
    host = host_of(Model(named.provider, own_wire, model_id, "", options=options))
    address = base_url or url or named.base_url
    if not address:
        variable = f", or set {host.base_url_variable}" if host.base_url_variable else ""
        raise MisuseError(f"{slug_or_url!r} needs base_url=, the https address of your resource{variable}")
    found, is_known = capabilities_of(base_model or model_id, host)
    if capabilities is not None:
        found, is_known = _overridden(found, capabilities), True
    told = {"base_model": base_model, "think_tags": think_tags, "starts_in_reasoning": starts_in_reasoning}
    version = {} if api_version is None else {"api-version": api_version}
    return Model(
        provider=named.provider,
        wire=own_wire,
        model_id=model_id,
        base_url=_address(address, host, model_id, api_version),
        api_key=api_key,
        key_variable=key_variable or host.key_variable,
        capabilities=found,
        headers=dict(headers or {}),
        query=version | dict(query or {}),
        options=options | {name: value for name, value in told.items() if value is not None},
        is_known=is_known,
    )


def openai_compatible(name: str, base_url: str, *, model_id: str, **options: Any) -> Model:
    """A model at any server that speaks OpenAI Chat Completions; `name` is its provider in usage and prices.

    `options` are those of `resolve`.
    """
    if not name:
        raise MisuseError("openai_compatible needs a name for the provider, such as 'my-server'")
    asked: dict[str, Any] = {"provider": name, "model": model_id, "wire": "openai-chat"}
    return resolve(base_url, **(asked | options))


def parser_context(model: Model) -> dict[str, Any]:
    """What the parser of the model's wire is told: provider, model_id, think_tags, starts_in_reasoning."""
    name = bare_name(str(model.options.get("base_model", model.model_id)))
    may_have_tags = host_of(model).leaves_think_tags and name.startswith(THINK_TAG_FAMILIES)
    return {
        "provider": model.provider,
        "model_id": model.model_id,
        "think_tags": bool(model.options.get("think_tags", may_have_tags)),
        "starts_in_reasoning": bool(model.options.get("starts_in_reasoning", False)),
    }


def _named(slug_or_url: object, model: str | None) -> tuple[Host, str, str | None]:
    """The host, the model id, and the address when one was given."""
    if not isinstance(slug_or_url, str) or not slug_or_url.strip():
        raise MisuseError(f"{slug_or_url!r} names no model: write 'provider:model' or an http(s) URL")
    given = slug_or_url.strip()
    if "://" in given:
        if urlsplit(given).scheme not in ("http", "https") or not urlsplit(given).netloc:
            raise MisuseError(f"{redact(given)!r} is no http(s) address: write 'https://host/v1'")
        if not model:
            raise MisuseError(f"{redact(given)!r} needs model='...', the id of the model there")
        return host_at(given) or _stranger(given), model, given
    slug, colon, model_id = given.partition(":")
    host = HOSTS.get(slug.strip().lower())
    if host is None:
        raise _unknown(given)
    model_id = model or model_id.strip()
    if not colon or not model_id:
        raise MisuseError(f"{given!r} names no model of {host.title}: write '{host.slug}:MODEL'")
    return host, model_id, None


def _stranger(url: str) -> Host:
    return replace(host_of(Model("", "openai-chat", "", "")), slug=urlsplit(url).hostname or "")


def _unknown(given: str) -> UnknownModelError:
    slug, colon, rest = given.partition(":")
    if not colon:
        slug, _, rest = given.partition("/")
    similar = difflib.get_close_matches(slug.lower(), HOSTS, n=3, cutoff=0.5)
    owners = [host.slug for host in HOSTS.values() if bare_name(given).startswith(host.families)]
    near = [f"{name}:{rest or 'MODEL'}" for name in similar] or [f"{name}:{given}" for name in owners]
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return UnknownModelError(
        f"No provider is known for {given!r}.{hint} Write 'provider:model' with one of"
        f" {', '.join(HOSTS)}; 'replay:NAME' for a recording; or an http(s) URL with model=.",
        near=tuple(near),
    )


def _overridden(found: Capabilities, given: Capabilities | Mapping[str, object]) -> Capabilities:
    if isinstance(given, Capabilities):
        return given
    known = [field.name for field in fields(Capabilities)]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3) or known
            raise MisuseError(f"{name!r} is no capability: there is {', '.join(near)}")
    return replace(found, **cast("dict[str, Any]", dict(given)))


def _endpoint(url: str | None) -> str:
    found = _ENDPOINT.search(urlsplit(url).path) if url else None
    return found[0].rstrip("/") if found else ""


def _address(address: str, host: Host, model_id: str, api_version: str | None) -> str:
    """The base address without the endpoint, and with the path a bare host name leaves out."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise MisuseError(f"base_url={redact(address)!r} is no http(s) address: write 'https://host/v1'")
    path = _ENDPOINT.sub("", parts.path).rstrip("/")
    if not path and host.slug == "azure":
        is_dated = api_version is not None and _DATED_VERSION.match(api_version)
        path = f"/openai/deployments/{model_id}" if is_dated else "/openai/v1"
    elif not path and host.wire.startswith("openai") and address != host.base_url:
        path = "/v1"
    elif not path and host.wire == "google":
        path = "/v1beta"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
