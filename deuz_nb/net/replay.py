"""Recordings served through the real HTTP client: the same bytes at the recorded, a given, or no pace."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel
import httpx

from deuz_nb.recordings import Recording

__all__ = ["ReplayTransport"]


class _Body(httpx.AsyncByteStream):
    def __init__(self, recording: Recording, speed: float | None) -> None:
        self._recording = recording
        self._speed = speed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        began = anyio.current_time()
        for at_ms, data in self._recording.chunks:
            if self._speed is not None:
                await anyio.sleep_until(began + at_ms / 1000 / self._speed)
            if data:
                yield data
                # A reader sees the chunk before the next one is there, as on a network.
                await anyio.lowlevel.checkpoint()
        if self._recording.breaks:
            raise httpx.ReadError("the recorded connection broke here")


class ReplayTransport(httpx.AsyncBaseTransport):
    """Answers every request with one recording; `speed` 2.0 is twice as fast, None does not wait at all."""

    def __init__(self, recording: Recording, speed: float | None) -> None:
        self._recording = recording
        self._speed = speed

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The recorded response."""
        return httpx.Response(
            self._recording.status,
            headers=dict(self._recording.headers),
            stream=_Body(self._recording, self._speed),
            request=request,
        )
