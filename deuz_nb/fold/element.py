"""What a turn is made of, in the order it arrived: one mutable element per thing a reader can see.

Every element has `kind`, `key` (stable and unique in its turn), `version` (grows with every change) and
`is_open` (more of it may still come).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deuz_nb.fold.pieces import Pieces
from deuz_nb.parts.usage import JSON, JSONObject

if TYPE_CHECKING:
    from deuz_nb.fold.turn import Turn

__all__ = [
    "CitationElement",
    "DataElement",
    "Element",
    "FileElement",
    "NoticeElement",
    "ReasoningElement",
    "StepElement",
    "SubAgentElement",
    "TextElement",
    "ToolElement",
]


class TextElement(Pieces):
    """A run of answer text: `pieces` (append-only) and `text`; `signature` goes back to the provider."""

    __slots__ = ("is_open", "key", "signature", "version")
    kind: Literal["text"] = "text"

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key
        self.version = 1
        self.is_open = True
        self.signature: str | None = None


class ReasoningElement(Pieces):
    """A run of reasoning; when `is_hidden` its text is an opaque payload that must never be displayed.

    `encrypted` and `redacted` are the payload itself, or True when the payload is in the text.
    """

    __slots__ = ("encrypted", "is_open", "key", "provider_metadata", "redacted", "signature", "version")
    kind: Literal["reasoning"] = "reasoning"

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key
        self.version = 1
        self.is_open = True
        self.signature: str | None = None
        self.encrypted: str | bool | None = None
        self.redacted: str | bool | None = None
        self.provider_metadata: JSONObject | None = None

    @property
    def is_hidden(self) -> bool:
        """Whether the provider encrypted or redacted it."""
        return self.encrypted is not None or self.redacted is not None


class ToolElement:
    """A tool call and what became of it.

    `state` is call, result or approval-requested; `run_state` the latest tool-state word.  `has_input` and
    `has_output` tell an absent value from null.  `input_pieces` stream until the whole call arrives
    (`is_called`); a turn that ends before that holds half a call.
    `identity` holds the members `toolCallId` and `toolName` as they came, whatever their type.
    """

    __slots__ = (
        "approval",
        "arguments",
        "denied",
        "denied_reason",
        "display",
        "has_input",
        "has_output",
        "identity",
        "input",
        "is_called",
        "is_error",
        "is_open",
        "key",
        "outcome",
        "output",
        "provider_metadata",
        "run_state",
        "state",
        "version",
    )
    kind: Literal["tool"] = "tool"

    def __init__(self, key: str, identity: JSONObject) -> None:
        self.key = key
        self.version = 1
        self.is_open = True
        self.identity = identity
        self.arguments: Pieces | None = None
        self.input: JSON = None
        self.has_input = False
        self.is_called = False
        self.output: JSON = None
        self.has_output = False
        self.state: Literal["call", "result", "approval-requested"] = "call"
        self.run_state: str | None = None
        self.is_error = False
        self.denied = False
        self.denied_reason: str | None = None
        self.outcome: str | None = None
        self.display: JSON = None
        self.approval: JSONObject | None = None
        self.provider_metadata: JSONObject | None = None

    @property
    def tool_call_id(self) -> str:
        """The call's id; empty when it has none."""
        found = self.identity.get("toolCallId")
        return found if isinstance(found, str) else ""

    @property
    def tool_name(self) -> str:
        """The tool's name; empty while it is not known."""
        found = self.identity.get("toolName")
        return found if isinstance(found, str) else ""

    @property
    def input_pieces(self) -> list[str]:
        """The argument text so far, in pieces; empty once the whole input is known."""
        return [] if self.arguments is None else self.arguments.pieces

    @property
    def input_text(self) -> str:
        """The argument text so far; empty once the whole input is known."""
        return "" if self.arguments is None else self.arguments.text

    def grow_input(self, text: str) -> None:
        """Add a fragment of the argument text."""
        if self.arguments is None:
            self.arguments = Pieces()
        self.arguments.append(text)


class DataElement:
    """A data part; the same name and id replaces `payload` in place."""

    __slots__ = ("has_payload", "id", "is_open", "key", "name", "payload", "version")
    kind: Literal["data"] = "data"

    def __init__(self, key: str, name: str, data_id: str | None) -> None:
        self.key = key
        self.version = 1
        self.is_open = False
        self.name = name
        self.id = data_id
        self.payload: JSON = None
        self.has_payload = False


class CitationElement:
    """A passage the answer cites: `part` as it came."""

    __slots__ = ("is_open", "key", "part", "version")
    kind: Literal["citation"] = "citation"

    def __init__(self, key: str, part: JSONObject) -> None:
        self.key = key
        self.version = 1
        self.is_open = False
        self.part = part


class FileElement:
    """A file the model made: `part` as it came."""

    __slots__ = ("is_open", "key", "part", "version")
    kind: Literal["file"] = "file"

    def __init__(self, key: str, part: JSONObject) -> None:
        self.key = key
        self.version = 1
        self.is_open = False
        self.part = part


class StepElement:
    """A model call begins here; usage, reason and cost are there once it ended."""

    __slots__ = ("cost_usd", "finish_reason", "index", "is_open", "key", "model_id", "usage", "version")
    kind: Literal["step"] = "step"

    def __init__(self, key: str, index: int | float) -> None:
        self.key = key
        self.version = 1
        self.is_open = True
        self.index = index
        self.finish_reason: str | None = None
        self.usage: JSONObject | None = None
        self.model_id: str | None = None
        self.cost_usd: int | float | None = None


class NoticeElement:
    """Something that happened between the parts of the answer: `part` as it came."""

    __slots__ = ("is_open", "key", "kind", "part", "version")

    def __init__(
        self, key: str, kind: Literal["compaction", "handoff", "guardrail"], part: JSONObject
    ) -> None:
        self.key = key
        self.version = 1
        self.is_open = False
        self.kind: Literal["compaction", "handoff", "guardrail"] = kind
        self.part = part


class SubAgentElement:
    """Another agent's own turn, at the place where it began."""

    __slots__ = ("after_part", "agent_path", "is_open", "key", "turn", "version")
    kind: Literal["sub-agent"] = "sub-agent"

    def __init__(self, key: str, agent_path: tuple[str, ...], after_part: int, turn: Turn) -> None:
        self.key = key
        self.version = 1
        self.is_open = True
        self.agent_path = agent_path
        self.after_part = after_part
        self.turn = turn


Element = (
    TextElement
    | ReasoningElement
    | ToolElement
    | DataElement
    | CitationElement
    | FileElement
    | StepElement
    | NoticeElement
    | SubAgentElement
)
"""One visible thing of a turn; match on `kind`."""
