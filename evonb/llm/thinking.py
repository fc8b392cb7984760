"""Reasoning that a model writes into its text between tags, told apart from the answer while both stream in. Pure.

Plain servers hand the text of reasoning models on as it is: `<think>...</think>` and then the answer.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Parted", "ThinkTags", "Thinking"]

ThinkTags: TypeAlias = Literal["auto", "open", "never"]
"""How tags around reasoning are read.

"auto" takes reasoning out when the reply begins with an opening tag; a tag that the answer mentions further on is text.
"open" is for models whose template has opened the tag already, so that only a closing one comes: everything before it
is reasoning. "never" leaves every text as it is.
"""

_PAIRS = {f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "reasoning", "seed:think")}
_PAIRS["[THINK]"] = "[/THINK]"
_MAX_BLANKS = 1000


class Parted(NamedTuple):
    """One piece of text, taken apart."""

    content: str
    reasoning: str


class Thinking:
    """Takes a text apart, piece by piece, wherever it was cut. Of all characters, only the tags are dropped.

    Attributes:
        found: Whether there was any reasoning between tags.
    """

    def __init__(self, tags: ThinkTags = "auto") -> None:
        self.found = False
        self._held = ""  # what can't be judged yet: blanks before the answer, or the beginning of a tag
        self._closing = "</think>" if tags == "open" else ""
        self._is_answer = tags == "never"

    def feed(self, text: str) -> Parted:
        """Take a piece; what can be told of the text so far and wasn't told before."""
        content, reasoning = "", ""
        while True:
            if self._is_answer:
                return Parted(content + text, reasoning)
            text, self._held = self._held + text, ""
            if self._closing:
                inside, text = self._inside(text)
                reasoning += inside
                if self._closing:
                    return Parted(content, reasoning)
            elif (opened := self._opened(text)) is not None:
                before, text = opened
                reasoning += before
            elif self._may_open(text):
                self._held = text
                return Parted(content, reasoning)
            else:
                self._is_answer = True

    def rest(self) -> Parted:
        """What is still held, if the text ends here. Changes nothing."""
        is_thought = self._closing or (self.found and not self._held.strip())
        return Parted("", self._held) if is_thought else Parted(self._held, "")

    def _inside(self, text: str) -> tuple[str, str]:
        """The reasoning in the text, and what follows its closing tag."""
        self.found = True
        inside, is_closed, after = text.partition(self._closing)
        if is_closed:
            self._closing = ""
            return inside, after
        cut = next((size for size in range(len(self._closing) - 1, 0, -1) if text.endswith(self._closing[:size])), 0)
        self._held = text[len(text) - cut :]
        return text[: len(text) - cut], ""

    def _opened(self, text: str) -> tuple[str, str] | None:
        """The blanks before an opening tag and the text after it; None if the text doesn't begin with one."""
        bare = text.lstrip()
        tag = next((tag for tag in _PAIRS if bare.startswith(tag)), None)
        if tag is None:
            return None
        self.found, self._closing = True, _PAIRS[tag]
        return text[: len(text) - len(bare)], bare[len(tag) :]

    @staticmethod
    def _may_open(text: str) -> bool:
        bare = text.lstrip()
        if not bare:
            return len(text) <= _MAX_BLANKS
        return any(tag.startswith(bare) for tag in _PAIRS)
