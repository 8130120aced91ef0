"""frame.jsonl: canonical parts frame to the pinned bytes, on both wires."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from deuz_nb.parts.usage import JSON
from deuz_nb.wire.framer import ABSENT, Framer, PendingWrite, Validator
from deuz_nb.wire.reader import Reader
from tests.conformance._vectors import lines, note_checked

pytestmark = pytest.mark.protocol

FILE = "frame.jsonl"


def number(value: JSON) -> JSON:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("not a number")
    return value


async def async_number(value: JSON) -> JSON:
    await asyncio.sleep(0)
    return number(value)


def raises(value: JSON) -> JSON:
    raise RuntimeError(f"secret detail about {value!r}")


async def rejects(value: JSON) -> JSON:
    await asyncio.sleep(0)
    raise RuntimeError(f"secret detail about {value!r}")


VALIDATORS: dict[str, Validator] = {
    "number": number,
    "wrap": lambda value: {"wrapped": value},
    "async-number": async_number,
    "raises": raises,
    "rejects": rejects,
}


def error_of(value: Any) -> object:
    """`{"message": m}` stands for an exception, `{"$plain": {...}}` for a mapping that is none."""
    if isinstance(value, dict):
        return value["$plain"] if "$plain" in value else RuntimeError(value.get("message", ""))
    return value


def canonical(part: Any) -> Any:
    if isinstance(part, dict) and part.get("type") == "error" and "error" in part:
        return {**part, "error": error_of(part["error"])}
    if isinstance(part, dict) and part.get("type") == "sub-agent":
        return {**part, "part": canonical(part["part"])} if "part" in part else part
    return part


async def write(framer: Framer, given: dict[str, Any]) -> bytes:
    frames = framer.write(
        given["name"],
        given.get("payload", ABSENT),
        data_id=given.get("id"),
        is_transient=bool(given.get("transient")),
    )
    if isinstance(frames, PendingWrite):
        try:
            value = await frames.awaitable
        except Exception:
            frames = frames.refuse()
        else:
            frames = frames.accept(value)
    return b"".join(frame.data for frame in frames)


async def body(case: dict[str, Any], wire: Any) -> bytes:
    """The response's bytes: the tiny driver a server puts around the framer."""
    options = case["options"]
    named = {"message_id": options["messageId"]} if "messageId" in options else {}
    schemas = {name: VALIDATORS[kind] for name, kind in options.get("dataSchemas", {}).items()}
    framer = Framer(wire=wire, data_schemas=schemas, **named)
    data = b"".join(frame.data for frame in framer.start())
    for part in case["parts"]:
        if isinstance(part, dict) and "$write" in part:
            data += await write(framer, part["$write"])
        elif isinstance(part, dict) and "$close" in part:
            framer.close_writer()
        elif isinstance(part, dict) and "$throw" in part:
            data += b"".join(frame.data for frame in framer.fail(error_of(part["$throw"])))
            break
        else:
            data += b"".join(frame.data for frame in framer.parts([canonical(part)]))
    return data + b"".join(frame.data for frame in framer.close())


def values(data: bytes) -> list[Any]:
    """The frames as (seq, parsed part), for lines that pin values and not bytes."""
    reader = Reader()
    found = [(record.seq, record.part) for record in reader.receive(data) + reader.close()]
    assert (reader.malformed, reader.is_done) == (0, True)
    return found


@pytest.mark.parametrize("wire", ["v1", "v2"])
@pytest.mark.parametrize("case", lines(FILE))
def test_parts_frame_to_the_pinned_bytes(case: dict[str, Any], wire: str) -> None:
    deviation = case.get("deviation", {})
    expected: dict[str, Any] = {**case, **deviation.get("better", {})}
    is_binding = "better" in deviation or not (deviation or case.get("js_specific"))
    actual = asyncio.run(body(case, wire))
    if wire == "v2":
        note_checked(FILE, case, None if is_binding else "a malformed part is left out, the run goes on")
    if not is_binding or wire not in expected:
        return
    pinned = expected[wire].encode()
    if case.get("compare") == "json":
        assert values(actual) == values(pinned)
    else:
        assert actual == pinned
