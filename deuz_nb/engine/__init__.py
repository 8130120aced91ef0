"""The run: calls, results, readers."""
