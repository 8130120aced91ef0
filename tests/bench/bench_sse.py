"""SSE events out of bytes (G1, G2, G3) and their correctness at every cut (G12)."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from deuz_nb.sse import Decoder, Event
from tests.bench.harness import Case, Figure
from tests.test_sse import oracle

ROWS = [
    b"",
    b"data: a\n",
    b"data:b\n",
    b"data\n",
    b"id: 1\n",
    b"id\n",
    b"id: \0\n",
    b"event: e\n",
    b"event\n",
]
ROWS += [
    b": ping\n",
    b"retry: 5\n",
    b"\n",
    b"data: \xe2\x82\n",
    b"data: \xf0\x9f\x9b\xb0\n",
    b"data: c\r",
    b"\r\n",
]
ROWS += [b"\xef\xbb\xbf", b"id: 2\n: ping\n\n", b"x: y\n", b"data: \xe2\x80\xa8\x85\x0b\n"]

Run = Callable[[Iterable[bytes]], Iterable[object]]
"""Reads chunks; the peers' events come one by one, ours in one list per chunk."""


def v2_frames(count: int) -> bytes:
    """UI wire frames of about 70 bytes."""
    return "".join(
        f'id: {n}\ndata: {{"type":"text-delta","text":"word{n % 97} and more "}}\n\n' for n in range(count)
    ).encode()


def anthropic_frames(count: int) -> bytes:
    """Named events of about 150 bytes."""
    data = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word%d and more "}}'
    return "".join(f"event: content_block_delta\ndata: {data % (n % 97)}\n\n" for n in range(count)).encode()


def chat_frames(count: int) -> bytes:
    """Unnamed events of about 240 bytes."""
    data = (
        '{"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1750000000,'
        '"model":"some-model-2025","choices":[{"index":0,"delta":{"content":"word%d and more "},'
        '"logprobs":null,"finish_reason":null}]}'
    )
    return "".join(f"data: {data % (n % 97)}\n\n" for n in range(count)).encode()


def chunked(data: bytes, size: int) -> list[bytes]:
    """`data` in chunks of `size` bytes."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def drop_ours(chunks: Iterable[bytes]) -> int:
    """Look at every event and let it go."""
    receive = Decoder().receive
    count = 0
    for chunk in chunks:
        for _ in receive(chunk):
            count += 1
    return count


def drop(events: Iterable[object]) -> int:
    """Look at every event and let it go."""
    count = 0
    for _ in events:
        count += 1
    return count


def keep_ours(chunks: Iterable[bytes]) -> list[Event]:
    """All events in one list, as the reader of a file has them."""
    decoder = Decoder()
    events: list[Event] = []
    for chunk in chunks:
        events += decoder.receive(chunk)
    return events + decoder.close()


def peers() -> dict[str, Run | None]:
    """The other decoders; None where one is not installed."""
    makers: dict[str, Callable[[], Run]] = {
        "httpx-sse": _httpx_sse,
        "launchdarkly-eventsource": _launchdarkly,
        "sseclient-py": _sseclient,
        "openai": lambda: _sdk("openai"),
        "anthropic": lambda: _sdk("anthropic"),
    }
    found: dict[str, Run | None] = {}
    for name, make in makers.items():
        try:
            found[name] = make()
        except ImportError:
            found[name] = None
    return found


def cases() -> Iterator[Case | Figure]:
    others = peers()
    styles = {"v2": v2_frames(20_000), "anthropic": anthropic_frames(9_000), "chat": chat_frames(5_000)}
    httpx_sse = {"httpx-sse": others["httpx-sse"]}
    for size, limit in ((64, 2.0), (1024, 2.8), (16384, 3.8)):
        yield _streamed("G1", f"v2 frames, {size} B", chunked(styles["v2"], size), httpx_sse, limit)
    yield _kept("G1", "v2 frames, whole file", [styles["v2"]], httpx_sse, 3.8)
    limits = {"v2": (1.2, 1.8, 2.5), "anthropic": (1.2, 1.4, 2.0), "chat": (1.2, 1.05, 1.3)}
    for style, data in styles.items():
        for size, limit in zip((64, 1024, 16384), limits[style], strict=True):
            yield _streamed("G2", f"{style} frames, {size} B", chunked(data, size), others, limit)
    big = b"data: " + b"x" * (1 << 20) + b"\n\n"
    # sseclient-py copies its buffer for every chunk: minutes on a long line.
    linear = {name: run for name, run in others.items() if name != "sseclient-py"}
    yield _streamed("G2", "1 MB events, 64 B", chunked(big * 2, 64), linear, 1.1)
    one = chunked(big, 64)
    eight = chunked(b"data: " + b"x" * (8 << 20) + b"\n\n", 64)
    yield Case(
        goal="G3",
        name="8 MB event / 1 MB event, 64 B",
        ours=lambda: drop_ours(eight),
        peers={"1 MB": lambda: drop_ours(one)},
        at_most=16,
    )
    whole, pieces = [styles["v2"] * 4], chunked(styles["v2"] * 4, 16384)
    yield Case(
        goal="G3",
        name="rate whole / rate 16 KiB",
        ours=lambda: keep_ours(whole),
        peers={"16 KiB": lambda: keep_ours(pieces)},
        at_least=0.85,
    )
    yield Figure(
        goal="G12", name="mismatches with the oracle", value=_mismatches(), at_most=0, note="every cut"
    )


def _streamed(
    goal: str, name: str, chunks: list[bytes], others: Mapping[str, Run | None], limit: float
) -> Case:
    def bound(run: Run | None) -> Callable[[], object] | None:
        return None if run is None else lambda: drop(run(chunks))

    runs = {peer: bound(run) for peer, run in others.items()}
    return Case(goal=goal, name=name, ours=lambda: drop_ours(chunks), peers=runs, at_least=limit)


def _kept(goal: str, name: str, chunks: list[bytes], others: Mapping[str, Run | None], limit: float) -> Case:
    def bound(run: Run | None) -> Callable[[], object] | None:
        return None if run is None else lambda: list(run(chunks))

    runs = {peer: bound(run) for peer, run in others.items()}
    return Case(goal=goal, name=name, ours=lambda: keep_ours(chunks), peers=runs, at_least=limit)


def _mismatches() -> int:
    """How often a stream of odd rows, at every cut and byte by byte, differs from the plain oracle."""
    rng = random.Random(12)
    wrong = 0
    for _ in range(400):
        stream = b"".join(rng.choice(ROWS) for _ in range(rng.randrange(1, 9)))
        wanted = oracle(stream)
        cuts = [[stream[:cut], stream[cut:]] for cut in range(len(stream) + 1)]
        for chunks in [*cuts, [stream[n : n + 1] for n in range(len(stream))]]:
            decoder = Decoder()
            found = [event for chunk in chunks for event in decoder.receive(chunk)] + decoder.close()
            wrong += found != wanted
    return wrong


def _httpx_sse() -> Run:
    httpx: Any = importlib.import_module("httpx")
    source: Any = importlib.import_module("httpx_sse").EventSource

    class Stream(httpx.SyncByteStream):  # type: ignore[misc] - httpx is imported by name
        def __init__(self, chunks: Iterable[bytes]) -> None:
            self.chunks = chunks

        def __iter__(self) -> Iterator[bytes]:
            return iter(self.chunks)

    def run(chunks: Iterable[bytes]) -> Iterable[object]:
        headers = {"content-type": "text/event-stream"}
        return source(httpx.Response(200, headers=headers, stream=Stream(chunks))).iter_sse()

    return run


def _launchdarkly() -> Run:
    reader: Any = importlib.import_module("ld_eventsource.reader")
    return lambda chunks: reader._SSEReader(
        reader._BufferedLineReader.lines_from(chunks)
    ).events_and_comments()


def _sseclient() -> Run:
    client: Any = importlib.import_module("sseclient").SSEClient
    return lambda chunks: client(chunks).events()


def _sdk(package: str) -> Run:
    decoder: Any = importlib.import_module(f"{package}._streaming").SSEDecoder
    return lambda chunks: decoder().iter_bytes(iter(chunks))
