"""Views in real kernels and outside them: what is displayed, when, and what an interrupt does."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

from deuz_nb import model, stream_chat, stream_view

WIDGET = "application/vnd.jupyter.widget-view+json"
START = """\
from deuz_nb import model, stream_chat, stream_view
result = stream_chat(model("replay:tides", speed={speed}), "Why?")
view = stream_view(result)
"""
LIMIT_S = 30


class Kernel:
    """A kernel whose front end says whether it can answer."""

    def __init__(self) -> None:
        self.manager, self.client = start_new_kernel(kernel_name="python3")

    def start(self, code: str, *, allow_stdin: bool = True) -> str:
        return str(self.client.execute(code, allow_stdin=allow_stdin))

    def messages(self) -> Iterator[dict[str, Any]]:
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            yield self.client.get_iopub_msg(timeout=LIMIT_S)
        raise AssertionError("the kernel said nothing more of interest")

    def until_idle(self, request: str) -> list[dict[str, Any]]:
        """What the kernel says until a request is answered."""
        found: list[dict[str, Any]] = []
        for message in self.messages():
            found.append(message)
            is_own = message["parent_header"].get("msg_id") == request
            if is_own and message["content"].get("execution_state") == "idle":
                return found
        return found

    def run(self, code: str, *, allow_stdin: bool = True) -> list[dict[str, Any]]:
        return self.until_idle(self.start(code, allow_stdin=allow_stdin))

    def said(self, code: str) -> str:
        texts = [m["content"] for m in self.run(code) if m["msg_type"] == "stream"]
        return "".join(content["text"] for content in texts)

    def stop(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    made = Kernel()
    yield made
    made.stop()


def bundles(messages: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [m["content"] for m in messages if m["msg_type"] == kind]


def test_display_returns_at_once_and_the_end_replaces_the_widget(kernel: Kernel) -> None:
    shown = kernel.run(START.format(speed=2.0) + "display(view)")
    (first,) = bundles(shown, "display_data")
    assert sorted(first["data"]) == sorted([WIDGET, "text/html", "text/plain"])
    assert kernel.said("print(result.is_done)") == "False\n"
    for message in kernel.messages():
        if message["msg_type"] == "update_display_data":
            last = message["content"]
            break
    assert sorted(last["data"]) == ["text/html", "text/plain"]
    assert last["transient"] == first["transient"]
    assert "✓ finished" in last["data"]["text/plain"]


@pytest.mark.parametrize("waiting", ["await view", "view.wait()"])
def test_a_waiting_cell_publishes_the_end_itself(kernel: Kernel, waiting: str) -> None:
    request = kernel.start(START.format(speed=8.0) + waiting)
    messages = [m for m in kernel.until_idle(request) if m["parent_header"].get("msg_id") == request]
    (first,) = bundles(messages, "display_data")
    last = bundles(messages, "update_display_data")[-1]
    assert last["transient"] == first["transient"]
    assert "✓ finished" in last["data"]["text/plain"]
    assert bundles(messages, "error") == []


def test_a_finished_result_is_shown_without_a_widget(kernel: Kernel) -> None:
    shown = kernel.run(START.format(speed=None) + "result.wait()\ndisplay(view)")
    (first,) = bundles(shown, "display_data")
    assert sorted(first["data"]) == ["text/html", "text/plain"]


def test_two_views_of_one_result_and_a_view_shown_twice_all_end(kernel: Kernel) -> None:
    shown = kernel.run(
        START.format(speed=8.0) + "display(view); display(view); display(stream_view(result)); view.wait()"
    )
    ids = [content["transient"]["display_id"] for content in bundles(shown, "display_data")]
    assert len(set(ids)) == 3
    ended = {content["transient"]["display_id"] for content in bundles(shown, "update_display_data")}
    for message in kernel.messages():
        if ended >= set(ids):
            break
        if message["msg_type"] == "update_display_data":
            ended.add(message["content"]["transient"]["display_id"])


def test_a_program_that_executes_gets_one_bundle_of_the_whole_run(kernel: Kernel) -> None:
    code = START.format(speed=None) + "display(view)"
    first, second = (kernel.run(code, allow_stdin=False) for _ in range(2))
    (bundle,) = bundles(first, "display_data")
    assert sorted(bundle["data"]) == ["text/html", "text/plain"]
    assert "✓ finished" in bundle["data"]["text/plain"]
    assert bundles(first, "comm_open") == []
    assert bundle["data"] == bundles(second, "display_data")[0]["data"]


def test_a_run_on_the_loop_that_would_be_blocked_is_shown_so_far_and_replaced_at_its_end(
    kernel: Kernel,
) -> None:
    code = (
        START.format(speed=8.0) + "import asyncio\nresult.start(); await asyncio.sleep(0.2)\ndisplay(view)\n"
    )
    shown = kernel.run(code + "_ = await result.consume()", allow_stdin=False)
    assert "● streaming" in bundles(shown, "display_data")[0]["data"]["text/plain"]
    assert "✓ finished" in bundles(shown, "update_display_data")[0]["data"]["text/plain"]


@pytest.mark.parametrize("waiting", ["await view", "view.wait()", "await result.consume()"])
def test_an_interrupt_of_a_waiting_cell_stops_the_run(kernel: Kernel, waiting: str) -> None:
    request = kernel.start(START.format(speed=0.1) + f"print('begun', flush=True)\n{waiting}")
    for message in kernel.messages():
        if message["msg_type"] == ("display_data" if "view" in waiting else "stream"):
            break
    began_s = time.monotonic()
    kernel.manager.interrupt_kernel()
    errors = bundles(kernel.until_idle(request), "error")
    took_s = time.monotonic() - began_s
    assert errors[0]["ename"] in ("KeyboardInterrupt", "CancelledError")
    assert took_s < 2
    if waiting != "await result.consume()":
        assert kernel.said("result.wait(5); print(type(result.error).__name__)") == "CancelledCallError\n"
    else:
        kernel.run("result.cancel(); result.wait(5)")


def test_load_ext_shows_results_and_transcripts_as_last_expressions(kernel: Kernel) -> None:
    shown = kernel.run("%load_ext deuz_nb\n" + START.format(speed=None) + "result", allow_stdin=False)
    assert "✓ finished" in bundles(shown, "display_data")[0]["data"]["text/plain"]
    shown = kernel.run("result.to_transcript()")
    data = bundles(shown, "execute_result")[0]["data"]
    assert sorted(data) == ["text/html", "text/plain"]
    assert "two high tides" in data["text/html"]
    kernel.run("%unload_ext deuz_nb")


def test_without_ipywidgets_the_static_page_says_what_to_install(kernel: Kernel) -> None:
    hide = "import importlib.util as u; found = u.find_spec; u.find_spec = lambda n, *a: None if n == 'ipywidgets' else found(n, *a)\n"
    shown = kernel.run(hide + START.format(speed=None) + "display(view); u.find_spec = found")
    (bundle,) = bundles(shown, "display_data")
    assert "Install ipywidgets" in bundle["data"]["text/plain"]
    assert "✓ finished" in bundle["data"]["text/plain"]


@pytest.mark.parametrize("last", ["display(view)", "display(view)\nawait view"])
def test_nbclient_keeps_the_static_page_and_no_widget_state(last: str) -> None:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(START.format(speed=None) + last)])
    NotebookClient(book, kernel_name="python3", timeout=60).execute()
    (output,) = book.cells[0].outputs
    assert sorted(output.data) == ["text/html", "text/plain"]
    assert "✓ finished" in output.data["text/plain"]
    assert "widgets" not in book.metadata


def test_outside_ipython_a_view_prints_the_whole_run() -> None:
    code = START.format(speed=None) + "from IPython.display import display\ndisplay(view)\nprint(view)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    once, _, twice = done.stdout.partition("✓ finished")
    assert once.startswith("anthropic:")
    assert "✓ finished" in twice
    assert done.stderr == ""


def test_a_view_without_ipython_imports_neither_it_nor_ipywidgets() -> None:
    code = (
        START.format(speed=None)
        + "import sys\nstr(view)\nprint([n for n in ('IPython', 'ipywidgets') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("name", "word"),
    [("tides", "✓ finished"), ("fog", "✕ failed"), ("squall", "✕ failed"), ("storm", "✕ failed")],
)
def test_the_text_of_a_view_says_how_the_run_ended(name: str, word: str) -> None:
    assert word in str(stream_view(stream_chat(model(f"replay:{name}", speed=None), "?"))).split("\n")[0]


def test_a_cancelled_run_that_never_started_is_shown_as_stopped() -> None:
    result = stream_chat(model("replay:tides", speed=None), "?")
    result.cancel()
    assert "■ stopped" in str(stream_view(result))
