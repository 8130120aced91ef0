"""Messages checked before they are sent: every mistake is named with its place and what is accepted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from deuz_nb.errors import MisuseError
from deuz_nb.parts.usage import JSONObject
from deuz_nb.providers.forms import plain

__all__ = ["Media", "Role", "Said", "media_of", "read_messages"]

Role = Literal["system", "developer", "user", "assistant", "tool"]

_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image", "file"),
    "assistant": ("text", "reasoning", "tool-call"),
    "tool": ("tool-result",),
}
_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text",),
    "reasoning": ("text",),
    "tool-call": ("toolCallId", "toolName"),
    "tool-result": ("toolCallId", "toolName"),
    "image": (),
    "file": ("mediaType",),
}
_OPTIONAL_TEXTS: Final = ("url", "data", "mediaType", "filename", "detail")
_ADDRESS: Final = re.compile(r"(?!file:)[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SUFFIXES: Final[Mapping[str, str]] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
}


@dataclass(frozen=True, slots=True)
class Said:
    """One message as the wires read it: its role, its parts (copies, never empty), its place in the list."""

    role: Role
    parts: tuple[JSONObject, ...]
    index: int


@dataclass(frozen=True, slots=True)
class Media:
    """An image or file: an address, or base64 data with its media type."""

    media_type: str | None
    url: str | None
    data: str | None
    filename: str | None
    detail: str | None
    where: str

    @property
    def is_image(self) -> bool:
        """Whether it is a picture, also when it came as a file."""
        return self.media_type is None or self.media_type.startswith("image/")

    @property
    def address(self) -> str:
        """Where it is: its URL, or a `data:` URL."""
        return self.url or f"data:{self.media_type};base64,{self.data}"


def read_messages(messages: object) -> tuple[Said, ...]:
    """The messages, checked and copied; what says nothing (empty text, a cut answer) is left out.

    Raises MisuseError for anything that is no message, naming its place and what is accepted.
    """
    if not isinstance(messages, list | tuple):
        raise MisuseError(
            f"messages must be a list of messages such as {{'role': 'user', 'content': 'Hello'}}, not"
            f" {type(messages).__name__}"
        )
    read = [_said(message, index) for index, message in enumerate(cast("list[object]", messages))]
    said = tuple(one for one in read if one.parts)
    if not any(_is_answerable(one) for one in said):
        raise MisuseError("messages hold nothing to answer: add {'role': 'user', 'content': '...'}")
    return said


def media_of(part: JSONObject, where: str) -> Media:
    """The image or file a part holds; a `data:` URL is read into its data.

    Raises MisuseError unless there is exactly one of `url` and `data`, with a media type where one is needed.
    """
    url, data, media_type = part.get("url"), part.get("data"), part.get("mediaType")
    if bool(url) == bool(data):
        raise MisuseError(f"{where}: give either 'url' or base64 'data'")
    if url and url.startswith("data:"):
        head, _, data = url.partition(",")
        kind, *flags = head.removeprefix("data:").split(";")
        if "base64" not in flags or not data:
            raise MisuseError(f"{where}: a data: URL must be 'data:TYPE;base64,...'")
        url, media_type = None, kind or media_type
    if url and not _ADDRESS.match(url):
        raise MisuseError(
            f"{where}: 'url' must be an address on the network; give a file's bytes as base64 'data'"
        )
    if data and not media_type:
        raise MisuseError(f"{where}: 'data' needs its 'mediaType', such as 'image/png'")
    if url and not media_type:
        suffix = url.partition("?")[0].partition("#")[0].rpartition(".")[2].lower()
        media_type = _SUFFIXES.get(suffix)
    return Media(media_type, url, data, part.get("filename"), part.get("detail"), where)


def _said(message: object, index: int) -> Said:
    where = f"messages[{index}]"
    if not isinstance(message, Mapping):
        raise MisuseError(f"{where} must be a dict with 'role' and 'content', not {type(message).__name__}")
    fields = cast("Mapping[str, object]", message)
    role = fields.get("role")
    if not isinstance(role, str) or role not in _PARTS:
        raise MisuseError(f"{where}: role {role!r} is not known: use one of {', '.join(_PARTS)}")
    content = fields.get("content")
    if isinstance(content, str):
        if role == "tool":
            raise MisuseError(f"{where}: a tool message holds a list of tool-result parts, not text")
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list | tuple):
        raise MisuseError(
            f"{where}: content must be text or a list of parts ({', '.join(_PARTS[role])}), not"
            f" {type(content).__name__}"
        )
    given = cast("list[object]", content)
    parts = [_part(part, role, f"{where}.content[{place}]") for place, part in enumerate(given)]
    parts = [part for part in parts if _says_something(part)]
    if not parts and role in ("user", "tool"):
        raise MisuseError(f"{where} is empty: give it {' or '.join(_PARTS[role])}, or leave it out")
    return Said(cast("Role", role), tuple(parts), index)


def _part(part: object, role: str, where: str) -> JSONObject:
    accepted = _PARTS[role]
    if not isinstance(part, Mapping):
        raise MisuseError(f"{where} must be a part, a dict with 'type', not {type(part).__name__}")
    fields = dict(cast("Mapping[str, Any]", part))
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in accepted:
        raise MisuseError(
            f"{where}: a part of type {kind!r} cannot be in a {role} message: use {', '.join(accepted)}"
        )
    for name in _TEXTS[kind]:
        if not isinstance(fields.get(name), str):
            raise MisuseError(f"{where}: a {kind} part needs {name!r} as text, not {fields.get(name)!r}")
        if not fields[name] and name != "text":
            raise MisuseError(f"{where}: {name!r} is empty")
    for name in _OPTIONAL_TEXTS:
        if kind in ("image", "file") and fields.get(name) is not None and not isinstance(fields[name], str):
            hint = ": encode bytes as base64 text" if name == "data" else ""
            raise MisuseError(f"{where}: {name!r} must be text, not {type(fields[name]).__name__}{hint}")
    if kind in ("image", "file"):
        media_of(fields, where)
    for name, holder in (("input", "tool-call"), ("output", "tool-result")):
        if kind == holder:
            if name not in fields:
                raise MisuseError(f"{where}: a {kind} part needs {name!r}")
            fields[name] = plain(fields[name], f"{where}.{name}")
    kept = fields.get("providerMetadata")
    if kept is not None:
        if not isinstance(kept, Mapping):
            raise MisuseError(f"{where}: 'providerMetadata' must be a dict by provider name")
        copied = dict(cast("Mapping[str, Any]", kept))
        fields["providerMetadata"] = plain(copied, f"{where}.providerMetadata")
    return fields


def _is_answerable(said: Said) -> bool:
    """Whether there is something to answer or to go on from: reasoning and instructions alone are not."""
    if said.role in ("system", "developer"):
        return False
    return any(part["type"] != "reasoning" and part.get("text", "...").strip() for part in said.parts)


def _says_something(part: JSONObject) -> bool:
    """Whether a part is worth sending; an empty text may still carry what the provider wants back."""
    if part["type"] not in ("text", "reasoning") or part["text"]:
        return True
    return any(part.get(name) for name in ("signature", "encrypted", "redacted", "providerMetadata"))
