"""The OpenAI chat completions wire and its compatible family."""
