"""One background thread with its own event loop: where runs live that must outlast a cell (view.md 1)."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["Portal", "get_portal"]

T = TypeVar("T")

STOP_WAIT_S = 1.0


class Portal:
    """A daemon thread that runs an event loop until `stop`; work is handed in from any thread.

    A daemon thread of our own, since a pool's threads are joined before exit handlers run: a run that is
    still streaming would keep the interpreter from ending.
    """

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._work, name="deuz-nb", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"<Portal {'running' if self.is_running else 'stopped'}>"

    @property
    def is_running(self) -> bool:
        """Whether work can still be handed in."""
        return self._thread.is_alive() and not self.loop.is_closed()

    @property
    def is_here(self) -> bool:
        """Whether the caller is on the portal's own thread."""
        return threading.current_thread() is self._thread

    def submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run the coroutine that `work` makes on the portal's loop."""
        return asyncio.run_coroutine_threadsafe(work(), self.loop)

    def stop(self) -> None:
        """Cancel what runs, wait a moment for it to close its connections, and end the thread."""
        if not self.is_running or self.is_here:
            return
        ending = asyncio.run_coroutine_threadsafe(self._cancel_all(), self.loop)
        with contextlib.suppress(Exception):
            ending.result(STOP_WAIT_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(STOP_WAIT_S)

    async def _cancel_all(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _work(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        finally:
            self.loop.close()


_lock = threading.Lock()
_portals: dict[int, Portal] = {}


def get_portal() -> Portal:
    """The process's portal, started on first use; a forked child gets its own."""
    with _lock:
        portal = _portals.get(os.getpid())
        if portal is None or not portal.is_running:
            portal = _portals[os.getpid()] = Portal()
            atexit.register(portal.stop)
        return portal
