"""resume.jsonl, kind `read`: the body of a UI stream read to its parts."""

from __future__ import annotations

import base64
import random
from itertools import pairwise
from typing import Any

import pytest

from deuz_nb.wire.reader import Reader, http_error_part
from tests.conformance._vectors import lines, note_checked

pytestmark = pytest.mark.protocol

FILE = "resume.jsonl"
CHOICES = {
    "read-malformed": "left out and counted in Reader.malformed",
    "read-mid-frame-eof": "the cut frame is counted; no end mark was seen (is_done False)",
    "read-no-done": "the parts so far; no end mark was seen (is_done False)",
    "read-scalars": "left out and counted: parts are objects",
}


def read(case: dict[str, Any], chunks: list[bytes]) -> tuple[list[Any], str | None, Reader]:
    """The parts yielded and the transport's error: the driver around the sans-IO reader."""
    response, options = case["response"], case.get("options", {})
    reader = Reader()
    if options.get("onHttpError") != "ignore":
        failed = http_error_part(response["status"], response.get("statusText", ""))
        if failed is not None:
            return [failed], None, reader
    parts: list[Any] = []
    for chunk in chunks:
        parts += [record.part for record in reader.receive(chunk)]
    if "drop" in response:
        return parts, response["drop"], reader
    return parts + [record.part for record in reader.close()], None, reader


def cases() -> list[Any]:
    return [p for p in lines(FILE) if p.values[0] is None or p.values[0].get("kind") == "read"]


@pytest.mark.parametrize("case", cases())
def test_body_reads_to_the_pinned_parts(case: dict[str, Any]) -> None:
    chunks = [base64.b64decode(chunk) for chunk in case["response"]["chunks_b64"]]
    whole = b"".join(chunks)
    parts, error, reader = read(case, chunks)
    for cut in [[whole[n : n + 1] for n in range(len(whole))], *random_cuts(whole)]:
        again, _, other = read(case, cut)
        assert (again, other.malformed, other.is_done) == (parts, reader.malformed, reader.is_done)
    deviation = case.get("deviation", {})
    expected = {**case, **deviation.get("better", {})}
    if deviation and "better" not in deviation:
        note_checked(FILE, case, CHOICES.get(case["id"], "malformed frames are left out and counted"))
        return
    note_checked(FILE, case)
    message = (expected.get("error") or {}).get("message")
    assert (parts, error) == (expected["yielded"], message)


def random_cuts(whole: bytes) -> list[list[bytes]]:
    dice = random.Random(len(whole))
    found: list[list[bytes]] = []
    for _ in range(50):
        marks = sorted({0, len(whole), *(dice.randrange(len(whole) + 1) for _ in range(4))})
        found.append([whole[a:b] for a, b in pairwise(marks)])
    return found


def test_unreadable_frames_are_counted_not_lost_silently() -> None:
    reader = Reader()
    frames = [b"{broken", b"null", b"5", b'{"type":"start","messageId":"m"}', b'{"type":"te']
    body = b"\n\n".join(b"data: " + frame for frame in frames)
    records = reader.receive(body) + reader.close()
    assert ([record.part for record in records], reader.malformed, reader.is_done) == (
        [{"type": "start", "messageId": "m"}],
        4,
        False,
    )
