"""Transcript files: read, written at once or not at all, found by pattern.  `.gz` by suffix."""

from __future__ import annotations

import contextlib
import glob
import gzip
import os
import uuid
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from deuz_nb.errors import MisuseError, TranscriptError
from deuz_nb.parts.stream import StreamPart
from deuz_nb.parts.ui import UIPart
from deuz_nb.wire.frame import Wire
from deuz_nb.wire.transcript import Recorded, Transcript, transcript_bytes, transcript_from_bytes

__all__ = ["Source", "expand", "read_transcript", "write_transcript"]

Source = str | os.PathLike[str]
_GZIP: Final = b"\x1f\x8b"


def read_transcript(path: Source) -> Transcript:
    """Read a transcript file: `.sse` or `.sse.gz`, v1 or v2.

    Raises FileNotFoundError for a missing file, TranscriptError (with the line) for one that is none.
    """
    name = os.fspath(path)
    data = Path(name).read_bytes()
    if data.startswith(_GZIP) or (data and name.endswith(".gz")):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            hint = "it is cut off or no gzip file; take another copy, or drop .gz from its name"
            raise TranscriptError(f"{name}: broken gzip ({error}); {hint}", path=name) from error
    return transcript_from_bytes(data, path=name)


def write_transcript(
    source: Transcript | Recorded | Sequence[StreamPart | UIPart],
    path: Source,
    *,
    wire: Wire = "v2",
    timings: bool = False,
) -> None:
    """Write a result, a list of parts or a transcript as a transcript file; packed when it ends with `.gz`.

    The file is replaced as a whole, never half written.  Equal input gives equal bytes.  `timings` adds when
    each part came, where the source knows it; a transcript that is rewritten keeps what it has.
    """
    # The file behind a link is replaced, not the link.
    name = os.path.realpath(path)
    data = transcript_bytes(source, wire=wire, timings=timings)
    if name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    temporary = f"{name}.{uuid.uuid4().hex[:12]}.tmp"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, name)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def expand(paths: Source | Iterable[Source]) -> list[str]:
    """The files that paths and glob patterns (`**` too) name: patterns sorted, each file once.

    Raises MisuseError for a pattern that matches nothing; a plain path is kept even if it is missing.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: dict[str, None] = {}
    for path in given:
        name = os.fspath(path)
        if not glob.has_magic(name) or os.path.exists(name):
            found[name] = None
            continue
        matches = sorted(match for match in glob.glob(name, recursive=True) if os.path.isfile(match))
        if not matches:
            raise MisuseError(f"no file matches {name!r}; check the pattern and the working directory")
        found |= dict.fromkeys(matches)
    return list(found)
