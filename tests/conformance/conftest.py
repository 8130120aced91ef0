"""Prints how many vector lines were checked, and the choices made on lines that bind nobody."""

from __future__ import annotations

from typing import Any

from tests.conformance._vectors import CHECKED, CHOICES


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if not CHECKED:
        return
    terminalreporter.section("conformance lines checked")
    for name, count in sorted(CHECKED.items()):
        terminalreporter.write_line(f"{name}: {count}")
    for name, choice in sorted(CHOICES.items()):
        terminalreporter.write_line(f"not binding: {name}: {choice}")
