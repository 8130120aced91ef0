"""Stream, watch, keep and replay LLM and agent runs in notebooks."""
