"""Nothing a model or a tool says becomes markup: every string field of every part, live and kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.fold import Turn
from deuz_nb.notebook.block import Block, Item
from deuz_nb.notebook.blocks import Page, page_of
from deuz_nb.notebook.facts import Facts
from deuz_nb.notebook.math import math_html
from deuz_nb.notebook.static import page_html, page_text

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    '"><script>alert(1)</script>',
    "' onmouseover='alert(1)",
    '" onfocus="alert(1)" autofocus="',
    "<iframe src=javascript:alert(1)>",
    "<style>*{display:none}</style>",
    "<!-- <b> -->",
    "-->",
    "]]>",
    "<![CDATA[<script>]]>",
    "<details open ontoggle=alert(1)>",
    "<button>Approve</button>",
    "<input type=submit value=Approve>",
    "<form action=https://evil.example><input></form>",
    "</details></div></div><h1>out</h1>",
    "<a href='javascript:alert(1)'>x</a>",
    "<math><mtext><script>alert(1)</script></mtext></math>",
    "<base href=https://evil.example>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<link rel=stylesheet href=https://evil.example>",
    "<object data=data:text/html,x>",
    "<template><script>1</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    "[x](file:///etc/passwd)",
    "[x](//evil.example)",
    "[x](&#106;avascript:alert(1))",
    '[x](https://ok.example/"onclick="alert(1))',
    "<javascript:alert(1)>",
    "![x](https://evil.example/pixel.png)",
    "![x](javascript:alert(1))",
    '![x](https://evil.example/p.png "a\\" onload=\\"alert(1)")',
    "[x]: javascript:alert(1)\n\n[x]",
    "[x][y]\n\n[y]: https://ok.example 'a\" onclick=\"b'",
    "$\\text{<img src=x onerror=alert(1)>}$",
    "$\\mbox{<script>alert(1)</script>}$",
    "$\\textbf{</mtext></math><script>alert(1)</script>}$",
    "$\\href{javascript:alert(1)}{x}$",
    "$\\style{background:url(https://evil.example)}{x}$",
    "$\\class{dz-stop}{x}$",
    "$$\\begin{matrix} <b>&\\end{matrix}$$",
    "$\\color{red;background:url(x)}{x}$",
    "$" + "{" * 400 + "$",
    "```html\n<script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "```python\n'</code></pre><script>alert(1)</script>'\n```",
    "`<script>`",
    "| <b> | <script> |\n|---|---|\n| <img src=x onerror=1> | </table> |",
    "# <script>alert(1)</script>",
    "- <button onclick=alert(1)>Approve</button>",
    "> </blockquote><script>",
    "\x1b[31mred\x1b]8;;https://evil.example\x07link\x1b]8;;\x07",
    "\x00\x01\x02\x7f\x9b31m",
    "\u202egnp.exe\u2066\u200b\u200d",
    "\ud800\udfff\ud83d",
    "a" * 5_000,
    "[" * 3_000,
    "> " * 300 + "deep",
    "\n".join("  " * n + "- x" for n in range(80)),
    "*_`~[(" * 200,
    "&lt;script&gt;&#60;script&#62;",
    'class="dz-stop"',
]


def _words(text: str) -> set[str]:
    return set(text.split())


TAGS = _words(
    "div span p b strong em s code pre a ul ol li h3 h4 h5 h6 hr br blockquote details summary table thead tbody"
    " tr th td img math semantics annotation"
)
MATH = _words(
    "mrow mi mn mo mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover mtable mtr mtd"
    " mstyle mpadded mphantom menclose mmultiscripts mprescripts none"
)
ATTRIBUTES = {"class", "style", "open", "start", "align", "href", "title", "target", "rel", "alt", "src"}
CLASSES = re.compile(r"(?:dz(?:-[a-z0-9]+)*|mathjax_ignore|tex2jax_ignore| )+")


class Judge(HTMLParser):
    """Fails on any element, attribute, target or class that is not ours."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS | MATH, tag
        for name, value in attrs:
            if tag in MATH or tag in ("math", "annotation"):
                assert re.fullmatch(r"[\w#%+./ -]*", value or ""), (name, value)
                assert not name.startswith("on")
                assert name not in ("href", "style", "class")
                continue
            assert name in ATTRIBUTES, name
            if name == "href":
                assert re.match(r"https?://|mailto:|#", value or ""), value
            if name == "src":
                assert re.match(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$", value or ""), value
            if name == "class":
                assert CLASSES.fullmatch(value or ""), value
                assert "dz-stop" not in (value or "").split()
            if name == "style":
                assert "url(" not in (value or "")
        if tag not in ("br", "hr", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl!r}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data!r}")


def judge(html: str) -> None:
    html.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", html)
    found = Judge()
    found.feed(html)
    found.close()
    assert found.open == []


def htmls(items: Iterator[Item] | list[Item]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Block):
            yield item.html
        else:
            yield item.head.html
            yield from htmls(item.items)


def judge_page(page: Page) -> None:
    judge(page_html(page))
    for html in htmls(page.items):
        judge(html)
    text = page_text(page)
    text.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)


def every_part(text: Any) -> list[dict[str, Any]]:
    """Parts of every type with `text` in every field that may hold a string, as values and as keys."""
    call = {"toolCallId": "1", "toolName": text}
    word = text[:99] if isinstance(text, str) else "word"
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    parts: list[dict[str, Any]] = [
        {"type": "start", "messageId": text},
        {"type": "step-start", "step": 0},
        {"type": "reasoning-delta", "text": text, "signature": text},
        {"type": "text-delta", "text": text, "signature": text},
        {"type": "tool-input-delta", **call, "delta": text},
        {"type": "tool-state", **call, "state": text, "outcome": text},
        {
            "type": "tool-call",
            "toolCallId": "2",
            "toolName": text,
            "input": {word: text},
            "display": text,
        },
        {"type": "tool-state", "toolCallId": "2", "state": "error", "denied": True, "deniedReason": text},
        {"type": "tool-result", "toolCallId": "2", "toolName": text, "output": text, "isError": True},
        {"type": "tool-result", "toolCallId": "3", "toolName": text, "output": [text, {"a": text}]},
        {
            "type": "tool-approval-request",
            "approvalId": text,
            "toolCallId": "4",
            "toolName": text,
            "input": text,
        },
        {"type": "source", "id": text, "url": text, "title": text},
        {"type": "object-delta", "object": {"a": {word: [text, text, text, text]}}},
        {"type": "compaction", "layer": text, "tokensBefore": text, "tokensAfter": text, "trigger": text},
        {"type": "step-finish", "step": 0, "finishReason": text, "usage": usage, "modelId": text},
        {"type": f"data-{word}", "id": "d", "payload": text},
        {"type": "data-x", "payload": {word: {"deep": [text] * 3}}},
        {"type": "citation", "id": text, "url": text, "title": text, "snippet": text},
        {"type": "citation", "id": text, "url": f"https://ok.example/{word}", "title": text},
        {"type": "file", "mediaType": text, "name": text, "url": text, "data": text},
        {"type": "file", "mediaType": "image/png", "name": text, "data": text},
        {"type": "budget-exceeded", "kind": text, "limit": 1, "value": 2},
        {"type": "verify", "stepIndex": 0, "attempt": 1, "ok": False, "willRetry": False, "feedback": text},
        {
            "type": "plan-update",
            "goal": text,
            "tasks": [{"id": text, "title": text, "status": text, "notes": text}],
        },
        {"type": "activity", "message": text, "level": text, "agentPath": [text]},
        {"type": "warning", "warning": {"type": text, "setting": text, "message": text}},
        {"type": "false-finish", "stepIndex": 0, "attempt": 1, "willRetry": True},
        {"type": "handoff", "from": text, "to": text, "toolCallId": text, "reason": text, "stepIndex": 0},
        {"type": "guardrail", "hook": text, "action": text, "name": text, "reason": text},
        {"type": "capabilities", "capabilities": [text]},
        {"type": text},
    ]
    agent = {
        "kind": "result",
        "seq": 1,
        "runId": "r",
        "status": "failed",
        "error": {"message": text, "name": text},
    }
    parts.append({"type": "data-agent", "id": "result", "payload": agent})
    return parts


def page(text: Any, ending: dict[str, Any]) -> Page:
    turn = Turn()
    for part in every_part(text):
        turn.apply(part)
        turn.apply({"type": "sub-agent", "agentPath": [text], "part": part})
    turn.apply(ending)
    word = text if isinstance(text, str) else "word"
    facts = Facts(provider=word, model_id=word, error_name=word)
    return page_of(turn, facts)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_string_stays_text_in_every_field(text: str) -> None:
    judge_page(page(text, {"type": "finish", "finishReason": text, "usage": {}, "modelId": text}))
    judge_page(page(text, {"type": "error", "message": text}))


@given(st.text(alphabet="<>\"'&/=`$\\*_[](){}!#|~-+. \n\tabc:;\x00\x1b\u202e\ud800", max_size=80))
def test_any_mixture_of_marks_stays_text(text: str) -> None:
    judge_page(page(text, {"type": "error", "message": text}))


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -1.5, float("nan"), float("inf"), 10**400, [], {}, [[[[[[[[[[1]]]]]]]]]]],
    ids=repr,
)
def test_a_field_of_another_type_is_drawn_all_the_same(value: Any) -> None:
    judge_page(page(value, {"type": "error", "message": value}))


def test_values_nested_deeper_than_python_can_go_are_drawn() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    judge_page(page(deep, {"type": "error", "message": "deep"}))
    while isinstance(deep, list):
        deep = deep.pop()


@pytest.mark.parametrize("tex", [h.strip("$") for h in HOSTILE if h.startswith("$")])
def test_a_hostile_formula_is_shown_as_its_source(tex: str) -> None:
    judge(math_html(tex))
    judge(math_html(tex, is_block=True))


def test_a_megabyte_on_one_line_is_drawn_in_bounded_pieces() -> None:
    turn = Turn()
    turn.apply({"type": "text-delta", "text": "x" * 1_000_000})
    turn.apply({"type": "tool-result", "toolCallId": "1", "toolName": "t", "output": "y" * 1_000_000})
    drawn = page_of(turn)
    assert max(len(html) for html in htmls(list(drawn.items))) < 250_000
    judge_page(drawn)
