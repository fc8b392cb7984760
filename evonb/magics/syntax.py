"""A syntax error in an `%%evograph` cell as a card with the line that the user sees.

IPython has one place for all syntax errors of a cell; it is covered only while such a cell runs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

from evonb.magics.cards import card_of_syntax_error, card_text, show_card

__all__ = ["cover_syntax_errors", "uncover_syntax_errors"]


def cover_syntax_errors(shell: Any, raw_cell: str, cell_place: Callable[[], str]) -> None:
    """Show the syntax errors of this cell our way until it ended; `cell_place` is asked for its number."""
    original = type(shell).showsyntaxerror

    def show(filename: str | None = None, running_compiled_code: bool = False, **options: Any) -> None:
        error, traceback = sys.exc_info()[1], sys.exc_info()[2]
        if not isinstance(error, SyntaxError) or _is_from_running_code(traceback, shell):
            # Raised by what the cell ran, an import or an `eval`: IPython says it as always.
            original(shell, filename, running_compiled_code, **options)
            return
        seen = _as_seen(_precise(error, shell, raw_cell), raw_cell)
        card = card_of_syntax_error(seen, cell_place())
        show_card(card)
        shell._showtraceback(type(error), error, card_text(card).split("\n"))

    shell.showsyntaxerror = show


def uncover_syntax_errors(shell: Any) -> None:
    vars(shell).pop("showsyntaxerror", None)


def _is_from_running_code(traceback: TracebackType | None, shell: Any) -> bool:
    while traceback is not None:
        if traceback.tb_frame.f_globals is shell.user_global_ns:
            return True
        traceback = traceback.tb_next
    return False


def _precise(error: SyntaxError, shell: Any, raw_cell: str) -> SyntaxError:
    """IPython parses as if more lines might come and says "incomplete input"; the plain parser says what is open."""
    if "incomplete input" not in error.msg:
        return error
    try:
        ast.parse(shell.transform_cell(raw_cell))
    except SyntaxError as better:
        return better
    return error


def _as_seen(error: SyntaxError, raw_cell: str) -> SyntaxError:
    """The same error with the text of the cell as written, and never on the line that we appended."""
    lines = raw_cell.rstrip().split("\n")
    number = min(max(error.lineno or 1, 1), len(lines))
    beyond = number != error.lineno
    offset = len(lines[number - 1]) + 1 if beyond else error.offset
    return type(error)(error.msg, (error.filename, number, offset, lines[number - 1]))
