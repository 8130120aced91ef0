"""A usage frame of many transcript files (G8)."""

from __future__ import annotations

import functools
import importlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from deuz_nb.frames import usage_frame
from tests.bench.bench_fold import WORDS, frames_of
from tests.bench.harness import Case

FILES = int(os.environ.get("DEUZ_NB_BENCH_FILES", "2000"))
SQL = """
SELECT run, (part ->> 'step')::BIGINT AS step, part ->> 'modelId' AS model,
       fresh + cache_read + cache_write + cache_write_long AS input_tokens, fresh AS input_uncached_tokens,
       cache_read AS cache_read_tokens, cache_write AS cache_write_tokens,
       cache_write_long AS cache_write_long_tokens, output AS output_tokens, reasoning AS reasoning_tokens,
       audio AS audio_tokens, fresh + cache_read + cache_write + cache_write_long + output AS total_tokens,
       (part ->> 'costUsd')::DOUBLE AS cost_usd, part ->> 'finishReason' AS finish_reason
FROM (SELECT *, (usage ->> 'inputTokens')::BIGINT AS fresh, (usage ->> 'outputTokens')::BIGINT AS output,
             (usage ->> 'cachedReadTokens')::BIGINT AS cache_read,
             (usage ->> 'cacheWriteTokens')::BIGINT AS cache_write,
             (usage ->> 'cacheWrite1hTokens')::BIGINT AS cache_write_long,
             (usage ->> 'reasoningTokens')::BIGINT AS reasoning, (usage ->> 'audioTokens')::BIGINT AS audio
      FROM (SELECT filename AS run, substr(line, 7)::JSON AS part, part -> 'usage' AS usage
            FROM (SELECT filename, unnest(string_split(content, chr(10))) AS line
                  FROM read_text('{pattern}'))
            WHERE line LIKE '{lines}')
      WHERE part ->> 'type' = 'step-finish')
ORDER BY run, step
"""


def run_parts(number: int) -> list[Any]:
    """An agent run of three steps: reasoning and a tool call, another, then an answer of a few paragraphs."""
    parts: list[Any] = []
    for step in range(3):
        call = {"toolCallId": f"call-{step}", "toolName": "tide_table"}
        usage = {
            "inputTokens": 300 + number % 97,
            "outputTokens": 120 + step,
            "reasoningTokens": 40,
            "cachedReadTokens": 2048 * step,
            "cacheWriteTokens": 512,
            "cacheWrite1hTokens": 0,
            "totalTokens": 932 + number % 97 + step + 2048 * step,
        }
        parts.append({"type": "step-start", "stepIndex": step})
        parts += [{"type": "reasoning-delta", "text": WORDS[n % len(WORDS)]} for n in range(12)]
        length = 90 if step == 2 else 8
        parts += [{"type": "text-delta", "text": WORDS[n % len(WORDS)]} for n in range(length)]
        if step < 2:
            parts += [
                {"type": "tool-state", **call, "state": "executing"},
                {"type": "tool-call", **call, "input": {"station": "cala-serena", "days": number % 7}},
                {"type": "tool-result", **call, "output": {"high": ["06:12", "18:40"], "m": 1.2}},
            ]
        ending = {"usage": usage, "modelId": "claude-sonnet-5-5", "costUsd": 0.0031 + step / 1000}
        reason = "stop" if step == 2 else "tool_calls"
        parts.append({"type": "step-finish", "stepIndex": step, "finishReason": reason, **ending})
    return [*parts, {"type": "finish", "finishReason": "stop", "usage": usage}]


def cases() -> Iterator[Case]:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            Path(folder, f"run-{number:05}.sse").write_bytes(b"".join(frames_of(run_parts(number))))
        pattern = f"{folder}/*.sse"
        naive = functools.partial(_naive, folder)
        reading = functools.partial(_read_only, folder)
        for name, peer, at_least, at_most in (
            ("json.loads + json_normalize", naive, 8.0, None),
            ("a read-only pass", reading, None, 10.0),
            ("DuckDB read_text", _duckdb(pattern, "data: {%"), None, 0.8),
            ("DuckDB read_text, only lines with usage", _duckdb(pattern, 'data: {%"usage":%'), None, None),
        ):
            yield Case(
                goal="G8" if at_least or at_most else "-",
                name=f"usage frame of {FILES} files / {name}",
                ours=functools.partial(usage_frame, pattern),
                peers={name: peer},
                at_least=at_least,
                at_most=at_most,
                rounds=5,
            )


def _naive(folder: str) -> object:
    """What a user would write."""
    pandas: Any = importlib.import_module("pandas")
    found: list[Any] = []
    for path in sorted(Path(folder).glob("*.sse")):
        lines = path.read_text(encoding="utf-8").splitlines()
        parts = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
        table = pandas.json_normalize(parts)
        found.append(table[table["type"] == "step-finish"].assign(run=str(path)))
    return pandas.concat(found, ignore_index=True)


def _read_only(folder: str) -> object:
    return sum(len(path.read_bytes()) for path in sorted(Path(folder).glob("*.sse")))


def _duckdb(pattern: str, lines: str) -> Callable[[], object] | None:
    try:
        duckdb: Any = importlib.import_module("duckdb")
    except ImportError:
        return None
    # The columns of a usage frame that transcripts can fill.
    return lambda: duckdb.sql(SQL.format(pattern=pattern, lines=lines)).df()
