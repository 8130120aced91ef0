"""The notebook view."""
