"""Finds the JSON in a reply: every object or array that stands in it, and none of the brackets of prose."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace
from typing import Any

from evonb.parsing.failure import Unreadable
from evonb.parsing.json_reader import read_json
from evonb.parsing.json_strict import JsonRead, read_strict

_CANDIDATE = re.compile(
    r"""[{｛](?=[\s\u00a0\u200b]*(?:["'“„«‘＂「}｝]|[^\W\d][\w$.-]{0,80}[\s\u00a0]*[:：]|//|/\*))"""
    r"""|[\[［](?=[\s\u00a0\u200b]*(?:[\[{"'“„«‘＂「\]｛］+.-]|\d|true|false|null|None|True|False|NaN|//|/\*))"""
)
_INTRODUCED = re.compile(r"(?:[:：=]|\bis|\bare|\bjson|```\w*)\s*$", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;，]*")
_MAX_REFUSED = 200
_CLOSING = " \t\r\n;`'\"."


@dataclass(frozen=True)
class JsonSpan:
    """JSON that was found in a text, from `start` to `end`."""

    start: int
    end: int
    read: JsonRead


def find_json(text: str) -> list[JsonSpan]:
    """All JSON in `text`, in order, without overlap. Work is bounded by a few times the length of the text.

    Raises:
        TooDeep: Something nests beyond all reason.
    """
    found = _scan(text)
    if found:
        return found
    for undo in (_unescape_quotes, _unescape_html, _unquote):
        inner = undo(text)
        if inner is not None:
            spans = _scan(inner)
            if spans:
                note = (undo.__doc__ or "").rstrip(".").lower()
                whole = spans[0].read if len(spans) == 1 else None
                if whole is not None:
                    read = replace(whole, end=len(text), repairs=(note, *whole.repairs))
                    return [JsonSpan(0, len(text), read)]
    return []


def rows(text: str, spans: list[JsonSpan]) -> list[list[JsonSpan]]:
    """The spans in groups that stand in a row, with nothing but blanks and commas between them."""
    groups: list[list[JsonSpan]] = []
    for span in spans:
        previous = groups[-1][-1].end if groups else 0
        gap = _BETWEEN.match(text, previous)
        if groups and gap and gap.end() >= span.start:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def _scan(text: str) -> list[JsonSpan]:
    found: list[JsonSpan] = []
    refused = 0
    at, budget = 0, 2 * len(text) + 100_000
    while budget > 0:
        candidate = _CANDIDATE.search(text, at)
        if candidate is None:
            break
        start = candidate.start()
        at = start + 1
        try:
            read = read_json(text, start, try_strict=refused < _MAX_REFUSED)
        except Unreadable as error:
            if type(error) is not Unreadable:
                raise
            refused += 1
            budget -= max(0, error.position - start) + 200
            continue
        if _is_json(text, start, read):
            found.append(JsonSpan(start, read.end, read))
            at = read.end
        else:
            budget -= read.end - start
        refused += bool(read.repairs or read.guesses)
    return found


def _is_json(text: str, start: int, read: JsonRead) -> bool:
    """Whether the brackets that were read are meant as JSON, not as a citation, a placeholder or a set."""
    first = not text[max(0, start - 200) : start].strip("'\"` \t\r\n=") and start <= 200
    alone = first and not text[read.end : read.end + 200].strip(_CLOSING)
    if alone:
        return True
    if read.cut or not read.quoted:
        line = text[text.rfind("\n", 0, start) + 1 : start]
        placed = first or not line.strip() or _INTRODUCED.search(text, max(0, start - 20), start) is not None
        if not placed or not (read.quoted or isinstance(read.value, dict)):
            return False
    if isinstance(read.value, dict):
        return bool(read.value) or first
    if _says_something(read.value):
        return True
    # [1] and [2, 3] are citations, unless the text announces them.
    return not first and len(read.value) != 1 and _INTRODUCED.search(text, max(0, start - 20), start) is not None


def _says_something(value: list[Any]) -> bool:
    return any(isinstance(item, (str, dict, list, float)) or item is None for item in value) and value != [[]]


def _unescape_quotes(text: str) -> str | None:
    """Took one level of escaping away."""
    if '{\\"' not in text and '[\\"' not in text:
        return None
    read = read_strict('"' + text.strip().replace('\\"', '\\"') + '"')
    if read is not None and isinstance(read.value, str):
        return read.value
    return text.replace('\\"', '"').replace("\\\\", "\\")


def _unescape_html(text: str) -> str | None:
    """Read HTML entities as characters."""
    return html.unescape(text) if "&quot;" in text or "&#34;" in text else None


def _unquote(text: str) -> str | None:
    """Read the JSON inside a JSON string."""
    stripped = text.strip()
    if not stripped.startswith('"'):
        return None
    read = read_strict(stripped)
    return read.value if read is not None and isinstance(read.value, str) else None
