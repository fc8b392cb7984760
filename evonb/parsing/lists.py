"""Numbered and bulleted lists: one text an item, nested items in their place."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from itertools import pairwise

from evonb.parsing.failure import Unreadable
from evonb.parsing.reading import Reading
from evonb.parsing.schema import OutputFormat

_NUMBER = re.compile(r"^([ \t]*)(?:\((\d{1,6})\)|(\d{1,6})(?:[.)．](?=\s|$|[^\d\s.)])|、))[ \t]*(.*)$")
_BULLET = re.compile(r"^([ \t]*)(?:[-*+•‣◦▪●○■–·∙⁃][ \t]+|[•‣◦▪●])(.*)$")
_RULE = re.compile(r"^[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")


@dataclass
class _List:
    start: int
    end: int
    numbered: bool
    indent: int
    items: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    top_items: int = 0


def find_lists(text: str) -> list[Reading]:
    """All lists in `text`. Continuation lines join their item with a blank.

    Numbers must rise by one; a single item counts only after a line that ends in a colon.
    """
    found = []
    for entry in _scan(text):
        introduced = text[: entry.start].rstrip().endswith((":", "："))
        if entry.top_items < 2 and not (introduced and not entry.numbered):
            continue
        if entry.numbered and not _rises(entry.numbers):
            continue
        kind = OutputFormat.NUMBERED_LIST if entry.numbered else OutputFormat.BULLETED_LIST
        found.append(Reading(kind, entry.items, entry.start, entry.end))
    return found


def read_list(text: str, kind: OutputFormat) -> Reading:
    """Read `text` as the list that somebody said it is; without markers by commas, else by lines.

    Raises:
        Unreadable: There is nothing that could be an item.
    """
    lists = _scan(text)
    if lists:
        items = [item for entry in lists for item in entry.items]
        return Reading(kind, items, lists[0].start, lists[-1].end)
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) == 1:
        delimiter = "," if "," in lines[0] else ";"
        items = split_cells(lines[0], delimiter)
        if len(items) > 1 and not any(len(item.split()) > 8 for item in items):
            return Reading(kind, items, 0, len(text), repairs=("split a line at its commas",))
        raise Unreadable("no list in the text")
    if lines and all(len(line.split()) <= 12 and not line.endswith(".") for line in lines):
        return Reading(kind, lines, 0, len(text), guesses=("took every line for an item",))
    raise Unreadable("no list in the text")


def split_cells(line: str, delimiter: str = ",") -> list[str]:
    """The cells of one line that aren't blank; quotes hold cells with delimiters together."""
    try:
        row = next(csv.reader([" ".join(line.splitlines())], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:  # a cell beyond the process's limit
        row = line.split(delimiter)
    return [cell.strip() for cell in row if cell.strip()]


def _rises(numbers: list[int]) -> bool:
    return all(after in (before + 1, 1) for before, after in pairwise(numbers)) or (
        len(set(numbers)) == 1 and numbers[0] in (0, 1)
    )


def _scan(text: str) -> list[_List]:
    lists: list[_List] = []
    current: _List | None = None
    blank = False
    position = 0
    for line in text.split("\n"):
        start, position = position, position + len(line) + 1
        marker = _marker(line)
        if not line.strip():
            blank = True
            continue
        indent = len(line) - len(line.lstrip())
        if marker is not None:
            number, body = marker
            if current is None or not _belongs(current, number, indent):
                current = _List(start, start, number is not None, indent)
                lists.append(current)
            _add(current, number, body, indent)
            current.end = start + len(line)
        elif current is not None and _continues(line, indent, current, blank=blank):
            current.items[-1] = f"{current.items[-1]} {line.strip()}".strip()
            current.end = start + len(line)
        else:
            current = None
        blank = False
    return lists


def _marker(line: str) -> tuple[int | None, str] | None:
    """The number (None for a bullet) and the text of an item's first line."""
    numbered = _NUMBER.match(line)
    if numbered:
        return int(numbered.group(2) or numbered.group(3)), numbered.group(4).strip()
    bullet = _BULLET.match(line)
    if bullet and not _RULE.match(line):
        return None, bullet.group(2).strip()
    return None


def _belongs(current: _List, number: int | None, indent: int) -> bool:
    if indent > current.indent + 1:
        return True
    return (number is not None) == current.numbered and indent >= current.indent - 1


def _add(current: _List, number: int | None, body: str, indent: int) -> None:
    current.items.append(body)
    if indent <= current.indent + 1:
        current.top_items += 1
        if number is not None:
            current.numbers.append(number)


def _continues(line: str, indent: int, current: _List, *, blank: bool) -> bool:
    if indent > current.indent + 1:
        return True
    # Without indentation only a line that goes on in the middle of a sentence belongs to the item.
    return not blank and line.strip()[:1].islower() and not current.items[-1].endswith((".", "!", "?", ":"))
