"""Fragments of tool calls: which belong together, and what a call is worth at the end.

A fragment is (id, index, name, arguments); a call is (id, name, input, is it valid).
"""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.errors import InvalidResponseError
from deuz_nb.providers.toolcalls import ToolCalls, arguments_text
from tests.provider_streams import called


def machine(*known: str) -> ToolCalls:
    numbers = count(1)
    return ToolCalls(lambda: f"gen-{next(numbers)}", frozenset(known))


def fed(*fragments: tuple[str, Any, str, Any], known: tuple[str, ...] = ()) -> tuple[ToolCalls, list[Any]]:
    calls = machine(*known)
    out: list[Any] = []
    for call_id, index, name, arguments in fragments:
        calls.fragment(out, call_id=call_id, index=index, name=name, arguments=arguments)
    return calls, out


def ended(calls: ToolCalls, *, is_complete: bool = True) -> list[tuple[str, str, Any, bool]]:
    return [(c.id, c.name, c.input, c.is_valid) for c in calls.parsed(is_complete=is_complete)]


A, B = {"a": 1}, {"b": 2}
CASES: dict[str, tuple[list[tuple[str, Any, str, Any]], list[tuple[str, str, Any, bool]]]] = {
    "id and name once": ([("t", 0, "w", ""), ("", 0, "", '{"a"'), ("", 0, "", ":1}")], [("t", "w", A, True)]),
    "null arguments": ([("t", 0, "w", None), ("", 0, "", None), ("", 0, "", '{"a":1}')], [("t", "w", A, True)]),
    "blank arguments are none": ([("t", 0, "w", "  ")], [("t", "w", {}, True)]),
    "no arguments at all": ([("t", 0, "w", None)], [("t", "w", {}, True)]),
    "interleaved by index": (
        [("t", 0, "w", ""), ("u", 1, "x", ""), ("", 0, "", '{"a":1}'), ("", 1, "", '{"b":2}')],
        [("t", "w", A, True), ("u", "x", B, True)],
    ),
    "all at index 0 (Ollama)": (
        [("t", 0, "w", '{"a":1}'), ("u", 0, "w", '{"b":2}')],
        [("t", "w", A, True), ("u", "w", B, True)],
    ),
    "id goes before index": (
        [("t", 0, "w", ""), ("u", 1, "x", ""), ("t", 1, "", '{"a":1}'), ("u", 0, "", '{"b":2}')],
        [("t", "w", A, True), ("u", "x", B, True)],
    ),
    "no index (Gemini)": ([("t", None, "w", '{"a":1}'), ("u", None, "x", '{"b":2}')], [("t", "w", A, True), ("u", "x", B, True)]),
    "no index, goes on": ([("t", None, "w", ""), ("", None, "", '{"a":1}')], [("t", "w", A, True)]),
    "new id without name goes on": ([("t", 0, "w", '{"a"'), ("u", 0, "", ":1}")], [("t", "w", A, True)]),
    "new id without name or index goes on": ([("t", None, "w", '{"a"'), ("u", None, "", ":1}")], [("t", "w", A, True)]),
    "name again in every fragment": ([("t", 0, "w", '{"a"'), ("", 0, "w", ":1}")], [("t", "w", A, True)]),
    "name and id again": ([("t", 0, "w", '{"a"'), ("t", 0, "w", ":1}")], [("t", "w", A, True)]),
    "empty name on continuations (LM Studio)": ([("t", 0, "w", '{"a"'), ("", 0, "", ":1}")], [("t", "w", A, True)]),
    "name comes later": ([("t", 0, "", ""), ("", 0, "w", '{"a":1}')], [("t", "w", A, True)]),
    "no id": ([("", 0, "w", '{"a":1}')], [("tool_0", "w", A, True)]),
    "no id, no index": ([("", None, "w", '{"a":1}')], [("gen-1", "w", A, True)]),
    "no ids, whole calls at one index": (
        [("", 0, "w", '{"a":1}'), ("", 0, "x", '{"b":2}'), ("", 0, "x", '{"a":1}')],
        [("tool_0", "w", A, True), ("gen-1", "x", B, True), ("gen-2", "x", A, True)],
    ),
    "no ids or indexes, whole calls": (
        [("", None, "w", '{"a":1}'), ("", None, "w", '{"b":2}')],
        [("gen-1", "w", A, True), ("gen-2", "w", B, True)],
    ),
    "no ids or indexes, name again": ([("", None, "w", ""), ("", None, "w", '{"a":1}')], [("gen-1", "w", A, True)]),
    "id comes late for the same name": ([("", 0, "w", '{"a"'), ("t", 0, "w", ":1}")], [("tool_0", "w", A, True)]),
    "object (llama.cpp)": ([("t", 0, "w", {"a": 1})], [("t", "w", A, True)]),
    "object again": ([("t", 0, "w", {"a": 1}), ("", 0, "", {"a": 1})], [("t", "w", A, True)]),
    "whole again is dropped": ([("t", 0, "w", '{"a":1}'), ("t", 0, "w", '{"a":1}')], [("t", "w", A, True)]),
    "part again is kept": ([("t", 0, "w", '{"a":1'), ("", 0, "", "1"), ("", 0, "", "1}")], [("t", "w", {"a": 111}, True)]),
    "cut arguments": ([("t", 0, "w", '{"a":')], [("t", "w", None, False)]),
    "array": ([("t", 0, "w", "[1]")], [("t", "w", None, False)]),
    "array, not as text": ([("t", 0, "w", [1])], [("t", "w", None, False)]),
    "text": ([("t", 0, "w", '"x"')], [("t", "w", None, False)]),
    "number": ([("t", 0, "w", 5)], [("t", "w", None, False)]),
    "false": ([("t", 0, "w", False)], [("t", "w", None, False)]),
    "NaN": ([("t", 0, "w", '{"a":NaN}')], [("t", "w", None, False)]),
    "no name": ([("t", 0, "", '{"a":1}')], [("t", "", A, False)]),
    "nothing opens nothing": ([("", 0, "", ""), ("", None, "", None)], []),
    "names are never joined": ([("t", 0, "get_", ""), ("", 0, "weather", "{}")], [("t", "get_", {}, True)]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_fragments_become_calls(case: tuple[list[Any], list[Any]]) -> None:
    fragments, wanted = case
    calls, out = fed(*fragments)
    assert ended(calls) == wanted
    assert all(is_valid is False for *_, is_valid in ended(calls, is_complete=False))
    named = [part["id"] for part in out if "name" in part]
    assert {part["id"] for part in out} >= {call_id for call_id, name, *_ in wanted if name}
    assert set(named) == {call_id for call_id, name, *_ in wanted if name}


def test_halves_of_a_known_tools_name_are_joined_before_any_argument() -> None:
    calls, out = fed(("t", 0, "get_", ""), ("", 0, "weather", ""), ("", 0, "", "{}"), known=("get_weather",))
    assert ended(calls) == [("t", "get_weather", {}, True)]
    assert out == [called("t", "get_", ""), called("t", "get_weather", ""), called("t", None, "{}")]


def test_first_fragment_carries_the_name_and_metadata_stays_on_the_call() -> None:
    calls = machine()
    out: list[Any] = []
    extra = {"extra_content": {"google": {"thought_signature": "s"}}}
    calls.fragment(out, call_id="t", index=0, name="w", arguments='{"a"', metadata=extra)
    calls.fragment(out, call_id="", index=0, name="", arguments=":1}")
    assert out == [called("t", "w", '{"a"', providerMetadata=extra), called("t", None, ":1}")]
    assert [call.provider_metadata for call in calls.parsed(is_complete=True)] == [extra]


def test_snapshot_adds_only_what_is_missing() -> None:
    calls = machine()
    out: list[Any] = []
    call = calls.open(out, call_id="t", name="w")
    calls.add(out, call, '{"a"')
    calls.settle(out, call, '{"a":1}')
    calls.settle(out, call, '{"a":1}')
    assert out == [called("t", "w", ""), called("t", None, '{"a"'), called("t", None, ":1}")]
    assert ended(calls) == [("t", "w", A, True)]


def test_snapshot_is_the_truth_where_the_fragments_are_broken() -> None:
    calls = machine()
    out: list[Any] = []
    call = calls.open(out, call_id="t", name="w", text='{"x')
    calls.settle(out, call, '{"a":1}')
    assert ended(calls) == [("t", "w", A, True)]


def test_same_id_opened_again_is_the_same_call() -> None:
    calls = machine()
    out: list[Any] = []
    first = calls.open(out, call_id="t", name="w", text='{"a":1}')
    assert calls.open(out, call_id="t", name="w", text='{"a":1}') is first
    assert out == [called("t", "w", '{"a":1}')]


def test_halves_of_a_character_in_arguments_are_joined() -> None:
    calls, out = fed(("t", 0, "w", '{"a":"\ud83d'), ("", 0, "", '\ude00"}'))
    assert ended(calls) == [("t", "w", {"a": "\U0001f600"}, True)]
    assert all("\ud83d" not in part["argsTextDelta"] for part in out)


def test_arguments_nested_too_deeply_are_an_error() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidResponseError, match="nested too deeply"):
        arguments_text(deep)


def test_long_arguments_take_linear_time() -> None:
    """Many fragments of one call: joining its text at every fragment would copy 20 GB."""
    calls, _ = fed(("t", 0, "w", '{"a":"'), *[("", 0, "", "x")] * 200_000, ("", 0, "", '"}'))
    assert ended(calls) == [("t", "w", {"a": "x" * 200_000}, True)]


fragments = st.tuples(
    st.sampled_from(["", "t", "u"]),
    st.none() | st.integers(0, 2),
    st.sampled_from(["", "w", "x"]),
    st.sampled_from([None, "", "{", "}", '{"a":1}', "{}", {"a": 1}, {}, [1], 5, True, "\ud83d"]),
)


@given(st.lists(fragments, max_size=12))
def test_any_fragments_give_calls_with_ids_of_their_own(sent: list[Any]) -> None:
    calls, out = fed(*sent, known=("wx",))
    found = calls.parsed(is_complete=True)
    ids = [call.id for call in found]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    assert {part["id"] for part in out} <= set(ids)
    assert all(isinstance(call.input, dict) for call in found if call.is_valid)
