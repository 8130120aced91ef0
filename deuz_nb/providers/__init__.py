"""Provider wires: requests out, bytes in, one stream of canonical parts."""

from __future__ import annotations

from typing import Unpack

from deuz_nb.errors import MisuseError
from deuz_nb.providers.anthropic.parse import AnthropicParser
from deuz_nb.providers.failures import http_error
from deuz_nb.providers.google.parse import GoogleParser
from deuz_nb.providers.machine import Context, Parser
from deuz_nb.providers.openai_chat.parse import ChatParser
from deuz_nb.providers.openai_responses.parse import ResponsesParser
from deuz_nb.providers.toolcalls import ParsedCall

__all__ = ["ParsedCall", "Parser", "http_error", "parser"]

_PARSERS: dict[str, type[Parser]] = {
    cls.wire: cls for cls in (AnthropicParser, ChatParser, ResponsesParser, GoogleParser)
}


def parser(wire: str, **context: Unpack[Context]) -> Parser:
    """A parser for `wire`: `anthropic`, `openai-chat`, `openai-responses` or `google`.

    `context` (all optional): provider, model_id, new_id, known_tools, think_tags, starts_in_reasoning,
    request_id, status, content_type.  Raises MisuseError for an unknown wire.
    """
    found = _PARSERS.get(wire)
    if found is None:
        raise MisuseError(f"Unknown wire {wire!r}; use one of {', '.join(_PARSERS)}.")
    return found(**context)
