"""Comms that lead nowhere: every message of every widget is counted and weighed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import comm
from comm.base_comm import BaseComm, CommManager
from ipywidgets import Widget

from deuz_nb.notebook.traffic import ENVELOPE_BYTES


class Wire:
    """What was sent: messages, their bytes with envelopes, and the state of every widget as a page has it."""

    def __init__(self) -> None:
        self.messages = 0
        self.bytes = 0
        self.state: dict[str, dict[str, Any]] = {}

    def note(self, comm_id: str, kind: str, data: dict[str, Any]) -> None:
        self.messages += 1
        self.bytes += ENVELOPE_BYTES + len(json.dumps(data).encode())
        if kind == "comm_close":
            self.state.pop(comm_id, None)
        else:
            self.state.setdefault(comm_id, {}).update(data.get("state", {}))

    def html(self, model_id: str) -> str:
        """The HTML that a page shows for a widget, in order."""
        state = self.state[model_id]
        if state["_model_name"] == "HTMLModel":
            return str(state["value"])
        return "".join(self.html(child.removeprefix("IPY_MODEL_")) for child in state.get("children", ()))


@contextmanager
def counted_comms() -> Iterator[Wire]:
    """While it lasts, widgets made here speak to the wire that is given."""
    wire = Wire()

    class FakeComm(BaseComm):
        def publish_msg(self, msg_type: str, data: Any = None, **_: Any) -> None:
            wire.note(self.comm_id, msg_type, data or {})

    manager = CommManager()
    before = comm.create_comm, comm.get_comm_manager
    comm.create_comm = lambda *args, **kwargs: FakeComm(*args, **kwargs)
    comm.get_comm_manager = lambda: manager
    try:
        yield wire
    finally:
        Widget.close_all()
        comm.create_comm, comm.get_comm_manager = before
