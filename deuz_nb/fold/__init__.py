"""State: UI parts folded into a turn, its agent state, and messages made from it."""

from __future__ import annotations

from deuz_nb.fold.agent import agent_state_from_parts
from deuz_nb.fold.state import apply_ui_part
from deuz_nb.fold.turn import Turn

__all__ = ["Turn", "agent_state_from_parts", "apply_ui_part"]
