"""YAML by the 1.2 rules: `NO`, `on`, `12:30` and dates are text, the last of two equal keys wins.

The library only makes the tree of nodes; the values are built here, so no tag can ever build an object
and no alias can blow the result up.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from evonb.parsing.failure import TooDeep, Unreadable
from evonb.parsing.libraries import load
from evonb.parsing.limits import MAX_DEPTH, MAX_NODES, MAX_YAML_CHARS, MAX_YAML_MARKS
from evonb.parsing.reading import Reading
from evonb.parsing.schema import OutputFormat

_MAX_FLOW_DEPTH = 60  # the library's scanner takes seconds for a thousand
_COMPACT = re.compile(r"^[ \t]*(?:[-?][ \t]){60}", re.MULTILINE)
_BRACKET = re.compile(r"[\[\]{}]")
_BRACKET_OR_STRING = re.compile(r"[\[\]{}]|\"(?:[^\"\\]|\\.){0,500}\"|'[^'\n]{0,500}'", re.DOTALL)
_MARK = re.compile(r"[\n,\[\]{}]|[:?-](?=\s)")
_LONG_BLANK = re.compile(r"[ \t]{1000}")
_CORE = "tag:yaml.org,2002:"
_LINE = re.compile(
    r"^(?P<lead>\s*(?:-\s+)*)(?:(?P<key>[^\s:#'\"\[\]{},&*!|>%@`-][^:#\n]*?|-?[^\s:#'\"-][^:#\n]*?)(?P<colon>:\s+))?(?P<value>\S.*?)\s*$"
)
_BLOCK = re.compile(r":?\s*[|>][+-]?\d?\s*(?:#.*)?$")
_FLOW_OK = re.compile(r"^[\[{].*[\]}],?$")
_INT = re.compile(r"[-+]?\d+$", re.ASCII)


def read_yaml(text: str) -> Reading:
    """Read `text` as one YAML document.

    Lines with values that YAML can't take as they stand (`key: a: b`, `@x`, `*b* c`) are quoted and tried again.

    Raises:
        Unreadable: It isn't YAML, uses tags that build objects, expands beyond all reason, or the library is missing.
        TooDeep: It nests beyond all reason.
    """
    _refuse_hostile(text)
    try:
        documents = _compose(text)
    except TooDeep:
        raise
    except Unreadable:
        quoted = _quote_values(text.replace("\t", "  "))
        if quoted == text:
            raise
        reading = _build(text, _compose(quoted), ("quoted a value that YAML would misread",))
        open_flow = any(re.search(r":\s+'[\[{]", line) for line in set(quoted.split("\n")) - set(text.split("\n")))
        return replace(reading, guesses=("took a bracket that is never closed for text",)) if open_flow else reading
    return _build(text, documents, ())


def _refuse_hostile(text: str) -> None:
    if len(text) > MAX_YAML_CHARS:
        raise Unreadable(f"YAML of more than {MAX_YAML_CHARS:,} characters")
    if len(text) > MAX_YAML_MARKS and sum(1 for _ in _MARK.finditer(text)) > MAX_YAML_MARKS:
        raise Unreadable(f"YAML of more than {MAX_YAML_MARKS:,} items, keys and line ends")
    # Brackets in strings can hide the depth or feign it, so both counts must be small.
    if any(_flow_depth(pattern, text) > _MAX_FLOW_DEPTH for pattern in (_BRACKET, _BRACKET_OR_STRING)):
        raise TooDeep(f"YAML brackets nested more than {_MAX_FLOW_DEPTH} levels deep")
    if _LONG_BLANK.search(text):
        raise Unreadable("YAML with more than a thousand blanks in a row")
    if _COMPACT.search(text):
        raise TooDeep("YAML dashes nested beyond all reason")


def _flow_depth(pattern: re.Pattern[str], text: str) -> int:
    depth = deepest = 0
    for found in pattern.finditer(text):
        if found.group() in ("[", "{"):
            depth += 1
            deepest = max(deepest, depth)
        elif found.group() in ("]", "}"):
            depth = max(0, depth - 1)
    return deepest


def _compose(text: str) -> Any:
    yaml = load("ruamel.yaml", "to read YAML")
    reader = yaml.YAML(typ="safe", pure=True)
    reader.allow_duplicate_keys = True
    try:
        documents = [node for node in reader.compose_all(text) if node is not None] if "\n---" in text else None
        if documents is not None:
            if not documents:
                raise Unreadable("an empty YAML document")
            return documents
        return [reader.compose(text)]
    except yaml.error.YAMLError as error:
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise Unreadable(f"not YAML: {problem}") from error
    except RecursionError as error:
        raise TooDeep("YAML nested beyond all reason") from error
    except (ValueError, AttributeError, TypeError, IndexError, AssertionError) as error:
        raise Unreadable(f"not YAML: {error}") from error


def _build(text: str, documents: list[Any], repairs: tuple[str, ...]) -> Reading:
    builder = _Builder()
    values = [builder.value(node, 0) for node in documents]
    if len(values) > 1:
        builder.warnings.append("several YAML documents became a list")
    value = values[0] if len(values) == 1 else values
    if value is None:
        raise Unreadable("an empty YAML document")
    return Reading(
        OutputFormat.YAML, value, 0, len(text), repairs=repairs, warnings=tuple(dict.fromkeys(builder.warnings))
    )


class _Builder:
    """Turns nodes into plain values, counting them."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._nodes = 0
        self._open: set[int] = set()

    def value(self, node: Any, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise Unreadable("YAML aliases expand to too many values")
        if depth > MAX_DEPTH // 2:
            raise TooDeep("YAML nested beyond all reason")
        if node is None:
            return None
        self._check_tag(str(node.tag))
        if isinstance(node.value, str):
            return _scalar(str(node.tag), node.value)
        if id(node) in self._open:
            raise Unreadable("a YAML alias that holds itself")
        self._open.add(id(node))
        try:
            if node.id == "mapping":
                return self._mapping(node, depth)
            return [self.value(child, depth + 1) for child in node.value]
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: Any, depth: int) -> dict[Any, Any]:
        merged: dict[Any, Any] = {}
        own: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = self.value(key_node, depth + 1)
            value = self.value(value_node, depth + 1)
            if key == "<<" and str(key_node.tag) == _CORE + "merge":
                for source in reversed(value if isinstance(value, list) else [value]):
                    merged.update(source if isinstance(source, dict) else {})
                continue
            key = key if isinstance(key, (str, int, float, bool)) or key is None else str(key)
            if key in own:
                self.warnings.append(f"the key {key!r} stands twice; the last value counts")
            own[key] = value
        return {**merged, **own}

    def _check_tag(self, tag: str) -> None:
        name = tag.removeprefix(_CORE)
        if name.startswith("python/") or "python" in name:
            raise Unreadable(f"the YAML tag !!{name} would build an object")
        if name.startswith("!"):
            self.warnings.append(f"the YAML tag {name} was dropped")


def _scalar(tag: str, text: str) -> Any:
    name = tag.removeprefix(_CORE)
    try:
        if name == "int":
            return _integer(text)
        if name == "float":
            return float(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan").lower())
    except ValueError:
        return text
    if name == "bool":
        return text.lower() in ("true", "yes", "on")
    return None if name == "null" else text


def _integer(text: str) -> int | str:
    if text.startswith(("0o", "0x", "0b")):
        return int(text, 0)
    digits = text.lstrip("+-")
    # A number that begins with 0 is a code, such as a postal code: as a number it would lose the 0.
    return text if (len(digits) > 1 and digits[0] == "0") or not _INT.match(text) else int(text)


def _quote_values(text: str) -> str:
    lines: list[str] = []
    block = -1  # indentation of the line that opened a block of literal text
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if block >= 0 and (not line.strip() or indent > block):
            lines.append(line)
            continue
        block = indent if _BLOCK.search(line) else -1
        lines.append(line if block >= 0 else _quote_line(line))
    return "\n".join(lines)


def _quote_line(line: str) -> str:
    match = _LINE.match(line)
    if match is None or (match["key"] is None and "-" not in match["lead"]):
        return line
    value = match["value"]
    if value[0] in "'\"|>#" or _FLOW_OK.match(value) or not _misread(value):
        return line
    start = match.start("value")
    return line[:start] + "'" + value.replace("'", "''") + "'"


def _misread(value: str) -> bool:
    if value[0] in "@`%&!*[]{},":
        return not re.fullmatch(r"[*&]\w+", value)
    return ": " in value or " #" in value or value.endswith(":") or value.startswith(("? ", "- "))
