"""Shared test settings."""

from __future__ import annotations

import asyncio
import inspect
import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "repo", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repo")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an async test on a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may find a real key, or ask for static output, by accident."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_API_TOKEN")) or name.startswith("DEUZ_NB_STATIC"):
            monkeypatch.delenv(name)
