"""What reading JSON gives, and the reading of valid JSON, which the standard library does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from evonb.parsing.limits import check_depth, refuse_depth

_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class JsonRead:
    """A value and how sure it is.

    Attributes:
        value: What was read.
        end: One after its last character.
        repairs: Differences with only one reading, each in words.
        guesses: Decisions that another reader might have made differently.
        open_levels: How many brackets were still open where the text ended; 0 for a whole value.
        open_in_value: The text ended inside a scalar or a member, not just before closing brackets.
        open_path: The keys whose values were still open where the text ended, from the outside in.
        quoted: It has quoted keys or quoted items, so it isn't prose that happens to use brackets.
    """

    value: Any
    end: int
    repairs: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    open_levels: int = 0
    open_in_value: bool = False
    open_path: tuple[str, ...] = ()
    quoted: bool = True

    @property
    def cut(self) -> bool:
        """Whether the end is missing."""
        return self.open_levels > 0


def read_strict(text: str, start: int = 0) -> JsonRead | None:
    """Read the valid JSON value at `start`, line breaks in strings allowed; None when it isn't valid.

    Raises:
        TooDeep: It nests beyond all reason.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        refuse_depth(1_000_000)
        return None
    except ValueError:  # also integers beyond Python's limit of digits
        return None
    check_depth(value)
    return JsonRead(value, end, quoted=type(value) in (dict, list))
