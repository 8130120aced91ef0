"""Messages of a conversation: what a model is asked, as plain dicts."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from deuz_nb.parts.usage import JSON, JSONObject

__all__ = [
    "AssistantMessage",
    "ContentPart",
    "FilePart",
    "ImagePart",
    "Message",
    "ReasoningPart",
    "SystemMessage",
    "TextPart",
    "ToolCallPart",
    "ToolMessage",
    "ToolResultPart",
    "UserMessage",
]


class TextPart(TypedDict):
    """Text; `signature` and `providerMetadata` go back to the provider that made them."""

    type: Literal["text"]
    text: str
    signature: NotRequired[str]
    providerMetadata: NotRequired[JSONObject]


class ReasoningPart(TypedDict):
    """One block of reasoning, kept so that it can be replayed unchanged.

    `encrypted` marks an opaque payload (Responses, OpenRouter), `redacted` one the provider hid (Anthropic): the
    payload is the text then, or the member's own string.
    """

    type: Literal["reasoning"]
    text: str
    signature: NotRequired[str]
    encrypted: NotRequired[bool | str]
    redacted: NotRequired[bool | str]
    providerMetadata: NotRequired[JSONObject]


class ImagePart(TypedDict):
    """An image: `url`, or base64 `data` with its `mediaType`."""

    type: Literal["image"]
    url: NotRequired[str]
    data: NotRequired[str]
    mediaType: NotRequired[str]
    detail: NotRequired[str]


class FilePart(TypedDict):
    """A file (PDF, audio, ...): `url`, or base64 `data`; `mediaType` is required."""

    type: Literal["file"]
    mediaType: str
    url: NotRequired[str]
    data: NotRequired[str]
    filename: NotRequired[str]


class ToolCallPart(TypedDict):
    """A call the model asked for; `input` is the parsed JSON object."""

    type: Literal["tool-call"]
    toolCallId: str
    toolName: str
    input: JSON
    providerMetadata: NotRequired[JSONObject]


class ToolResultPart(TypedDict):
    """The answer to a call; a string or any JSON value."""

    type: Literal["tool-result"]
    toolCallId: str
    toolName: str
    output: JSON
    isError: NotRequired[bool]


ContentPart = TextPart | ReasoningPart | ImagePart | FilePart | ToolCallPart | ToolResultPart


class SystemMessage(TypedDict):
    """Instructions to the model."""

    role: Literal["system"]
    content: str


class UserMessage(TypedDict):
    """What the user says: text, images and files."""

    role: Literal["user"]
    content: str | list[TextPart | ImagePart | FilePart]


class AssistantMessage(TypedDict):
    """What the model said: text, reasoning and tool calls, in their order."""

    role: Literal["assistant"]
    content: str | list[TextPart | ReasoningPart | ToolCallPart]


class ToolMessage(TypedDict):
    """Results of tool calls."""

    role: Literal["tool"]
    content: list[ToolResultPart]


Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage
