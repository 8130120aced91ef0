"""Canonical parts: what provider parsers and the engine emit, in one open union.

Plain dicts with camelCase keys.  Readers match on `part["type"]` and keep a default branch.

Source: wire.md 2.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from deuz_nb.errors import DeuzError
from deuz_nb.parts.usage import JSON, FinishReason, JSONObject, Usage

__all__ = [
    "CallWarning",
    "Cost",
    "ErrorPart",
    "Finish",
    "ReasoningDelta",
    "Source",
    "StepFinish",
    "StepStart",
    "StreamPart",
    "TextDelta",
    "ToolCall",
    "ToolCallDelta",
    "ToolState",
    "WarningPart",
]


class TextDelta(TypedDict):
    """More of the answer's text."""

    type: Literal["text-delta"]
    text: str
    signature: NotRequired[str]


class ReasoningDelta(TypedDict):
    """More reasoning, or a signature or opaque payload that belongs to it."""

    type: Literal["reasoning-delta"]
    text: str
    signature: NotRequired[str]
    encrypted: NotRequired[bool | str]
    redacted: NotRequired[bool | str]
    providerMetadata: NotRequired[JSONObject]


class ToolCallDelta(TypedDict):
    """A fragment of a tool call's argument text; the first of a call carries its name."""

    type: Literal["tool-call-delta"]
    id: str
    name: NotRequired[str]
    argsTextDelta: str
    providerMetadata: NotRequired[JSONObject]


class ToolCall(TypedDict):
    """A whole tool call with its parsed input; never emitted for a cut or invalid one."""

    type: Literal["tool-call"]
    toolCallId: str
    toolName: str
    input: JSON
    providerMetadata: NotRequired[JSONObject]
    display: NotRequired[JSON]


class ToolState(TypedDict):
    """Where a call is in its life; `outcome` is an open word."""

    type: Literal["tool-state"]
    toolCallId: str
    toolName: NotRequired[str]
    state: Literal["input-streaming", "input-complete", "awaiting-approval", "executing", "complete", "error"]
    denied: NotRequired[bool]
    deniedReason: NotRequired[str]
    outcome: NotRequired[str]


class Source(TypedDict):
    """Something the model read and may cite."""

    type: Literal["source"]
    id: str
    url: NotRequired[str]
    title: NotRequired[str]


class StepStart(TypedDict):
    """A model call begins."""

    type: Literal["step-start"]
    stepIndex: int


class StepFinish(TypedDict):
    """A model call ended; its own usage and, when known, its price in USD."""

    type: Literal["step-finish"]
    stepIndex: int
    finishReason: FinishReason
    usage: Usage
    modelId: NotRequired[str]
    costUsd: NotRequired[float]


class Cost(TypedDict):
    """The run's cost so far in USD."""

    type: Literal["cost"]
    costUsd: float
    deltaUsd: NotRequired[float]
    cacheSavingsUsd: NotRequired[float]
    stepIndex: NotRequired[int]


class CallWarning(TypedDict):
    """Something that was not done as asked; `type` is an open word."""

    type: str
    setting: NotRequired[str]
    message: str


class WarningPart(TypedDict):
    """A warning of the call."""

    type: Literal["warning"]
    warning: CallWarning


class Finish(TypedDict):
    """The run ended well; exactly one, and last."""

    type: Literal["finish"]
    finishReason: FinishReason
    usage: Usage
    modelId: NotRequired[str]
    costUsd: NotRequired[float]
    providerMetadata: NotRequired[JSONObject]


class ErrorPart(TypedDict):
    """The run failed; exactly one, and last.  `usage` and `finish_reason` raise the same object."""

    type: Literal["error"]
    error: DeuzError


StreamPart = (
    TextDelta
    | ReasoningDelta
    | ToolCallDelta
    | ToolCall
    | ToolState
    | Source
    | StepStart
    | StepFinish
    | Cost
    | WarningPart
    | Finish
    | ErrorPart
)
"""A canonical part.  The union is open: at run time a part of another type may come, and passes through."""
