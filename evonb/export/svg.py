"""Elements of a picture and how they are written: escaped text, short numbers, styles worked out.

Text goes in as text and can't become markup, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from evonb.export.measure import clean
from evonb.export.style import Style, Styles


@dataclass(slots=True)
class Element:
    """One SVG element. `classes` are those of picture.css, separated by spaces."""

    tag: str
    classes: str = ""
    attributes: dict[str, str | float] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)


def el(tag: str, classes: str = "", *children: Element | str | None, **attributes: str | float | None) -> Element:
    """An element; attributes with `_` for `-`, those that are None are left out, as are children."""
    written = {name.replace("_", "-"): value for name, value in attributes.items() if value is not None}
    return Element(tag, classes, written, [child for child in children if child is not None])


def group(classes: str = "", *children: Element | str | None, at: tuple[float, float] | None = None) -> Element:
    """A `g` element, moved to `at`."""
    move = f"translate({number(at[0])} {number(at[1])})" if at else None
    return el("g", classes, *children, transform=move)


def text(classes: str, words: str, x: float, y: float, **attributes: str | float | None) -> Element:
    return el("text", classes, words, x=x, y=y, **attributes)


def rect(classes: str, x: float, y: float, w: float, h: float, rx: float = 0, **attributes: str | float) -> Element:
    return el("rect", classes, x=x, y=y, width=w, height=h, rx=rx or None, **attributes)


def path(classes: str, d: str, **attributes: str | float) -> Element:
    return el("path", classes, d=d, **attributes)


def number(value: float) -> str:
    """At most one figure after the point: a tenth of a pixel is enough."""
    shown = f"{value + 0.0:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def write(root: Element, styles: Styles) -> str:
    """The element as text, styled as the root of a picture."""
    return "".join(_write(root, styles.root, styles))


def _write(element: Element, parent: Style, styles: Styles) -> Iterator[str]:
    style = styles.child(parent, element.tag, element.classes)
    if element.tag == "text" and style.outline_first:
        # Two texts instead of `paint-order`: a renderer without it would paint the outline over the letters.
        yield from _element(element, style, styles, {**style.attributes, "fill": "none", "aria-hidden": "true"})
        without = {k: v for k, v in style.attributes.items() if not k.startswith("stroke")}
        yield from _element(element, style, styles, without)
    else:
        yield from _element(element, style, styles, style.attributes)


def _element(element: Element, style: Style, styles: Styles, looks: Mapping[str, str]) -> Iterator[str]:
    merged: dict[str, str | float] = {**looks, **element.attributes}
    names = f" class={quoteattr(element.classes)}" if element.classes else ""
    attributes = "".join(f" {name}={quoteattr(_value(value))}" for name, value in merged.items())
    yield f"<{element.tag}{names}{attributes}"
    if not element.children:
        yield "/>"
        return
    yield ">"
    for child in element.children:
        if isinstance(child, str):
            yield escape(clean(child))
        else:
            yield from _write(child, style, styles)
    yield f"</{element.tag}>"


def _value(value: str | float) -> str:
    return clean(value) if isinstance(value, str) else number(value)
