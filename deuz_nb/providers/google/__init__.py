"""The Google Gemini wire."""
