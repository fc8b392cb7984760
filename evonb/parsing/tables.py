"""CSV and Markdown tables: rows of text cells under a header."""

from __future__ import annotations

import csv
import re

from evonb.parsing.failure import Unreadable
from evonb.parsing.limits import MAX_TEXT_CHARS
from evonb.parsing.reading import Reading
from evonb.parsing.schema import OutputFormat

_DELIMITERS = (",", ";", "\t", "|")
_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_CELL = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`[^`\n]+`")
_MAX_HEADER_CELL = 60

Row = dict[str, str]


def read_csv(text: str, *, sure: bool) -> Reading:
    """Read `text` as CSV with a header line.

    Args:
        text: The table and nothing else.
        sure: Somebody said that this is CSV; else it must look like CSV in every line.

    Raises:
        Unreadable: It doesn't look like CSV.
    """
    if csv.field_size_limit() < MAX_TEXT_CHARS:
        csv.field_size_limit(MAX_TEXT_CHARS)  # the default of 128 KiB is a limit of the process, not of the format
    best = max((_grid(text, delimiter) for delimiter in _DELIMITERS), key=_steadiness)
    if not best or not any(best[0]):
        raise Unreadable("no header line")
    if not sure and not _looks_like_csv(text, best):
        raise Unreadable("lines with differing numbers of cells")
    value, warnings, guesses = _rows(best[0], best[1:])
    if text.count('"') % 2:
        guesses = (*guesses, "a quote is never closed")
    return Reading(OutputFormat.CSV, value, 0, len(text), guesses=guesses, warnings=warnings)


def _grid(text: str, delimiter: str) -> list[list[str]]:
    try:
        rows = list(
            csv.reader(text.strip("\r\n").splitlines(keepends=True), delimiter=delimiter, skipinitialspace=True)
        )
    except csv.Error:
        return []
    return [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]


def _steadiness(grid: list[list[str]]) -> tuple[float, int]:
    """How well a delimiter fits: the share of rows as wide as the header, then the width."""
    if not grid or len(grid[0]) < 2:
        return (0.0, 0)
    width = len(grid[0])
    return (sum(len(row) == width for row in grid) / len(grid), width)


def _looks_like_csv(text: str, grid: list[list[str]]) -> bool:
    width = len(grid[0])
    if width < 2 or len(grid) < 2 or any(len(row) != width for row in grid) or re.search(r"\n[ \t]*\n", text.strip()):
        return False
    header = grid[0]
    if not all(header) or len(set(header)) < width or any(len(cell) > _MAX_HEADER_CELL for cell in header):
        return False
    # Sentences with a comma each are prose, not a table of two columns.
    prose = sum(row[-1].endswith((".", "!", "?")) or len(row[0].split()) > 5 for row in grid)
    return prose * 2 < len(grid) and not header[-1].endswith((".", "!", "?", ":", ","))


def _rows(header: list[str], body: list[list[str]]) -> tuple[list[Row], tuple[str, ...], tuple[str, ...]]:
    """The rows as dicts, what is worth knowing about them, and what was dropped."""
    names, warnings = _names(header)
    rows, dropped = [], []
    for number, cells in enumerate(body, start=1):
        if any(cells[len(names) :]):
            dropped.append(f"row {number} has more cells than the header; dropped {cells[len(names) :]!r}")
        kept = cells[: len(names)]
        rows.append(dict(zip(names, kept + [""] * (len(names) - len(kept)), strict=True)))
    return rows, tuple(warnings), tuple(dropped[:20])


def _names(header: list[str]) -> tuple[list[str], list[str]]:
    names: list[str] = []
    warnings: list[str] = []
    seen: dict[str, int] = {}
    for index, cell in enumerate(header, start=1):
        name = cell or f"column_{index}"
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            warnings.append(f"the column {name!r} stands twice; the later one is {name}_{seen[name]!r}")
            name = f"{name}_{seen[name]}"
        names.append(name)
    return names, warnings


def find_tables(text: str) -> list[Reading]:
    """All Markdown tables in `text`: a line with cells, a delimiter line of as many cells, rows up to a blank line."""
    if "|" not in text:
        return []
    found: list[Reading] = []
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    index = 1
    while index < len(lines):
        if "|" not in lines[index - 1] or "-" not in lines[index] or not _RULE.match(lines[index].rstrip("\r")):
            index += 1
            continue
        header = _cells(lines[index - 1])
        if len(header) != len(_cells(lines[index])):
            index += 1
            continue
        stop = index + 1
        while stop < len(lines) and lines[stop].strip() and "|" in lines[stop]:
            stop += 1
        body = [_row_cells(line, len(header)) for line in lines[index + 1 : stop]]
        value, warnings, guesses = _rows([_plain(cell) for cell in header], body)
        end = min(starts[stop], len(text))
        found.append(
            Reading(OutputFormat.MARKDOWN_TABLE, value, starts[index - 1], end, guesses=guesses, warnings=warnings)
        )
        index = stop + 1
    return found


def _cells(line: str) -> list[str]:
    """The cells of a table line. Every pipe parts cells unless it is escaped, in code as well: that is GFM's rule."""
    line = line.strip()
    line = line.removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(line)]


def _row_cells(line: str, width: int) -> list[str]:
    """The cells of a row; one that is too wide may have a pipe in code that its author forgot to escape."""
    cells = _cells(line)
    if len(cells) > width and "`" in line:
        guarded = _cells(_CODE.sub(lambda code: code.group().replace("|", "\\|"), line))
        if len(guarded) == width:
            return guarded
    return cells


def _plain(cell: str) -> str:
    """A column's name without its bold marks."""
    for mark in ("**", "__", "`"):
        if len(cell) > 2 * len(mark) and cell.startswith(mark) and cell.endswith(mark):
            return cell[len(mark) : -len(mark)]
    return cell
