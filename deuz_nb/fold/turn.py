"""The turn: UI parts folded into what a reader sees.  O(1) per part, and total.  Source: fold.md."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from deuz_nb.fold.agent import AgentFold
from deuz_nb.fold.element import (
    CitationElement,
    DataElement,
    Element,
    FileElement,
    NoticeElement,
    ReasoningElement,
    StepElement,
    SubAgentElement,
    TextElement,
    ToolElement,
)
from deuz_nb.fold.values import is_number, is_object, is_true, pick, segments, usage_of
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["Status", "Turn"]

Status = Literal["empty", "streaming", "finished", "failed", "cut"]


class Turn:
    """One assistant turn, growing as UI parts are applied.

    `elements` is what a view shows, in arrival order; the buckets beside it hold the rest.  `version` grows
    with every applied part.  No JSON value makes `apply` raise: a malformed part is counted in `malformed`,
    a part of a newer server in `unknown` (type -> count and first example).  Payloads are kept by reference
    and never changed.
    """

    def __init__(self, message_id: str = "turn-0") -> None:
        self.message_id = message_id
        self.version = 0
        self.elements: list[Element] = []
        self.finish_reason: str | None = None
        self.usage: JSONObject | None = None
        self.model_id: str | None = None
        self.cost_usd: int | float | None = None
        self.cache_savings_usd: int | float | None = None
        self.stopped_by: str | None = None
        self.error: str | None = None
        self.budget_exceeded: JSONObject | None = None
        self.plan: JSONObject | None = None
        self.object: JSON = None
        self.has_object = False
        self.capabilities: list[str] | None = None
        self.steps: list[JSONObject] = []
        self.warnings: list[JSONObject] = []
        self.sources: list[JSONObject] = []
        self.citations: list[JSONObject] = []
        self.activity: list[JSONObject] = []
        self.verifications: list[JSONObject] = []
        self.false_finishes: list[JSONObject] = []
        self.compactions: list[JSONObject] = []
        self.handoffs: list[JSONObject] = []
        self.guardrails: list[JSONObject] = []
        self.server_results: list[JSONObject] = []
        self.unknown: dict[str, JSONObject] = {}
        self.malformed = 0
