"""TeX to MathML, kept only when every element and attribute is known to be harmless.

latex2mathml passes HTML through in text commands, so its output is parsed, checked and written anew; what
fails is shown as its TeX source.  The source always stays beside the MathML as an annotation, which is what
remains where MathML is stripped.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from xml.etree import ElementTree

from latex2mathml.converter import convert  # pyright: ignore[reportUnknownVariableType] - partly typed

from deuz_nb.notebook.html import escape

__all__ = ["math_html"]

LIMIT: Final = 2_000
"""Longer formulas are shown as source: the converter's time is not linear."""

_SPACE: Final = "{http://www.w3.org/1998/Math/MathML}"
_TAGS: Final = re.compile(
    "mrow|mi|mn|mo|mtext|mspace|msup|msub|msubsup|mfrac|msqrt|mroot|mover|munder|munderover"
    "|mtable|mtr|mtd|mstyle|mpadded|mphantom|menclose|mmultiscripts|mprescripts|none"
)
_ATTRIBUTES: Final = re.compile(
    "display|displaystyle|scriptlevel|mathvariant|mathcolor|mathsize|stretchy|fence|form|separator|symmetric"
    "|largeop|movablelimits|accent|accentunder|lspace|rspace|minsize|maxsize|width|height|depth|voffset"
    "|linethickness|columnalign|columnspacing|columnlines|rowalign|rowspacing|rowlines|frame|notation"
)
_VALUE: Final = re.compile(r"[#\w .%+-]{0,80}")


@lru_cache(maxsize=512)
def math_html(tex: str, *, is_block: bool = False) -> str:
    """A formula as safe HTML: MathML with its source as annotation, or the source alone."""
    dollars = "$$" if is_block else "$"
    source = f"{dollars}{tex.strip()}{dollars}"
    mathml = _mathml(tex, is_block=is_block)
    if mathml is None:
        return f'<code class="dz-tex">{escape(source)}</code>'
    note = f'<annotation encoding="application/x-tex"> {escape(source)}</annotation>'
    display = ' display="block"' if is_block else ""
    return f"<math{display}><semantics>{mathml}{note}</semantics></math>"


def _mathml(tex: str, *, is_block: bool) -> str | None:
    if len(tex) > LIMIT or not tex.strip():
        return None
    try:
        root = ElementTree.fromstring(convert(tex, display="block" if is_block else "inline"))
        return "".join(_written(child) for child in root) if root.tag == f"{_SPACE}math" else None
    except Exception:
        # The converter raises errors of many kinds, RecursionError among them, and so does the check.
        return None


def _written(element: ElementTree.Element) -> str:
    """The element written anew.  Raises ValueError for anything that is not on the list."""
    name = element.tag.removeprefix(_SPACE)
    if not _TAGS.fullmatch(name):
        raise ValueError(f"{name!r} is no MathML element of the list")
    attributes: list[str] = []
    for key, value in element.attrib.items():
        if not _ATTRIBUTES.fullmatch(key) or not _VALUE.fullmatch(value):
            raise ValueError(f"{key!r} is no attribute of the list")
        attributes.append(f' {key}="{escape(value)}"')
    pieces = [f"<{name}{''.join(attributes)}>", escape(element.text or "")]
    for child in element:
        pieces += [_written(child), escape(child.tail or "")]
    pieces.append(f"</{name}>")
    return "".join(pieces)
