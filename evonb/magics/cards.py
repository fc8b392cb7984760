"""Every error of evonb as one card: what, where, how to mend it; for a node's error also the user's own traceback.

A card is two outputs: HTML for people in a notebook, and the error itself, whose text is the same card, for
everything that reads outputs by program. Where both can be seen, a rule in the card hides the second.
"""

from __future__ import annotations

import os
import traceback
import weakref
from dataclasses import dataclass
from html import escape
from typing import Any

from evonb._optional import loaded, require
from evonb.errors import EvonbError, source_lines
from evonb.graph.events import ErrorInfo

__all__ = [
    "Card",
    "card_html",
    "card_of",
    "card_of_syntax_error",
    "card_text",
    "forget_shown",
    "install",
    "rendered",
    "show_card",
    "uninstall",
]

MAX_CHARS = 20_000
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass(frozen=True, slots=True)
class Card:
    """What stands on a card; `source` is (line number or 0, text, is the line)."""

    title: str
    what: str
    where: str = ""
    fix: str = ""
    source: tuple[tuple[int, str, bool], ...] = ()
    traceback: str = ""


def card_of(error: EvonbError) -> Card:
    """The card of an error; a node's error brings its source lines and traceback."""
    info = getattr(error, "info", None)
    notes = "\n".join(str(note) for note in getattr(error, "__notes__", ()))
    what = f"{error.what}\n{notes}" if notes else error.what
    if not isinstance(info, ErrorInfo):
        return Card(type(error).__name__, what, error.where, error.fix)
    where, fix = info.where or error.where, info.fix or error.fix
    trace = info.traceback if _has_user_code(error.__cause__ or error) else ""
    node = getattr(error, "node_name", "")
    title = f"{info.kind} in {node}" if node else info.kind
    return Card(title, info.what or what, where, fix, info.source, trace)


def _has_user_code(error: BaseException) -> bool:
    """Whether the traceback leads through code that isn't ours; else it tells the user nothing."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(not frame.f_code.co_filename.startswith(_PACKAGE + os.sep) for frame in frames)


def card_of_syntax_error(error: SyntaxError, cell: str, first_line: int = 1) -> Card:
    """A syntax error with the line that the user sees."""
    number = error.lineno or first_line
    lines = (error.text or "").splitlines() or [""]
    mark = " " * max(0, (error.offset or 1) - 1) + "^"
    shown = ((number, lines[0].rstrip(), True), (0, mark, False)) if error.text else ()
    return Card(
        type(error).__name__.lstrip("_"),
        f"The cell isn't valid Python: {error.msg}",
        f"{cell}, line {number}",
        f"mend line {number} and run the cell again; the graph that was there before is still in use",
        shown,
    )


def card_text(card: Card) -> str:
    """The card as plain text; its lines stand below each other as in `str(error)`."""
    lines = [f"{card.title}: {card.what}"]
    if card.where:
        lines.append(f"  where: {card.where}")
    lines += source_lines(card.source)
    if card.fix:
        lines.append(f"  fix:   {card.fix}")
    if card.traceback:
        lines += ["", card.traceback.rstrip()]
    return "\n".join(lines)[:MAX_CHARS]


def card_html(card: Card) -> str:
    """The card as HTML with its own styles; every text is escaped."""
    rows = [("What", _text(card.what)), ("Where", _text(card.where)), ("", _source(card)), ("Fix", _text(card.fix))]
    cells = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows if value)
    return (
        f'{_STYLE}<div class="evo-card" role="alert"><p class="evo-card-title">{_GLYPH}{_text(card.title)}</p>'
        f"<dl>{cells}</dl>{_traceback(card)}</div>"
    )


def _source(card: Card) -> str:
    if not card.source:
        return ""
    lines = "".join(
        f'<span class="{"evo-hit" if hit else "evo-line"}">{number or "":>4}  {_text(text)}\n</span>'
        for number, text, hit in card.source
    )
    return f'<pre class="evo-card-source">{lines}</pre>'


def _traceback(card: Card) -> str:
    if not card.traceback:
        return ""
    return f"<details><summary>Traceback</summary><pre>{_text(card.traceback)}</pre></details>"


def _text(value: str) -> str:
    return escape(value[:MAX_CHARS])


def show_card(card: Card) -> None:
    """The HTML half, in a notebook; a terminal gets the text half alone."""
    ipython = loaded("IPython")
    if ipython is None or getattr(ipython.get_ipython(), "kernel", None) is None:
        return
    display = require("IPython.display", "to show an error card")
    display.publish_display_data({"text/html": card_html(card), "text/plain": ""})


def install() -> None:
    """Let IPython show our errors as cards. They are still raised, so a cell that fails has failed for everybody."""
    # IPython asks an exception for its own rendering by this name.
    EvonbError._render_traceback_ = rendered  # type: ignore[attr-defined]


def uninstall() -> None:
    if "_render_traceback_" in vars(EvonbError):
        del EvonbError._render_traceback_  # type: ignore[attr-defined]


def forget_shown() -> None:
    """A new cell begins: the same error object may be shown again."""
    _shown.clear()


_shown: weakref.WeakSet[EvonbError] = weakref.WeakSet()


def rendered(error: EvonbError, *_: Any) -> list[str]:
    """The lines of an error's text; its card is shown the first time a cell asks."""
    card = card_of(error)
    if error not in _shown:
        # IPython asks twice: for the eye, and for its history.
        _shown.add(error)
        show_card(card)
    return card_text(card).split("\n")


_GLYPH = (
    '<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path fill="none" stroke="currentColor"'
    ' stroke-width="1.6" d="M5 1.5h6L14.5 5v6L11 14.5H5L1.5 11V5zM5.5 5.5l5 5m0-5l-5 5"/></svg>'
)
_STYLE = """<style>
.evo-card { --evo-card-red: #b3261e; font: 13px/1.5 var(--jp-ui-font-family, system-ui, sans-serif);
  color: var(--jp-ui-font-color1, #1b1b1f); background: var(--jp-layout-color1, #fff);
  border: 1px solid var(--jp-border-color2, #c8c8d0); border-left: 4px solid var(--evo-card-red); border-radius: 6px;
  padding: 8px 12px; margin: 4px 0; max-width: 76em; }
[data-jp-theme-light="false"] .evo-card { --evo-card-red: #ff8a80; }
.evo-card .evo-card-title { display: flex; gap: 6px; align-items: center; margin: 0 0 4px; font-weight: 600;
  color: var(--evo-card-red); }
.evo-card dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: 0; }
.evo-card dt { color: var(--jp-ui-font-color2, #5a5a66); font-weight: 400; }
.evo-card dd { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.evo-card pre, .evo-card pre.evo-card-source { font: 12px/1.5 var(--jp-code-font-family, monospace);
  margin: 4px 0; padding: 6px 8px; overflow-x: auto; color: inherit; border-radius: 4px;
  background: var(--jp-layout-color2, #f4f4f7); }
.evo-card .evo-line, .evo-card .evo-hit { display: block; }
.evo-card .evo-hit { font-weight: 600; background: color-mix(in srgb, var(--evo-card-red) 16%, transparent); }
.evo-card details { margin-top: 6px; } .evo-card summary { cursor: pointer; }
.jp-OutputArea-child:has(.evo-card) + .jp-OutputArea-child:has(> [data-mime-type="application/vnd.jupyter.stderr"],
  > [data-mime-type="application/vnd.jupyter.error"]) { display: none; }
</style>"""
