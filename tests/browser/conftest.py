"""One server for all browser tests; one browser and page each; pictures are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import lab as lab_module
from tests.browser.lab import CHROMIUM, FLAGS, LIMIT_MS, Lab, Server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = lab_module.missing()
    here = Path(__file__).parent
    for item in items:
        if reason is not None and here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("lab"))
    yield made
    made.stop()


@pytest.fixture
def browser() -> Iterator[Any]:
    # Of one test only: while it lives, Playwright's event loop runs on this thread and no other can.
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=LIMIT_MS)

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield made
        made.close()


@pytest.fixture
def lab(browser: Any, server: Server) -> Iterator[Lab]:
    context = browser.new_context(viewport={"width": 1180, "height": 900}, device_scale_factor=1)
    made = Lab(context.new_page(), server)
    yield made
    context.close()


@pytest.fixture(scope="session")
def artefacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures go: DEUZ_NB_ARTEFACTS, or pytest's own folder."""
    given = os.environ.get("DEUZ_NB_ARTEFACTS")
    folder = Path(given) if given else tmp_path_factory.mktemp("artefacts")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
