"""Recorded provider streams, written for this project: replayed without key or network.  See README.md."""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib import resources
from typing import Any, Final

from deuz_nb.errors import UnknownModelError

__all__ = ["Recording", "load", "names"]

_SUFFIX: Final = ".jsonl"


@dataclass(frozen=True, slots=True, repr=False)
class Recording:
    """One answer of a provider, as it came.

    `chunks` are (milliseconds since the request, bytes), in order.  `breaks`: the connection breaks after the
    last chunk, which is empty and tells when; else the body ends there.  `at_s` is when it was asked (seconds
    since 1970, UTC): prices follow it.  `prompt` is what it answers, `headers` are those of the response.
    """

    name: str
    title: str
    wire: str
    provider: str
    model_id: str
    status: int
    headers: Mapping[str, str] = field(hash=False)
    prompt: str
    at_s: float
    chunks: tuple[tuple[float, bytes], ...] = field(compare=False)
    breaks: bool

    @property
    def body(self) -> bytes:
        """All chunks as one."""
        return b"".join(data for _, data in self.chunks)

    def __repr__(self) -> str:
        return f"<Recording {self.name}: {self.provider}:{self.model_id}, {len(self.chunks)} chunks>"


@functools.cache
def names() -> tuple[str, ...]:
    """The recordings there are, sorted."""
    entries = resources.files(__name__).iterdir()
    return tuple(sorted(e.name.removesuffix(_SUFFIX) for e in entries if e.name.endswith(_SUFFIX)))


@functools.cache
def load(name: str) -> Recording:
    """The recording of that name.  Raises UnknownModelError, with names like it, when there is none."""
    if name not in names():
        near = tuple(difflib.get_close_matches(name.lower(), names(), n=3))
        said = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names())}"
        raise UnknownModelError(f"no recording is named {name!r}; {said}", near=near)
    text = resources.files(__name__).joinpath(name + _SUFFIX).read_text(encoding="utf-8")
    header, *lines = [json.loads(line) for line in text.split("\n") if line]
    return _recording(header, lines)


def _recording(header: dict[str, Any], lines: list[dict[str, Any]]) -> Recording:
    return Recording(
        name=header["name"],
        title=header["title"],
        wire=header["wire"],
        provider=header["provider"],
        model_id=header["model"],
        status=header["status"],
        headers={"content-type": header["contentType"], **header["headers"]},
        prompt=header["prompt"],
        at_s=datetime.fromisoformat(header["at"]).timestamp(),
        chunks=tuple((float(line["t"]), line.get("data", "").encode()) for line in lines),
        breaks=any(line.get("end") == "reset" for line in lines),
    )
