"""Forms every wire needs: plain JSON copies, merged options, fitted ids, call inputs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, cast

from deuz_nb.errors import MisuseError
from deuz_nb.jsontext import dumps, loads
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["call_input", "fitted_id", "merged", "metadata", "plain", "text_of"]


def plain(value: object, where: str) -> JSON:
    """A copy of `value` in plain JSON types; NaN and infinities become null.

    Raises MisuseError, naming `where`, for what JSON cannot hold.
    """
    try:
        return loads(dumps(value))
    except (TypeError, ValueError) as error:
        raise MisuseError(f"{where}: {error}") from None


def text_of(value: JSON) -> str:
    """A tool's output as the text a model reads: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else dumps(value)


def call_input(value: JSON) -> JSONObject:
    """The input of a call as the object the wires want; text that is no object goes in as INVALID_JSON."""
    if isinstance(value, dict):
        return cast("JSONObject", value)
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    if isinstance(value, str):
        try:
            parsed = loads(value)
        except ValueError:
            parsed = None
        if isinstance(parsed, dict):
            return cast("JSONObject", parsed)
    return {"INVALID_JSON": text_of(value)}


def metadata(part: Mapping[str, Any], *names: str) -> JSONObject:
    """What the provider of the first of these `names` wanted back with this part."""
    found = part.get("providerMetadata")
    if isinstance(found, dict):
        for name in names:
            own = cast("JSONObject", found).get(name)
            if isinstance(own, dict):
                return cast("JSONObject", own)
    return {}


def merged(body: JSONObject, options: Mapping[str, Any]) -> JSONObject:
    """`body` with `options` put over it; objects are merged member by member, all else is replaced."""
    result = dict(body)
    for name, value in options.items():
        before = result.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            result[name] = merged(cast("JSONObject", before), cast("JSONObject", value))
        else:
            result[name] = value
    return result


def fitted_id(call_id: str, fits: re.Pattern[str], length: int) -> str:
    """`call_id` where the wire takes it, else an id made of it: the same for the call and its result."""
    return (
        call_id
        if fits.fullmatch(call_id)
        else hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:length]
    )
