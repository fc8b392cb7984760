"""XML as nested dicts: `@attribute`, `#text`, repeated tags as lists, several roots allowed.

A scan of the tags, linear in the text, finds the elements and treats what is no tag as text. What it found
whole goes to the library, with document type declarations forbidden; what the library refuses (a bare `<`,
an unknown entity) and what wasn't whole is taken as the scan saw it.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Any

from evonb.parsing.failure import Unreadable
from evonb.parsing.libraries import load
from evonb.parsing.limits import refuse_depth
from evonb.parsing.reading import Reading
from evonb.parsing.schema import OutputFormat

_MARKUP = re.compile(
    r"<(?P<close>/?)(?P<name>[^\W\d][\w:.-]{0,100})(?P<attrs>(?:[\s/][^<>]*)?)>|<!\[CDATA\[|<!--|<\?", re.IGNORECASE
)
_ATTRIBUTE = re.compile(r"([^\s=\"'<>/]{1,100})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))")
_TAIL = re.compile(r"</?[^\W\d]?[\w:.-]*\s*$")
_VOID = frozenset({"br", "hr", "img", "input", "meta", "link", "wbr"})
INLINE = frozenset(
    {
        "a",
        "b",
        "i",
        "u",
        "s",
        "em",
        "strong",
        "code",
        "pre",
        "p",
        "span",
        "br",
        "hr",
        "sub",
        "sup",
        "kbd",
        "img",
        "small",
    }
    | {"mark", "del", "ins", "li", "ul", "ol", "td", "tr", "th", "table", "div", "q", "tt"}
    | {f"h{level}" for level in range(1, 7)}
)
"""HTML that people write in prose: alone it doesn't make a text XML."""

_ENDS = {"<![cdata[": "]]>", "<!--": "-->", "<?": "?>"}


def read_xml(text: str) -> Reading:
    """Read the elements in `text`; text outside them is left out.

    Raises:
        Unreadable: There are none, a document type is declared, or the library is missing.
        TooDeep: They nest beyond all reason.
    """
    if re.search(r"<!(?:DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise Unreadable("XML with a document type declaration is refused: its entities can expand without end")
    scan = _Scan(text)
    scan.run()
    if not scan.root.children:
        raise Unreadable("no elements in the text")
    tree, repairs = scan.root, scan.repairs
    if not scan.guesses and "xmlns" not in text:  # the library would replace prefixes by addresses
        parsed = _library(text[scan.first : scan.last])
        if parsed is None:
            repairs = ["read a bare < or & as text"]
        else:
            tree = parsed
    value = {key: inner for key, inner in _value(tree).items() if key != "#text"}
    return Reading(
        OutputFormat.XML, value, scan.first, scan.last,
        repairs=tuple(repairs), guesses=tuple(dict.fromkeys(scan.guesses)), cut=scan.cut,
    )  # fmt: skip


@dataclass
class _Element:
    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[_Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    opened: int = 0


def _library(region: str) -> _Element | None:
    """The tree as the library sees it, or None when it refuses the text."""
    parser = load("defusedxml.ElementTree", "to read XML")
    body = re.sub(r"<\?[^>]{0,1000}\?>", "", region)
    try:
        root = parser.fromstring(f"<r>{body}</r>", forbid_dtd=True)
    except (parser.ParseError, ValueError, RecursionError):
        return None
    return _convert(root)


def _convert(node: Any) -> _Element:
    element = _Element(node.tag, dict(node.attrib))
    element.text = [node.text or "", *(child.tail or "" for child in node)]
    element.children = [_convert(child) for child in node]
    return element


class _Scan:
    """One pass over the tags with a stack of open elements."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = _Element("")
        self.stack = [self.root]
        self.first, self.last = len(text), 0
        self.repairs: list[str] = []
        self.guesses: list[str] = []
        self.cut = False
        self._closing = self._closing_names()
        self._unclosed: set[str] = set()

    def _closing_names(self) -> dict[str, int]:
        """Where each name is closed for the last time."""
        return {found.group(1): found.start() for found in re.finditer(r"</([^\W\d][\w:.-]{0,100})\s*>", self.text)}

    def run(self) -> None:
        at, search = 0, 0
        while True:
            found = _MARKUP.search(self.text, search)
            if found is None:
                break
            search = found.end()
            if found["name"] is None:
                end = self._special(found, at)
                if end < 0:
                    continue
                at = search = end
            elif self._is_tag(found):
                self._add_text(self.text[at : found.start()])
                self._tag(found)
                at = found.end()
        self._finish(at)

    def _special(self, found: re.Match[str], at: int) -> int:
        """Take a CDATA section, comment or instruction; its end, or -1 when it is never closed."""
        kind = found.group().lower()
        closer = _ENDS[kind]
        if closer in self._unclosed:
            return -1
        end = self.text.find(closer, found.end())
        if end < 0:
            self._unclosed.add(closer)
            return -1
        self._add_text(self.text[at : found.start()])
        if kind == "<![cdata[":
            self.stack[-1].text.append(self.text[found.end() : end])
        elif kind == "<?" and len(self.stack) == 1:
            self.first = min(self.first, found.start())
        return end + len(closer)

    def _is_tag(self, found: re.Match[str]) -> bool:
        name = found["name"]
        if found["close"] or found["attrs"].rstrip().endswith("/") or name.lower() in _VOID:
            return True
        # A tag that is never closed is one only where the text may have been cut off inside it.
        return (
            self._closing.get(name, -1) > found.start()
            or (len(self.stack) == 1 and not found["attrs"].strip())
            or (len(self.stack) == 1 and _ATTRIBUTE.search(found["attrs"]) is not None)
        )

    def _tag(self, found: re.Match[str]) -> None:
        name = found["name"]
        if found["close"]:
            self._close(name, found.end())
            return
        self.first = min(self.first, found.start())
        attributes = {
            match[1]: html.unescape(next(part for part in match.groups()[1:] if part is not None))
            for match in _ATTRIBUTE.finditer(found["attrs"])
        }
        element = _Element(name, attributes, opened=found.start())
        self.stack[-1].children.append(element)
        if found["attrs"].rstrip().endswith("/") or name.lower() in _VOID:
            self.last = found.end()
            return
        self.stack.append(element)
        refuse_depth(len(self.stack))

    def _close(self, name: str, end: int) -> None:
        depth = next((index for index in range(len(self.stack) - 1, 0, -1) if self.stack[index].name == name), 0)
        if not depth:
            if len(self.stack) > 1 or self.root.children:
                self.guesses.append(f"dropped </{name}>, which closes nothing")
            return
        for element in self.stack[depth + 1 :]:
            self.guesses.append(f"closed <{element.name}>, which was left open")
        del self.stack[depth:]
        self.last = end

    def _add_text(self, text: str) -> None:
        self.stack[-1].text.append(html.unescape(text))

    def _finish(self, at: int) -> None:
        rest = self.text[at:]
        if len(self.stack) > 1:
            self.cut = True
            self.guesses.append(f"closed <{self.stack[-1].name}> where the text ends")
            self._add_text(_TAIL.sub("", rest[-200:]) if len(rest) <= 200 else rest[:-200] + _TAIL.sub("", rest[-200:]))
            self.last = len(self.text)


def _value(element: _Element) -> dict[str, Any]:
    """The content of an element as a dict; `_content` turns it into what stands for the element."""
    value: dict[str, Any] = {f"@{name}": text for name, text in element.attributes.items()}
    repeated: set[str] = set()
    for child in element.children:
        content = _content(child)
        if child.name not in value:
            value[child.name] = content
        elif child.name in repeated:
            value[child.name].append(content)
        else:
            value[child.name] = [value[child.name], content]
            repeated.add(child.name)
    text = (
        " ".join(part for part in (piece.strip() for piece in element.text) if part)
        if element.children
        else ("".join(element.text).strip())
    )
    if text:
        value["#text"] = text
    return value


def _content(element: _Element) -> Any:
    value = _value(element)
    if not value:
        return None
    return value["#text"] if value.keys() == {"#text"} else value
