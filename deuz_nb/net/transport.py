"""Provider calls over httpx: one client per event loop, bodies as the bytes they came in."""

from __future__ import annotations

import asyncio
import ssl
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import httpx

from deuz_nb import jsontext
from deuz_nb.errors import CallTimeoutError, MisuseError, NetworkError
from deuz_nb.providers.model import Model, ProviderRequest

__all__ = ["HTTPResponse", "HTTPTransport"]


class HTTPResponse:
    """An httpx response behind the engine's protocol."""

    def __init__(self, response: httpx.Response, provider: str) -> None:
        self._response = response
        self._provider = provider

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; look-ups ignore case."""
        return self._response.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives.  Raises NetworkError when the connection breaks."""
        response = self._response
        # Nothing compressed was asked for; a server that compresses all the same is still read.
        is_plain = response.headers.get("content-encoding", "identity") == "identity"
        try:
            async for chunk in response.aiter_raw() if is_plain else response.aiter_bytes():
                yield chunk
        except httpx.HTTPError as error:
            raise NetworkError(
                f"The connection to {self._provider} broke while it answered ({_kind(error)}); call again.",
                is_retryable=True,
                provider=self._provider,
            ) from error


class HTTPTransport:
    """Posts provider requests.

    A client belongs to the event loop it was made on and is closed with it.  `transport` is an httpx transport
    to use instead of the network (recordings, tests).
    """

    def __init__(self, transport: Callable[[Model], httpx.AsyncBaseTransport | None] | None = None) -> None:
        self._transport = transport
        self._ssl: ssl.SSLContext | None = None
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = (
            weakref.WeakKeyDictionary()
        )
        self._holds: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncGenerator[None]] = (
            weakref.WeakKeyDictionary()
        )

    @asynccontextmanager
    async def post(
        self, model: Model, request: ProviderRequest, *, connect_s: float
    ) -> AsyncGenerator[HTTPResponse]:
        """Send the request; leaving the context closes the response and, if it is not at its end, the connection.

        Raises NetworkError, CallTimeoutError (connect), MisuseError for an address that is no URL.
        """
        _check_address(request.url)
        own = self._transport(model) if self._transport is not None else None
        client = httpx.AsyncClient(transport=own) if own is not None else await self._client()
        try:
            built = client.build_request(
                "POST",
                request.url,
                headers={**request.headers, "accept-encoding": "identity"},
                content=jsontext.dumps_bytes(request.body),
                timeout=httpx.Timeout(None, connect=connect_s, pool=connect_s),
            )
            response = await client.send(built, stream=True)
        except (httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise CallTimeoutError(
                f"No connection to {_host(request.url)} within {connect_s:g} s; "
                "raise Timeouts(connect_s=...) to wait longer.",
                phase="connect",
                limit_s=connect_s,
            ) from error
        except httpx.HTTPError as error:
            raise NetworkError(
                f"No answer from {_host(request.url)} ({_kind(error)}); check that the server runs and that the "
                "address and the network are right.",
                is_retryable=True,
                provider=model.provider,
            ) from error
        try:
            yield HTTPResponse(response, model.provider)
        finally:
            await response.aclose()
            if own is not None:
                await client.aclose()

    async def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None or client.is_closed:
            if self._ssl is None:
                self._ssl = httpx.create_ssl_context()
            client = self._clients[loop] = httpx.AsyncClient(verify=self._ssl)
            # An event loop closes its open async generators when it is shut down: this one holds the client.
            hold = self._holds[loop] = _held(client)
            await anext(hold)
        return client


async def _held(client: httpx.AsyncClient) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await client.aclose()


def _check_address(url: str) -> None:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise MisuseError(f"{url!r} is no address ({error}); check base_url.") from error
    if parsed.scheme not in ("http", "https") or not parsed.host or not 0 < (parsed.port or 80) < 65536:
        raise MisuseError(f"{url!r} is no http(s) address; check base_url.")


def _host(url: str) -> str:
    return httpx.URL(url).host or url


def _kind(error: httpx.HTTPError) -> str:
    cause = error.__cause__ or error
    return type(error).__name__ if cause is error else f"{type(error).__name__}: {type(cause).__name__}"
