"""Nouns: messages, canonical stream parts, UI parts, usage."""
