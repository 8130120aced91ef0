"""`python -m tests.bench [name[.goal] ...]`: the table of ratios against the goals of performance.md."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from tests.bench.harness import Row, rows


def main(names: list[str]) -> int:
    """Run the named benchmark modules (all by default); 1 when a goal was missed."""
    known = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    wanted = [name.partition(".")[::2] for name in names] or [(name, "") for name in known]
    unknown = [name for name, _ in wanted if name not in known]
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    missed = 0
    print(f"{'goal':<5}{'met':<5}{'value':>9} {'wanted':<9} what")
    for name, goal in wanted:
        for row in rows(importlib.import_module(f"tests.bench.bench_{name}").cases(), goal or None):
            print(_line(row), flush=True)
            missed += row.is_met is False
    print(f"{missed} missed" if missed else "no goal missed")
    return 1 if missed else 0


def _line(row: Row) -> str:
    met = {True: "yes", False: "NO", None: "-"}[row.is_met]
    detail = f"  ({row.detail})" if row.detail else ""
    return f"{row.goal:<5}{met:<5}{row.value:>9} {row.limit:<9} {row.name}{detail}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
