"""Benchmarks: how fast we are beside others.  See harness.py."""
