"""A run's parts as the frames of one response: numbering, transient parts, data writes, the end mark.

Sans-IO: every method returns the frames to send, in order.  Source: wire.md 1 and 3.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from deuz_nb.errors import MisuseError
from deuz_nb.parts.stream import StreamPart
from deuz_nb.parts.ui import UIPart
from deuz_nb.parts.usage import JSON, JSONObject
from deuz_nb.wire.frame import Wire, encode, encode_done, error_message, is_on_v1, to_ui

__all__ = ["ABSENT", "Frame", "Framer", "PendingWrite", "Validator"]

ABSENT: Final[JSON] = object()
"""A data write without a payload."""

Validator = Callable[[JSON], JSON | Awaitable[JSON]]
"""Takes a data payload and returns what to send (or an awaitable of it); raises to refuse it."""


class Frame(NamedTuple):
    """One frame: `seq` counts all but transient parts (None), on v1 too, where `data` has no id line.

    The end mark is the part `{"type": "done"}`.
    """

    seq: int | None
    part: UIPart
    data: bytes


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A data write whose validator must be awaited; then call `accept(value)` or `refuse()`."""

    awaitable: Awaitable[JSON]
    accept: Callable[[JSON], list[Frame]]
    refuse: Callable[[], list[Frame]]


class Framer:
    """Makes the frames of one response.

    `next_seq` above 0 goes on with an earlier leg's numbers, without a second start.  `data_schemas` maps the
    name of a data part to its validator.  A canonical part that is not JSON becomes a warning.
    """

    def __init__(
        self,
        *,
        wire: Wire = "v2",
        message_id: str = "deuz-msg",
        next_seq: int = 0,
        data_schemas: Mapping[str, Validator] | None = None,
    ) -> None:
        self.wire: Wire = wire
        self.message_id = message_id
        self.next_seq = next_seq
        self.is_closed = False
        self.is_writer_closed = False
        self._schemas = dict(data_schemas or {})

    def start(self) -> list[Frame]:
        """The first frame; none when an earlier leg has sent it."""
        if self.next_seq:
            return []
        return self.send({"type": "start", "messageId": self.message_id})

    def parts(self, parts: Iterable[StreamPart]) -> list[Frame]:
        """Frames of canonical parts; parts that do not go over this wire are left out."""
        frames: list[Frame] = []
        for part in parts:
            try:
                found = to_ui(part)
                if found is not None:
                    frames += self.send(found)
            except (TypeError, ValueError, RecursionError):
                frames += self.send(_not_json(part))
        return frames

    def send(self, part: UIPart, *, is_transient: bool = False) -> list[Frame]:
        """The frame of a UI part, as it is; none where v1 drops it.  Raises TypeError if it is not JSON."""
        if self.is_closed or (self.wire == "v1" and not is_on_v1(part)):
            return []
        if is_transient:
            return [Frame(None, part, encode(part, None))]
        seq = self.next_seq
        frame = Frame(seq, part, encode(part, seq if self.wire == "v2" else None))
        self.next_seq = seq + 1
        return [frame]

    def write(
        self, name: str, payload: JSON = ABSENT, *, data_id: str | None = None, is_transient: bool = False
    ) -> list[Frame] | PendingWrite:
        """A data part beside the run's own parts; dropped after the end.

        A refused payload becomes an error part, and the run goes on.  Raises MisuseError when it is not JSON.
        """
        if self.is_closed or self.is_writer_closed:
            return []

        def accept(value: JSON) -> list[Frame]:
            part: JSONObject = {"type": f"data-{name}"}
            if data_id is not None:
                part["id"] = data_id
            if value is not ABSENT:
                part["payload"] = value
            try:
                return self.send(cast("UIPart", part), is_transient=is_transient)
            except (TypeError, ValueError, RecursionError) as error:
                raise MisuseError(f"data part {name!r} is not JSON ({error}); write plain values") from error

        def refuse() -> list[Frame]:
            return self.send({"type": "error", "message": f"data part '{name}' failed validation."})

        validator = self._schemas.get(name)
        if validator is None:
            return accept(payload)
        try:
            value = validator(None if payload is ABSENT else payload)
        except Exception:
            return refuse()
        return PendingWrite(value, accept, refuse) if inspect.isawaitable(value) else accept(value)

    def close_writer(self) -> None:
        """No more data writes: later ones are dropped."""
        self.is_writer_closed = True

    def fail(self, error: object) -> list[Frame]:
        """The source raised: one error part, redacted."""
        return self.send({"type": "error", "message": error_message(error)})

    def close(self) -> list[Frame]:
        """The end mark; nothing comes after it."""
        if self.is_closed:
            return []
        self.is_closed = True
        seq = self.next_seq
        self.next_seq = seq + 1
        return [Frame(seq, cast("UIPart", {"type": "done"}), encode_done(seq if self.wire == "v2" else None))]


def _not_json(part: StreamPart) -> UIPart:
    message = f"a part of type {part['type']!r} could not be sent: it is not JSON"
    return {"type": "warning", "warning": {"type": "unserialisable-part", "message": message}}
