"""What tracebacks, cards and `inspect` see of a cell: its lines as they were written, not the calls we put there.

IPython keeps the text of each cell as it was compiled; its compiler is covered while the extension is loaded.
"""

from __future__ import annotations

import ast
import linecache
import re
from typing import Any

from evonb.magics.session import Session
from evonb.magics.transformer import BEGIN, END, RUN, head_of

__all__ = ["as_written", "cover_sources", "uncover_sources"]

_TEXT = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""


def cover_sources(shell: Any, session: Session) -> None:
    """Keep cells as written, and note the number of the running one, until `uncover_sources`."""
    compiler = shell.compile
    original = type(compiler).cache

    def cache(transformed_code: str, number: int = 0, raw_code: str | None = None) -> str:
        name: str = original(compiler, transformed_code, number, raw_code=raw_code)
        session.cell_number = number
        entry = linecache.cache.get(name)
        if entry is not None and len(entry) == 4 and "evonb.magics" in transformed_code:
            size, stamp, lines, full_name = entry
            linecache.cache[name] = (size, stamp, as_written(list(lines), raw_code or transformed_code), full_name)
        return name

    compiler.cache = cache


def uncover_sources(shell: Any) -> None:
    vars(shell.compile).pop("cache", None)


def as_written(lines: list[str], raw_cell: str) -> list[str]:
    """The compiled lines of a cell with the user's words in place of our calls. Line numbers stay."""
    lines = [_RUN.sub(lambda found: f"%evo {ast.literal_eval(found[1])}".rstrip(), line) for line in lines]
    if not lines or _BEGIN not in lines[0]:
        return lines
    written = raw_cell.splitlines()
    if (first := head_of(written)) is not None:
        # A comment, so that tools that parse a cell to explain a line of it still can.
        lines[: first + 1] = [f"{line}\n" for line in written[:first]] + [f"# {written[first]}\n"]
    return lines[:-1] if lines[-1].strip() == END else lines


def _call_of(template: str) -> str:
    """The pattern of a call, whatever follows its first argument; the argument is its only group."""
    return re.escape(template.partition("{line!r}")[0]) + _TEXT + r"(?:, \w+=\w+)?\)"


_BEGIN = BEGIN.partition("{line!r}")[0]
_RUN = re.compile(_call_of(RUN))
