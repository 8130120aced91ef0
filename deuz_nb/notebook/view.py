"""A run to watch in a cell's output: returns at once, goes on after the cell, stays as static HTML.

The run and the view's clock live on the background portal.  The clock asks the result for its turn, draws the
page and sends what changed; when the run has ended, the output is replaced by HTML and text that need no
kernel.  Source: view.md 1, 2 and 4.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from deuz_nb.engine.portal import get_portal
from deuz_nb.engine.replay import replay
from deuz_nb.engine.result import StreamResult
from deuz_nb.errors import MisuseError
from deuz_nb.notebook import bridge
from deuz_nb.notebook.blocks import Composer, Page
from deuz_nb.notebook.display import HINT, facts_of, page_bundle
from deuz_nb.notebook.static import page_text
from deuz_nb.notebook.traffic import Allowance, Spent, pause_s
from deuz_nb.wire.transcript import Transcript

if TYPE_CHECKING:
    from deuz_nb.notebook.live import Live

__all__ = ["StreamView"]

_CLOCK_S: Final = 1.0
_CLOSED_AT_ONCE: Final = 20
_WIDGET: Final = "application/vnd.jupyter.widget-view+json"

# One allowance for all views of a kernel.
_allowance: Final = Allowance()


class StreamView:
    """Shows one result, live where somebody watches and static elsewhere.

    Displaying it starts the run and returns at once; in a notebook executed by a program it waits for the
    end.  `await view` and `view.wait()` wait in the cell; an interrupt there stops the run.
    """

    def __init__(self, result: StreamResult, *, origin: Transcript | None = None) -> None:
        self.result = result
        self._origin = result if origin is None else origin
        self._composer = Composer()
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._waiters = 0
        self._display_ids: list[str] = []
        self._clock: Future[None] | None = None

    def __repr__(self) -> str:
        return f"<StreamView of {self.result!r}>"

    def __str__(self) -> str:
        """The whole run as plain text; waits for its end."""
        self._wait_if_possible()
        return page_text(self._page(with_clock=False))

    def __await__(self) -> Generator[Any, Any, None]:
        return self._until_done().__await__()

    def wait(self, timeout_s: float | None = None) -> None:
        """Show the view if it is not shown, and block until the run has ended.

        Raises TimeoutError after `timeout_s`, and the run goes on; a KeyboardInterrupt stops it.
        """
        with self._waiting():
            self._show_once()
            self.result.wait(timeout_s)

    def replay(self, speed: float | None = 1.0) -> StreamView:
        """A new view that tells the ended run once more, at the pace at which it came.

        `speed` 2.0 is twice as fast, None does not wait.  Raises MisuseError while the run still goes on.
        """
        again = replay(self._origin, speed=speed, deps=self.result.deps)
        return StreamView(again, origin=self._origin if isinstance(self._origin, Transcript) else None)

    def _ipython_display_(self) -> None:
        match bridge.front_end():
            case "live" if not self.result.is_done:
                self._display_live()
            case "terminal":
                print(self)
            case _:
                self._display_static()

    async def _until_done(self) -> None:
        with self._waiting():
            self._show_once()
            await self.result.consume()

    @contextmanager
    def _waiting(self) -> Generator[None]:
        """A cell waits: an interrupt stops the run, and the cell itself publishes the end."""
        self._waiters += 1
        try:
            yield
        except (asyncio.CancelledError, KeyboardInterrupt):
            self.result.cancel()
            raise
        finally:
            self._waiters -= 1
            if self.result.is_done:
                self._settle()

    def _show_once(self) -> None:
        if not self._display_ids and bridge.front_end() == "live":
            self._ipython_display_()

    def _page(self, *, with_clock: bool) -> Page:
        with self._lock:
            return self._composer.page(self.result.turn, facts_of(self.result, with_clock=with_clock))

    def _display_live(self) -> None:
        from deuz_nb.notebook.live import Live

        page = self._page(with_clock=True)
        if self._live is None:
            self._live = Live(page, self.result.cancel)
        display_id = bridge.new_display_id()
        note = "A run was in progress here; run the cell again to see it."
        view = {"version_major": 2, "version_minor": 0, "model_id": self._live.model_id}
        bundle = {_WIDGET: view, "text/html": f"<p>{note}</p>", "text/plain": f"{page_text(page)}\n\n{note}"}
        bridge.publish(bundle, display_id)
        self._display_ids.append(display_id)
        if self._clock is None:
            self._clock = self._started_clock(self._live)

    def _display_static(self) -> None:
        display_id = bridge.new_display_id()
        self._display_ids.append(display_id)
        self._wait_if_possible()
        bundle = page_bundle(self._page(with_clock=False))
        if bridge.is_missing_widgets():
            bundle["text/plain"] += f"\n\n{HINT}"
            bundle["text/html"] += f"<p>{HINT}</p>"
        bridge.publish(bundle, display_id)
        if not self.result.is_done:
            self._replace_when_done(display_id)

    def _wait_if_possible(self) -> None:
        """Wait for the end, unless the run lives on the very loop that would be blocked."""
        with contextlib.suppress(MisuseError):
            self.result.wait()

    def _replace_when_done(self, display_id: str) -> None:
        def look() -> None:
            if self.result.is_done:
                stop()
                bridge.publish(page_bundle(self._page(with_clock=False)), display_id, is_update=True)

        stop = self.result.on_change(look)

    def _started_clock(self, live: Live) -> Future[None]:
        """Watch the result, then start it, then tick on the portal in the context of this cell."""
        portal = get_portal()
        changed = asyncio.Event()
        is_told = False

        def tell() -> None:
            nonlocal is_told
            if not is_told:
                is_told = True
                with contextlib.suppress(RuntimeError):
                    portal.loop.call_soon_threadsafe(changed.set)

        async def until_told(limit_s: float) -> None:
            nonlocal is_told
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), limit_s)
            changed.clear()
            is_told = False

        stop = self.result.on_change(tell)
        self.result.start(on_portal=True)
        context = contextvars.copy_context()

        async def run() -> None:
            try:
                await self._tick(live, context, until_told)
            finally:
                stop()

        clock = portal.submit(run)
        clock.add_done_callback(_report)
        return clock

    async def _tick(
        self, live: Live, context: contextvars.Context, until_told: Callable[[float], Any]
    ) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await _allowed(loop)
            is_last = self.result.is_done
            is_whole, spent = context.run(self._update, live)
            _allowance.spend(spent.messages)
            if is_last and is_whole:
                break
            await asyncio.sleep(pause_s(spent))
            if is_whole:
                await until_told(_CLOCK_S)
        if self._waiters == 0:
            context.run(self._settle)
        await _close(live, context)

    def _update(self, live: Live) -> tuple[bool, Spent]:
        began_s = time.thread_time()
        is_whole, spent = live.show(self._page(with_clock=True))
        spent.cpu_s = time.thread_time() - began_s
        return is_whole, spent

    def _settle(self) -> None:
        """Replace the widget by what needs no kernel."""
        if self._live is None:
            return
        bundle = page_bundle(self._page(with_clock=True))
        for display_id in self._display_ids:
            bridge.publish(bundle, display_id, is_update=True)


async def _allowed(loop: asyncio.AbstractEventLoop) -> None:
    """Wait until the views of this kernel together may send again."""
    wait_s = _allowance.wait_s(loop.time())
    while wait_s > 0:
        await asyncio.sleep(wait_s)
        wait_s = _allowance.wait_s(loop.time())


async def _close(live: Live, context: contextvars.Context) -> None:
    """Forget the widgets, few at a time."""
    loop = asyncio.get_running_loop()
    pieces = live.pieces()
    for start in range(0, len(pieces), _CLOSED_AT_ONCE):
        await _allowed(loop)
        batch = pieces[start : start + _CLOSED_AT_ONCE]
        for widget in batch:
            context.run(widget.close)
        _allowance.spend(len(batch))


def _report(clock: Future[None]) -> None:
    if not clock.cancelled() and clock.exception() is not None:
        logging.getLogger("deuz_nb").error("a live view stopped", exc_info=clock.exception())
