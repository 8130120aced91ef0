"""Text made safe for HTML: the one place that escapes."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["escape", "img_data_url", "label", "link_target", "tag"]

# Control characters are shown as their pictures: a terminal sequence must not vanish, nor act.
_CONTROLS: Final = {n: 0x2400 + n for n in range(32) if n not in (9, 10)} | {
    127: 0x2421,
    13: 0x0A,
    **dict.fromkeys(range(128, 160), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
    0xFFFE: 0xFFFD,
    0xFFFF: 0xFFFD,
}
_ESCAPES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
    | {chr(n): chr(to) for n, to in _CONTROLS.items()}
)
_BIDI: Final = re.compile("[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_SAFE_TARGET: Final = re.compile(r"(?:https?://[^\s/?#]|mailto:[^\s]|#)", re.IGNORECASE)
_UNSAFE_IN_TARGET: Final = re.compile(
    "[\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]"
)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
_IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def escape(text: str) -> str:
    """`text` as HTML text or attribute value; control characters become visible, lone halves U+FFFD."""
    return text.translate(_ESCAPES)


def label(text: str, limit: int = 120) -> str:
    """A short foreign word (a name, a state) as HTML: on one line, without invisible characters."""
    flat = _BIDI.sub("\ufffd", " ".join(text.split()))
    return escape(flat if len(flat) <= limit else flat[: limit - 1] + "…")


def link_target(url: str) -> str | None:
    """`url` when it may be linked (http, https, mailto or an anchor), else None; not escaped."""
    url = url.strip()
    if not _SAFE_TARGET.match(url) or _UNSAFE_IN_TARGET.search(url):
        return None
    return url


def img_data_url(media_type: str, data: str) -> str | None:
    """A data URL for a raster image given as base64, else None: nothing is ever fetched."""
    if media_type not in _IMAGES or not _BASE64.fullmatch(data):
        return None
    return f"data:{media_type};base64,{''.join(data.split())}"


def tag(name: str, content: str, classes: str = "") -> str:
    """An element around HTML that is already safe."""
    opening = f'<{name} class="{classes}">' if classes else f"<{name}>"
    return f"{opening}{content}</{name}>"
