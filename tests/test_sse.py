"""The SSE decoder: any bytes, any cut, the same events."""

from __future__ import annotations

import re

from deuz_nb.sse import Event


def oracle(stream: bytes) -> list[Event]:
    """The events of a whole stream, read plainly and slowly from the rules."""
    text = stream.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    events: list[Event] = []
    last_id: str | None = None
    name, data, own_id = "", [], False
    for line in [*re.split("\r\n|\r|\n", text), ""]:
        field, _, value = line.partition(":")
        if value[:1] == " ":
            value = value[1:]
        if line == "":
            if data:
                events.append(Event(name or None, "\n".join(data), last_id, own_id))
            name, data, own_id = "", [], False
        elif field == "data":
            data = [*data, value]
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            last_id, own_id = value, True
    return events
