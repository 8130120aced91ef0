"""OpenRouter's reasoning details, put together from their fragments: they go back as they were.

Source: providers.md 2 (OpenRouter: replay unchanged).
"""

from __future__ import annotations

from deuz_nb.parts.usage import JSONObject
from deuz_nb.providers.values import as_key, as_text

__all__ = ["ReasoningDetails"]

_NAMES = ("id", "format", "index")
_TEXTS = ("text", "summary")


class ReasoningDetails:
    """The open details of one stretch of reasoning, in order."""

    def __init__(self) -> None:
        self._whole: list[JSONObject] = []
        self._pieces: dict[str, list[str]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to take."""
        return not self._whole

    def add(self, detail: JSONObject) -> None:
        """A fragment: more of the last detail when it has its type and index, else a new one."""
        kind, index = as_text(detail.get("type")) or "reasoning.text", as_key(detail.get("index"))
        if not self._whole or (self._whole[-1]["type"], self._whole[-1].get("index")) != (kind, index):
            self._join()
            self._whole.append({"type": kind})
        last = self._whole[-1]
        for name in _TEXTS:
            if isinstance(detail.get(name), str):
                self._pieces.setdefault(name, []).append(detail[name])
        if signature := as_text(detail.get("signature")):
            last["signature"] = signature
        last.update({name: key for name in _NAMES if (key := as_key(detail.get(name))) is not None})

    def take(self) -> list[JSONObject]:
        """The details so far; empty when the reasoning parts alone tell all there is to send back."""
        self._join()
        taken, self._whole = self._whole, []
        if len(taken) == 1 and taken[0]["type"] == "reasoning.text":
            is_told = "signature" in taken[0] or not ("id" in taken[0] or "format" in taken[0])
            return [] if is_told else taken
        return taken

    def _join(self) -> None:
        for name, pieces in self._pieces.items():
            self._whole[-1][name] = "".join(pieces)
        self._pieces = {}
