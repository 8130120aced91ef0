"""The notebook around us: is somebody watching, and how is something put into a cell's output.

The only module that asks IPython.  Outside IPython everything is plain text on standard output.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import uuid
from typing import Any, Literal, cast

__all__ = ["Bundle", "FrontEnd", "front_end", "new_display_id", "publish", "set_static"]

Bundle = dict[str, Any]
"""MIME type -> content."""

FrontEnd = Literal["live", "static", "terminal"]

_static: bool | None = None


def set_static(is_static: bool | None) -> None:
    """Force static output (True) or live output where there is a kernel (False); None decides by itself."""
    global _static
    _static = is_static


def front_end() -> FrontEnd:
    """Live: a kernel whose front end can answer; static: a kernel run by a program; else a terminal.

    A program that executes notebooks (nbclient, papermill, nbval) announces that it takes no input.
    """
    kernel = _kernel()
    if kernel is None:
        return "terminal"
    if _static is not None:
        return "static" if _static else "live"
    if importlib.util.find_spec("ipywidgets") is None:
        return "static"
    try:
        parent: Any = kernel.get_parent()
        allow: Any = parent["content"].get("allow_stdin", True)
    except (AttributeError, KeyError, LookupError, TypeError):
        return "live"
    return "live" if allow else "static"


def is_missing_widgets() -> bool:
    """Whether a kernel is there but ipywidgets is not."""
    return _kernel() is not None and importlib.util.find_spec("ipywidgets") is None


def publish(bundle: Bundle, display_id: str, *, is_update: bool = False) -> None:
    """Put a bundle into the output under `display_id`, or replace what is there."""
    show: Any = importlib.import_module("IPython.display").display
    show(bundle, raw=True, display_id=display_id, update=is_update)


def new_display_id() -> str:
    """An id for one output."""
    return f"deuz-{uuid.uuid4().hex}"


def shell() -> Any:
    """The running IPython shell, or None."""
    module = sys.modules.get("IPython")
    return None if module is None else cast("Any", module).get_ipython()


def _kernel() -> Any:
    return getattr(shell(), "kernel", None)
