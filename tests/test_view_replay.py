"""Views of transcripts, and runs told once more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deuz_nb import model, read_transcript, show, stream_chat, stream_view, write_transcript
from deuz_nb.errors import MisuseError


def test_outside_a_notebook_a_view_is_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    view = stream_view(stream_chat(model("replay:cove", speed=None)))
    view._ipython_display_()
    shown = capsys.readouterr().out
    assert shown.startswith("ollama:qwen3:8b")
    assert "finished" in shown
    assert shown.strip() == str(view).strip()


def test_a_transcript_is_viewed_shown_and_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = stream_chat(model("replay:reef", speed=None)).wait(30)
    write_transcript(result, tmp_path / "reef.sse", timings=True)
    kept = read_transcript(tmp_path / "reef.sse")
    view = stream_view(kept)
    again = view.replay(speed=None)
    assert str(again) == str(view)
    assert again.result.parts == kept.parts
    show(kept)
    assert "tide_table" in capsys.readouterr().out
    third = again.replay(speed=1000.0)
    third.wait(30)
    assert third.result.parts == kept.parts


def test_a_result_is_replayed_from_its_view() -> None:
    view = stream_view(stream_chat(model("replay:cove", speed=None)).wait(30))
    assert view.replay(None).result.wait(30).parts == view.result.parts
    with pytest.raises(MisuseError, match="speed"):
        view.replay(0)


@pytest.mark.parametrize("given", [None, "tides.sse", [], 5])
def test_what_is_neither_result_nor_transcript_is_refused(given: Any) -> None:
    with pytest.raises(MisuseError, match="cannot be viewed"):
        stream_view(given)
