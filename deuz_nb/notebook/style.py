"""How it looks: one table of classes, as a style sheet for the live view and inline for a page that stays.

Colours are JupyterLab's variables with fallbacks that read on light and on dark; meaning is always in the
text too, since some readers drop every style.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

__all__ = ["inline", "sheet"]

_GREY: Final = "var(--jp-ui-font-color2,#7a7a7a)"
_LINE: Final = "var(--jp-border-color2,rgba(128,128,128,.35))"
_FILL: Final = "var(--jp-cell-editor-background,rgba(128,128,128,.1))"
_OK: Final = "var(--jp-success-color1,#388e3c)"
_BAD: Final = "var(--jp-error-color1,#d84343)"
_ASK: Final = "var(--jp-warn-color1,#c77c02)"
_RUN: Final = "var(--jp-brand-color1,#1976d2)"

_STYLES: Final = {
    "dz": "max-width:100%;overflow-wrap:anywhere",
    "dz-head": f"padding:2px 0 6px;margin-bottom:8px;border-bottom:1px solid {_LINE}",
    "dz-note": f"color:{_GREY};font-size:.92em",
    "dz-word": f"color:{_GREY};font-size:.92em",
    "dz-time": f"color:{_GREY};font-size:.92em;font-variant-numeric:tabular-nums;margin-left:6px",
    "dz-state": "margin-left:8px",
    "dz-foot": f"margin-top:10px;padding-top:6px;border-top:1px solid {_LINE};color:{_GREY};font-size:.9em",
    "dz-card": f"border:1px solid {_LINE};border-left-width:3px;border-radius:4px;padding:5px 10px;margin:0 0 .8em",
    "dz-label": f"color:{_GREY};font-size:.82em;margin-top:4px",
    "dz-hint": "margin-top:4px",
    "dz-line": "margin:0 0 .5em",
    "dz-step": f"color:{_GREY};font-size:.82em;border-bottom:1px solid {_LINE};margin:.4em 0 .8em",
    "dz-reasoning": f"border-left:3px solid {_LINE};padding:0 0 0 10px;margin:0 0 .8em;color:{_GREY}",
    "dz-sub": f"border-left:3px solid {_LINE};padding:0 0 0 12px;margin:0 0 .8em 4px",
    "dz-table": "overflow-x:auto;max-width:100%",
    "dz-grid": "margin:0 auto 1em 0;border-collapse:collapse",
    "dz-math": "overflow-x:auto;overflow-y:hidden;padding:.35em 0;margin:0 0 .6em",
    "dz-tree": "list-style:none;padding-left:1.1em;margin:2px 0 2px 2px",
    "dz-plan": "list-style:none;padding-left:2px;margin:4px 0",
    "dz-activity": f"color:{_GREY};font-size:.92em;margin:0 0 .8em",
    "dz-image": "max-width:100%",
    "dz-sources": "margin:0 0 .8em",
    "dz-io": "margin:2px 0",
    "dz-name": "font-weight:600",
    "dz-h3": "font-size:1.25em;font-weight:600;line-height:1.3;margin:0 0 .5em",
    "dz-h4": "font-size:1.12em;font-weight:600;line-height:1.3;margin:0 0 .5em",
    "dz-h5": "font-size:1em;font-weight:600;line-height:1.3;margin:0 0 .5em",
    "dz-in": "background:none;padding:0",
    "dz-pre": f"background:{_FILL};padding:8px 10px;border-radius:4px;overflow-x:auto;margin:0 0 1em",
    "dz-text": f"background:{_FILL};padding:6px 10px;border-radius:4px;white-space:pre-wrap;margin:2px 0 4px",
    "dz-quote": f"border-left:3px solid {_LINE};padding:0 0 0 12px;margin:0 0 1em;color:{_GREY}",
    "dz-is-run": f"color:{_RUN}",
    "dz-is-ok": f"color:{_OK}",
    "dz-is-bad": f"color:{_BAD}",
    "dz-is-ask": f"color:{_ASK}",
    "dz-c": "color:var(--jp-mirror-editor-comment-color,#6f8a8a);font-style:italic",
    "dz-k": "color:var(--jp-mirror-editor-keyword-color,#2e9949);font-weight:600",
    "dz-s": "color:var(--jp-mirror-editor-string-color,#c4554d)",
    "dz-n": "color:var(--jp-mirror-editor-number-color,#3f9b5f)",
    "dz-f": "color:var(--jp-mirror-editor-def-color,#4a78d8)",
    "dz-b": "color:var(--jp-mirror-editor-builtin-color,#2e9949)",
}
_LOOKS: Final = {"run": _RUN, "ok": _OK, "bad": _BAD, "ask": _ASK}

# Only what a live view needs beside the table: the widgets' own boxes, folding, motion.
_LIVE: Final = f"""
.dz{{width:100%;color:var(--jp-content-font-color1,inherit)}}
.dz,.dz .jupyter-widgets,.dz .widget-html-content{{font-size:var(--jp-content-font-size1,14px);
line-height:var(--jp-content-line-height,1.6);font-family:var(--jp-content-font-family,system-ui,sans-serif)}}
.dz .jupyter-widgets{{margin:0;overflow:visible;max-width:100%;width:auto}}
.dz .widget-html{{height:auto;min-height:0}}
.dz .widget-html-content{{min-height:0;min-width:0;max-width:100%;flex:1 1 auto}}
.dz .widget-html>label,.dz .widget-html>.widget-label{{display:none}}
.dz .dz-top{{align-items:flex-start;border-bottom:1px solid {_LINE};margin-bottom:8px;flex-flow:row nowrap}}
.dz .dz-top>.widget-html{{flex:1 1 auto;min-width:0}}
.dz .dz-top .dz-head{{border:0;margin:0}}
.dz .dz-top>.dz-stop{{width:auto;height:24px;line-height:22px;padding:0 10px;border-radius:4px;
background:transparent;color:inherit;border:1px solid {_LINE};font-size:12px;flex:0 0 auto;box-shadow:none}}
.dz .dz-top>.dz-stop:hover{{border-color:{_BAD};color:{_BAD}}}
.dz .dz-top>.dz-stop:focus-visible{{outline:2px solid {_RUN};outline-offset:1px}}
:where(.dz) p,:where(.dz) ul,:where(.dz) ol,:where(.dz) table{{margin:0 0 1em}}
.dz pre,.dz code{{font-family:var(--jp-code-font-family,ui-monospace,monospace)}}
.dz pre{{max-width:100%;box-sizing:border-box}} .dz pre code{{background:none;padding:0}}
.dz .dz-more{{margin-top:-1em}} .dz pre.dz-more{{border-top-left-radius:0;border-top-right-radius:0}}
.dz .dz-long table{{table-layout:fixed;width:100%}}
:where(.dz) table{{border-collapse:collapse}}
:where(.dz) th,:where(.dz) td{{padding:4px 10px;border-bottom:1px solid {_LINE};text-align:left}}
.dz math annotation{{display:none}}
.dz summary{{cursor:pointer}}
.dz .dz-box-reasoning{{border-left:3px solid {_LINE};padding-left:10px;margin:0 0 .8em;color:{_GREY}}}
.dz .dz-box-reasoning:has(>.dz-fold details:not([open]))>:not(.dz-fold){{display:none}}
.dz .dz-box-sub-agent{{border-left:3px solid {_LINE};padding-left:12px;margin:0 0 .8em 4px}}
.dz .dz-box-reasoning>.widget-vbox:last-child>:last-child .widget-html-content>:last-child,
.dz .dz-box-sub-agent>.widget-vbox:last-child>:last-child .widget-html-content>:last-child{{margin-bottom:0}}
.dz .dz-head.dz-run .dz-sym{{animation:dz-pulse 1.4s ease-in-out infinite}}
@keyframes dz-pulse{{50%{{opacity:.25}}}}
@media (prefers-reduced-motion:reduce){{.dz *{{animation:none!important;transition:none!important}}}}
"""

_CLASS: Final = re.compile(r'class="([a-z0-9_ -]+)"')


@cache
def sheet() -> str:
    """The style sheet of the live view; everything in it is below `.dz`."""
    rules = [f".dz .{name}.{name}{{{style}}}" for name, style in _STYLES.items() if name != "dz"]
    # A class is named twice where a front end's own rules for tags would win over it.
    looks = [
        f".dz .dz-card.dz-card.dz-{look}{{border-left-color:{colour}}}" for look, colour in _LOOKS.items()
    ]
    return "\n".join([f".dz{{{_STYLES['dz']}}}", *rules, *looks, _LIVE.strip()])


def inline(html: str) -> str:
    """Our own HTML with its classes' styles written into it, where no style sheet can be."""
    return _CLASS.sub(_with_style, html)


@cache
def _style_of(classes: str) -> str:
    names = classes.split()
    found = [_STYLES[name] for name in names if name in _STYLES]
    if "dz-card" in names:
        found += [f"border-left-color:{colour}" for look, colour in _LOOKS.items() if f"dz-{look}" in names]
    return ";".join(found)


def _with_style(match: re.Match[str]) -> str:
    style = _style_of(match[1])
    return f'{match[0]} style="{style}"' if style else match[0]
