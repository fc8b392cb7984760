"""Takes away what isn't the reply itself: reasoning, chat tokens, byte order marks and invisible characters.

The result remembers where each kept stretch came from, so that every span can be shown in the raw text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from evonb.parsing.schema import Span

_INVISIBLE = (
    "\ufeff\u200b\u200e\u200f\u2060\u2061\u2062\u2063\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\x00"
)
EDGE = _INVISIBLE + " \t\r\n\f\v\u00a0\u3000\u2028\u2029\u0085"
_THINK = re.compile(r"<(/?)(think|thinking|thought|reasoning|analysis|scratchpad)>", re.IGNORECASE)
# Tokens around tool calls stay: the tool reader needs them.
_TOKEN = re.compile(
    r"<\|(?!python_tag|tool|plugin|action|channel|message|constrain|call)[a-z0-9_]{1,40}\|>|<｜(?!tool)[^<>｜]{1,40}｜>"
    r"|</?s>|<(?:bos|eos|pad|end_of_turn|start_of_turn)>|\[/?INST\]"
)
_ROLE = re.compile(r"(?:assistant|model|user|system)[ \t]*(?:\n|$)")


@dataclass(frozen=True)
class Cleaned:
    """A reply without its wrapping.

    Attributes:
        text: What is left, with nothing but the wrapping taken away.
        removed: The reasoning and tokens that were taken away, in the order of the raw text.
        cut_in_reasoning: The reply ended before its reasoning did, so it holds no answer.
    """

    text: str
    removed: list[Span] = field(default_factory=list)
    cut_in_reasoning: bool = False
    _starts: list[int] = field(default_factory=list)
    _offsets: list[int] = field(default_factory=list)

    def raw(self, position: int) -> int:
        """Where the character at `position` of `text` stands in the raw text."""
        index = bisect_right(self._starts, position) - 1
        return position + (self._offsets[index] if index >= 0 else 0)


def clean(raw: str) -> Cleaned:
    """Take away reasoning, chat tokens and invisible edges; keep everything else as it is."""
    removed: list[Span] = []
    cut = False
    if "<" in raw or "[" in raw:
        removed, cut = _reasoning(raw)
        removed = _merge(removed + _tokens(raw))
    kept = _trim(raw, _complement(removed, len(raw)))
    starts, offsets, length = [], [], 0
    for start, end in kept:
        starts.append(length)
        offsets.append(start - length)
        length += end - start
    return Cleaned("".join(raw[start:end] for start, end in kept), removed, cut, starts, offsets)


class _Quotes:
    """Tells whether a position lies inside a string of the JSON that a text begins with. Ask in rising order."""

    def __init__(self, raw: str) -> None:
        self._raw = raw
        self._is_json = raw[:200].lstrip(EDGE)[:1] in ("{", "[")
        self._at, self._count = 0, 0

    def around(self, position: int) -> bool:
        if not self._is_json:
            return False
        seen = self._raw.count('"', self._at, position) - self._raw.count('\\"', self._at, position)
        self._at, self._count = position, self._count + seen
        return self._count % 2 == 1


def _reasoning(raw: str) -> tuple[list[Span], bool]:
    spans: list[Span] = []
    quotes = _Quotes(raw)
    opened, done = -1, 0
    for tag in _THINK.finditer(raw):
        if quotes.around(tag.start()):
            continue
        if not tag.group(1):
            if opened < 0 and _begins_line(raw, tag.start(), done):
                opened = tag.start()
        elif opened >= 0 or (not spans and _ends_line(raw, tag.end())):
            # A lone closing tag ends reasoning whose opening tag was part of the prompt.
            spans.append(Span(max(opened, 0), tag.end(), "reasoning"))
            opened, done = -1, tag.end()
    if opened >= 0:
        spans.append(Span(opened, len(raw), "reasoning"))
    return spans, opened >= 0


def _begins_line(raw: str, position: int, done: int) -> bool:
    line = raw[max(raw.rfind("\n", 0, position) + 1, done, position - 200) : position]
    return not _TOKEN.sub("", line).strip(EDGE)


def _ends_line(raw: str, position: int) -> bool:
    rest = raw[position : position + 40].lstrip(" \t")
    return not rest or rest[0] in "\r\n{[<`"


def _tokens(raw: str) -> list[Span]:
    spans = []
    quotes = _Quotes(raw)
    for token in _TOKEN.finditer(raw):
        if quotes.around(token.start()):
            continue
        end = token.end()
        if token.group() in ("<|im_start|>", "<start_of_turn>"):
            role = _ROLE.match(raw, end)
            end = role.end() if role else end
        spans.append(Span(token.start(), end, "token"))
    return spans


def _merge(spans: list[Span]) -> list[Span]:
    """Spans in order without overlap; where two overlap the earlier one keeps what both claim."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda item: item.start):
        start = max(span.start, merged[-1].end) if merged else span.start
        if span.end > start:
            merged.append(Span(start, span.end, span.kind))
    return merged


def _complement(spans: list[Span], length: int) -> list[tuple[int, int]]:
    kept, at = [], 0
    for span in spans:
        if span.start > at:
            kept.append((at, span.start))
        at = span.end
    if at < length:
        kept.append((at, length))
    return kept


def _trim(raw: str, kept: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches without invisible characters and blanks at both ends of the whole."""
    while kept:
        start, end = kept[0]
        first = start + len(raw[start:end]) - len(raw[start:end].lstrip(EDGE))
        if first < end:
            # The indentation of the first line means something to YAML and to lists.
            start = first - len(raw[start:first]) + len(raw[start:first].rstrip(" \t"))
            kept[0] = (start, end)
            break
        kept.pop(0)
    while kept:
        start, end = kept[-1]
        end -= len(raw[start:end]) - len(raw[start:end].rstrip(EDGE))
        if start < end:
            kept[-1] = (start, end)
            break
        kept.pop()
    return kept
