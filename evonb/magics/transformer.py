"""The two notebook languages as source transforms; pure functions over the lines of a cell.

`%%evograph` makes no cell magic: its line becomes a call on the same line and a closing call is appended, so that the
body stays an ordinary cell with its own line numbers, `await`, braces and sources. `%evo` becomes an `await`.
"""

from __future__ import annotations

import ast
import re
import tokenize
from typing import Any

from IPython.core import inputtransformer2 as ipython

__all__ = ["HEAD", "EvoCommand", "evograph_cell", "head_of", "is_evograph"]

HEAD = re.compile(r"%%evograph\b[ \t]*(?P<line>[^\r\n]*)")
_FUTURE = re.compile(r"from[ \t]+__future__[ \t]+import[ \t]+[\w, \t]+;?[ \t]*(#.*)?$")
_PLAIN_DEF = re.compile(r"(?P<indent>[ \t]*)(?P<word>def|class|async[ \t]+def|lambda)\b")

BEGIN = "__import__('evonb.magics.cell', fromlist=['begin']).begin({line!r})"
END = "__import__('evonb.magics.cell', fromlist=['end']).end()"
RUN = "await __import__('evonb.magics.evo', fromlist=['run_command']).run_command({line!r})"
RUN_SHOWN = RUN.removesuffix(")") + ", shown=True)"
MISPLACED = "__import__('evonb.magics.cell', fromlist=['misplaced']).misplaced({line!r}, {number})"
REFUSE = "__import__('evonb.magics.evo', fromlist=['refuse_in_function']).refuse_in_function({line!r}, {number})"


def head_of(lines: list[str]) -> int | None:
    """Index of the `%%evograph` line; only blank lines and comments may stand above it."""
    for number, line in enumerate(lines):
        if HEAD.match(line):
            return number
        if line.strip() and not line.lstrip().startswith("#"):
            break
    return None


def is_evograph(text: str) -> bool:
    """Whether a cell is an `%%evograph` cell."""
    return head_of(text.splitlines()) is not None


def evograph_cell(lines: list[str]) -> list[str]:
    """A `%%evograph` cell as an ordinary one; other cells as they are. Line numbers stay."""
    first = head_of(lines)
    if first is None or (head := HEAD.match(lines[first])) is None:
        return _refused(lines)
    futures, body = _without_futures(lines[first + 1 :])
    if body and not body[-1].endswith("\n"):
        body[-1] += "\n"
    # The call stands on the first line: IPython would drop blank ones and shift all numbers.
    begin = "; ".join([*futures, BEGIN.format(line=head["line"].strip())])
    above = [*lines[:first], "\n"]
    return [f"{begin}  {above[0].lstrip()}".rstrip() + "\n", *above[1:], *body, END + "\n"]


def _refused(lines: list[str]) -> list[str]:
    """A cell with code above its `%%evograph` line: instead of it a call that says so. Any other cell as it is."""
    for number, line in enumerate(lines):
        if (head := HEAD.match(line)) and _is_complete(lines[:number]):
            return [MISPLACED.format(line=head["line"].strip(), number=number + 1) + "\n"]
    return lines


def _is_complete(lines: list[str]) -> bool:
    """Whether these lines are whole statements, so that the next one isn't inside of a string or a bracket."""
    if lines and lines[0].startswith("%%"):
        return False  # the text of another cell magic
    try:
        ast.parse("".join("\n" if line.lstrip().startswith(("%", "!", "?")) else line for line in lines))
    except (SyntaxError, ValueError):
        return False
    return True


def _without_futures(body: list[str]) -> tuple[list[str], list[str]]:
    """The body's `from __future__` lines, which must stand before our call, and the body with blanks in their place."""
    futures = [line.split("#")[0].strip().rstrip(";") for line in body if _FUTURE.match(line)]
    return futures, ["\n" if _FUTURE.match(line) else line for line in body]


class EvoCommand(ipython.TokenTransformBase):
    """`%evo ...` and `x = %evo ...` outside of strings and comments.

    Inside a plain function `await` can't stand; such a cell is replaced by one that says so.
    """

    priority = 9  # before IPython's own reading of a line magic, after `%evo?`

    @classmethod
    def find(cls, tokens_by_line: list[list[Any]]) -> EvoCommand | None:
        """The first `%evo` that begins a statement or follows an assignment's `=`."""
        for line in tokens_by_line:
            for place in _places(line):
                if [token.string for token in line[place : place + 2]] == ["%", "evo"]:
                    return cls(line[place].start)
        return None

    def transform(self, lines: list[str]) -> list[str]:
        """The lines with this one command as a call."""
        row, column = self.start_line, self.start_col
        last = ipython.find_end_of_continued_line(lines, row)
        command = ipython.assemble_continued_line(lines, (row, column), last)
        text = command.removeprefix("%evo").strip()
        if _is_in_function(lines, row):
            return [REFUSE.format(line=text, number=row + 1) + "\n"]
        padding = ["\n"] * (last - row)
        call = RUN if self._is_value(lines, last) else RUN_SHOWN
        return [*lines[:row], lines[row][:column] + call.format(line=text) + "\n", *padding, *lines[last + 1 :]]

    def _is_value(self, lines: list[str], last: int) -> bool:
        """Whether somebody takes what the command gives: a variable, or IPython, which shows a cell's last value."""
        if lines[self.start_line][: self.start_col].strip():
            return True
        below = (line.strip() for line in lines[last + 1 :])
        return self.start_col == 0 and all(not line or line.startswith("#") for line in below)


def _places(line: list[Any]) -> list[int]:
    """Where a command may begin in a logical line."""
    start = 0
    while start < len(line) and line[start].type in (tokenize.INDENT, tokenize.DEDENT):
        start += 1
    assign = next((number for number, token in enumerate(line) if token.string == "="), None)
    return [start] if assign is None else [start, assign + 1]


def _is_in_function(lines: list[str], row: int) -> bool:
    """Whether the innermost function or class around a line isn't an async function."""
    depth = _width(lines[row])
    for line in reversed(lines[:row]):
        if not line.strip() or line.lstrip().startswith("#") or _width(line) >= depth:
            continue
        depth = _width(line)
        if opening := _PLAIN_DEF.match(line):
            return not opening["word"].startswith("async")
    return False


def _width(line: str) -> int:
    text = line.expandtabs()
    return len(text) - len(text.lstrip())
