"""Numbering, transient parts, data writes and the end of a response."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.errors import MisuseError
from deuz_nb.wire.frame import to_ui
from deuz_nb.wire.framer import Frame, Framer, PendingWrite
from deuz_nb.wire.reader import Reader

pytestmark = pytest.mark.protocol


def text(framed: list[Frame] | PendingWrite) -> str:
    assert isinstance(framed, list)
    return "".join(frame.data.decode() for frame in framed)


def test_a_run_is_numbered_from_start_to_end_mark() -> None:
    framer = Framer(message_id="m")
    frames = (
        framer.start()
        + framer.parts([{"type": "text-delta", "text": "a"}, {"type": "hologram"}])
        + framer.close()
    )
    assert frames == [
        Frame(0, {"type": "start", "messageId": "m"}, b'id: 0\ndata: {"type":"start","messageId":"m"}\n\n'),
        Frame(1, {"type": "text-delta", "text": "a"}, b'id: 1\ndata: {"type":"text-delta","text":"a"}\n\n'),
        Frame(2, {"type": "done"}, b"id: 2\ndata: [DONE]\n\n"),
    ]


def test_v1_numbers_its_journal_but_not_its_bytes() -> None:
    framer = Framer(wire="v1")
    frames = framer.start() + framer.parts([{"type": "cost", "costUsd": 1}]) + framer.close()
    assert [(frame.seq, frame.data[:4]) for frame in frames] == [(0, b"data"), (1, b"data")]


def test_a_later_leg_numbers_on_without_a_second_start() -> None:
    framer = Framer(next_seq=7)
    frames = framer.start() + framer.parts([{"type": "text-delta", "text": "a"}]) + framer.close()
    assert [frame.seq for frame in frames] == [7, 8]


def test_a_transient_part_takes_no_number() -> None:
    framer = Framer()
    assert (
        text(framer.write("p", {"n": 1}, is_transient=True))
        == 'data: {"type":"data-p","payload":{"n":1}}\n\n'
    )
    assert (
        text(framer.write("p", 2, data_id="k")) == 'id: 0\ndata: {"type":"data-p","id":"k","payload":2}\n\n'
    )


def test_nothing_is_sent_after_the_end() -> None:
    framer = Framer()
    framer.close()
    late = (
        framer.parts([{"type": "text-delta", "text": "a"}]),
        framer.write("p", 1),
        framer.fail("x"),
        framer.close(),
    )
    assert late == ([], [], [], [])


def test_a_closed_writer_writes_nothing_while_the_run_goes_on() -> None:
    framer = Framer()
    framer.close_writer()
    assert framer.write("p", 1) == []
    assert (
        text(framer.parts([{"type": "text-delta", "text": "a"}]))
        == 'id: 0\ndata: {"type":"text-delta","text":"a"}\n\n'
    )


def test_a_part_that_is_not_json_becomes_a_warning() -> None:
    framer = Framer()
    frames = framer.parts(
        [
            {"type": "tool-result", "toolCallId": "c", "toolName": "t", "output": object()},
            {"type": "text-delta", "text": "on"},
        ]
    )
    assert [frame.part for frame in frames] == [
        {
            "type": "warning",
            "warning": {
                "type": "unserialisable-part",
                "message": "a part of type 'tool-result' could not be sent: it is not JSON",
            },
        },
        {"type": "text-delta", "text": "on"},
    ]
    assert [frame.seq for frame in frames] == [0, 1]


def test_a_data_write_that_is_not_json_is_the_callers_error() -> None:
    with pytest.raises(MisuseError, match=r"data part 'p' is not JSON .* write plain values"):
        Framer().write("p", object())


def test_a_validator_changes_or_refuses_a_payload() -> None:
    def positive(value: Any) -> Any:
        if value < 0:
            raise ValueError("secret")
        return {"n": value}

    framer = Framer(data_schemas={"p": positive})
    assert text(framer.write("p", 1)) == 'id: 0\ndata: {"type":"data-p","payload":{"n":1}}\n\n'
    refused = 'id: 1\ndata: {"type":"error","message":"data part \'p\' failed validation."}\n\n'
    assert text(framer.write("p", -1, is_transient=True)) == refused
    assert text(framer.write("q", -1)) == 'id: 2\ndata: {"type":"data-q","payload":-1}\n\n'


def test_an_awaited_validator_leaves_the_waiting_to_the_driver() -> None:
    async def same(value: Any) -> Any:
        return value

    framer = Framer(data_schemas={"p": same})
    pending = framer.write("p", 1)
    assert isinstance(pending, PendingWrite)
    pending.awaitable.close()  # pyright: ignore
    assert text(pending.accept(2)) == 'id: 0\ndata: {"type":"data-p","payload":2}\n\n'
    assert (
        text(pending.refuse())
        == 'id: 1\ndata: {"type":"error","message":"data part \'p\' failed validation."}\n\n'
    )


# Any canonical parts -> v2 bytes -> read -> equal UI parts.

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
MEMBERS = [
    "text", "signature", "encrypted", "redacted", "providerMetadata", "id", "name", "argsTextDelta",
    "toolCallId", "toolName", "input", "output", "isError", "display", "approvalId", "token", "agentPath",
    "url", "title", "layer", "tokensBefore", "tokensAfter", "stepIndex", "finishReason", "usage", "modelId",
    "costUsd", "error", "payload", "snippet", "score", "state", "denied", "deniedReason", "outcome",
    "deltaUsd", "kind", "limit", "value", "ok", "attempt", "willRetry", "feedback", "goal", "tasks",
    "message", "level", "data", "warning", "from", "to", "reason", "hook", "action",
]  # fmt: skip
TYPES = [
    "text-delta", "reasoning-delta", "tool-call-delta", "tool-call", "tool-result", "tool-approval-request",
    "source", "compaction", "step-start", "step-finish", "finish", "error", "data", "citation",
    "tool-state", "cost", "budget-exceeded", "verify", "plan-update", "activity", "warning", "false-finish",
    "handoff", "guardrail", "hologram",
]  # fmt: skip
PARTS = st.builds(
    lambda kind, members: {"type": kind, **members},
    st.sampled_from(TYPES),
    st.dictionaries(st.sampled_from(MEMBERS), VALUES, max_size=6),
)
WRAPPED = st.builds(lambda part: {"type": "sub-agent", "agentPath": ["a"], "part": part}, PARTS)


@given(st.lists(PARTS | WRAPPED, max_size=10), st.integers(1, 40))
def test_canonical_parts_read_back_as_their_ui_parts(parts: list[Any], size: int) -> None:
    framer = Framer(message_id="m")
    frames = framer.start() + framer.parts(parts) + framer.close()
    data = b"".join(frame.data for frame in frames)
    reader = Reader()
    records = [
        r for n in range(0, len(data), size) for r in reader.receive(data[n : n + size])
    ] + reader.close()
    shown = [part for part in map(to_ui, parts) if part is not None]
    assert as_javascript([record.part for record in records]) == as_javascript(
        [{"type": "start", "messageId": "m"}, *shown]
    )
    assert [record.seq for record in records] == list(range(len(records)))
    assert (reader.is_done, reader.malformed) == (True, 0)


def as_javascript(value: Any) -> Any:
    """The value with JavaScript's idea of equal: every number is a double, text is UTF-16."""
    if isinstance(value, dict):
        return {as_javascript(key): as_javascript(member) for key, member in value.items()}
    if isinstance(value, list):
        return [as_javascript(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass")
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
