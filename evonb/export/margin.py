"""The cards beside the graph in a still picture: what is streamed, the error, the final state.

Only what stands on them; `still.py` puts them into the margin, with a line to their node, or below the graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evonb.export.counting import plural
from evonb.export.in_words import value_line
from evonb.export.measure import clean, cut, width
from evonb.export.picture import glyph
from evonb.export.shared import place
from evonb.export.svg import Element, group, path, rect, text
from evonb.export.tool_words import tool_at_work
from evonb.export.words import asks, names
from evonb.protocol.durations import duration
from evonb.protocol.snapshot import NodeState, Snapshot, WireError

CARD_PX = 366
_ROW = 17.0
_MONO_PX = 7.0
_MOST_CALLOUTS = 3
_MOST_ROWS = 8
_MOST_LINES = 6
_STREAM_CHARS = 110


@dataclass(frozen=True, slots=True)
class Card:
    """Something of a known size for the margin, and the node it is about."""

    element: Element
    w: float
    h: float
    node: str | None
    look: str


def cards(snapshot: Snapshot) -> list[Card]:
    """The error, or what is streamed now, or the final state; nothing if there is nothing to tell."""
    run = snapshot["run"]
    if run["error"] is not None:
        return [_error_card(run["error"], run["failed_node"], names(snapshot))]
    if run["status"] == "finished" and (run["result"] is not None or run["message"]):
        return [_result_card(snapshot)]
    telling = ((n, s) for n, s in snapshot["nodes"].items() if s["stream"])
    streaming = [(n, s) for n, s in telling if s["status"] == "running" or asks(s)]
    streaming.sort(key=lambda found: found[1]["started_s"] or 0, reverse=True)
    known = names(snapshot)
    elapsed_s = run["elapsed_s"]
    return [_callout(name, state, known.get(name, name), elapsed_s) for name, state in streaming[:_MOST_CALLOUTS]]


def _callout(node: str, state: NodeState, name: str, elapsed_s: float) -> Card:
    wide, pad, line = place("callout", "width"), place("callout", "pad"), place("callout", "line")
    look, said = ("waiting", state["question"]) if asks(state) else ("running", state["stream"])
    shown = said if len(said) <= _STREAM_CHARS else "…" + said[-_STREAM_CHARS:]
    lines = wrap(shown, 12, wide - 2 * pad)
    most = int(place("callout", "lines"))
    if len(lines) > most:  # the end matters: it is what is being said now
        lines = ["…" + lines[-most], *lines[1 - most :]]
    count = "asks you" if asks(state) else tool_at_work(state, elapsed_s) or plural(state["chunks"], "chunk")
    high = 2 * pad + 13 + line * max(1, len(lines))
    element = group(
        f"callout {look}",
        rect("paper", 0, 0, wide, high, place("callout", "radius")),
        text("who", _fitted(name, wide - 2 * pad - width(count, 11) - 6), pad, pad + 9),
        text("count", count, wide - pad, pad + 9),
        *(text("said", words, pad, pad + 26 + line * i) for i, words in enumerate(lines)),
    )
    return Card(element, wide, high, node, look)


def _fitted(name: str, wide: float) -> str:
    shown = cut(name, 18)
    while width(shown, 11) > wide and len(shown) > 2:
        shown = cut(shown, len(shown) - 1)
    return shown


def _error_card(error: WireError, node: str | None, known: dict[str, str]) -> Card:
    rows = _Rows(CARD_PX, keys=("What", "Where", "Fix"))
    place_ = f" in {known.get(node, node)}" if node is not None else ""
    rows.head("failed", cut(error["kind"] + place_, 40))
    rows.pair("What", error["what"])
    rows.pair("Where", error["where"])
    rows.source([(line["number"], line["text"], line["hit"]) for line in error["source"]])
    rows.pair("Fix", error["fix"])
    stripe = path("stripe", f"M3 0H0V{rows.y + 6:.1f}H3Z")
    return Card(rows.card("card failed", stripe), CARD_PX, rows.y + 6, node, "failed")


def _result_card(snapshot: Snapshot) -> Card:
    run = snapshot["run"]
    look = "done" if run["reason"] == "completed" else "waiting"
    result = list((run["result"] or {}).items())
    rows = _Rows(CARD_PX, keys=[cut(key, 16) for key, _ in result[:_MOST_ROWS]])
    rows.head(look, "Final state")
    rows.line("key", f"{plural(run['turns'], 'step')} · {duration(run['elapsed_s'])}")
    if run["message"]:
        rows.paragraph(run["message"])
    for key, value in result[:_MOST_ROWS]:
        rows.pair(cut(key, 16), value_line(value))
    if len(result) > _MOST_ROWS:
        rows.line("key", f"and {len(result) - _MOST_ROWS} more")
    if run["result"] is None:
        rows.line("key", "Nothing reached the end of the graph.")
    return Card(rows.card(f"card {look}", None), CARD_PX, rows.y + 6, None, look)


class _Rows:
    """Rows of a card, from the top down; `keys` are those that stand at the left of pairs."""

    def __init__(self, wide: float, keys: Iterable[str]) -> None:
        self._wide = wide
        self._left = max((24 + width(key, 12) for key in keys), default=24)
        self._items: list[Element] = []
        self.y = 10.0

    def head(self, look: str, words: str) -> None:
        self._items += [group(look, glyph(look, 14, self.y + 3)), text("head", words, 38, self.y + 16)]
        self.y += 32

    def line(self, classes: str, words: str) -> None:
        self._items.append(text(classes, words, 14, self.y + 12))
        self.y += _ROW + 4

    def paragraph(self, words: str) -> None:
        for part in wrap(words, 12.5, self._wide - 28)[:_MOST_LINES]:
            self._items.append(text("value", part, 14, self.y + 12))
            self.y += _ROW
        self.y += 5

    def pair(self, key: str, words: str) -> None:
        """A key, and its words beside it on as many lines as they need."""
        if not words:
            return
        x = self._left
        lines = wrap(words, 12.5, self._wide - x - 14)
        shown = (
            [*lines[: _MOST_LINES - 1], cut(" ".join(lines[_MOST_LINES - 1 :]), 44)]
            if len(lines) > _MOST_LINES
            else lines
        )
        self._items.append(text("key", key, 14, self.y + 12))
        for part in shown:
            self._items.append(text("value", part, x, self.y + 12))
            self.y += _ROW
        self.y += 5

    def source(self, lines: list[tuple[int, str, bool]]) -> None:
        """Numbered source lines, the one that failed underlined by a wave."""
        if not lines:
            return
        lines = _around_hit(lines)
        indent = min((len(words) - len(words.lstrip()) for _, words, _ in lines if words.strip()), default=0)
        high = _ROW * len(lines) + 12
        left = self._left
        self._items.append(rect("code", left, self.y, self._wide - left - 14, high, 4))
        for i, (number, words, hit) in enumerate(lines):
            y = self.y + 18 + _ROW * i
            shown = cut(words[indent:].rstrip(), int((self._wide - left - 62) / _MONO_PX))
            self._items.append(text("number", str(number), left + 30, y))
            # The indent as a place, not as spaces, which collapse in SVG.
            lead = len(shown) - len(shown.lstrip())
            start, end = left + 40 + lead * _MONO_PX, left + 40 + len(shown) * _MONO_PX
            self._items.append(text("src hit" if hit else "src", shown.lstrip(), start, y))
            if hit:
                self._items.append(_wave(start, end, y + 4))
        self.y += high + 9

    def card(self, classes: str, extra: Element | None) -> Element:
        paper = rect("paper", 0, 0, self._wide, self.y + 6, 8)
        return group(classes, paper, extra, *self._items)


def _around_hit(lines: list[tuple[int, str, bool]]) -> list[tuple[int, str, bool]]:
    hit = next((i for i, (_, _, is_hit) in enumerate(lines) if is_hit), 0)
    first = max(0, hit - _MOST_LINES // 2)
    return lines[first : first + _MOST_LINES]


def _wave(start: float, end: float, y: float) -> Element:
    end = min(end, CARD_PX - 22)
    count = max(1, int((end - start) / 4))
    d = f"M{start:.1f} {y:.1f}" + "".join(f"q2 {2.4 if i % 2 else -2.4} 4 0" for i in range(count))
    return path("wave", d)


def wrap(words: str, size_px: float, wide: float) -> list[str]:
    """Lines that fit, broken at spaces, and inside a word only where it alone is too wide."""
    lines, line = [], ""
    for word in clean(words).split():
        for piece in _pieces(word, size_px, wide):
            longer = f"{line} {piece}" if line else piece
            if line and width(longer, size_px) > wide:
                lines.append(line)
                line = piece
            else:
                line = longer
    return [*lines, line] if line else lines or [""]


def _pieces(word: str, size_px: float, wide: float) -> Iterable[str]:
    while width(word, size_px) > wide:
        count = max(1, int(len(word) * wide / width(word, size_px)))
        yield word[:count]
        word = word[count:]
    yield word
