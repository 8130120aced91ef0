"""The live view in a real JupyterLab: it streams, stops, and stays in the saved notebook."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab, Server
from tests.test_notebook_hostile import HOSTILE

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


GALLERY = """\
import asyncio
from deuz_nb import model, stream_chat, stream_view
from deuz_nb.engine.result import Source, StreamResult

USAGE = dict(inputTokens=1203, outputTokens=860, reasoningTokens=230, cachedReadTokens=512,
             cacheWriteTokens=0, cacheWrite1hTokens=0, totalTokens=2575)
CALL = dict(toolCallId="call-1", toolName="search_tide_tables")
PARTS = [
    dict(type="step-start", stepIndex=0),
    dict(type="reasoning-delta", text="The question is about **tides**.\\n\\nI should look up the harbour first."),
    dict(type="text-delta", text="I look up the harbour and the forecast.\\n\\n> A quote of a pilot book.\\n"),
    dict(type="tool-call-delta", id="call-1", name="search_tide_tables", argsTextDelta='{"harbour": "Saint-Malo", "da'),
    dict(type="tool-call", **CALL, input={"harbour": "Saint-Malo", "days": 3, "units": "metres"}),
    dict(type="tool-state", **CALL, state="executing"),
    dict(type="tool-result", **CALL, output="\\n".join(f"day {n}: high 06:{n:02} 11.{n} m" for n in range(30))),
    dict(type="tool-state", **CALL, state="complete", outcome="success"),
    dict(type="tool-call", toolCallId="call-2", toolName="delete_logbook", input={"all": True}),
    dict(type="tool-state", toolCallId="call-2", state="error", denied=True, deniedReason="not on my watch",
         outcome="denied"),
    dict(type="tool-call", toolCallId="call-3", toolName="weather", input={}),
    dict(type="tool-result", toolCallId="call-3", toolName="weather", output={"error": "station is offline"},
         isError=True),
    dict(type="step-finish", stepIndex=0, finishReason="tool_calls", usage=USAGE),
    dict(type="step-start", stepIndex=1),
    dict(type="data", name="forecast", payload={"days": [1, 2, 3], "wind": {"from": "W", "knots": 14}}),
    dict(type="sub-agent", agentPath=["pilot"], part=dict(type="text-delta", text="Enter **two hours** before high water.")),
    dict(type="sub-agent", agentPath=["pilot"], part=dict(type="finish", finishReason="stop", usage=USAGE)),
    dict(type="text-delta", text="## Answer\\n\\nHigh water is at **06:12**, `11.4 m`.\\n\\n- [x] tide\\n- [ ] weather\\n\\n"),
    dict(type="plan-update", goal="Plan the passage", tasks=[
        dict(id="1", title="Find the tide", status="completed"),
        dict(id="2", title="Check the weather", status="in_progress"),
        dict(id="3", title="Write the plan", status="pending")]),
    dict(type="activity", message="asked the tide tables"),
    dict(type="activity", message="asked the pilot"),
    dict(type="citation", id="c1", url="https://example.org/almanac", title="Nautical almanac", snippet="Springs."),
    dict(type="source", id="s1", url="https://example.org/almanac", title="Nautical almanac"),
    dict(type="source", id="s2", url="https://example.org/pilot", title="Channel pilot"),
    dict(type="warning", warning=dict(type="unsupported-setting", setting="seed", message="seed is ignored")),
    dict(type="step-finish", stepIndex=1, finishReason="stop", usage=USAGE),
]

async def run(emit):
    for part in PARTS:
        emit([part])
        await asyncio.sleep(0.02)
    await gate.wait()
    emit([dict(type="finish", finishReason="length", usage=USAGE)])

gate = asyncio.Event()
base = stream_chat(model("replay:tides"), "?")
result = StreamResult(Source(run, []), model=base.model, messages=(), message_id="m", deps=base._deps)
display(stream_view(result))
"""
OPEN = "from deuz_nb.engine.portal import get_portal; _ = get_portal().loop.call_soon_threadsafe(gate.set)"
STRANGERS = """() => [...document.querySelectorAll(
'.dz script, .dz iframe, .dz svg, .dz form, .dz input, .dz object, .dz embed, .dz [onerror], .dz [onclick]'
)].map(e => e.outerHTML)"""
WIDTHS = """() => [...document.querySelectorAll('.dz, .dz *')].filter(e => !e.closest('pre,table,math,.dz-table'))
.map(e => e.getBoundingClientRect().right).reduce((a, b) => Math.max(a, b), 0)"""


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_every_kind_of_card_is_drawn_within_the_cell(
    lab: Lab, server: Server, artefacts: Path, theme: str
) -> None:
    server.notebook(f"gallery-{theme}", [GALLERY, OPEN])
    lab.open(f"gallery-{theme}", theme=f"JupyterLab {theme}")
    lab.page.set_viewport_size({"width": 1000, "height": 2000})
    lab.command("notebook:run-cell")
    output = lab.output(0)
    expect(output).to_contain_text("seed is ignored")
    right = lab.page.locator(".jp-OutputArea").first.bounding_box()
    assert lab.page.evaluate(WIDTHS) <= right["x"] + right["width"] + 1
    output.screenshot(path=artefacts / f"cards-live-{theme.lower()}.png")
    lab.command("notebook:move-cursor-down")
    lab.command("notebook:run-cell")
    expect(output.locator(".dz-foot")).to_be_visible()
    output.screenshot(path=artefacts / f"cards-static-{theme.lower()}.png")
    lab.check()


def test_a_saved_notebook_shows_the_answer_without_a_kernel_and_untrusted(
    lab: Lab, server: Server, artefacts: Path
) -> None:
    path = server.notebook("kept", [START.format(speed=None).replace("display(", "await (")])
    lab.open("kept")
    lab.run_all()
    expect(lab.output(0).locator(".dz-foot")).to_be_visible()
    lab.save()
    content = json.loads(path.read_text())
    content["metadata"] = {}
    (server.work / "reopened.ipynb").write_text(json.dumps(content))
    lab.open("reopened", with_kernel=False)
    lab.page.get_by_role("dialog").get_by_role("button", name="No Kernel").click()
    output = lab.output(0)
    expect(output).to_contain_text("two high tides a day")
    expect(output.locator("table")).to_be_visible()
    expect(output.locator(".dz-foot")).to_contain_text("tokens in")
    output.screenshot(path=artefacts / "reopened-untrusted.png")
    lab.check()


def test_hostile_strings_run_nothing_and_fetch_nothing(lab: Lab, server: Server, artefacts: Path) -> None:
    texts = [f"{text}\n\n" for text in HOSTILE if len(text) < 1000 and "\ud800" not in text]
    parts = [{"type": "text-delta", "text": text} for text in texts]
    parts += [
        {"type": "tool-result", "toolCallId": str(n), "toolName": text, "output": text}
        for n, text in enumerate(texts)
    ]
    cell = GALLERY.replace(
        "PARTS = [", f"PARTS = __import__('json').loads({json.dumps(parts)!r})\nOTHERS = ["
    )
    server.notebook("hostile", [cell, OPEN])
    lab.open("hostile")
    lab.run_all()
    output = lab.output(0)
    expect(output.locator(".dz-foot")).to_be_visible()
    assert lab.page.evaluate(STRANGERS) == []
    right = lab.page.locator(".jp-OutputArea").first.bounding_box()
    assert lab.page.evaluate(WIDTHS) <= right["x"] + right["width"] + 1
    output.screenshot(path=artefacts / "hostile.png")
    lab.check()
