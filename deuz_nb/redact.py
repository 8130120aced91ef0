"""Secrets out of strings that people will read: `****` and, of a long secret, its last four characters.

Keys by their known forms, credentials by the name before them, passwords in addresses.  It masks what
looks like a secret, so it may mask a harmless word; it is no proof that nothing secret is left.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["redact"]

_FORMS: Final = re.compile(r"sk-ant-[\w-]+|sk-[\w-]{16,}|AIza[\w-]{10,}", re.ASCII)


def redact(text: str) -> str:
    """`text` with the secrets in it masked."""
    return _FORMS.sub(lambda found: "****" + found[0][-4:], text)
