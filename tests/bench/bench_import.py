"""What an import costs in a fresh process, beyond the interpreter's own start (G9)."""

from __future__ import annotations

import importlib.util
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator

from tests.bench.harness import Figure

ROUNDS = 15
ADAPTERS = (
    "from deuz_nb.providers import parser\n"
    "for wire in ('anthropic', 'openai-chat', 'openai-responses', 'google'): parser(wire)"
)


def cases() -> Iterator[Figure]:
    yield _figure("import deuz_nb / import httpx", "import deuz_nb", "httpx")
    yield _figure("adapters ready / import openai", ADAPTERS, "openai")


def _figure(name: str, code: str, peer: str) -> Figure:
    if importlib.util.find_spec(peer) is None:
        return Figure(goal="G9", name=name, value=0.0, note=f"{peer} not installed")
    costs: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        bare, ours, theirs = (_cpu_s(what) for what in ("pass", code, f"import {peer}"))
        costs.append((max(ours - bare, 0.0), theirs - bare))
    ratio = statistics.median([ours / theirs for ours, theirs in costs])
    ours_ms, peer_ms = (1000 * statistics.median(column) for column in zip(*costs, strict=True))
    return Figure(
        goal="G9", name=name, value=ratio, at_most=0.4, note=f"ours {ours_ms:.3g} ms, {peer} {peer_ms:.3g} ms"
    )


def _cpu_s(code: str) -> float:
    """CPU seconds of a fresh interpreter that runs `code`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
