"""What reading JSON gives, and the reading of valid JSON, which the standard library does."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from evonb.parsing.limits import check_depth, refuse_depth


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
    twice: list[str] = []

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            twice.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return value

    try:
        value, end = json.JSONDecoder(strict=False, object_pairs_hook=made).raw_decode(text, start)
    except RecursionError:
        refuse_depth(1_000_000)
        return None
    except ValueError:  # also integers beyond Python's limit of digits
        return None
    check_depth(value)
    guesses = tuple(stands_twice(key) for key in dict.fromkeys(twice))
    return JsonRead(value, end, guesses=guesses, quoted=type(value) in (dict, list))


def stands_twice(key: str) -> str:
    """What is said of a key that an object has more than once."""
    return f"the key {key!r} stands twice; the last value counts"
