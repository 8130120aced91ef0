"""The notebooks are tests: they are run in static mode, in which every output is the same each time."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup() -> Generator[None]:
    """The kernel of a notebook is started in here, and takes the variable along; other tests do not see it."""
    os.environ["DEUZ_NB_STATIC"] = "1"
    try:
        yield
    finally:
        del os.environ["DEUZ_NB_STATIC"]
