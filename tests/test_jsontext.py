"""JSON text equals JavaScript's, and what JavaScript wrote is read back."""

from __future__ import annotations

import json
import math
import shutil
import struct
import subprocess
from collections import OrderedDict
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.jsontext import dumps, dumps_bytes, loads, number, quote

NUMBERS: dict[float, str] = {
    0.0: "0",
    5.0: "5",
    -5.0: "-5",
    0.1: "0.1",
    -1.5: "-1.5",
    1e15: "1000000000000000",
    1e16: "10000000000000000",
    1e20: "100000000000000000000",
    123456789012345680000.0: "123456789012345680000",
    999999999999999900000.0: "999999999999999900000",
    1e21: "1e+21",
    -1.25e21: "-1.25e+21",
    1e100: "1e+100",
    0.0001: "0.0001",
    0.00001: "0.00001",
    0.000001: "0.000001",
    1.5e-6: "0.0000015",
    -1.23e-5: "-0.0000123",
    1e-7: "1e-7",
    1.5e-7: "1.5e-7",
    -2.5e-10: "-2.5e-10",
    5e-324: "5e-324",
    1.7976931348623157e308: "1.7976931348623157e+308",
    9007199254740993.0: "9007199254740992",
    2.0**60: "1152921504606847000",
    math.nan: "null",
    math.inf: "null",
    -math.inf: "null",
}


@pytest.mark.parametrize(("value", "text"), NUMBERS.items(), ids=[repr(value) for value in NUMBERS])
def test_floats_are_written_as_javascript_numbers(value: float, text: str) -> None:
    assert number(value) == text
    assert dumps([value]) == f"[{text}]"


def test_minus_zero_is_written_as_zero() -> None:
    assert number(-0.0) == "0"
    assert dumps({"a": -0.0}) == '{"a":0}'


STRINGS: list[tuple[str, str]] = [
    ("", '""'),
    ('a"b\\c/', '"a\\"b\\\\c/"'),
    ("\b\f\n\r\t", '"\\b\\f\\n\\r\\t"'),
    ("\x00\x0b\x1f\x7f", '"\\u0000\\u000b\\u001f\x7f"'),
    ("é\u0085\u2028\u2029\ufeff語", '"é\u0085\u2028\u2029\ufeff語"'),
    ("\U0001f6f0", '"\U0001f6f0"'),
    ("\ud83d", '"\\ud83d"'),
    ("\udef0\ud83d", '"\\udef0\\ud83d"'),
    ("a\udfffé", '"a\\udfffé"'),
    ("\ud83d\udef0", '"\U0001f6f0"'),
    ("\ud83d\ud83d\udef0\udef0", '"\\ud83d\U0001f6f0\\udef0"'),
]


@pytest.mark.parametrize(("value", "text"), STRINGS, ids=[ascii(value) for value, _ in STRINGS])
def test_strings_are_escaped_as_javascript_does(value: str, text: str) -> None:
    assert quote(value) == text
    assert dumps(value) == text
    assert dumps({value: [value]}) == f"{{{text}:[{text}]}}"
    assert dumps_bytes(value) == text.encode()


class Kind(StrEnum):
    A = "a"


class Level(IntEnum):
    LOW = 1


class Text(str):
    def __str__(self) -> str:
        return "another"


VALUES: dict[str, tuple[Any, str]] = {
    "no spaces": ({"a": [1, 2], "b": {}}, '{"a":[1,2],"b":{}}'),
    "words": ([None, True, False], "[null,true,false]"),
    "key order is kept": ({"b": 1, "2": 2, "1": 3}, '{"b":1,"2":2,"1":3}'),
    "ints are exact": ([2**53 + 1, -(10**30)], f"[9007199254740993,-{10**30}]"),
    "tuples": ((1, ("a",)), '[1,["a"]]'),
    "keys become text": (
        {1: 0, 1.5: 0, 2.0: 0, None: 0, False: 0, math.nan: 0, math.inf: 0, -math.inf: 0},
        '{"1":0,"1.5":0,"2":0,"null":0,"false":0,"NaN":0,"Infinity":0,"-Infinity":0}',
    ),
    "subclasses": (
        OrderedDict({Kind.A: Kind.A, "l": Level.LOW, "t": Text("t")}),
        '{"a":"a","l":1,"t":"t"}',
    ),
    "a key of a subclass": ({Text("k"): 1, Level.LOW: 2}, '{"k":1,"1":2}'),
}


@pytest.mark.parametrize(("value", "text"), VALUES.values(), ids=VALUES.keys())
def test_values_are_written_as_javascript_does(value: Any, text: str) -> None:
    assert dumps(value) == text


@pytest.mark.parametrize("value", [b"x", {1, 2}, object(), [1j], {"a": ...}, {(1, 2): 1}, {b"k": 1}])
def test_other_types_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="JSON"):
        dumps(value)


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ValueError, match="nested too deeply"):
        dumps(value)


GOOD: dict[str, tuple[str, Any]] = {
    "space around": (' \t\n\r{"a" : [1 , 2]}\n', {"a": [1, 2]}),
    "a scalar": ("-0.5e3", -500.0),
    "lone surrogates": ('"\\ud83d|\\uDEF0\\ud83d"', "\ud83d|\udef0\ud83d"),
    "raw lone surrogate": ('"\ud83d"', "\ud83d"),
    "a pair": ('"\\ud83d\\udef0"', "\U0001f6f0"),
    "the last key wins": ('{"a":1,"a":2}', {"a": 2}),
    "constants inside strings": ('{"NaN":"Infinity"}', {"NaN": "Infinity"}),
    "a number beyond doubles": ("[1e999]", [math.inf]),
    "an exact int": ("9007199254740993", 9007199254740993),
}


@pytest.mark.parametrize(("text", "value"), GOOD.values(), ids=GOOD.keys())
def test_json_is_read(text: str, value: Any) -> None:
    assert loads(text) == value


BAD: dict[str, tuple[str, int]] = {
    "empty": ("", 0),
    "blank": (" \n", 2),
    "nan": ("[NaN]", 1),
    "infinity after a string with one": ('{"\\"NaN":"Infinity","b":-Infinity}', 24),
    "more text": ("{} x", 3),
    "two values": ("1 2", 2),
    "cut object": ('{"a":', 5),
    "cut string": ('["abc', 1),
    "raw line end in a string": ('"a\nb"', 2),
    "single quotes": ("{'a':1}", 1),
    "bom": ("\ufeff1", 0),
    "other white space": ("\u00a01", 0),
    "word": ("[DONE]", 1),
    "too deep": ("[" * 100_000, 0),
    "too deep object": (' {"a":' * 100_000, 1),
    "too long an integer": ("1" * 10_000, 0),
}


@pytest.mark.parametrize(("text", "position"), BAD.values(), ids=BAD.keys())
def test_what_is_not_json_is_refused_with_a_position(text: str, position: int) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        loads(text)
    assert caught.value.pos == position


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def as_doubles(value: Any) -> Any:
    """`value` with its numbers as JavaScript holds them."""
    if isinstance(value, dict):
        return {key: as_doubles(member) for key, member in value.items()}
    if isinstance(value, list):
        return [as_doubles(member) for member in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@given(json_values)
def test_what_is_written_is_read_back(value: Any) -> None:
    text = dumps(value)
    assert as_doubles(loads(text)) == as_doubles(value)
    assert dumps(loads(text)) == text
    assert json.loads(text) == loads(text)


@given(st.text(alphabet=st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010, exclude_categories=())))
def test_any_surrogates_survive_as_javascript_holds_them(text: str) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    assert loads(dumps_bytes(text).decode()).encode("utf-16-le", "surrogatepass") == units


@given(st.text() | st.text(alphabet='[]{}",:0123456789.eE-+ \\u\ntruefalsnNaI'))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = loads(text)
    except json.JSONDecodeError:
        return
    assert json.loads(text) == value


def test_node_writes_the_same_bytes() -> None:
    """Doubles by their bits and strings by their UTF-16 units, so that nothing is lost on the way."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the tables above hold what it writes")
    doubles = [*NUMBERS, *_doubles(20_000)]
    strings = [*(value for value, _ in STRINGS), *_strings(2_000)]
    script = (
        "const i=JSON.parse(require('fs').readFileSync(0,'utf8'));const f=new DataView(new ArrayBuffer(8));"
        "const d=b=>{f.setBigUint64(0,BigInt('0x'+b));return f.getFloat64(0)};"
        "console.log(i.doubles.map(b=>JSON.stringify(d(b))).join('\\n'));"
        "console.log(i.strings.map(u=>JSON.stringify(u.map(c=>String.fromCharCode(c)).join(''))).join('\\n'))"
    )
    asked = {
        "doubles": [struct.pack(">d", double).hex() for double in doubles],
        "strings": [_units(string) for string in strings],
    }
    run = subprocess.run(
        [node, "-e", script], input=json.dumps(asked).encode(), capture_output=True, check=True
    )
    written = run.stdout.decode().split("\n")[:-1]
    assert [number(double) for double in doubles] + [quote(string) for string in strings] == written


def _units(text: str) -> list[int]:
    encoded = text.encode("utf-16-le", "surrogatepass")
    return list(struct.unpack(f"<{len(encoded) // 2}H", encoded))


def _doubles(count: int) -> list[float]:
    """Doubles of every size: spread bit patterns, and short decimals where the form changes."""
    spread: list[float] = []
    bits = 0
    for n in range(count // 2):
        bits = (bits + 0x9E3779B97F4A7C15) % (1 << 64)
        spread.append(struct.unpack(">d", bits.to_bytes(8, "big"))[0])
        spread.append((bits % 10 ** (n % 17 + 1)) * 10.0 ** (n % 60 - 30))
    return spread


def _strings(count: int) -> list[str]:
    """Strings of code points from the corners: control, quotes, separators, surrogates, beyond the BMP."""
    corners = [*range(0x20), 0x22, 0x5C, 0x7F, 0x80, 0x85, 0xA0, 0x2028, 0x2029, 0xFEFF, 0xFFFF, 0x1F6F0]
    corners += [0xD7FF, 0xD800, 0xD83D, 0xDBFF, 0xDC00, 0xDEF0, 0xDFFF, 0xE000, 0x10FFFF]
    return [
        "".join(chr(corners[(n * 7 + k * k * (n % 13 + 1)) % len(corners)]) for k in range(n % 9))
        for n in range(count)
    ]
