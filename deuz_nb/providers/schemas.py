"""JSON schemas as the wires take them: for tools, and for answers that must follow one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, cast

from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["closed", "is_strict", "json_schema_format", "object_schema"]

_NESTED: Final = ("items", "additionalProperties", "not", "contains", "if", "then", "else")
_LISTED: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED: Final = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_NOT_STRICT: Final = ("oneOf", "allOf", "not", "if", "patternProperties", "prefixItems", "default")
_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")


def json_schema_format(name: str, schema: JSONObject) -> JSONObject:
    """OpenAI's name, schema and strictness: strict whenever closing its objects is all that takes."""
    narrow = closed(schema)
    strict = is_strict(narrow)
    fitted = _NAME.sub("_", name)[:64] or "output"
    return {"name": fitted, "schema": narrow if strict else object_schema(schema), "strict": strict}


def object_schema(schema: JSONObject) -> JSONObject:
    """A tool's schema as every wire takes it: an object, without the note of its dialect."""
    kept = {name: value for name, value in schema.items() if name != "$schema"}
    return (
        kept
        if kept.get("type") or "$ref" in kept or "anyOf" in kept
        else {"type": "object", "properties": {}, **kept}
    )


def closed(schema: JSON) -> JSON:
    """A copy of a schema in which objects take no members beside those it names."""
    if not isinstance(schema, dict):
        return schema
    copy = {name: value for name, value in cast("JSONObject", schema).items() if name != "$schema"}
    for name, value in copy.items():
        if name in _NESTED:
            copy[name] = closed(value)
        elif name in _LISTED and isinstance(value, list):
            copy[name] = [closed(member) for member in cast("list[JSON]", value)]
        elif name in _NAMED and isinstance(value, dict):
            copy[name] = {key: closed(member) for key, member in cast("JSONObject", value).items()}
    if copy.get("type") == "object" and "additionalProperties" not in copy:
        copy["additionalProperties"] = False
    return copy


def is_strict(schema: JSON) -> bool:
    """Whether OpenAI's strict mode takes the schema: closed objects that require every member."""
    if not isinstance(schema, dict):
        return True
    own = cast("JSONObject", schema)
    if any(name in own for name in _NOT_STRICT):
        return False
    if own.get("type") == "object" or "properties" in own:
        members, required = own.get("properties", {}), own.get("required", [])
        if own.get("additionalProperties") is not False:
            return False
        if not isinstance(members, dict) or not isinstance(required, list):
            return False
        if any(name not in required for name in cast("JSONObject", members)):
            return False
    return all(is_strict(member) for member in _inside(own))


def _inside(schema: JSONObject) -> Iterator[JSON]:
    for name, value in schema.items():
        if name in _NESTED:
            yield value
        elif name in _LISTED and isinstance(value, list):
            yield from cast("list[JSON]", value)
        elif name in _NAMED and isinstance(value, dict):
            yield from cast("JSONObject", value).values()
