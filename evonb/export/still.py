"""The still picture of a snapshot: an SVG that looks right wherever it is shown, and a text that reads well.

Nothing in it needs a style sheet, a script, a font or the net; names and values are text, never markup.
"""

from __future__ import annotations

from hashlib import blake2s

from evonb.export.in_words import still_text
from evonb.export.margin import Card, cards
from evonb.export.measure import cut, width
from evonb.export.notes import boxes_of, leader, notes
from evonb.export.picture import glyph, patterns, picture
from evonb.export.shared import place
from evonb.export.style import Scheme, styles
from evonb.export.svg import Element, el, group, path, rect, text, write
from evonb.export.words import chip, headline
from evonb.protocol.snapshot import Snapshot

__all__ = ["still_element", "still_svg", "still_text"]

_MIN_WIDTH = 420.0
_MAX_WITH_MARGIN = 1200.0
_GAP_BELOW = 18.0


def still_svg(snapshot: Snapshot, *, scheme: Scheme = "light") -> str:
    """The picture that the live view shows, as one SVG document.

    Args:
        snapshot: The graph, its layout and how its run stands.
        scheme: Colours for a light or for a dark ground; the picture brings its own ground.
    """
    return write(still_element(snapshot, scheme), styles(scheme))


def still_element(snapshot: Snapshot, scheme: Scheme = "light", *, bare: bool = False) -> Element:
    """The same as elements, before the colours are worked out; `bare` leaves out the bar, the ground and the rim."""
    prefix = _prefix(snapshot, scheme)
    said = notes(snapshot)
    reach = max((spot.right for _, spot in said), default=0.0)
    beside, inner, high = _composed(snapshot, reach)
    wide = inner + 2 * place("stage", "pad_x")
    wide = wide if bare else max(wide, _MIN_WIDTH, _header_width(snapshot))
    wide = float(round(wide))
    top = 0.0 if bare else place("stage", "head_height")
    name = snapshot["graph"]["name"]
    count = len(snapshot["graph"]["nodes"])
    ground = rect("canvas", 0.5, 0.5, wide - 1, high + top - 1, 8)
    grid = rect("", 0.5, top, wide - 1, high - 1, fill=f"url(#{prefix}-grid)")
    rim = rect("rim", 0.5, 0.5, wide - 1, high + top - 1, 8)
    at = ((wide - inner) / 2, top + place("stage", "pad_y"))
    under, over = beside
    graph = group("", *under, *picture(snapshot, prefix), *(note for note, _ in said), *over, at=at)
    return el(
        "svg",
        "graph evo-still",
        el("title", "", f"Graph {name}, {count} nodes, {chip(snapshot)[1].lower()}"),
        patterns(prefix),
        *([graph] if bare else [ground, grid, graph, _header(snapshot, wide), rim]),
        xmlns="http://www.w3.org/2000/svg",
        width=wide,
        height=high + top,
        viewBox=f"0 0 {wide:.0f} {high + top:.0f}",
        role="img",
    )


def _prefix(snapshot: Snapshot, scheme: Scheme) -> str:
    """Ids of one picture must not meet those of another in the same page."""
    marks = f"{scheme} {snapshot['graph']['name']} {snapshot['seq']} {snapshot['run']['run_id']}"
    return f"evo-{blake2s(marks.encode('utf-8', 'replace'), digest_size=5).hexdigest()}"


def _composed(snapshot: Snapshot, reach: float) -> tuple[tuple[list[Element], list[Element]], float, float]:
    """What lies under and over the graph, the width of it all, and the height with a margin.

    `reach` is how far to the right the notes at nodes go.
    """
    layout, found = snapshot["layout"], cards(snapshot)
    pad_y, gap = place("stage", "pad_y"), place("callout", "gap")
    wide, high = max(layout["width"], reach), layout["height"]
    if not found:
        return ([], []), wide, float(round(high + 2 * pad_y))
    widest = max(card.w for card in found)
    if wide + gap + widest > _MAX_WITH_MARGIN:
        over, bottom = _below(found, high + _GAP_BELOW)
        return ([], over), max(wide, widest), float(round(bottom + 2 * pad_y))
    under, over, bottom = _in_margin(snapshot, found, wide + gap)
    return (under, over), wide + gap + widest, float(round(bottom + 2 * pad_y))


def _below(found: list[Card], top: float) -> tuple[list[Element], float]:
    placed, y = [], top
    for card in found:
        placed.append(group("", card.element, at=(0, y)))
        y += card.h + 8
    return placed, y - 8


def _in_margin(snapshot: Snapshot, found: list[Card], x: float) -> tuple[list[Element], list[Element], float]:
    """Each card as near to its node's height as the ones above allow, with a line to the node."""
    boxes = boxes_of(snapshot)
    frames = {node["parent"] for node in snapshot["graph"]["nodes"]}
    under, over, lowest, height = list[Element](), list[Element](), 0.0, snapshot["layout"]["height"]
    room = sum(card.h + 8 for card in found) - 8
    for card in sorted(found, key=lambda card: boxes[card.node].y if card.node in boxes else 0):
        box = boxes.get(card.node) if card.node else None
        wanted = box.center[1] - card.h / 2 if box else (height - card.h) / 2
        y = max(lowest, min(wanted, max(height - room, 0)))
        over.append(group("", card.element, at=(x, y)))
        if box and card.node not in frames:
            solid = [other for name, other in boxes.items() if name != card.node and name not in frames]
            middle = box.center[1]
            to = middle if y + 12 < middle < y + card.h - 12 else y + 20
            under.append(leader(box, solid, card.look, x, to))
        lowest, room = y + card.h + 8, room - card.h - 8
    return under, over, max(height, lowest - 8)


def _header_width(snapshot: Snapshot) -> float:
    words = (chip(snapshot)[1], headline(snapshot), cut(snapshot["graph"]["name"], 40))
    return min(760.0, sum(width(word, 12) for word in words) + 110)


def _header(snapshot: Snapshot, wide: float) -> Element:
    """The bar on top: how the run stands in one chip and one line, and the graph's name."""
    high = place("stage", "head_height")
    look, word = chip(snapshot)
    chip_w = width(word, 12) + 32
    name = cut(snapshot["graph"]["name"], 40)
    room = wide - chip_w - width(name, 12) - 60
    facts = headline(snapshot)
    while width(facts, 12) > room and len(facts) > 8:
        facts = cut(facts, len(facts) - 1)
    ground = f"M0.5 {high:.1f}V8.5A8 8 0 0 1 8.5 0.5H{wide - 8.5:.1f}A8 8 0 0 1 {wide - 0.5:.1f} 8.5V{high:.1f}Z"
    marks = group(
        look,
        rect("chip", 10, 9, chip_w, 22, 11),
        glyph(look, 15, 12),
        text("word", word, 37, 24.2),
    )
    return group(
        "head-bar",
        path("ground", ground),
        path("rule", f"M0.5 {high:.1f}H{wide - 0.5:.1f}"),
        marks,
        text("facts", facts, 10 + chip_w + 8, 24.2),
        text("graph-name", name, wide - 14, 24.2),
    )
