"""From a cleaned reply to one value: which of its blocks is meant, and in which format it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import pairwise

from evonb.parsing.failure import Unreadable
from evonb.parsing.fences import find_fences
from evonb.parsing.fields import coverage
from evonb.parsing.gather import gather
from evonb.parsing.json_strict import read_strict
from evonb.parsing.json_strings import skip_blank
from evonb.parsing.key_value import read_key_value
from evonb.parsing.lists import read_list
from evonb.parsing.reading import Reading
from evonb.parsing.schema import OutputFormat
from evonb.parsing.tables import find_tables, read_csv
from evonb.parsing.tool_reader import looks_like_call, read_tool_calls
from evonb.parsing.xml_reader import read_xml
from evonb.parsing.yaml_reader import read_yaml

WEIGHTS = {
    OutputFormat.JSON: 80,
    OutputFormat.XML: 70,
    OutputFormat.MARKDOWN_TABLE: 60,
    OutputFormat.YAML: 50,
    OutputFormat.KEY_VALUE: 45,
    OutputFormat.CSV: 42,
    OutputFormat.NUMBERED_LIST: 40,
    OutputFormat.BULLETED_LIST: 40,
}
_FENCED = {"label": 30, "plain": 5, "": 0}
_BETWEEN = re.compile(r"[\s,;，]*")
_MAX_FENCES = 20
_SCALAR = re.compile(r'["\d\-tfn]')


def read_whole_json(text: str) -> Reading | None:
    """The reply as one valid JSON text and nothing else; the quick way for replies that are as they should be."""
    start = skip_blank(text, 0)
    first = text[start : start + 1]
    if first not in ("{", "[") and not _SCALAR.match(first):
        return None
    read = read_strict(text, start)
    if read is None or skip_blank(text, read.end) < len(text):
        return None
    return Reading(OutputFormat.JSON, read.value, start, read.end, guesses=read.guesses)


def read_any(text: str, known: Collection[str] = ()) -> tuple[Reading, OutputFormat, list[str]]:
    """The value that a reply means, the format of the reply as a whole, and remarks.

    Raises:
        Unreadable: A block says what it is and isn't that, or something nests beyond all reason.
    """
    if looks_like_call(text):
        try:
            return read_tool_calls(text), OutputFormat.TOOL_CALL, []
        except Unreadable:
            pass
    readings, faults = gather(text, known)
    if not readings:
        if faults:
            raise Unreadable("; ".join(faults))
        if re.match(r"\s*(?:<\?[^>]*>\s*)?<!DOCTYPE(?!\s+html)", text, re.IGNORECASE):
            raise Unreadable("XML with a document type declaration is refused")
        return read_plain(text), OutputFormat.PLAIN_TEXT, []
    chosen = choose(text, readings, frozenset(known))
    return chosen, whole_format(text, readings, chosen), faults


def choose(text: str, readings: list[Reading], known: frozenset[str]) -> Reading:
    """The block that is meant: the one with most known keys, else the surest format; the last among equals.

    Values of JSON that stand in a row are one list, unless keys are known: then each is an offer of its own.
    """
    best = max(
        enumerate(readings),
        key=lambda item: (coverage(item[1].value, known) if known else 0, weight(item[1]), item[0]),
    )[0]
    chosen = readings[best]
    if known and (covered := coverage(chosen.value, known)):
        rivals = [each for each in readings if each.value != chosen.value and coverage(each.value, known) == covered]
        if not rivals:
            return chosen
        note = f"{len(rivals) + 1} different values have the wanted keys; the last one counts"
        return replace(chosen, warnings=(*chosen.warnings, note))
    if chosen.format is OutputFormat.JSON:
        return _row(text, readings, best)
    peers = [reading for reading in readings if reading.format is chosen.format and reading.fenced == chosen.fenced]
    if len(peers) > 1 and chosen.format is OutputFormat.MARKDOWN_TABLE:
        return replace(chosen, value=[peer.value for peer in peers], start=peers[0].start)
    if len(peers) > 1 and isinstance(chosen.value, list):
        return replace(chosen, value=[item for peer in peers for item in peer.value], start=peers[0].start)
    return chosen


def weight(reading: Reading) -> int:
    """How sure a block's format is."""
    empty = reading.value in ({}, [])
    return WEIGHTS.get(reading.format, 0) + _FENCED[reading.fenced] - (20 if empty else 0)


def _row(text: str, readings: list[Reading], index: int) -> Reading:
    first = last = index
    while first > 0 and _adjacent(text, readings[first - 1], readings[first]):
        first -= 1
    while last + 1 < len(readings) and _adjacent(text, readings[last], readings[last + 1]):
        last += 1
    row = readings[first : last + 1]
    apart = sum(weight(reading) >= weight(readings[index]) for reading in readings) - len(row)
    note = (f"took the last of {apart + 1} separate values",) if apart > 0 else ()
    if len(row) == 1:
        return replace(row[0], guesses=(*row[0].guesses, *note))
    return Reading(
        OutputFormat.JSON,
        [reading.value for reading in row],
        row[0].start,
        row[-1].end,
        repairs=tuple(repair for reading in row for repair in reading.repairs),
        guesses=(*(guess for reading in row for guess in reading.guesses), *note),
        warnings=(f"{len(row)} values in a row became a list",),
        cut=any(reading.cut for reading in row),
        fenced=row[0].fenced,
    )


def _adjacent(text: str, before: Reading, after: Reading) -> bool:
    gap = _BETWEEN.match(text, before.end)
    return before.format is after.format is OutputFormat.JSON and gap is not None and gap.end() >= after.start


def whole_format(text: str, readings: list[Reading], chosen: Reading) -> OutputFormat:
    """MIXED when prose holds several structured blocks, else the format of the one. JSON in a row is one block."""
    others = [other for other in readings if other.value not in ({}, []) and not _inside(other, chosen)]
    alone = chosen.format is OutputFormat.JSON and all(
        _adjacent(text, before, after) for before, after in pairwise(sorted([*others, chosen], key=_start))
    )
    several = any(other.format is not chosen.format or other.format is OutputFormat.JSON for other in others)
    return OutputFormat.MIXED if several and not alone else chosen.format


def _inside(other: Reading, chosen: Reading) -> bool:
    return chosen.start <= other.start < chosen.end


def _start(reading: Reading) -> int:
    return reading.start


def read_plain(text: str) -> Reading:
    """The reply as text; of a reply that is one fence without a label, what is inside."""
    fences = find_fences(text)
    start, end = 0, len(text)
    if len(fences) == 1 and not fences[0].label and not (text[: fences[0].start] + text[fences[0].end :]).strip():
        start, end = fences[0].inner_start, fences[0].inner_end
    return Reading(OutputFormat.PLAIN_TEXT, {"answer": text[start:end].strip()}, 0, len(text))


def read_as(text: str, kind: OutputFormat, known: Collection[str] = ()) -> tuple[Reading, OutputFormat, list[str]]:
    """The reply as the format that somebody said it is. Returns and raises as `read_any`."""
    if kind in (OutputFormat.MIXED, OutputFormat.UNKNOWN):
        return read_any(text, known)
    if kind is OutputFormat.PLAIN_TEXT:
        return Reading(kind, {"answer": text.strip()}, 0, len(text)), kind, []
    if kind is OutputFormat.TOOL_CALL:
        return read_tool_calls(text), kind, []
    if kind is OutputFormat.JSON:
        return _as_json(text, frozenset(known)), kind, []
    return _in_blocks(text, kind, _reader(kind, known)), kind, []


def _as_json(text: str, known: frozenset[str]) -> Reading:
    readings, _ = gather(text, only_json=True)
    if not readings:
        raise Unreadable("no JSON in the text")
    return choose(text, readings, known)


def _reader(kind: OutputFormat, known: Collection[str]) -> Callable[[str], Reading]:
    if kind in (OutputFormat.NUMBERED_LIST, OutputFormat.BULLETED_LIST):
        return lambda text: read_list(text, kind)
    if kind is OutputFormat.KEY_VALUE:
        return lambda text: read_key_value(text, known, sure=True)
    return {
        OutputFormat.YAML: _yaml_after_introduction,
        OutputFormat.CSV: _csv_lines,
        OutputFormat.MARKDOWN_TABLE: _table,
        OutputFormat.XML: read_xml,
    }[kind]


def _in_blocks(text: str, kind: OutputFormat, reader: Callable[[str], Reading]) -> Reading:
    """The first fence that can be read, best one whose label says so; else the text itself."""
    label = {OutputFormat.YAML: ("yaml", "yml"), OutputFormat.CSV: ("csv", "tsv"), OutputFormat.XML: ("xml",)}.get(
        kind, ()
    )
    for fence in sorted(find_fences(text), key=lambda fence: fence.label not in label)[:_MAX_FENCES]:
        try:
            return reader(text[fence.inner_start : fence.inner_end]).shifted(fence.inner_start, "label")
        except Unreadable:
            if fence.label in label:
                raise
    return reader(text)


def _table(text: str) -> Reading:
    tables = find_tables(text)
    if not tables:
        raise Unreadable("no table in the text")
    return choose(text, tables, frozenset())


def _yaml_after_introduction(text: str) -> Reading:
    try:
        reading = read_yaml(text)
    except Unreadable as error:
        head, _, rest = text.partition("\n\n")
        if not rest.strip() or not head.rstrip().endswith((":", ".", "!")):
            raise
        try:
            return read_yaml(rest).shifted(len(head) + 2)
        except Unreadable:
            raise error from None
    if not isinstance(reading.value, (dict, list)):
        raise Unreadable("the text is one YAML scalar, not keys or items")
    return reading


def _csv_lines(text: str) -> Reading:
    """The table without the prose before and after it: the longest stretch of lines with delimiters."""
    lines = text.split("\n")
    best, start = (0, len(lines)), None
    longest = 0
    for index, line in enumerate([*lines, ""]):
        if any(mark in line for mark in ",;\t|") and not line.rstrip().endswith((":", ".")):
            start = index if start is None else start
        elif start is not None:
            if index - start > longest and '"' not in text:
                best, longest = (start, index), index - start
            start = None
    offset = sum(len(line) + 1 for line in lines[: best[0]])
    return read_csv("\n".join(lines[best[0] : best[1]]), sure=True).shifted(offset)
