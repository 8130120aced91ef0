"""What other programs rely on: the names, what importing costs, and that README tells them all."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import deuz_nb

ROOT = Path(__file__).resolve().parents[1]


def test_every_public_name_is_there_and_listed() -> None:
    assert dir(deuz_nb) == sorted(deuz_nb.__all__)
    assert all(getattr(deuz_nb, name) is not None for name in deuz_nb.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        deuz_nb.no_such_name  # noqa: B018  # type: ignore[attr-defined]


def test_the_readme_lists_the_public_names() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    section = text.split("## API", 1)[1].split("\n## ", 1)[0]
    listed = re.findall(r"^\| `([a-zA-Z_]+)", section, flags=re.MULTILINE)
    assert sorted(listed) == sorted(name for name in deuz_nb.__all__ if name != "__version__")


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(' '.join(sorted({{n.partition('.')[0] for n in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = {"pandas", "IPython", "ipywidgets", "genai_prices", "httpx", "pydantic", "anyio", "nest_asyncio"}
    assert not loaded_by("import deuz_nb") & heavy


def test_a_call_loads_neither_pandas_nor_the_notebook() -> None:
    heavy = {"pandas", "IPython", "ipywidgets", "nest_asyncio"}
    run = "import deuz_nb; deuz_nb.stream_chat(deuz_nb.model('replay:cove', speed=None)).wait(30)"
    assert not loaded_by(run) & heavy


def test_nest_asyncio_is_never_applied_by_importing() -> None:
    rooms = "import deuz_nb.notebook, deuz_nb.api, deuz_nb.frames"
    assert "nest_asyncio" not in loaded_by(rooms)
