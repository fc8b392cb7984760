"""The bounds that keep hostile or broken replies cheap. Every one is far beyond what models write."""

from __future__ import annotations

from typing import Any

from evonb.parsing.failure import TooDeep

MAX_TEXT_CHARS = 32_000_000
"""Longer replies are refused unread."""

MAX_DEPTH = 400
"""Deepest nesting of a value: below Python's own recursion limit, so that results can be copied and printed."""

MAX_YAML_CHARS = 1_000_000
"""A pure Python YAML reader needs about a second for this much plain text."""

MAX_YAML_MARKS = 80_000
"""Most marks of structure (line ends, commas, brackets, colons, dashes): each costs that reader up to 50 µs."""

MAX_LOOSE_YAML_CHARS = 20_000
"""Longer text is tried as YAML only when something says that it is YAML."""

MAX_NODES = 200_000
"""Most values that one YAML text may expand to through its aliases."""

MAX_CACHED_CHARS = 65_536
"""Copying a longer result costs more than parsing it again."""


def refuse_depth(depth: int) -> None:
    """Raise `TooDeep` when `depth` is beyond `MAX_DEPTH`."""
    if depth > MAX_DEPTH:
        raise TooDeep(f"nested more than {MAX_DEPTH} levels deep")


def check_depth(value: Any) -> None:
    """Raise `TooDeep` when a parsed value is nested beyond `MAX_DEPTH`. Takes time linear in the value."""
    level = [value] if type(value) in (dict, list) else []
    depth = 0
    while level:
        depth += 1
        refuse_depth(depth)
        level = [
            child
            for container in level
            for child in (container.values() if type(container) is dict else container)
            if type(child) is dict or type(child) is list
        ]
