"""Reads everything structured in a reply: JSON, fenced blocks, XML, tables, lists and lines of keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from evonb.parsing.failure import TooDeep, Unreadable
from evonb.parsing.fences import Fence, find_fences
from evonb.parsing.json_spans import find_json
from evonb.parsing.key_value import read_key_value
from evonb.parsing.limits import MAX_LOOSE_YAML_CHARS
from evonb.parsing.lists import find_lists
from evonb.parsing.reading import Reading
from evonb.parsing.schema import OutputFormat
from evonb.parsing.tables import find_tables, read_csv
from evonb.parsing.xml_reader import INLINE, read_xml
from evonb.parsing.yaml_reader import read_yaml

_JSON_LABELS = frozenset({"json", "jsonc", "json5", "jsonl", "ndjson", "json-lines"})
_LABELS: dict[str, Callable[[str], Reading]] = {
    "yaml": read_yaml,
    "yml": read_yaml,
    "csv": lambda text: read_csv(text, sure=True),
    "tsv": lambda text: read_csv(text, sure=True),
    "xml": read_xml,
}
_CODE = frozenset(
    {
        "python",
        "py",
        "javascript",
        "js",
        "typescript",
        "ts",
        "bash",
        "sh",
        "shell",
        "sql",
        "java",
        "c",
        "cpp",
        "c++",
        "go",
    }
    | {"rust", "ruby", "php", "css", "html", "diff", "r", "swift", "kotlin", "mermaid", "latex", "tex"}
)
_OPEN_TAG = re.compile(r"<([^\W\d][\w:.-]{0,100})(?:\s[^<>]{0,1000})?/?>")
_YAML_NEST = re.compile(
    r"^[ ]*(?:-[ ]+)?[\w\"'][^:\n]{0,80}:[ \t]*\n(?:[ \t]*\n)*(?:[ ]+\S|-[ ])"  # a key over something indented
    r"|:[ ]+[|>][+-]?[ \t]*\n"  # a block of literal text
    r"|^[ ]*-[ ]+[\w\"'][^:\n]{0,80}:[ ][^\n]*\n[ ]+[\w\"'][^:\n]{0,80}:",  # items that are mappings
    re.MULTILINE,
)
_INTRODUCTION = re.compile(r"\A[^\n]{1,200}[:：][ \t]*\n[ \t]*\n")
_PARAGRAPH = re.compile(r"[^\n]+(?:\n[ \t]*[^\s][^\n]*)*")
_MIN_LIST_SHARE = 0.3
_FEW_LINES = 3


class BrokenBlock(Unreadable):
    """A block said what it is and isn't that."""


def gather(text: str, known: Collection[str] = (), *, only_json: bool = False) -> tuple[list[Reading], list[str]]:
    """Everything structured in `text`, in order, and what went wrong with blocks that said what they are.

    Args:
        text: The reply, cleaned.
        known: Keys that are looked for, in lower snake case.
        only_json: Look for nothing but JSON.

    Raises:
        TooDeep: Something nests beyond all reason.
    """
    readings: list[Reading] = []
    faults: list[str] = []
    at = 0

    def outside(start: int, end: int) -> list[Reading]:
        part = text[start:end]
        found = json_readings(part) if only_json else _open_text(part, known)
        return [reading.shifted(start) for reading in found]

    for fence in find_fences(text):
        readings += outside(at, fence.start)
        try:
            body = text[fence.inner_start : fence.inner_end]
            inner = json_readings(body) if only_json else _fenced(body, fence, known)
            readings += [reading.shifted(fence.inner_start, _kind(fence)) for reading in inner]
        except TooDeep:
            raise
        except Unreadable as error:
            faults.append(f"the {fence.label} block: {error}")
        at = fence.end
    readings += outside(at, len(text))
    return readings, faults


def json_readings(text: str) -> list[Reading]:
    """The JSON in `text`, in order."""
    return [
        Reading(
            OutputFormat.JSON, span.read.value, span.start, span.end,
            repairs=span.read.repairs, guesses=span.read.guesses, cut=span.read.cut,
        )
        for span in find_json(text)
    ]  # fmt: skip


def _kind(fence: Fence) -> str:
    return "label" if fence.label in _JSON_LABELS or fence.label in _LABELS else "plain"


def _fenced(inner: str, fence: Fence, known: Collection[str]) -> list[Reading]:
    if fence.label in _JSON_LABELS:
        found = json_readings(inner)
        if not found:
            raise BrokenBlock("there is no JSON in it" if inner.strip() else "it is empty")
        return found
    reader = _LABELS.get(fence.label)
    if reader is not None:
        if not inner.strip():
            raise BrokenBlock("it is empty")
        return [reader(inner)]
    if fence.label in ("md", "markdown"):
        return gather(inner, known)[0]
    if fence.label in _CODE:
        return []
    return _open_text(inner, known)


def _open_text(text: str, known: Collection[str]) -> list[Reading]:
    """What stands in text outside fences."""
    if not text.strip():
        return []
    found = _xml_or_json(text)
    found += [table for table in find_tables(text) if not _overlaps(table, found)]
    found.sort(key=lambda reading: reading.start)
    if not found:
        return _lines(text, known)
    at = 0
    for reading in list(found):
        found += [other.shifted(at) for other in _lines(text[at : reading.start], known)]
        at = reading.end
    found += [other.shifted(at) for other in _lines(text[at:], known)]
    return sorted(found, key=lambda reading: reading.start)


def _xml_or_json(text: str) -> list[Reading]:
    json_found = json_readings(text)
    if not _has_elements(text):
        return json_found
    try:
        xml = read_xml(text)
    except TooDeep:
        raise
    except Unreadable:
        return json_found
    if any(reading.start <= xml.start < reading.end for reading in json_found):
        return json_found
    inside = _json_leaf(xml)
    if inside is not None:
        return [inside]
    return [xml, *(reading for reading in json_found if not _overlaps(reading, [xml]))]


def _has_elements(text: str) -> bool:
    """Whether the tags in the text are meant as XML: the text begins with one, or one that isn't HTML is closed."""
    if "<" not in text:
        return False
    head = text.lstrip()
    if head.startswith("<?xml"):
        return True
    first = _OPEN_TAG.match(head)
    if first and (first[1].lower() not in INLINE or f"</{first[1]}>" in head or first.group() == head.rstrip()):
        return True
    tags = {tag[1] for tag in _OPEN_TAG.finditer(text)}
    return any(tag.lower() not in INLINE and f"</{tag}>" in text for tag in list(tags)[:50])


def _json_leaf(xml: Reading) -> Reading | None:
    """The JSON that is all an element holds."""
    value = xml.value
    while isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return None
    found = json_readings(value)
    if len(found) != 1 or found[0].start > 0 or value[found[0].end :].strip():
        return None
    return Reading(
        OutputFormat.JSON, found[0].value, xml.start, xml.end,
        repairs=found[0].repairs, guesses=(*xml.guesses, *found[0].guesses), cut=found[0].cut,
    )  # fmt: skip


def _overlaps(reading: Reading, others: list[Reading]) -> bool:
    return any(reading.start < other.end and other.start < reading.end for other in others)


def _lines(text: str, known: Collection[str]) -> list[Reading]:
    """YAML, keys, CSV or lists: the formats that are told by the look of their lines."""
    if not text.strip() or ("\n" not in text.strip() and not known):
        return []
    for reader in (_loose_yaml, _loose_keys, _loose_csv):
        found = reader(text, known)
        if found is not None:
            return [found]
    lists = find_lists(text)
    listed = sum(reading.end - reading.start for reading in lists)
    around = text.count("\n") + 1 - sum(text.count("\n", reading.start, reading.end) + 1 for reading in lists)
    return lists if listed >= _MIN_LIST_SHARE * len(text) or around <= _FEW_LINES else []


def _loose_yaml(text: str, known: Collection[str]) -> Reading | None:
    if not text.lstrip().startswith("---\n") and not _YAML_NEST.search(text):
        return None
    if len(text) > MAX_LOOSE_YAML_CHARS:
        return None
    introduction = _INTRODUCTION.match(text)
    offset = introduction.end() if introduction and len(text[: introduction.end()].split()) > 2 else 0
    try:
        reading = read_yaml(text[offset:])
    except TooDeep:
        raise
    except Unreadable:
        return None
    marked = text.lstrip().startswith("---\n")
    return reading.shifted(offset) if _is_yaml(reading.value, marked=marked) else None


def _is_yaml(value: object, *, marked: bool) -> bool:
    """Whether a value is worth the name: its keys read as keys, and it says more than lines of keys could."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(row, dict) and _are_keys(row) for row in value)
    if not isinstance(value, dict) or not _are_keys(value):
        return False
    if len(value) == 1:
        key, inner = next(iter(value.items()))
        if isinstance(inner, list) and len(str(key).split()) > 2 and not any(isinstance(item, dict) for item in inner):
            return False  # a sentence that introduces a list
    return marked or any(
        isinstance(item, (dict, list)) or (isinstance(item, str) and "\n" in item) for item in value.values()
    )


def _are_keys(row: dict[object, object]) -> bool:
    return all(len(str(key).split()) <= 4 and str(key).strip()[-1:] not in ("", ".") for key in row)


def _loose_keys(text: str, known: Collection[str]) -> Reading | None:
    try:
        reading = read_key_value(text, known)
    except Unreadable:
        return None
    bullets = find_lists(text)
    if not any(key in known for key in reading.value) and bullets and len(bullets) == 1:
        one = bullets[0]
        if one.start <= reading.start and len(one.value) == len(reading.value):
            return None  # a list whose items happen to have colons
    return reading


def _loose_csv(text: str, known: Collection[str]) -> Reading | None:
    """The one paragraph that looks like CSV, with no more than a remark before and after."""
    paragraphs = list(_PARAGRAPH.finditer(text))
    if len(paragraphs) > 3:
        return None
    found = []
    for paragraph in paragraphs:
        try:
            found.append(read_csv(paragraph.group(), sure=False).shifted(paragraph.start()))
        except Unreadable:
            if len(paragraph.group().split("\n")) > 1:
                return None
    return found[0] if len(found) == 1 else None
