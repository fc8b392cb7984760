"""Valid JSON that arrives in pieces: the value so far, at a cost that depends on the piece and not on the whole."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from evonb.parsing.json_scalars import MISSING, partial_scalar
from evonb.parsing.json_strings import decode, paired, whole_escapes
from evonb.parsing.limits import MAX_DEPTH

_BLANK = re.compile(r"[ \t\r\n]*")
_STOP = re.compile(r'["\\]')
_SCALAR = re.compile(r"[^\s,\]}\[{\":]+")
_DECODER = json.JSONDecoder()


@dataclass
class _Frame:
    container: Any
    key: Any = MISSING
    state: str = "first"  # first | value | comma | key | colon


class NotStreamable(Exception):
    """What arrived isn't valid JSON; another reader has to take it."""


class JsonStream:
    """Builds the value of one object or array.

    `feed` takes pieces that continue each other; `value` is a snapshot: what is closed is shared between
    snapshots, what is still open isn't.
    """

    def __init__(self) -> None:
        self.done = False
        self._stack: list[_Frame] = []
        self._rest = ""
        self._string: list[str] | None = None
        self._result: Any = MISSING

    def feed(self, chunk: str) -> int:
        """Take a piece; returns how much of it was taken, which is all of it until the value is closed.

        Raises:
            NotStreamable: It isn't valid JSON.
        """
        text = self._rest + chunk
        held = len(self._rest)
        at = 0
        while not self.done:
            at = self._in_string(text, at) if self._string is not None else self._token(text, at)
            if at < 0:
                at = ~at
                break
        self._rest = "" if self.done else text[at:]
        return at - held if self.done else len(chunk)

    @property
    def value(self) -> Any:
        """The value so far; keys whose value hasn't begun are left out."""
        child = self._result if self.done else self._partial()
        for frame in reversed(self._stack):
            copy = frame.container.copy()
            if child is not MISSING:
                if isinstance(copy, dict):
                    if frame.key is not MISSING:
                        copy[frame.key] = child
                else:
                    copy.append(child)
            child = copy
        return None if child is MISSING else child

    def _partial(self) -> Any:
        """The scalar that is arriving, if it is a value and says something."""
        top = self._stack[-1] if self._stack else None
        if top is None or (isinstance(top.container, dict) and top.key is MISSING):
            return MISSING
        if self._string is not None:
            return _joined([*self._string, decode(self._rest[: whole_escapes(self._rest)])])
        token = self._rest.strip()
        return partial_scalar(token) if token and token[0] not in '"{[' else MISSING

    def _in_string(self, text: str, at: int) -> int:
        """Go on with an open string. Negative: everything usable was taken, `~` of the position where to go on."""
        start = at
        while True:
            stop = _STOP.search(text, at)
            if stop is None:
                return ~self._keep(text, start, len(text))
            if stop.group() == '"':
                break
            if stop.end() >= len(text):
                return ~self._keep(text, start, stop.start())
            at = stop.end() + 1
            if text[stop.end()] == "u" and len(text) < stop.end() + 5:
                return ~self._keep(text, start, stop.start())
        pieces = self._string or []
        pieces.append(decode(text[start : stop.start()]))
        self._string = None
        self._put(_joined(pieces))
        return stop.end()

    def _keep(self, text: str, start: int, end: int) -> int:
        """Decode what is safe; an escape that may go on stays for the next piece."""
        end = start + whole_escapes(text[start:end])
        if self._string is not None and end > start:
            self._string.append(decode(text[start:end]))
        return end

    def _token(self, text: str, at: int) -> int:
        blank = _BLANK.match(text, at)
        at = blank.end() if blank else at
        if at >= len(text):
            return ~at
        char = text[at]
        if char == '"':
            self._expect_string()
            self._string = []
            return at + 1
        if char in "{[":
            self._open(char)
        elif char in "}]":
            self._close(char)
        elif char in ",:":
            self._separator(char)
        else:
            return self._scalar(text, at)
        return at + 1

    def _expect_string(self) -> None:
        if not self._stack:
            raise NotStreamable
        frame = self._stack[-1]
        allowed = ("first", "key", "value") if isinstance(frame.container, dict) else ("first", "value")
        if frame.state not in allowed:
            raise NotStreamable

    def _expect_value(self) -> None:
        if not self._stack:
            return
        frame = self._stack[-1]
        if frame.state != "value" and (isinstance(frame.container, dict) or frame.state != "first"):
            raise NotStreamable

    def _open(self, char: str) -> None:
        self._expect_value()
        if len(self._stack) >= MAX_DEPTH:
            raise NotStreamable
        self._stack.append(_Frame({} if char == "{" else []))

    def _close(self, char: str) -> None:
        if not self._stack:
            raise NotStreamable
        frame = self._stack[-1]
        if isinstance(frame.container, dict) != (char == "}") or frame.state not in ("first", "comma"):
            raise NotStreamable
        self._stack.pop()
        if self._stack:
            self._put(frame.container)
        else:
            self._result, self.done = frame.container, True

    def _separator(self, char: str) -> None:
        if not self._stack:
            raise NotStreamable
        frame = self._stack[-1]
        if char == ":" and frame.state == "colon":
            frame.state = "value"
        elif char == "," and frame.state == "comma":
            frame.state = "key" if isinstance(frame.container, dict) else "value"
        else:
            raise NotStreamable

    def _scalar(self, text: str, at: int) -> int:
        self._expect_value()
        token = _SCALAR.match(text, at)
        if token is None or not self._stack:
            raise NotStreamable
        if token.end() >= len(text):
            return ~at
        try:
            value, end = _DECODER.raw_decode(text, at)
        except ValueError:
            raise NotStreamable from None
        if end != token.end():
            raise NotStreamable
        self._put(value)
        return end

    def _put(self, value: Any) -> None:
        frame = self._stack[-1]
        if isinstance(frame.container, list):
            frame.container.append(value)
            frame.state = "comma"
        elif frame.state in ("first", "key"):
            frame.key, frame.state = value, "colon"
        else:
            frame.container[frame.key] = value
            frame.key, frame.state = MISSING, "comma"


def _joined(pieces: list[str]) -> str:
    return paired(pieces[0] if len(pieces) == 1 else "".join(pieces))
