"""UI parts: the parts as they go over the Deuz UI wire.  Source: wire.md 2."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from deuz_nb.parts.stream import (
    CallWarning,
    ReasoningDelta,
    Source,
    TextDelta,
    ToolCall,
    ToolState,
)
from deuz_nb.parts.usage import FinishReason, Usage

__all__ = [
    "V2_ONLY_TYPES",
    "UIError",
    "UIFinish",
    "UIPart",
    "UIStart",
    "UIStepFinish",
    "UIStepStart",
    "UIToolInputDelta",
    "UIWarning",
]


class UIStart(TypedDict):
    """First part of a stream."""

    type: Literal["start"]
    messageId: str


class UIToolInputDelta(TypedDict):
    """A fragment of a tool call's argument text."""

    type: Literal["tool-input-delta"]
    toolCallId: str
    toolName: NotRequired[str]
    delta: str


class UIStepStart(TypedDict):
    """A model call begins."""

    type: Literal["step-start"]
    step: int


class UIStepFinish(TypedDict):
    """A model call ended."""

    type: Literal["step-finish"]
    step: int
    finishReason: FinishReason
    usage: Usage
    modelId: NotRequired[str]
    costUsd: NotRequired[float]


class UIWarning(TypedDict):
    """A warning of the call, redacted."""

    type: Literal["warning"]
    warning: CallWarning


class UIFinish(TypedDict):
    """The run ended well."""

    type: Literal["finish"]
    finishReason: FinishReason
    usage: Usage
    modelId: NotRequired[str]
    costUsd: NotRequired[float]
    stoppedBy: NotRequired[str]


class UIError(TypedDict):
    """The run failed; the message is redacted."""

    type: Literal["error"]
    message: str


UIPart = (
    UIStart
    | TextDelta
    | ReasoningDelta
    | UIToolInputDelta
    | ToolCall
    | ToolState
    | Source
    | UIStepStart
    | UIStepFinish
    | UIWarning
    | UIFinish
    | UIError
)
"""A UI part.  The union is open: at run time unknown types and keys are kept as they came."""

V2_ONLY_TYPES: frozenset[str] = frozenset(
    {
        "activity",
        "budget-exceeded",
        "capabilities",
        "citation",
        "cost",
        "false-finish",
        "guardrail",
        "handoff",
        "plan-update",
        "tool-state",
        "verify",
        "warning",
    }
)
"""Types a v1 client never gets; so is every type that starts with `data-`."""
