"""What a reader of one format gives back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from evonb.parsing.schema import OutputFormat


@dataclass(frozen=True)
class Reading:
    """A value read from a stretch of text.

    Attributes:
        format: What it was written in.
        value: The value.
        start: Its first character in the text that was given.
        end: One after its last.
        repairs: Differences from the format with only one reading.
        guesses: Decisions that could have gone another way; STRICT refuses them.
        warnings: What the reader should know though the value is right, such as a dropped cell.
        cut: The end is missing.
        fenced: It stood in a code fence: "label" when the fence names the format, "plain" when not, else "".
    """

    format: OutputFormat
    value: Any
    start: int
    end: int
    repairs: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    cut: bool = False
    fenced: str = ""

    def shifted(self, offset: int, fenced: str = "") -> Reading:
        """The same reading, with positions in a text that holds this one at `offset`."""
        return replace(self, start=self.start + offset, end=self.end + offset, fenced=fenced or self.fenced)

    @property
    def lossless(self) -> bool:
        """Whether nothing was guessed."""
        return not self.guesses and not self.cut
