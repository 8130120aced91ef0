"""A JupyterLab of our own on loopback, driven by the system's Chromium."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
TOKEN = "of-this-test-only"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LIMIT_MS = 60_000


def missing() -> str | None:
    """Why there can be no browser tests here; None when there can."""
    if not Path(CHROMIUM).exists():
        return "no Chromium here (apt install chromium)"
    for name in ("jupyterlab", "playwright", "ipykernel"):
        if importlib.util.find_spec(name) is None:
            return f"{name} is not installed (pip install -e '.[test]')"
    return None


class Server:
    """A JupyterLab server with a private configuration below `home`; notebooks live in `work`."""

    def __init__(self, home: Path) -> None:
        self.work = home / "work"
        self.work.mkdir(parents=True)
        config = home / "config"
        (config / "labconfig").mkdir(parents=True)
        disabled = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
        (config / "labconfig" / "page_config.json").write_text(json.dumps(disabled))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        private = {
            name: str(home / name.lower())
            for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTERLAB_SETTINGS_DIR")
        }
        private |= {"JUPYTER_CONFIG_DIR": str(config), "JUPYTERLAB_WORKSPACES_DIR": str(home / "spaces")}
        env = {k: v for k, v in os.environ.items() if k != "DEUZ_NB_STATIC"} | private
        self._log = (home / "server.log").open("wb")
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "jupyterlab",
                "--no-browser",
                "--ip=127.0.0.1",
                f"--port={self.port}",
                f"--IdentityProvider.token={TOKEN}",
                f"--ServerApp.root_dir={self.work}",
                "--expose-app-in-browser",
                "--KernelManager.transport=ipc",
                "--allow-root",
            ],
            env=env,
            stdout=self._log,
            stderr=self._log,
        )
        self._await_answer()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _await_answer(self) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/api?token={TOKEN}", timeout=2):
                    return
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise
                time.sleep(0.1)

    def notebook(self, name: str, cells: Sequence[str]) -> Path:
        """A new notebook with code cells."""
        path = self.work / f"{name}.ipynb"
        made = [
            {
                "cell_type": "code",
                "id": f"c{n}",
                "metadata": {},
                "source": cell,
                "outputs": [],
                "execution_count": None,
            }
            for n, cell in enumerate(cells)
        ]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        content = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
        path.write_text(json.dumps(content))
        return path

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(20)
        self._log.close()


class Lab:
    """One page with one notebook open; remembers what should not happen."""

    def __init__(self, page: Any, server: Server) -> None:
        self.page = page
        self.server = server
        self.faults: list[str] = []
        self.strangers: list[str] = []
        page.set_default_timeout(LIMIT_MS)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", self._note_request)
        page.on("dialog", self._note_dialog)

    def _note_dialog(self, dialog: Any) -> None:
        self.faults.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _note_request(self, request: Any) -> None:
        if not request.url.startswith(
            (self.server.url, self.server.url.replace("http", "ws"), "data:", "blob:")
        ):
            self.strangers.append(request.url)

    def open(self, name: str, *, theme: str = "JupyterLab Light", with_kernel: bool = True) -> None:
        """Open a notebook, alone, and wait until its kernel is idle."""
        self.page.goto(f"{self.server.url}/lab/tree/{name}.ipynb?token={TOKEN}&reset")
        self.page.wait_for_function(
            "() => window.jupyterapp && window.jupyterapp.shell.currentWidget?.content"
        )
        self.page.evaluate(
            """async theme => { const app = window.jupyterapp; await app.restored;
            await app.commands.execute('apputils:change-theme', {theme});
            app.shell.collapseLeft(); app.shell.collapseRight?.(); }""",
            theme,
        )
        if with_kernel:
            self.await_idle()

    def await_idle(self) -> None:
        self.page.wait_for_function(
            """() => { const s = window.jupyterapp.shell.currentWidget.sessionContext;
            return s.session?.kernel?.connectionStatus === 'connected' && s.session.kernel.status === 'idle'; }"""
        )

    def run_all(self) -> None:
        """Run every cell; returns when all of them have returned."""
        self.command("notebook:run-all-cells")

    def command(self, name: str) -> None:
        self.page.evaluate(
            """([name, limit]) => Promise.race([window.jupyterapp.commands.execute(name),
            new Promise((_, no) => setTimeout(() => no(new Error('timeout: ' + name)), limit))])""",
            [name, LIMIT_MS],
        )

    def output(self, number: int = 0) -> Any:
        """The output area of a code cell."""
        return self.page.locator(".jp-CodeCell").nth(number).locator(".jp-OutputArea")

    def save(self) -> None:
        self.command("docmanager:save")

    def check(self) -> None:
        """Nothing left the machine and no script failed."""
        assert self.strangers == []
        assert self.faults == []
