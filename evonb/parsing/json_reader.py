"""Reads JSON as models write it, from one opening bracket to where it ends.

One pass, no recursion. Everything that differs from JSON is noted: as a repair when only one reading is
possible (a comma, a quote, a comment), as a guess when not (an end that was cut off, a missing quote).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from evonb.parsing.failure import Unreadable
from evonb.parsing.json_scalars import (
    JSON_WORDS,
    LAST_TOKEN,
    MISSING,
    NUMBER,
    WORDS,
    is_json_number,
    partial_scalar,
    to_number,
)
from evonb.parsing.json_strict import JsonRead, read_strict, stands_twice
from evonb.parsing.json_strings import OPENERS, read_string, skip_blank
from evonb.parsing.limits import refuse_depth

_OPEN = {"{": "{", "[": "[", "｛": "{", "［": "[", "(": "("}
_CLOSE = {"}": "{", "]": "[", "｝": "{", "］": "["}
CLOSED = "closed what was cut off"
"""The guess that says so."""
_COMMA = ",，;"
_COLON = ":：="
_WORD = re.compile(r"[^\s,，:：{}\[\]｛｝［］\"'“”„]+")
_BARE = re.compile(r"[^,，;{}\[\]｛｝［］\"\n]+")
_KEY = re.compile(r"[^\W\d][\w$.-]*|\d+", re.UNICODE)
_MAX_REFUSED = 50
_STRAY = re.compile(r"[^,{}\[\]\n\"]{1,200}")


def read_json(text: str, start: int = 0, *, try_strict: bool = True) -> JsonRead:
    """Read the object or array that opens at `start`.

    Args:
        text: The text.
        start: Where the bracket stands.
        try_strict: Try the library first. It reads valid JSON a hundred times faster, but each refusal costs time
            linear in the text before it, so a search with many candidates gives it up.

    Raises:
        Unreadable: What stands there isn't JSON, not even nearly.
        TooDeep: It nests beyond all reason.
    """
    strict = read_strict(text, start) if try_strict else None
    if strict is not None:
        return strict
    reader = _Reader(text, start)
    try:
        return reader.read()
    except Unreadable as error:
        error.position = reader.at
        raise


@dataclass
class _Frame:
    """An open container."""

    kind: str
    value: Any
    key: Any = MISSING
    done: bool = False  # an element was read and no comma since


@dataclass
class _Reader:
    text: str
    at: int
    stack: list[_Frame] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)
    quoted: bool = False
    in_value: bool = False
    refused: int = 0
    result: Any = MISSING

    def read(self) -> JsonRead:
        self._push(self.text[self.at])
        while self.stack:
            self._blanks()
            if self.at >= len(self.text) or not self._step():
                break
        open_levels = len(self.stack)
        open_path = tuple(str(frame.key) for frame in self.stack if frame.key is not MISSING)
        if self.stack:
            self._cut()
        return JsonRead(
            self.result,
            self.at,
            tuple(dict.fromkeys(self.repairs)),
            tuple(dict.fromkeys(self.guesses)),
            open_levels,
            self.in_value,
            open_path,
            self.quoted,
        )

    def _step(self) -> bool:
        """Read one token. False when the text goes on with something that isn't JSON."""
        frame, char = self.stack[-1], self.text[self.at]
        if char in _CLOSE:
            self._pop(_CLOSE[char])
        elif char == ")" and frame.kind == "(":
            self._pop("(")
        elif char == "(" and frame.kind == "{" and frame.key is MISSING:
            return self._lost("expected a key")
        elif char in _COMMA:
            self._comma(frame)
        elif frame.kind == "{" and frame.key is MISSING:
            return self._key(frame, char)
        else:
            return self._value(frame, char)
        return True

    # -- containers

    def _push(self, char: str) -> None:
        kind = _OPEN[char]
        if char not in "{[":
            self.repairs.append("read a tuple as an array" if char == "(" else "read full-width punctuation")
        self.stack.append(_Frame(kind, {} if kind == "{" else []))
        refuse_depth(len(self.stack))
        self.at += 1

    def _pop(self, kind: str) -> None:
        if self.stack[-1].kind != kind:
            if not any(frame.kind == kind for frame in self.stack):
                self.guesses.append("dropped a closing bracket too many")
                self.at += 1
                return
            self.guesses.append("closed a bracket that was left open")
            while self.stack[-1].kind != kind:
                self._leave()
        self.at += 1
        self._leave()

    def _leave(self) -> None:
        frame = self.stack.pop()
        if frame.key is not MISSING:
            frame.value[frame.key] = None
            self.guesses.append(f"gave the key {frame.key!r} no value")
        if self.stack:
            self._put(self.stack[-1], frame.value)
        else:
            self.result = frame.value

    def _put(self, frame: _Frame, value: Any) -> None:
        if frame.kind == "{":
            if frame.key in frame.value:
                self.guesses.append(stands_twice(frame.key))
            frame.value[frame.key] = value
            frame.key = MISSING
        else:
            frame.value.append(value)
        frame.done = True

    def _comma(self, frame: _Frame) -> None:
        if self.text[self.at] != ",":
            self.repairs.append(f"read {self.text[self.at]} as a comma")
        self.at += 1
        if frame.key is not MISSING:
            self._put(frame, None)
            self.guesses.append("read a missing value as null")
        elif not frame.done:
            self.guesses.append("dropped a comma with nothing before it")
        elif self.at < len(self.text):
            after = skip_blank(self.text, self.at)
            if after < len(self.text) and self.text[after] in _CLOSE:
                self.repairs.append("dropped a comma before a closing bracket")
        frame.done = False

    # -- members

    def _key(self, frame: _Frame, char: str) -> bool:
        before = self.at
        if self.text.startswith(("...", "…"), before):
            self.at += 3 if char == "." else 1
            self.guesses.append("dropped an ellipsis")
            return True
        if char in OPENERS:
            read = read_string(self.text, self.at, "key")
            key, self.at = read.value, read.end
            if not read.closed:
                self.in_value = True
                return False
            if read.guessed and any(bracket in key for bracket in "{}[]"):
                return self._lost("a key that swallows structure")
            self._note_quotes(char, read.guessed)
        else:
            word = _KEY.match(self.text, self.at)
            if word is None:
                return self._lost("expected a key")
            key, self.at = word.group(), word.end()
            self.repairs.append("quoted a key")
        colon = self._after_key()
        if colon:
            if frame.done:
                self.repairs.append("added a comma")
            self.quoted |= char in OPENERS
            frame.key, frame.done = key, False
            return True
        if self.at >= len(self.text):
            self.in_value = True
            self.at = len(self.text)
            return False
        if not frame.value and len(self.stack) == 1:
            raise Unreadable("brackets without keys and values")
        self.at = before
        return self._lost("expected a colon after a key")

    def _after_key(self) -> bool:
        self._blanks()
        if self.at >= len(self.text) or self.text[self.at] not in _COLON:
            return False
        self.at += 2 if self.text.startswith("=>", self.at) else 1
        return True

    def _lost(self, reason: str) -> bool:
        """Something stands here that can't: skip to the next comma or bracket of this level, if there is one near."""
        if not any(frame.value for frame in self.stack):
            raise Unreadable(reason)
        if self.text.startswith(("```", "<", "\n\n"), self.at):
            return False
        match = _STRAY.match(self.text, self.at)
        if match is None or match.end() >= len(self.text):
            return False
        self.guesses.append(f"dropped {match.group().strip()[:40]!r}")
        self.at = match.end()
        if self.text[self.at] in '"\n':
            self.at = skip_blank(self.text, self.at)
            return self.at < len(self.text) and self.text[self.at] in ',}]"'
        return True

    # -- values

    def _value(self, frame: _Frame, char: str) -> bool:
        if frame.done:
            if char not in _OPEN and char not in OPENERS and not NUMBER.match(self.text, self.at):
                return self._extra(frame)
            self.repairs.append("added a comma")
            frame.done = False
        if char in _OPEN:
            # Rows of a table that is broken in one place are valid themselves, and those read a hundred times faster.
            # Only one level is tried this way, so no character is looked at more than twice.
            whole = read_strict(self.text, self.at) if len(self.stack) == 1 and self.refused < _MAX_REFUSED else None
            if whole is None:
                self.refused += 1
                self._push(char)
            else:
                self.quoted, self.at = True, whole.end
                self.guesses.extend(whole.guesses)
                self._put(frame, whole.value)
        elif char in OPENERS:
            self._string(frame, char)
        else:
            return self._scalar(frame)
        return True

    def _extra(self, frame: _Frame) -> bool:
        word = _WORD.match(self.text, self.at)
        following = skip_blank(self.text, word.end()) if word else len(self.text)
        if frame.kind != "{" and word and self.text[following : following + 1] in ("]", ","):
            frame.done = False
            return self._scalar(frame)
        return self._lost("expected a comma")

    def _string(self, frame: _Frame, char: str) -> None:
        read = read_string(self.text, self.at, "value" if frame.kind == "{" else "item")
        self.at = read.end
        self._note_quotes(char, read.guessed)
        if not read.closed:
            self.in_value = True
        self.quoted = True
        self._put(frame, read.value)

    def _note_quotes(self, char: str, guessed: str) -> None:
        if char != '"':
            self.repairs.append("read other quotes as double quotes")
        if guessed:
            self.guesses.append(guessed)

    def _scalar(self, frame: _Frame) -> bool:
        last = LAST_TOKEN.match(self.text, self.at)
        if last:
            return self._last_scalar(frame, last.group())
        number = NUMBER.match(self.text, self.at)
        if number and self._ends_scalar(number.end()):
            self._put(frame, self._number(number.group()))
            self.at = number.end()
            self.in_value = self.at >= len(self.text)
            return True
        word = _WORD.match(self.text, self.at)
        if word is None:
            return self._lost("expected a value")
        if word.group() in WORDS and self._ends_scalar(word.end()):
            if word.group() not in JSON_WORDS:
                self.repairs.append(f"read {word.group()} as a literal")
            self._put(frame, WORDS[word.group()])
            self.at = word.end()
            return True
        return self._bare(frame)

    def _last_scalar(self, frame: _Frame, token: str) -> bool:
        """A number or word at the very end of the text: it may have been cut off itself."""
        self.at = len(self.text)
        self.in_value = True
        value = partial_scalar(token)
        if value is MISSING:
            return False
        self._put(frame, value)
        return True

    def _ends_scalar(self, position: int) -> bool:
        after = skip_blank(self.text, position)
        return (
            after >= len(self.text)
            or self.text[after] in ",，;}]｝］#"
            or self.text.startswith(("//", "/*"), after)
            or (self.text[after] == ")" and self.stack[-1].kind == "(")
            or "\n" in self.text[position:after]
            or self.text[after] in OPENERS
            or (self.stack[-1].kind != "{" and after > position)
        )

    def _number(self, token: str) -> Any:
        if not is_json_number(token):
            self.repairs.append(f"read {token[:20]} as a number")
        value = to_number(token)
        if value is MISSING:
            self.guesses.append("kept a number of thousands of digits as text")
            return token
        return value

    def _bare(self, frame: _Frame) -> bool:
        """Text without quotes, to the end of the line or the next structure."""
        match = _BARE.match(self.text, self.at)
        if match is None:
            return self._lost("expected a value")
        bare = match.group().strip()
        self.at = match.end()
        if bare in ("...", "…"):
            self.guesses.append("dropped an ellipsis")
            return True
        if self.at >= len(self.text):
            self.in_value = True
        self.guesses.append("read text without quotes")
        self._put(frame, bare)
        return True

    # -- between tokens

    def _blanks(self) -> None:
        """Skip blanks and comments."""
        while True:
            self.at = skip_blank(self.text, self.at)
            if self.text.startswith("//", self.at) or self.text.startswith("#", self.at):
                stop = self.text.find("\n", self.at)
            elif self.text.startswith("/*", self.at):
                stop = self.text.find("*/", self.at)
                stop = stop + 2 if stop >= 0 else stop
            else:
                return
            self.repairs.append("dropped a comment")
            self.at = stop if stop >= 0 else len(self.text)

    def _cut(self) -> None:
        self.guesses.append(CLOSED)
        while self.stack:
            frame = self.stack[-1]
            if frame.key is not MISSING:
                frame.key = MISSING  # a key whose value never came says nothing
                self.in_value = True
            self._leave()
