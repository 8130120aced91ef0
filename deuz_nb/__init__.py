"""Stream, watch, keep and replay LLM and agent runs in notebooks.

Names are imported when they are first used, so that `import deuz_nb` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deuz_nb._version import __version__

if TYPE_CHECKING:
    from deuz_nb.api import load_ipython_extension, model, openai_compatible, show, stream_chat, stream_view
    from deuz_nb.engine.deps import Timeouts
    from deuz_nb.engine.result import StreamResult
    from deuz_nb.errors import DeuzError
    from deuz_nb.fold import Turn, agent_state_from_parts, apply_ui_part
    from deuz_nb.frames import parts_frame, runs_frame, tools_frame, usage_frame
    from deuz_nb.net.files import read_transcript, write_transcript
    from deuz_nb.notebook.view import StreamView
    from deuz_nb.prices import PriceTable
    from deuz_nb.providers.model import Model, ToolSpec
    from deuz_nb.wire.transcript import Transcript

_ROOMS = {
    "DeuzError": "errors",
    "Model": "providers.model",
    "PriceTable": "prices",
    "StreamResult": "engine.result",
    "StreamView": "notebook.view",
    "Timeouts": "engine.deps",
    "ToolSpec": "providers.model",
    "Transcript": "wire.transcript",
    "Turn": "fold",
    "agent_state_from_parts": "fold",
    "apply_ui_part": "fold",
    "load_ipython_extension": "api",
    "model": "api",
    "openai_compatible": "api",
    "parts_frame": "frames",
    "read_transcript": "net.files",
    "runs_frame": "frames",
    "show": "api",
    "stream_chat": "api",
    "stream_view": "api",
    "tools_frame": "frames",
    "usage_frame": "frames",
    "write_transcript": "net.files",
}

__all__ = [
    "DeuzError",
    "Model",
    "PriceTable",
    "StreamResult",
    "StreamView",
    "Timeouts",
    "ToolSpec",
    "Transcript",
    "Turn",
    "__version__",
    "agent_state_from_parts",
    "apply_ui_part",
    "load_ipython_extension",
    "model",
    "openai_compatible",
    "parts_frame",
    "read_transcript",
    "runs_frame",
    "show",
    "stream_chat",
    "stream_view",
    "tools_frame",
    "usage_frame",
    "write_transcript",
]


def __getattr__(name: str) -> Any:
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
