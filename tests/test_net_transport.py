"""The real HTTP client against a real server on loopback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from deuz_nb import Timeouts, model, stream_chat
from deuz_nb.engine.result import StreamResult
from deuz_nb.errors import AuthenticationError, CancelledCallError, MisuseError, NetworkError
from tests.chat_bodies import END, HELLO, text

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def framed(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


class Server:
    """Reads one request, sends `opening`, and notes when the client goes away."""

    def __init__(self, opening: bytes, *, stays: bool) -> None:
        self.opening = opening
        self.stays = stays
        self.request = b""
        self.is_left = asyncio.Event()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        )
        self.request = head + await reader.readexactly(size)
        writer.write(self.opening)
        await writer.drain()
        if self.stays:
            await reader.read(1)
            self.is_left.set()
        writer.close()


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[str]:
    async with await asyncio.start_server(server.handle, "127.0.0.1", 0) as running:
        port = running.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1"


def ask(url: str, **options: Any) -> StreamResult:
    return stream_chat(model(url, model="gpt-test", api_key="secret-key", capabilities={}), "Hi", **options)


async def test_body_comes_through_and_the_request_is_json() -> None:
    server = Server(HEAD + framed(HELLO) + b"0\r\n\r\n", stays=False)
    async with serving(server) as url:
        assert await ask(url).text == "Hello"
    head, _, body = server.request.partition(b"\r\n\r\n")
    assert b"POST /v1/chat/completions" in head
    assert b"authorization: bearer secret-key" in head.lower()
    assert b"accept-encoding: identity" in head.lower()
    assert b'"messages":[{"role":"user","content":"Hi"}]' in body


@pytest.mark.parametrize("stop", ["cancel", "break", "drop"])
async def test_server_sees_the_disconnect_when_the_run_is_stopped(stop: str) -> None:
    server = Server(HEAD + framed(text("a")), stays=True)
    async with serving(server) as url:
        result = ask(url)
        if stop == "cancel":
            async for part in result.full_stream:
                if part["type"] == "text-delta":
                    await result.cancel()
        else:
            reader = result.full_stream
            async for part in reader:
                if part["type"] == "text-delta":
                    break
            del reader
        async with asyncio.timeout(10):
            await server.is_left.wait()
        await result.consume()
    assert isinstance(result.error, CancelledCallError)


async def test_done_marker_closes_a_connection_that_the_host_keeps_open() -> None:
    server = Server(HEAD + framed(HELLO), stays=True)
    async with serving(server) as url:
        assert await ask(url).text == "Hello"
        async with asyncio.timeout(10):
            await server.is_left.wait()


async def test_connection_that_breaks_in_the_middle_is_a_network_error() -> None:
    server = Server(HEAD + framed(text("half")), stays=False)
    async with serving(server) as url:
        result = await ask(url).consume()
    assert isinstance(result.error, NetworkError)
    assert result.error.is_retryable
    assert result.turn.text == "half"


async def test_refused_connection_says_what_to_check() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        result = await ask(f"http://127.0.0.1:{port}/v1", max_retries=0).consume()
    assert isinstance(result.error, NetworkError)
    assert "127.0.0.1" in str(result.error)
    assert "check that the server runs" in str(result.error)


async def test_refused_key_is_an_authentication_error_without_the_key() -> None:
    body = b'{"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}'
    head = f"HTTP/1.1 401 Unauthorized\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    server = Server(head + body, stays=False)
    async with serving(server) as url:
        result = await ask(url).consume()
    assert isinstance(result.error, AuthenticationError)
    assert result.error.status == 401
    assert "secret-key" not in repr(result.error) + repr(result) + repr(result.model)


async def test_compressed_answer_is_read_though_none_was_asked_for() -> None:
    import gzip

    body = gzip.compress(HELLO)
    head = (
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    ).encode()
    async with serving(Server(head + body, stays=False)) as url:
        assert await ask(url).text == "Hello"


async def test_address_that_is_none_is_refused() -> None:
    result = await ask("http://127.0.0.1:99999/v1", timeouts=Timeouts(connect_s=2)).consume()
    assert isinstance(result.error, MisuseError)
    assert "check base_url" in str(result.error)


def test_client_is_closed_with_its_loop() -> None:
    # An unclosed client or socket is a ResourceWarning, which fails the test run.
    async def once() -> str:
        async with serving(Server(HEAD + framed(HELLO) + b"0\r\n\r\n", stays=False)) as url:
            return await ask(url).text

    assert [asyncio.run(once()) for _ in range(3)] == ["Hello"] * 3


async def test_end_frame_in_its_own_chunk_is_read() -> None:
    server = Server(HEAD + framed(text("x")) + framed(END) + b"0\r\n\r\n", stays=False)
    async with serving(server) as url:
        assert await ask(url).text == "x"
