"""Text that grows by deltas, without lone surrogate halves.  Source: fold.md."""

from __future__ import annotations

__all__ = ["Pieces"]


class Pieces:
    """An append-only list of pieces; a surrogate pair cut between two deltas is joined again.

    `held` is a trailing high half that waits for its mate; `pieces` never holds a lone half.
    """

    __slots__ = ("held", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.held = ""

    def append(self, text: str) -> None:
        """Add a delta."""
        if not text:
            return
        if text.isascii() and not self.held:
            self.pieces.append(text)
            return
        whole = self.held + text
        self.held = ""
        if "\ud800" <= whole[-1] <= "\udbff":
            self.held = whole[-1]
            whole = whole[:-1]
        if whole:
            self.pieces.append(_well_formed(whole))

    def settle(self) -> None:
        """No more text comes: a half that still waits becomes U+FFFD."""
        if self.held:
            self.held = ""
            self.pieces.append("\ufffd")

    @property
    def text(self) -> str:
        """The pieces as one string."""
        return "".join(self.pieces)


def _well_formed(text: str) -> str:
    """Halves that stand side by side joined, lone ones replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
