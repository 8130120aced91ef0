"""The live view's traffic and CPU (G10, G11): 1,000 deltas a second through comms that only count."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass

from deuz_nb.fold import Turn
from deuz_nb.notebook.blocks import Composer
from deuz_nb.notebook.facts import Facts
from deuz_nb.notebook.live import Live
from deuz_nb.notebook.traffic import ENVELOPE_BYTES, pause_s
from tests.bench.harness import Figure
from tests.fake_comm import counted_comms

DELTAS_PER_S = 1000
DELTA = 5

MIXED = """## Section {n}

A paragraph of an answer with **bold** and `code`, [a link](https://example.org/{n}) and $x_{n}^2$ in it. It
goes on for a second line, so that it looks like what a model writes, and then it ends.

- the first of some points
- the second, with *emphasis*
- the third and last one

| name | value |
|------|------:|
| a{n} | {n} |
| b{n} | {n} |

```python
def step_{n}(x: int) -> int:
    return x + {n}  # nothing more
```

$$
\\int_0^{n} x \\, dx = \\frac{{{n}^2}}{{2}}
$$

"""


@dataclass(frozen=True, slots=True)
class Run:
    """One streamed text: what was sent, and how long it took of the kernel."""

    payload: int
    bytes: int
    messages_per_s: float
    cpu_s: float
    stream_s: float
    longest_gap_s: float
    update_bytes: int


def mixed(size: int) -> str:
    sections = (MIXED.format(n=n) for n in itertools.count())
    pieces: list[str] = []
    while sum(map(len, pieces)) < size:
        pieces.append(next(sections))
    return "".join(pieces)[:size]


def blocks(size: int) -> dict[str, str]:
    """One block of each kind, each `size` characters long."""
    return {
        "paragraph": ("some words of one sentence. " * (size // 28 + 1))[:size],
        "list": "".join(f"- item number {n} of a list\n" for n in range(size // 24))[:size],
        "table": ("| a | b |\n|---|---|\n" + "".join(f"| row {n} | {n} |\n" for n in range(size // 12)))[
            :size
        ],
        "fence": ("```python\n" + "".join(f"x_{n} = {n}\n" for n in range(size // 10)))[:size],
        "quote": "".join(f"> line {n} of a quote\n" for n in range(size // 18))[:size],
        "word": "x" * size,
    }


def stream(text: str) -> Run:
    """Stream a text in virtual time: the clock moves by what the pace asks for."""
    turn, composer = Turn(), Composer()
    turn.apply({"type": "start", "messageId": "bench"})
    end_s = len(text) / DELTA / DELTAS_PER_S
    now_s = fed = 0.0
    gap_s = 0.0
    with counted_comms() as wire:
        live = Live(composer.page(turn, Facts()), lambda: None)
        began_s = time.process_time()
        while fed < len(text):
            upto = min(int(now_s * DELTAS_PER_S) * DELTA, len(text))
            for start in range(int(fed), upto, DELTA):
                turn.apply({"type": "text-delta", "text": text[start : start + DELTA]})
            fed = upto
            tick_s = time.thread_time()
            _, spent = live.show(composer.page(turn, Facts(elapsed_s=now_s)))
            spent.cpu_s = time.thread_time() - tick_s
            pause = pause_s(spent)
            gap_s = max(gap_s, pause + spent.cpu_s)
            now_s += pause + spent.cpu_s
        cpu_s = time.process_time() - began_s
        messages, sent = wire.messages, wire.bytes
    # What display(Markdown(...)) of the text so far sends each time, on average.
    whole = len(text) // 2 + ENVELOPE_BYTES
    rate = messages / end_s
    return Run(len(text.encode()), sent, rate, cpu_s, end_s, gap_s, whole)


def cases() -> Iterator[Figure]:
    small, large = stream(mixed(100_000)), stream(mixed(1_000_000))
    yield Figure(
        goal="G10", name="bytes per payload byte, 100 KB", value=small.bytes / small.payload, at_most=8
    )
    at_every_delta = small.payload // DELTA * small.update_bytes / small.bytes
    yield Figure(
        goal="G10", name="display(Markdown) at every delta / ours", value=at_every_delta, at_least=30
    )
    at_16_hz = small.stream_s * 16 * small.update_bytes / small.bytes
    yield Figure(goal="-", name="display(Markdown) 16 times a second / ours", value=at_16_hz)
    yield Figure(
        goal="G10", name="bytes of 1 MB / bytes of 100 KB", value=large.bytes / small.bytes, at_most=11
    )
    yield Figure(goal="G10", name="messages per second", value=small.messages_per_s, at_most=30)
    yield Figure(goal="G10", name="kernel CPU seconds, 100 KB", value=small.cpu_s, at_most=1)
    for kind, text in blocks(100_000).items():
        run = stream(text)
        yield Figure(
            goal="G11", name=f"one {kind}: bytes per payload byte", value=run.bytes / run.payload, at_most=10
        )
        yield Figure(
            goal="G11", name=f"one {kind}: CPU / stream time", value=run.cpu_s / run.stream_s, at_most=0.15
        )
        yield Figure(goal="G11", name=f"one {kind}: longest gap, s", value=run.longest_gap_s, at_most=0.25)
