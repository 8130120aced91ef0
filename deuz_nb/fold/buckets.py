"""The buckets of a turn: what is reported beside the answer and neither opens nor seals a part of it."""

from __future__ import annotations

from deuz_nb.fold.values import is_number, is_object, pick
from deuz_nb.parts.usage import JSON, JSONObject

__all__ = ["Buckets"]


class Buckets:
    """The latest or all reports of each kind; parts kept whole are kept as they came, unknown keys included.

    `unknown` holds parts of a newer server: type -> `count` and the first `example`.  `misfits` counts the
    parts that were not what their type promises.
    """

    def __init__(self) -> None:
        self.cost_usd: int | float | None = None
        self.cache_savings_usd: int | float | None = None
        self.budget_exceeded: JSONObject | None = None
        self.plan: JSONObject | None = None
        self.object: JSON = None
        self.has_object = False
        self.capabilities: list[str] | None = None
        self.warnings: list[JSONObject] = []
        self.sources: list[JSONObject] = []
        self.citations: list[JSONObject] = []
        self.activity: list[JSONObject] = []
        self.verifications: list[JSONObject] = []
        self.false_finishes: list[JSONObject] = []
        self.compactions: list[JSONObject] = []
        self.handoffs: list[JSONObject] = []
        self.guardrails: list[JSONObject] = []
        self.unknown: dict[str, JSONObject] = {}
        self.misfits: int = 0

    def report(self, kind: str, part: JSONObject) -> None:
        """Fold a part that is a report, or of an unknown type."""
        match kind:
            case "activity":
                self._keep(self.activity, part, "message")
            case "cost":
                self._cost(part)
            case "source":
                self._keep(self.sources, part, "id")
            case "warning":
                self._warning(part)
            case "plan-update":
                self.plan = part
            case "object-delta" if "object" in part:
                self.object = part["object"]
                self.has_object = True
            case "verify":
                self.verifications.append(_verdict(part))
            case "false-finish":
                self.false_finishes.append(_attempt(part))
            case "budget-exceeded" if is_number(part.get("limit")) and is_number(part.get("value")):
                self.budget_exceeded = pick(part, "kind", "limit", "value")
            case "capabilities" if isinstance(part.get("capabilities"), list):
                listed: list[JSON] = part["capabilities"]
                self.capabilities = sorted({token for token in listed if isinstance(token, str)})
            case "object-delta" | "budget-exceeded" | "capabilities":
                self.misfits += 1
            case _:
                seen = self.unknown.setdefault(kind, {"count": 0, "example": part})
                seen["count"] += 1

    def _cost(self, part: JSONObject) -> None:
        if is_number(part.get("costUsd")):
            self.cost_usd = part["costUsd"]
        else:
            self.misfits += 1
        if is_number(part.get("cacheSavingsUsd")):
            self.cache_savings_usd = part["cacheSavingsUsd"]

    def _warning(self, part: JSONObject) -> None:
        warning = part.get("warning")
        if not is_object(warning) or not isinstance(warning.get("message"), str):
            self.misfits += 1
            return
        kind = warning.get("type")
        kept: JSONObject = {"type": kind if isinstance(kind, str) else "other"}
        if isinstance(warning.get("setting"), str):
            kept["setting"] = warning["setting"]
        self.warnings.append(kept | {"message": warning["message"]})

    def _keep(self, bucket: list[JSONObject], part: JSONObject, required: str) -> None:
        """Keep a part as it came; one without its text is kept too, and counted."""
        if not isinstance(part.get(required), str):
            self.misfits += 1
        bucket.append(part)


def _attempt(part: JSONObject) -> JSONObject:
    """Counters and flags with neutral defaults where they are malformed."""
    counted: JSONObject = {"type": part["type"]}
    for name in ("stepIndex", "attempt"):
        counted[name] = part[name] if is_number(part.get(name)) else 0
    return counted | {"willRetry": part.get("willRetry") is True}


def _verdict(part: JSONObject) -> JSONObject:
    verdict = _attempt(part) | {"ok": part.get("ok") is True}
    if isinstance(part.get("feedback"), str):
        verdict["feedback"] = part["feedback"]
    return verdict
