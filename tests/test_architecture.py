"""The house rules, proved from the syntax tree: room order, purity, no ambient clock, environment or chance."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "deuz_nb"

# Rooms in import order: a module may import its own room and rooms of a lower rank.
RANKS = {
    "_version": 0,
    "errors": 0,
    "jsontext": 0,
    "redact": 0,
    "parts": 1,
    "sse": 2,
    "providers": 3,
    "wire": 3,
    "fold": 3,
    "recordings": 3,
    "prices": 4,
    "engine": 5,
    "journal": 6,
    "net": 7,
    "notebook": 8,
    "frames": 8,
    "api": 9,
    "testing": 10,
}
FIRST_IMPURE = RANKS["engine"]
AMBIENT = {
    "asyncio", "anyio", "httpx", "os", "random", "secrets", "socket", "subprocess", "tempfile", "threading",
    "time", "uuid",
}  # fmt: skip
ONLY_IN = {
    "httpx": {"net", "api"},
    "IPython": {"notebook"},
    "ipywidgets": {"notebook"},
    "nest_asyncio": {"notebook"},
    "pandas": {"frames", "notebook"},
    "genai_prices": {"prices"},
}


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the room"
            if node.module == "deuz_nb":
                for alias in node.names:
                    yield node, f"deuz_nb.{alias.name}"
            else:
                yield node, node.module or ""


def type_only(tree: ast.Module) -> set[int]:
    """Lines inside `if TYPE_CHECKING:`, which are never run."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for child in node.body:
                lines.update(range(child.lineno, (child.end_lineno or child.lineno) + 1))
    return lines


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_rooms_to_its_left(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    own = room_of(path)
    assert own in RANKS, f"{own} is no room of DESIGN.md"
    skipped = type_only(tree)
    for node, name in imports(tree):
        if not name.startswith("deuz_nb") or node.lineno in skipped:  # type: ignore[attr-defined]
            continue
        other = name.removeprefix("deuz_nb").lstrip(".").partition(".")[0]
        if not other or other == own or other == "__version__":
            continue
        assert RANKS[other] < RANKS[own], (
            f"{own} imports {other}, which is not to its left (line {node.lineno})"
        )  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "path",
    [path for path in modules() if RANKS.get(room_of(path), 99) < FIRST_IMPURE],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_rooms_left_of_the_engine_are_pure(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        assert not isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith), (
            f"line {node.lineno} is async"  # type: ignore[attr-defined]
        )
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("open", "input", "print"), f"line {node.lineno} does I/O"
    found = {name.partition(".")[0] for _, name in imports(tree)}
    assert not found & AMBIENT, f"not pure: {found & AMBIENT}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_heavy_packages_stay_in_their_rooms(path: Path) -> None:
    own = room_of(path)
    for _, name in imports(ast.parse(path.read_text("utf-8"))):
        rooms = ONLY_IN.get(name.partition(".")[0])
        assert rooms is None or own in rooms, f"{name} belongs to {rooms}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_only_api_reads_the_environment(path: Path) -> None:
    if room_of(path) == "api":
        return
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        is_environment = isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
        assert not is_environment, f"line {node.lineno} reads the environment"  # type: ignore[attr-defined]


def test_pandas_is_imported_inside_functions_only() -> None:
    for path in modules():
        tree = ast.parse(path.read_text("utf-8"))
        skipped = type_only(tree)
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno not in skipped:
                names = (
                    [alias.name for alias in node.names]
                    if isinstance(node, ast.Import)
                    else [node.module or ""]
                )
                assert not any(name.partition(".")[0] == "pandas" for name in names), path


def test_every_module_says_what_it_is() -> None:
    silent = [str(path) for path in modules() if not ast.get_docstring(ast.parse(path.read_text("utf-8")))]
    assert silent == []
