"""The live view in a real JupyterLab: it streams, stops, and stays in the saved notebook."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab, Server

pytestmark = pytest.mark.browser

START = """\
from deuz_nb import model, stream_chat, stream_view
result = stream_chat(model("replay:tides", speed={speed}), "Why are there two tides a day?")
display(stream_view(result))
"""
AFTER = 'print("the cell after")'


def test_an_answer_streams_after_its_cell_returned_and_stays_as_html(
    lab: Lab, server: Server, artefacts: Path
) -> None:
    path = server.notebook("streaming", [START.format(speed=0.6), AFTER])
    lab.open("streaming")
    lab.run_all()
    output = lab.output(0)
    expect(lab.output(1)).to_contain_text("the cell after")
    expect(output.locator(".dz-head")).to_contain_text("streaming")
    expect(output).to_contain_text("two high tides a day")
    lab.page.screenshot(path=artefacts / "live-light.png")
    expect(output.locator("table")).to_be_visible()
    lab.page.screenshot(path=artefacts / "live-light-2.png")
    expect(output.locator(".dz-foot")).to_be_visible()
    expect(output.locator(".jupyter-widgets")).to_have_count(0)
    lab.page.screenshot(path=artefacts / "finished-light.png")
    lab.save()
    bundle = json.loads(path.read_text())["cells"][0]["outputs"][0]["data"]
    assert sorted(bundle) == ["text/html", "text/plain"]
    assert "widgets" not in json.loads(path.read_text())["metadata"]
    lab.check()


def test_stop_ends_the_run_and_says_so(lab: Lab, server: Server, artefacts: Path) -> None:
    server.notebook("stopping", [START.format(speed=0.2)])
    lab.open("stopping", theme="JupyterLab Dark")
    lab.run_all()
    output = lab.output(0)
    expect(output).to_contain_text("two high tides a day")
    lab.page.screenshot(path=artefacts / "live-dark.png")
    output.locator(".dz-stop").click()
    expect(output.locator(".dz-head")).to_contain_text("stopped")
    expect(output).to_contain_text("not the whole answer")
    lab.page.screenshot(path=artefacts / "stopped-dark.png")
    lab.check()
