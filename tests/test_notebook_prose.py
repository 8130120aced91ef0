"""Markdown that grows: sealed blocks never change, and streaming ends where rendering at once does."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.notebook.block import Block
from deuz_nb.notebook.prose import Prose

LINES = [
    "para text\n", "para\n", "\n", "\n\n", "- item\n", "  - nest\n", "1. one\n", "2. two\n", "| a | b |\n",
    "|---|---|\n", "a | b\n", "-|-\n", "```\n", "```py\n", "code = 1\n", "    indented\n", "> quote\n",
    "---\n", "===\n", "# head\n", "$$\n", "$$x$$\n", "x^2 $y$\n", "[foo]: http://u\n", "[foo]: #f\n",
    "'title\n", "more'\n", "[foo] text\n", "**b\n", "b**\n", "`c\n", "* * *\n", "-\n", "-", "*", "1", "1.",
    "+ x", "\t", "~~~\n", "<div>\n", "\\\n", "\r", "\r\n", "![a](http://b)\n", "- [ ] todo\n", "~~s~~\n",
]  # fmt: skip

LONG = {
    "an ordered list": "".join(f"{n + 1}. item {n} with **bold** text\n" for n in range(300)),
    "a list": "".join(f"- item {n} with `code`\n" for n in range(300)),
    "a nested list": "- top\n" + "".join(f"  - nested {n}\n" for n in range(700)),
    "a table": "| a | b |\n|---|--:|\n" + "".join(f"| row {n} | {n} |\n" for n in range(500)),
    "a fence that is coloured": "```python\n" + "".join(f"x = {n}  # c\n" for n in range(600)) + "```\n",
    "a fence that stays plain": "```python\n" + "".join(f"x = {n}  # c\n" for n in range(2000)) + "```\n",
    "an open fence": "~~~~py\n" + "".join(f"x = '{n}'\n" for n in range(400)),
    "a paragraph": "a sentence of some words. " * 500,
    "one word": "x" * 20_000,
    "a quote": "".join(f"> line {n}\n" for n in range(800)),
    "indented code": "".join(f"    line {n}\n" for n in range(800)),
}


def at_once(text: str) -> list[Block]:
    prose = Prose("k")
    prose.feed(text)
    prose.close()
    return prose.blocks()


def streamed(text: str, size: int) -> list[Block]:
    """Fed in chunks of `size`, asserting on the way that a sealed block never changes."""
    prose = Prose("k")
    sealed: dict[str, Block] = {}
    for start in range(0, len(text), size):
        prose.feed(text[start : start + size])
        for block in prose.blocks():
            if not block.is_open:
                assert sealed.setdefault(block.key, block) == block
            assert block.is_open != (block.key in sealed)
    prose.close()
    found = {block.key: block for block in prose.blocks()}
    assert {key: found[key] for key in sealed} == sealed
    return prose.blocks()


@given(st.lists(st.sampled_from(LINES), max_size=14).map("".join))
def test_streaming_character_by_character_ends_like_rendering_at_once(text: str) -> None:
    assert streamed(text, 1) == at_once(text)


@given(st.text(max_size=60))
def test_any_text_renders_the_same_at_every_cut(text: str) -> None:
    assert streamed(text, 1) == at_once(text)


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("size", [7, 300])
def test_a_long_block_is_cut_at_the_same_places_however_it_arrives(name: str, size: int) -> None:
    whole = at_once(LONG[name])
    assert streamed(LONG[name], size) == whole
    assert len(whole) > 2
    assert all(len(block.text) < 8_000 for block in whole)


@pytest.mark.parametrize("name", LONG)
def test_the_pieces_of_a_long_block_are_its_text_and_share_a_frame(name: str) -> None:
    pieces = at_once(LONG[name])
    assert "".join(piece.text for piece in pieces).rstrip("\n") == LONG[name].rstrip("\n")
    assert {piece.joins for piece in pieces} == {"k+0"}


def test_generated_documents_of_many_kinds_end_alike_in_random_chunks() -> None:
    source = random.Random(7)
    for _ in range(60):
        text = "".join(
            source.choices([*LINES, *LONG.values()], [*([9] * len(LINES)), *([1] * len(LONG))], k=30)
        )
        assert streamed(text, source.randint(40, 900)) == at_once(text)


def test_a_list_that_was_cut_goes_on_counting() -> None:
    pieces = at_once("".join(f"1. item {n:03}\n" for n in range(300)))
    assert [piece.frame[0] for piece in pieces][:2] == ["<ol>", '<ol start="126" class="dz-more">']
    assert sum(piece.body.count("<li>") for piece in pieces) == 300


def test_a_definition_counts_from_where_it_stands() -> None:
    before, _, after = at_once("[a] b\n\n[a]: http://x.y\n\n[a] c\n")
    assert before.html == "<p>[a] b</p>"
    link = '<a href="http://x.y" target="_blank" rel="noopener noreferrer">a</a>'
    assert after.html == f"<p>{link} c</p>"


def test_an_open_fence_is_plain_and_coloured_when_it_closes() -> None:
    prose = Prose("k")
    prose.feed("```python\nreturn 1\n")
    assert [block.html for block in prose.blocks()] == ['<pre class="dz-pre"><code class="dz-in">return 1</code></pre>']
    prose.feed("```\nThen\n")
    fence, _ = prose.blocks()
    assert fence.html == (
        '<pre class="dz-pre"><code class="dz-in"><span class="dz-k">return </span><span class="dz-n">1</span></code></pre>'
    )


def test_half_a_line_end_waits_for_the_other_half() -> None:
    assert [b.html for b in streamed("a\r\n\r\nb\rc", 1)] == ["<p>a</p>", "<p>b\nc</p>"]
