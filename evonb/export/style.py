"""Works out the browser's style rules once, in Python: every element gets plain colours as attributes.

A picture inside an `<img>`, on GitHub or in a drawing program has no style sheet of the page and often no CSS
variables. So the rules stay written in one place (`tokens.css`, `picture.css`) and this module applies them. It knows
what those files use: class selectors with descendants, variables, `color-mix`, `currentColor`; nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from evonb.export.shared import text

Scheme = Literal["light", "dark"]

_ATTRIBUTES = (
    "fill",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "stroke-linecap",
    "stroke-linejoin",
    "opacity",
    "font-family",
    "font-size",
    "font-weight",
    "text-anchor",
)
_DARK = '[data-evo-scheme="dark"]'


@dataclass(frozen=True, slots=True)
class _Compound:
    tag: str
    classes: frozenset[str]

    def fits(self, tag: str, classes: frozenset[str]) -> bool:
        return self.tag in ("", tag) and self.classes <= classes


@dataclass(frozen=True, slots=True)
class _Rule:
    selector: tuple[_Compound, ...]
    declarations: Mapping[str, str]
    weight: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Style:
    """What holds for one element: its attributes, and what its children inherit."""

    attributes: Mapping[str, str]
    variables: Mapping[str, str]
    color: str
    outline_first: bool
    path: tuple[tuple[str, frozenset[str]], ...]


class Styles:
    """The rules for one scheme. The same place and classes give the same `Style` object."""

    def __init__(self, scheme: Scheme) -> None:
        self._rules = _rules()
        self._known: dict[tuple[int, str, str], Style] = {}
        classes = frozenset({"evo", _DARK} if scheme == "dark" else {"evo"})
        self.root = self._compute(Style({}, {}, "#000000", False, ()), "div", classes)

    def child(self, parent: Style, tag: str, classes: str) -> Style:
        """The style of an element with these classes inside an element with the style `parent`."""
        key = (id(parent), tag, classes)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._compute(parent, tag, frozenset(classes.split()))
        return found

    def color(self, token: str) -> str:
        """The colour of a token, such as `color("evo-canvas")`."""
        return _resolve(f"var(--{token})", self.root.variables)

    def _compute(self, parent: Style, tag: str, classes: frozenset[str]) -> Style:
        path = (*parent.path, (tag, classes))
        declared: dict[str, str] = {}
        for rule in sorted((r for r in self._rules if _matches(r.selector, path)), key=lambda r: r.weight):
            declared |= rule.declarations
        variables = {**parent.variables, **{k: v for k, v in declared.items() if k.startswith("--")}}
        color = _resolve(declared["color"], variables) if "color" in declared else parent.color
        attributes = {
            name: color if declared[name] == "currentColor" else _number(_resolve(declared[name], variables))
            for name in _ATTRIBUTES
            if name in declared
        }
        return Style(attributes, variables, color, declared.get("paint-order") == "stroke", path)


@cache
def styles(scheme: Scheme) -> Styles:
    return Styles(scheme)


def _matches(selector: tuple[_Compound, ...], path: tuple[tuple[str, frozenset[str]], ...]) -> bool:
    """Whether the last element of the path is meant, with the other parts of the selector around it in order."""
    if not selector[-1].fits(*path[-1]):
        return False
    around = iter(reversed(path[:-1]))
    return all(any(compound.fits(*element) for element in around) for compound in reversed(selector[:-1]))


@cache
def _rules() -> tuple[_Rule, ...]:
    sheet = text("tokens.css") + text("picture.css").partition("/* Live only */")[0] + text("still.css")
    sheet = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    sheet = re.sub(r"@[^{]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", sheet)
    rules: list[_Rule] = []
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
        declarations = dict(_declarations(body))
        for selector in selectors.split(","):
            compounds = tuple(_compound(part) for part in selector.split())
            weight = (sum(len(c.classes) for c in compounds), sum(c.tag != "" for c in compounds), len(rules))
            rules.append(_Rule(compounds, declarations, weight))
    return tuple(rules)


def _compound(part: str) -> _Compound:
    tag, *classes = part.replace(_DARK, "").split(".")
    return _Compound(tag, frozenset([*classes, *([_DARK] if _DARK in part else [])]))


def _declarations(body: str) -> Iterable[tuple[str, str]]:
    for declaration in body.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            yield name.strip(), " ".join(value.split())


def _resolve(value: str, variables: Mapping[str, str]) -> str:
    """The value with variables put in and colours mixed, from the inside out."""
    if value.startswith("var("):
        name, _, fallback = value[4:-1].partition(",")
        return _resolve(variables.get(name.strip(), fallback.strip()), variables)
    if value.startswith("color-mix("):
        _, first, second = _split(value[len("color-mix(") : -1])
        color, _, share = first.rpartition(" ")
        return _mix(_resolve(color, variables), _resolve(second, variables), float(share.rstrip("%")) / 100)
    return value


def _split(text: str) -> list[str]:
    """The parts between the commas that stand in no bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _mix(first: str, second: str, share: float) -> str:
    mixed = (round(a * share + b * (1 - share)) for a, b in zip(rgb(first), rgb(second), strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def rgb(color: str) -> tuple[int, int, int]:
    """The parts of a colour written as #rrggbb."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _number(value: str) -> str:
    return value.removesuffix("px") if re.fullmatch(r"[\d.]+px", value) else value
