"""Results and transcripts as what a front end keeps: static HTML and plain text."""

from __future__ import annotations

from typing import Any, Final, cast

from deuz_nb.engine.result import StreamResult
from deuz_nb.errors import ProviderError
from deuz_nb.fold.turn import Turn
from deuz_nb.notebook import bridge
from deuz_nb.notebook.blocks import Page, page_of
from deuz_nb.notebook.bridge import Bundle
from deuz_nb.notebook.facts import Facts
from deuz_nb.notebook.static import page_html, page_text
from deuz_nb.parts.usage import JSONObject
from deuz_nb.wire.transcript import Transcript

__all__ = ["bundle_of", "facts_of", "page_bundle", "show_transcript", "turn_of"]

HINT: Final = "Install ipywidgets to watch a run live in the notebook."


def show_transcript(transcript: Transcript) -> None:
    """Show a transcript: in a notebook as a card, elsewhere as plain text on standard output."""
    page = page_of(turn_of(transcript))
    if bridge.front_end() == "terminal":
        print(page_text(page))
    else:
        bridge.publish(page_bundle(page), bridge.new_display_id())


def turn_of(transcript: Transcript) -> Turn:
    """The turn a transcript tells; without finish or error it is cut off."""
    turn = Turn()
    turn.apply_all(transcript.parts)
    if turn.status in ("empty", "streaming"):
        turn.seal()
    return turn


def bundle_of(source: StreamResult | Transcript) -> Bundle:
    """Static HTML and plain text of a result as it is now, or of a transcript; no clock time."""
    if isinstance(source, Transcript):
        return page_bundle(page_of(turn_of(source)))
    return page_bundle(page_of(source.turn, facts_of(source, with_clock=False)))


def page_bundle(page: Page) -> Bundle:
    """The bundle of a page."""
    return {"text/html": page_html(page), "text/plain": page_text(page)}


def facts_of(result: StreamResult, *, with_clock: bool) -> Facts:
    """What the result knows beside its turn; times only when they may be shown."""
    error = result.error
    return Facts(
        provider=result.model.provider,
        model_id=result.model.model_id,
        is_started=result.is_started,
        elapsed_s=result.elapsed_s if with_clock else None,
        first_part_s=result.first_part_s if with_clock else None,
        cost_usd=result.cost_usd,
        is_usage_reported=_is_usage_reported(result),
        error_name=None if error is None else type(error).__name__,
        error_code=error.code if isinstance(error, ProviderError) else None,
    )


def _is_usage_reported(result: StreamResult) -> bool | None:
    """What the finish part says of it; None when it says nothing."""
    last = cast("JSONObject", result.parts[-1]) if result.parts else {}
    metadata: Any = last.get("providerMetadata")
    own: Any = cast("JSONObject", metadata).get("deuz") if isinstance(metadata, dict) else None
    told: Any = cast("JSONObject", own).get("usageReported") if isinstance(own, dict) else None
    return told if isinstance(told, bool) else None
