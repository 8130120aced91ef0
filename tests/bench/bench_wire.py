"""Writing the frame of a text delta (G7)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from deuz_nb.jsontext import dumps
from deuz_nb.parts.ui import UIPart
from deuz_nb.wire.frame import encode
from tests.bench.harness import Case, Figure

TEXTS = ["The", " quick", ' "brown"', " fox\n", " jümps", " over 東京 🗼", "", "\t<b>\\</b>\x7f\x00"]


def cases() -> Iterator[Case | Figure]:
    parts: list[UIPart] = [{"type": "text-delta", "text": TEXTS[n % len(TEXTS)]} for n in range(5_000)]

    def ours() -> object:
        return [encode(part, seq) for seq, part in enumerate(parts)]

    def plain() -> object:
        return [
            f"id: {seq}\ndata: {json.dumps(part, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()
            for seq, part in enumerate(parts)
        ]

    yield Case(
        goal="G7", name="text-delta frame / json.dumps", ours=ours, peers={"json.dumps": plain}, at_most=0.25
    )
    wrong = sum(encode(part, 1) != f"id: 1\ndata: {dumps(part)}\n\n".encode() for part in parts)
    yield Figure(goal="G7", name="frames that differ from JSON.stringify's text", value=wrong, at_most=0)
