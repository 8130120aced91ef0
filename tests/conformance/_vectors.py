"""Where the conformance vectors are, and how many of their lines were checked.

Every directory named in DEUZ_NB_VECTORS (path-separated) is read; the default is the folder `shared/vectors`
beside the checkout.  A missing file or folder is a skip with a reason, never a silent pass.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECKED: Counter[str] = Counter()
"""Lines checked per file name: filled by `note_checked`, printed by the terminal summary in conftest."""
CHOICES: dict[str, str] = {}
"""Non-binding line -> what this project chose there; printed by the terminal summary."""


def directories() -> list[Path]:
    """The vector directories that exist, in the order given."""
    named = os.environ.get("DEUZ_NB_VECTORS")
    paths = [Path(p) for p in named.split(os.pathsep) if p] if named else [ROOT.parent / "shared" / "vectors"]
    return [p for p in paths if p.is_dir()]


def lines(file_name: str) -> list[Any]:
    """Parametrize values for every line of `file_name` in every directory; a skip if there is none."""
    found: list[Any] = []
    for folder in directories():
        path = folder / file_name
        if not path.is_file():
            continue
        for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
            if text.strip():
                case = json.loads(text)
                label = str(case.get("id") or case.get("name") or f"{path.stem}-{number}")
                found.append(pytest.param(case, id=label))
    if not found:
        skip = pytest.mark.skip(reason=f"no {file_name} in DEUZ_NB_VECTORS or ../shared/vectors")
        return [pytest.param(None, marks=skip, id="absent")]
    return found


def note_checked(file_name: str, case: dict[str, Any], choice: str | None = None) -> None:
    """Count one checked line; `choice` says what this project does where the line is not binding."""
    CHECKED[file_name] += 1
    if choice is not None:
        CHOICES[f"{file_name} {case.get('id') or case.get('name')}"] = choice
