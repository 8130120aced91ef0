"""What `%load_ext deuz_nb` does: results and transcripts are shown as last expressions."""

from __future__ import annotations

from typing import Any

from deuz_nb.engine.result import StreamResult
from deuz_nb.notebook.display import bundle_of
from deuz_nb.notebook.view import StreamView
from deuz_nb.wire.transcript import Transcript

__all__ = ["register", "unregister"]


def register(shell: Any) -> None:
    """Show a result as its live view, and a transcript as a card."""
    formatter = shell.display_formatter
    formatter.ipython_display_formatter.for_type(StreamResult, _display_result)
    formatter.mimebundle_formatter.for_type(Transcript, _transcript_bundle)


def unregister(shell: Any) -> None:
    """Show them by their `repr` again."""
    formatter = shell.display_formatter
    formatter.ipython_display_formatter.pop(StreamResult, None)
    formatter.mimebundle_formatter.pop(Transcript, None)


def _display_result(result: StreamResult) -> None:
    StreamView(result)._ipython_display_()  # pyright: ignore[reportPrivateUsage] - IPython's own protocol


def _transcript_bundle(transcript: Transcript, **_: Any) -> dict[str, Any]:
    return bundle_of(transcript)
