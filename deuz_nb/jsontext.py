"""JSON text as JavaScript writes it, and a reader that keeps what a JavaScript string can hold.

Writing gives the text of `JSON.stringify`, so frames equal a JavaScript server's byte for byte
(wire.md 1).  Reading keeps lone surrogates, which JavaScript strings may hold and strict readers refuse.
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring
from typing import Any, Final, NoReturn, cast

__all__ = ["dumps", "dumps_bytes", "loads", "number", "quote"]

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_CONSTANT: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|(NaN|-?Infinity)', re.DOTALL)


def dumps(value: object) -> str:
    """`value` (dicts, lists, tuples, str, numbers, bool, None) as JavaScript's `JSON.stringify` writes it.

    Keys keep their order and become text as in JavaScript.  Floats are written as JavaScript numbers (`5.0`
    gives `5`, NaN and infinities `null`); an int is written exactly, also beyond 2^53 where JavaScript
    would round it.  Raises TypeError for any other type, ValueError when `value` is nested too deeply.
    """
    try:
        text = _write(value)
    except RecursionError:
        raise ValueError(
            "the value is nested too deeply (or holds itself): flatten it before writing"
        ) from None
    return text if text.isascii() else _well_formed(text)


def dumps_bytes(value: object) -> bytes:
    """`dumps(value)` in UTF-8."""
    return dumps(value).encode()


def quote(text: str) -> str:
    """`text` as a JSON string, quotes included, as JavaScript escapes it."""
    quoted = encode_basestring(text)
    return quoted if quoted.isascii() else _well_formed(quoted)


def number(value: float) -> str:
    """`value` as JavaScript writes the number in JSON; `null` when it is not finite."""
    text = repr(value)
    mantissa, has_exponent, exponent = text.partition("e")
    if not has_exponent:
        if text.endswith(".0"):
            return text[:-2] if text != "-0.0" else "0"
        return text if text[-1].isdigit() else "null"
    sign = "-" if mantissa[0] == "-" else ""
    digits = mantissa.removeprefix("-").replace(".", "")
    point = int(exponent) + 1
    if 0 < point <= 21:
        return sign + digits.ljust(point, "0")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{mantissa}e{point - 1:+d}"


def loads(text: str) -> Any:
    """The value of the JSON `text`; lone surrogates are kept.

    Raises json.JSONDecodeError (a ValueError with `pos`) for anything that is not JSON: also for NaN and
    Infinity, nesting too deep to read, and integers too long to read.
    """
    try:
        value, end = _scan(text, 0)
        if end == len(text):
            return value
    except (StopIteration, ValueError, RecursionError):
        pass
    return _load_carefully(text)


def _write(value: object) -> str:
    kind = type(value)
    if kind is str:
        return encode_basestring(cast("str", value))
    if kind is dict:
        items: list[str] = []
        for key, member in cast("dict[object, object]", value).items():
            name = encode_basestring(key if type(key) is str else _key(key))
            if type(member) is str:
                items.append(f"{name}:{encode_basestring(member)}")
            else:
                items.append(f"{name}:{_write(member)}")
        return "{" + ",".join(items) + "}"
    if kind is int:
        return repr(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is float:
        return number(cast("float", value))
    if kind is list or kind is tuple:
        return "[" + ",".join([_write(member) for member in cast("list[object]", value)]) + "]"
    return _write(_plain(value))


def _plain(value: object) -> object:
    """`value`, of a subclass of a JSON type, as that type."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, dict):
        return dict(cast("dict[object, object]", value))
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, list | tuple):
        return list(cast("list[object]", value))
    raise TypeError(
        f"a {type(value).__name__} has no JSON form: convert it to dict, list, str or number first"
    )


def _key(key: object) -> str:
    """A dict key as the property name JavaScript makes of it."""
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, float):
        text = number(key)
        return text if text != "null" else "NaN" if key != key else "Infinity" if key > 0 else "-Infinity"
    if key is None or isinstance(key, int):
        return _write(key)
    raise TypeError(f"a {type(key).__name__} cannot be a JSON key: use str")


def _well_formed(text: str) -> str:
    """`text` with surrogate pairs joined into their character and lone surrogates escaped."""
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return _SURROGATE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", joined)
    return text


def _refuse(literal: str) -> NoReturn:
    raise ValueError(literal)


# One C call per text: the public `loads` and `decode` cost three to five times as much on a short part.
_scan: Final = cast("Any", json.JSONDecoder(parse_constant=_refuse)).scan_once


def _load_carefully(text: str) -> Any:
    """`loads` for text with white space around the value, or without a value."""
    start = _SPACE.match(text, 0).end()  # pyright: ignore[reportOptionalMemberAccess] - matches anywhere
    try:
        value, end = _scan(text, start)
    except StopIteration as stop:
        raise json.JSONDecodeError("Expecting value", text, stop.value) from None
    except RecursionError:
        raise json.JSONDecodeError("Nested too deeply", text, start) from None
    except json.JSONDecodeError:
        raise
    except ValueError:
        found = next((found for found in _CONSTANT.finditer(text, start) if found[1]), None)
        if found is None:
            raise json.JSONDecodeError("Integer too long", text, start) from None
        raise json.JSONDecodeError(f"{found[1]} is not JSON", text, found.start()) from None
    end = _SPACE.match(text, end).end()  # pyright: ignore[reportOptionalMemberAccess] - matches anywhere
    if end != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value
