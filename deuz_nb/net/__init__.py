"""HTTP: provider calls over httpx."""
