"""The words behind `%evo break`: where a session is to stop, as the arguments of `add_breakpoint`."""

from __future__ import annotations

import re
from typing import Any

from evonb.errors import MagicError

__all__ = ["USAGE", "parse_stop"]

USAGE = "%evo break NODE [if EXPR] [after] [hit N] [log EXPR]"
_TAILS = (
    (re.compile(r"(?:^|\s+)hit\s+(\S+)$"), "hit"),
    (re.compile(r"(?:^|\s+)(after|before)$"), "when"),
)
_PLACES = ("edge", "tool", "when", "exception")


def parse_stop(text: str) -> dict[str, Any]:
    """What a line says: `review if score < 0.5 hit 2`, `edge a>b`, `tool search`, `exception`, `when score > 1`.

    Raises:
        MagicError: It can't be understood.
    """
    options: dict[str, Any] = {}
    text = _take_tails(text.strip(), options)
    place, _, rest = text.partition(" ")
    rest = rest.strip()
    if place == "when":
        return {**options, "predicate": _expression(rest, text)}
    if place in _PLACES:
        name, _, rest = ("", "", rest) if place == "exception" else rest.partition(" ")
        options |= {"on_exception": True} if place == "exception" else {place: _named(name, text)}
    else:
        options["node"] = _named(place, text)
    for word, name in (("log", "log"), ("if", "condition")):
        match = re.search(rf"(?:^|\s){word}\s+(.+)$", rest)
        if match is not None:
            options[name] = match[1].strip()
            rest = rest[: match.start()].strip()
    if rest:
        raise _error(f"{rest[:60]!r} isn't understood", text)
    return options


def _take_tails(text: str, options: dict[str, Any]) -> str:
    """Cut `after` and `hit N` off the end, in either order."""
    found = True
    while found:
        found = False
        for pattern, name in _TAILS:
            if match := pattern.search(text):
                options[name] = _count(match[1], text) if name == "hit" else match[1]
                text, found = text[: match.start()].rstrip(), True
    return text


def _count(text: str, line: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise _error(f"hit wants a number above 0, not {text!r}", line)
    return int(text)


def _named(name: str, line: str) -> str:
    if not name:
        raise _error("No node is named", line)
    return name


def _expression(text: str, line: str) -> str:
    if not text:
        raise _error("when wants an expression over the state", line)
    return text


def _error(what: str, line: str) -> MagicError:
    return MagicError(what, where=f"%evo break {line}".strip(), fix=f"write {USAGE}")
