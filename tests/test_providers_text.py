"""Surrogate halves across deltas, think tags across deltas, and frames that only say more text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.providers.shapes import TextShape, shape_of
from deuz_nb.providers.text import PairJoiner, ThinkSplitter, whole_text

PIECES: dict[str, tuple[list[str], list[str]]] = {
    "ascii": (["a", "b"], ["a", "b", ""]),
    "pair in one": (["\ud83d\ude00"], ["\U0001f600", ""]),
    "pair in two": (["a\ud83d", "\ude00b"], ["a", "\U0001f600b", ""]),
    "empty between": (["\ud83d", "", "\ude00"], ["", "", "\U0001f600", ""]),
    "high without low": (["\ud83d", "b"], ["", "\ufffdb", ""]),
    "low without high": (["\ude00"], ["\ufffd", ""]),
    "two highs": (["\ud83d\ud83d", "\ude00"], ["\ufffd", "\U0001f600", ""]),
    "high at the end": (["a\ud83d"], ["a", "\ufffd"]),
    "byte order mark": (["\ufeffé\ud83d", "\ude00"], ["\ufeffé", "\U0001f600", ""]),
}


@pytest.mark.parametrize("case", PIECES.values(), ids=PIECES)
def test_halves_are_joined_or_replaced(case: tuple[list[str], list[str]]) -> None:
    given_, wanted = case
    joiner = PairJoiner()
    assert [*map(joiner.feed, given_), joiner.flush()] == wanted
    assert joiner.is_holding is False


@given(st.lists(st.text(st.sampled_from("a\u00e9\u2028\ud83d\ude00\U0001f600"), max_size=3)))
def test_joined_text_has_no_half_and_does_not_depend_on_the_pieces(pieces: list[str]) -> None:
    joiner = PairJoiner()
    text = "".join([*map(joiner.feed, pieces), joiner.flush()])
    text.encode()
    assert text == whole_text("".join(pieces))


TAGGED: dict[str, tuple[str, bool, str, str]] = {
    "none": ("answer", False, "", "answer"),
    "both tags": ("<think>\nhm\n</think>\n\nanswer", False, "hm", "answer"),
    "space before": (" \n<think>hm</think>answer", False, "hm", "answer"),
    "no end": ("<think>hm", False, "hm", ""),
    "begins inside": ("hm\n</think>\nanswer", True, "hm", "answer"),
    "later tags are text": ("about <think>x</think>", False, "", "about <think>x</think>"),
    "second tags are text": ("<think>a</think>b<think>c</think>", False, "a", "b<think>c</think>"),
    "nearly a tag": ("<thin>k", False, "", "<thin>k"),
    "nearly an end": ("<think>a </thin b</think>c", False, "a </thin b", "c"),
    "cut tag": ("<thi", False, "", "<thi"),
    "empty thought": ("<think></think>a", False, "", "a"),
}


@pytest.mark.parametrize("case", TAGGED.values(), ids=TAGGED)
def test_thought_and_answer_are_told_apart_at_every_cut(case: tuple[str, bool, str, str]) -> None:
    text, inside, thought, answer = case
    cuts = [[text], list(text), *([text[:n], text[n:]] for n in range(len(text)))]
    for pieces in cuts:
        splitter = ThinkSplitter(inside)
        found = [item for piece in pieces for item in splitter.feed(piece)] + splitter.flush()
        assert "".join(piece for piece, is_thought in found if not is_thought) == answer
        assert "".join(piece for piece, is_thought in found if is_thought).rstrip("\n") == thought
        assert all(piece for piece, _ in found)


SHAPE = TextShape("text-delta", "e", '{"t":"', '"}')
FRAMES: dict[str, tuple[str | None, str, str]] = {
    "same shape": ("e", '{"t":"word é 水"}', "word é 水"),
    "other event": (None, '{"t":"word"}', ""),
    "other head": ("e", '{"u":"word"}', ""),
    "other tail": ("e", '{"t":"word"} ', ""),
    "escape": ("e", '{"t":"a\\nb"}', ""),
    "quote": ("e", '{"t":"a","u":"b"}', ""),
    "no text": ("e", '{"t":""}', ""),
    "head and tail overlap": ("e", '{"t":"}', ""),
    "raw control character": ("e", '{"t":"a\tb"}', ""),
    "raw line end": ("e", '{"t":"a\nb"}', ""),
}


@pytest.mark.parametrize("case", FRAMES.values(), ids=FRAMES)
def test_text_is_taken_from_frames_of_the_shape_only(case: tuple[str | None, str, str]) -> None:
    name, data, wanted = case
    assert SHAPE.text_in(name, data) == wanted


LEARNT: dict[str, bool] = {
    '{"t":"hi"}': True,
    '{"u":"hi","t":"hi"}': False,
    '{"t":"hi","u":"hi"}': True,
    '{"t":"\\u0068i"}': False,
    '{"t": "hi"}': False,
    '{"t":"hi","t":"hi"}': False,
}  # fmt: skip


@pytest.mark.parametrize(("data", "is_learnt"), LEARNT.items())
def test_shape_is_learnt_only_where_the_text_is_read(data: str, is_learnt: bool) -> None:
    shape = shape_of(None, data, ("text-delta", "hi"), lambda body: ("text-delta", body["t"]))
    assert (shape is not None) is is_learnt
    if shape is not None:
        assert shape.text_in(None, data.replace('"t":"hi"', '"t":"ho"')) == "ho"
