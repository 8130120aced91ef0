"""End to end (G5): a recorded answer over loopback HTTP to parts, against the vendors' own SDKs.

The server is a child process, so the clock counts only what the reading side costs.  The SDKs read through
the cheapest streaming call they have.  `python -m tests.bench.bench_providers` is the server.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from deuz_nb.providers import parser
from tests.bench.harness import Case

EVENTS = 20_000
SENT_AT_ONCE = 16 * 1024
WORDS = [
    "the",
    "tide",
    "comes",
    "in",
    "twice",
    "a",
    "day,",
    "and",
    "goes",
    "out",
    "again;",
    "“slowly”",
    "–",
    "水",
]


def anthropic_body() -> bytes:
    """A Messages stream of one long text block."""
    usage = '{"input_tokens":21,"cache_read_input_tokens":0,"output_tokens":%d}'
    start = (
        '{"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"claude-fable",'
        f'"content":[],"stop_reason":null,"stop_sequence":null,"usage":{usage % 1}}}}}'
    )
    block = '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}'
    delta = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s "}}'
    ending = (
        '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},'
        f'"usage":{usage % EVENTS}}}'
    )
    frames = [("message_start", start), ("content_block_start", block)]
    frames += [("content_block_delta", delta % WORDS[n % len(WORDS)]) for n in range(EVENTS)]
    frames += [("content_block_stop", '{"type":"content_block_stop","index":0}')]
    frames += [("message_delta", ending), ("message_stop", '{"type":"message_stop"}')]
    return "".join(f"event: {name}\ndata: {data}\n\n" for name, data in frames).encode()


def chat_body() -> bytes:
    """A chat completions stream of one long text."""
    head = '{"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1750000000,"model":"gpt-5.6",'
    head += '"service_tier":"default","system_fingerprint":"fp_0123",'
    delta = (
        head
        + '"choices":[{"index":0,"delta":{"content":"%s "},"logprobs":null,"finish_reason":null}],"usage":null}'
    )
    ending = head + '"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}'
    usage = '"choices":[],"usage":{"prompt_tokens":21,"completion_tokens":%d,"total_tokens":%d}}'
    frames = [delta % WORDS[n % len(WORDS)] for n in range(EVENTS)]
    frames += [ending, head + usage % (EVENTS, EVENTS + 21), "[DONE]"]
    return "".join(f"data: {frame}\n\n" for frame in frames).encode()


PATHS: dict[str, Callable[[], bytes]] = {
    "/v1/messages": anthropic_body,
    "/v1/chat/completions": chat_body,
}


def serve() -> None:
    """Answer every POST with its path's stream; the port is printed first."""
    bodies = {path: make() for path, make in PATHS.items()}

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            body = bodies[self.path]
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for start in range(0, len(body), SENT_AT_ONCE):
                piece = body[start : start + SENT_AT_ONCE]
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    print(server.server_port, flush=True)
    server.serve_forever()


def cases() -> Iterator[Case]:
    child = subprocess.Popen([sys.executable, "-m", __name__], stdout=subprocess.PIPE, text=True)
    atexit.register(child.kill)
    assert child.stdout is not None
    base = f"http://127.0.0.1:{int(child.stdout.readline())}"
    loop = asyncio.new_event_loop()
    atexit.register(loop.close)
    yield Case(
        goal="G5",
        name="chat completions over loopback",
        ours=_ours(loop, "openai-chat", base + "/v1/chat/completions"),
        peers={"openai": _openai(base)},
        at_least=20,
        rounds=5,
    )
    yield Case(
        goal="G5",
        name="messages over loopback",
        ours=_ours(loop, "anthropic", base + "/v1/messages"),
        peers={"anthropic": _anthropic(base)},
        at_least=5,
        rounds=5,
    )


def _ours(loop: asyncio.AbstractEventLoop, wire: str, url: str) -> Callable[[], object]:
    httpx: Any = importlib.import_module("httpx")
    client = httpx.AsyncClient(trust_env=False)

    async def read() -> int:
        machine = parser(wire)
        count = 0
        async with client.stream("POST", url, json={"stream": True}) as response:
            async for chunk in response.aiter_raw():
                for _ in machine.receive(chunk):
                    count += 1
        for _ in machine.close():
            count += 1
        assert count == EVENTS + 1
        return count

    return lambda: loop.run_until_complete(read())


def _openai(base: str) -> Callable[[], object] | None:
    try:
        openai: Any = importlib.import_module("openai")
    except ImportError:
        return None
    client = openai.OpenAI(api_key="none", base_url=base + "/v1", max_retries=0)

    def read() -> int:
        count = 0
        stream = client.chat.completions.create(
            model="gpt-5.6", messages=[{"role": "user", "content": "Hi"}], stream=True
        )
        for _ in stream:
            count += 1
        assert count == EVENTS + 2
        return count

    return read


def _anthropic(base: str) -> Callable[[], object] | None:
    try:
        anthropic: Any = importlib.import_module("anthropic")
    except ImportError:
        return None
    client = anthropic.Anthropic(api_key="none", base_url=base, max_retries=0)

    def read() -> int:
        count = 0
        stream = client.messages.create(
            model="claude-fable", max_tokens=9, messages=[{"role": "user", "content": "Hi"}], stream=True
        )
        for _ in stream:
            count += 1
        assert count == EVENTS + 5
        return count

    return read


if __name__ == "__main__":
    serve()
