"""Growing text: surrogate halves meet, or become U+FFFD."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.fold.pieces import Pieces

pytestmark = pytest.mark.protocol

CASES = {
    "plain": (["a", "b"], "ab", "ab"),
    "empty deltas add nothing": (["", "a", ""], "a", "a"),
    "a cut pair joins": (["ok \ud83d", "\udef0 go"], "ok \U0001f6f0 go", "ok \U0001f6f0 go"),
    "a cut pair joins over an empty delta": (["\ud83d", "", "\udef0"], "\U0001f6f0", "\U0001f6f0"),
    "a trailing high half waits": (["a\ud83d"], "a", "a\ufffd"),
    "a high half that meets text is replaced": (["\ud83d", "b"], "\ufffdb", "\ufffdb"),
    "a high half that meets a high half": (
        ["\ud83d", "\ud83d", "\udef0"],
        "\ufffd\U0001f6f0",
        "\ufffd\U0001f6f0",
    ),
    "a lone low half is replaced": (["a", "\udef0b"], "a\ufffdb", "a\ufffdb"),
    "halves inside one delta join": (["x\ud83d\udef0y"], "x\U0001f6f0y", "x\U0001f6f0y"),
    "a byte order mark is text": (["\ufeffx\ud83d"], "\ufeffx", "\ufeffx\ufffd"),
}


@pytest.mark.parametrize(("deltas", "open_text", "settled_text"), CASES.values(), ids=CASES)
def test_deltas_grow_to_text(deltas: list[str], open_text: str, settled_text: str) -> None:
    pieces = Pieces()
    for delta in deltas:
        pieces.append(delta)
    assert pieces.text == open_text
    pieces.settle()
    assert pieces.text == settled_text


@given(st.text(st.characters()), st.lists(st.integers(0, 60)))
def test_any_cut_of_utf16_text_gives_the_text(text: str, cuts: list[int]) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    halves = [units[n : n + 2].decode("utf-16-le", "surrogatepass") for n in range(0, len(units), 2)]
    bounds = sorted({0, *(cut for cut in cuts if cut <= len(halves)), len(halves)})
    pieces = Pieces()
    for begin, end in pairwise(bounds):
        pieces.append("".join(halves[begin:end]))
    pieces.settle()
    assert pieces.text == units.decode("utf-16-le", "replace")
