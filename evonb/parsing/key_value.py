"""`Key: value` lines, with values that run over lines or are lists, and sections under headings."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from evonb.parsing.failure import Unreadable
from evonb.parsing.reading import Reading
from evonb.parsing.schema import OutputFormat

_MARK = r"(?:\*\*|__|\*|`)?"
_LINE = re.compile(
    rf"^[ \t]{{0,40}}(?:[-*+•][ \t]+)?{_MARK}(?P<key>[^\W\d_][^:：=\n*`]{{0,60}}?){_MARK}[ \t]{{0,8}}"
    rf"(?P<sep>：|:{_MARK}(?=\s|$)|:(?=[^\s/:\d])|=(?=[^=]))[ \t]*(?P<value>.*)$"
)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$")
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(.+)$")
_MAX_KEY_WORDS = 4
_SENTENCE = re.compile(r"[.!?,;()\"<>{}\[\]|]")


def lower_snake(key: str) -> str:
    """A key in lower case with underscores, in any script: `First Name` is `first_name`."""
    return re.sub(r"[\s\-/]+", "_", key.strip()).strip("_").lower()


def read_key_value(text: str, known: Collection[str] = (), *, sure: bool = False) -> Reading:
    """Read `text` as lines of keys and values.

    Args:
        text: The lines, perhaps after an introduction.
        known: Keys that are looked for, in lower snake case; a line with one always counts.
        sure: Somebody said that this is it, so one line is enough.

    Raises:
        Unreadable: It is prose.
    """
    sections = _sections(text, known)
    if sections:
        return Reading(OutputFormat.KEY_VALUE, sections, 0, len(text))
    lines = text.split("\n")
    pairs, other, start = _collect(lines, known)
    wanted = sum(key in known for key in pairs)
    filled = [line for line in lines[start:] if line.strip()]
    head = "\n".join(lines[:start])
    led_in = not head.strip() or head.rstrip()[-1] in ":：.!" or not lines[start - 1].strip()
    prose = len(pairs) < 2 or other * 2 > len(filled) or start > 3 or not led_in
    if not pairs or (not sure and not wanted and prose):
        raise Unreadable("no lines of keys and values")
    value = {key: _value(parts) for key, parts in pairs.items()}
    offset = sum(len(line) + 1 for line in lines[:start])
    return Reading(OutputFormat.KEY_VALUE, value, offset, len(text))


def _collect(lines: list[str], known: Collection[str]) -> tuple[dict[str, list[str]], int, int]:
    """The keys with the lines of their values, how many lines are neither, and where the first key stands."""
    pairs: dict[str, list[str]] = {}
    seen: dict[str, int] = {}
    key, other, first, blank = "", 0, -1, False
    for index, line in enumerate(lines):
        if not line.strip():
            blank = True
            continue
        found = _pair(line, known)
        if found and _is_introduction(lines, index, found, known):
            continue
        if found:
            seen[found[0]] = seen.get(found[0], 0) + 1
            key = found[0] if seen[found[0]] == 1 else f"{found[0]}_{seen[found[0]]}"
            pairs[key] = [found[1]] if found[1] else []
            first = index if first < 0 else first
        elif (
            key
            and (not blank or _BULLET.match(line) or line[:1] in " \t")
            and (pairs[key] or _BULLET.match(line) or not blank)
        ):
            pairs[key].append(line)
            other += not _BULLET.match(line)
        else:
            key = "" if blank else key
            other += 1
        blank = False
    return pairs, other, max(first, 0)


def _pair(line: str, known: Collection[str]) -> tuple[str, str] | None:
    match = _LINE.match(line)
    if match is None:
        return None
    name = match["key"].strip(" \t*_`")
    key = lower_snake(name)
    if key in known:
        return key, _stripped(match["value"])
    if not name or len(name.split()) > _MAX_KEY_WORDS or _SENTENCE.search(name):
        return None
    if match["sep"][0] == ":" and len(match["sep"]) == 1 and match["value"] and not line.split(":", 1)[1][:1].isspace():
        return None  # "http://", "10:30": a colon in a word
    return key, _stripped(match["value"])


def _stripped(value: str) -> str:
    value = value.strip()
    for mark in ("**", "__"):
        if value.startswith(mark) and value.count(mark) == 1:
            value = value.removeprefix(mark).strip()
    return value


def _is_introduction(lines: list[str], index: int, found: tuple[str, str], known: Collection[str]) -> bool:
    """Whether the line is "Here are the details:", which announces the keys and isn't one."""
    key, value = found
    if value or key in known or key.count("_") < 2:
        return False
    rest = [line for line in lines[index + 1 : index + 4] if line.strip()]
    return bool(rest) and not _BULLET.match(rest[0]) and rest[0][:1] not in " \t"


def _value(parts: list[str]) -> Any:
    bullets = [_BULLET.match(part) for part in parts]
    if parts and all(bullets):
        return [bullet.group(1).strip() for bullet in bullets if bullet]
    return " ".join(part.strip() for part in parts)


def _sections(text: str, known: Collection[str]) -> dict[str, Any]:
    """The texts under headings that name known keys, if at least one does."""
    if "#" not in text or not known:
        return {}
    found: dict[str, list[str]] = {}
    key = ""
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        if heading:
            name = lower_snake(heading.group(1).strip("*_: "))
            key = name if name in known else ""
            if key:
                found[key] = []
        elif key:
            found[key].append(line)
    return {
        key: _value([line for line in lines if line.strip()])
        if all(_BULLET.match(line) for line in lines if line.strip()) and any(line.strip() for line in lines)
        else "\n".join(lines).strip()
        for key, lines in found.items()
    }
