"""Strings in JSON as models write it: where one ends, and what its escapes mean.

A quote inside a string is often not escaped. Whether a quote ends the string is told by what follows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CLOSERS = {
    '"': '"',
    "'": "'",
    "“": '”“"',
    "”": "”",
    "„": '“”"',
    "«": "»",
    "‘": "’‘",
    "＂": "＂",
    "「": "」",
}
OPENERS = "".join(CLOSERS)
_STOPS = {opener: re.compile(f"[{closers}\\\\]") for opener, closers in CLOSERS.items()}

_BLANK = re.compile(r"[\s\u00a0\u200b\ufeff\u3000]*")
_PLAIN = re.compile(r'"([^"\\\x00-\x1f]*)"(?=\s*[,:}\]])')
_KEY_AHEAD = re.compile(
    r"""[\s\u00a0]*(?:["'“„«‘＂「][^"'“”„«»：:{}\[\]\n]{0,120}["'”“»’＂」][\s\u00a0]{0,20}[:：]|[^\W\d][\w$.-]{0,60}\s{0,20}[:：]"""
    r"""|["'“„«‘＂「][^"'“”„«»{}\[\]\n]{0,120}["'”“»’＂」]?[\s\u00a0]{0,20}\Z|[}\]｝］]|//|/\*|\#|\.\.\.|…|\Z)"""
)
_ITEM_AHEAD = re.compile(r"""[\s\u00a0]*(?:["'“„«‘＂「{\[\]}\d+.-]|true|false|null|None|True|False|NaN|//|/\*|\#|\Z)""")
# The beginning of an escape, or the first half of a pair of escapes that make one character.
_HALF_ESCAPE = re.compile(
    r"(?<!\\)(?:\\\\)*(\\u(?:[0-9a-fA-F]{0,3}|[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?))\Z"
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_HALF = re.compile("[\ud800-\udfff]")
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\"}
_PATH = re.compile(r"^(?:[A-Za-z]:\\(?!\\)|\\\\?[\w$.-]+\\(?!\\))")
_TEX = re.compile(
    r"\\(?:beta|bar|begin|big|binom|bmod|boldsymbol|frac|forall|nabla|neq?|neg|not|nu|rho|right|rightarrow|times|text"
    r"|textbf|theta|tau|tan|to|top)(?![a-z])"
)
_UNKNOWN = re.compile(r"""\\(?!["'\\/bfnrtu\n]|u[0-9a-fA-F]{4})""")


@dataclass(frozen=True)
class Text:
    """A string that was read.

    Attributes:
        value: What it says.
        end: One after its last character in the source, the closing quote included.
        closed: Whether its end was there.
        guessed: What had to be decided about it, in words; empty for a string with only one reading.
    """

    value: str
    end: int
    closed: bool = True
    guessed: str = ""


def skip_blank(text: str, position: int) -> int:
    """The first position from `position` on that holds something visible."""
    found = _BLANK.match(text, position)
    return found.end() if found else position


def read_string(text: str, start: int, role: str) -> Text:
    """Read the string that opens at `start`.

    Args:
        text: The source.
        start: Where its opening quote stands.
        role: `key`, `value` (of a member) or `item` (of an array): decides what may follow the end.
    """
    plain = _PLAIN.match(text, start)
    if plain and role != "value":
        return Text(plain.group(1), plain.end())
    triple = text[start : start + 3]
    if triple in ('"""', "'''"):
        stop = text.find(triple, start + 3)
        if stop > start + 3:
            return Text(text[start + 3 : stop], stop + 3)
    return _scan(text, start, role)


def _scan(text: str, start: int, role: str) -> Text:
    stop = _STOPS[text[start]]
    inner = -1  # the last quote that was taken for part of the text
    at = start + 1
    while True:
        found = stop.search(text, at)
        if found is None:
            return _cut(text, start)
        at = found.end()
        if found.group() == "\\":
            at += 1
            continue
        verdict = _ends(text, found.start(), role)
        if verdict == "end":
            guess = "took a quote inside a string for text" if inner >= 0 else ""
            return Text(unescape(text[start + 1 : found.start()], text[start]), at, guessed=guess)
        if verdict == "was key" and inner >= 0:
            # The value lost its closing quote, and this quote closes the next key.
            value = text[start + 1 : inner].rstrip().removesuffix(",")
            return Text(unescape(value, text[start]), inner, guessed="added the missing end of a string")
        inner = found.start()


def _cut(text: str, start: int) -> Text:
    body = text[start + 1 :]
    return Text(
        unescape(body[: whole_escapes(body)], text[start]),
        len(text),
        closed=False,
        guessed="the text ends inside a string",
    )


def whole_escapes(body: str) -> int:
    """How much of a string that was cut off can be read: all but the beginning of an escape."""
    half = _HALF_ESCAPE.search(body, max(0, len(body) - 12))
    if half:
        return half.start(1)
    slashes = len(body) - len(body.rstrip("\\"))
    return len(body) - slashes % 2


def _ends(text: str, quote: int, role: str) -> str:
    """Whether the quote ends its string: `end`, `text`, or `was key` when it can only end the next key."""
    after = skip_blank(text, quote + 1)
    if after >= len(text):
        return "end"
    char = text[after]
    if role == "key":
        return "end" if char in ":：,}=" else "text"
    if char in "}]｝］":
        return "end" if _closes_here(text, after) else "text"
    if char in ":：":
        return "was key" if role == "value" else "text"
    if char in ",，":
        ahead = _KEY_AHEAD if role == "value" else _ITEM_AHEAD
        return "end" if ahead.match(text, after + 1) or (role == "item" and _opens_next(text, quote)) else "text"
    if char in "/#" and (text.startswith(("//", "/*"), after) or (char == "#" and after > quote + 1)):
        return "end"
    if text.startswith(("```", "</", "<|"), after):
        return "end"  # the text around the JSON goes on
    if char in OPENERS and after > quote + 1:
        return "end" if role == "item" or _KEY_AHEAD.match(text, after) else "text"
    if role == "item":
        return _item_ends(text, quote)
    if "\n" in text[quote:after] and _KEY_AHEAD.match(text, after):
        return "end"
    return "text"


def _closes_here(text: str, bracket: int) -> bool:
    """Whether the bracket after a quote is structure: a quote next to it means that it is quoted text."""
    after = skip_blank(text, bracket + 1)
    return after >= len(text) or text[after] not in OPENERS or "\n" in text[bracket:after]


def _opens_next(text: str, quote: int) -> bool:
    """Whether the next quote opens a string, so this one closed one; also when there is no other."""
    following = text.find(text[quote], quote + 1)
    return following < 0 or text[quote + 1 : following].rstrip()[-1:] in (",", "[")


def _item_ends(text: str, quote: int) -> str:
    """An array item is followed by a bare word: it ends here if the bare word is an item of its own."""
    following = text.find(text[quote], quote + 1)
    between = text[quote + 1 : following if following >= 0 else quote + 200]
    return "end" if any(char in between for char in "]},") else "text"


def unescape(body: str, quote: str = '"') -> str:
    """The text that an escaped body stands for.

    Backslashes that start no JSON escape are text; in a Windows path or a formula all of them are.
    """
    if "\\" not in body:
        return body
    if _UNKNOWN.search(body.replace("\\\\", "")):  # an escaped backslash doesn't escape what follows
        if _PATH.match(body):
            return body.replace("\\\\", "\\")
        body = _TEX.sub(lambda word: "\\" + word.group(), body)
    return paired(_ESCAPE.sub(_meaning, body))


def decode(body: str) -> str:
    """The text of a valid JSON string's body, or of a piece of one: no guesses; halves of a pair stay apart."""
    return _ESCAPE.sub(_meaning, body) if "\\" in body else body


def paired(text: str) -> str:
    """`text` with each two halves of one character made one; a lone half stays what it is."""
    if _HALF.search(text):
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text


def _meaning(escape: re.Match[str]) -> str:
    code = escape.group(1)
    if len(code) == 5:
        return chr(int(code[1:], 16))
    if code in _SIMPLE:
        return _SIMPLE[code]
    return code if code in "\"'\n“”" else escape.group()
