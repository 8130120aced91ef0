"""Parts folded into a turn."""
