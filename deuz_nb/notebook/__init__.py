"""The notebook view: blocks drawn from a turn, shown live by widgets and kept as static HTML and text.

Importing this package imports neither IPython nor ipywidgets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deuz_nb.engine.result import StreamResult
    from deuz_nb.notebook.view import StreamView
    from deuz_nb.wire.transcript import Transcript

__all__ = ["load_ipython_extension", "show", "stream_view", "unload_ipython_extension"]


def stream_view(result: StreamResult, *, origin: Transcript | None = None) -> StreamView:
    """A view of a result: display it, `await` it, or `wait` for it.

    `origin` is the transcript that the result tells, whose times a later replay follows.
    """
    from deuz_nb.notebook.view import StreamView

    return StreamView(result, origin=origin)


def show(transcript: Transcript) -> None:
    """Show a transcript: in a notebook as a card, elsewhere as plain text on standard output."""
    from deuz_nb.notebook.display import show_transcript

    show_transcript(transcript)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext deuz_nb`: results and transcripts are shown when they are a cell's last expression."""
    from deuz_nb.notebook.magics import register

    register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext deuz_nb`: they are shown by their `repr` again."""
    from deuz_nb.notebook.magics import unregister

    unregister(shell)
