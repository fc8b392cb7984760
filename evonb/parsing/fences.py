"""Code fences by CommonMark's rules: opened and closed at the start of a line, so a fence inside a string is text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evonb.parsing.failure import Unreadable
from evonb.parsing.json_reader import read_json
from evonb.parsing.json_strings import skip_blank

_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})(?P<info>[^`\n]*)$", re.MULTILINE)
_LABEL = re.compile(r"[\s{.]*([\w+#-]*)")
_MAX_LOOKAHEADS = 20


@dataclass(frozen=True)
class Fence:
    """A fenced block.

    Attributes:
        label: The first word of its info string in lower case, or "".
        start: Where its opening line begins.
        end: One after its closing line.
        inner_start: Where its content begins.
        inner_end: Where its content ends.
        closed: Whether a closing line was there.
    """

    label: str
    start: int
    end: int
    inner_start: int
    inner_end: int
    closed: bool


def find_fences(text: str) -> list[Fence]:
    """All fenced blocks in order. A block that is never closed ends with the text."""
    if "```" not in text and "~~~" not in text:
        return []
    lines = list(_FENCE.finditer(text))
    fences: list[Fence] = []
    index, lookaheads = 0, 0
    while index < len(lines):
        opening = lines[index]
        label, inner_start = _content_start(text, opening)
        closing = _closing(lines, index, opening)
        if (
            closing is not None
            and lookaheads < _MAX_LOOKAHEADS
            and _begins_json(text, inner_start, lines[closing].start())
        ):
            lookaheads += 1
            end = _json_end(text, inner_start)
            if end > lines[closing].start():
                # The JSON goes on behind this line, so the line stands in one of its strings.
                closing = next((i for i in range(closing + 1, len(lines)) if _closes(lines[i], opening, end)), None)
        if closing is None:
            fences.append(Fence(label, opening.start(), len(text), inner_start, len(text), closed=False))
            break
        last = lines[closing]
        inner_end = max(inner_start, last.start())
        fences.append(Fence(label, opening.start(), last.end(), inner_start, inner_end, closed=True))
        index = closing + 1
    return fences


def _content_start(text: str, opening: re.Match[str]) -> tuple[str, int]:
    info = opening["info"]
    label = _LABEL.match(info)
    rest = label.end() if label else 0
    bracket = min((place for place in (info.find("{", rest), info.find("[", rest)) if place >= 0), default=-1)
    name = label[1].lower() if label else ""
    if bracket >= 0 and name:
        return name, opening.start("info") + bracket
    return name, min(opening.end() + 1, len(text))


def _closing(lines: list[re.Match[str]], index: int, opening: re.Match[str]) -> int | None:
    """The line that closes the block: less indented than its content, or any at all if there is none such."""
    candidates = (i for i in range(index + 1, len(lines)) if _closes(lines[i], opening, 0))
    first = next(candidates, None)
    if first is None or len(lines[first]["indent"]) <= len(opening["indent"]):
        return first
    return next((i for i in candidates if len(lines[i]["indent"]) <= len(opening["indent"])), first)


def _closes(line: re.Match[str], opening: re.Match[str], after: int) -> bool:
    marks = opening["marks"]
    return (
        line.start() >= after
        and not line["info"].strip()
        and line["marks"][0] == marks[0]
        and len(line["marks"]) >= len(marks)
    )


def _begins_json(text: str, start: int, closing: int) -> bool:
    """Whether the block holds the beginning of JSON and not its end."""
    inner = text[start:closing]
    first = skip_blank(inner, 0)
    if inner[first : first + 1] not in ("{", "["):
        return False
    try:
        return read_json(inner, first).cut
    except Unreadable:
        return False


def _json_end(text: str, start: int) -> int:
    """Where the JSON that begins here ends, whatever stands in its strings; -1 when it never does."""
    try:
        whole = read_json(text, skip_blank(text, start))
    except Unreadable:
        return -1
    return -1 if whole.cut else whole.end
