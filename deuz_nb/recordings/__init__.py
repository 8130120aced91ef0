"""Recorded provider streams."""
