"""Cards where IPython doesn't ask an error for its own: interrupts, errors that come with an exception group, and
Python's own refusal of `[a, b] >> [c, d]`.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from evonb.errors import EvonbError
from evonb.graph.failure import describe
from evonb.magics.cards import Card, card_text, rendered, show_card
from evonb.magics.interrupts import card_of_interrupt

__all__ = ["cover_tracebacks", "uncover_tracebacks"]


def cover_tracebacks(shell: Any) -> None:
    """Show these errors our way until `uncover_tracebacks`; all others stay IPython's."""
    original = type(shell).showtraceback

    def show(exc_tuple: Any = None, *place: Any, **options: Any) -> None:
        error = exc_tuple[1] if isinstance(exc_tuple, tuple) else sys.exc_info()[1]
        if not isinstance(error, BaseException) or shell.call_pdb or (lines := _lines(error)) is None:
            original(shell, exc_tuple, *place, **options)
        else:
            shell._showtraceback(type(error), error, lines)

    shell.showtraceback = show


def uncover_tracebacks(shell: Any) -> None:
    vars(shell).pop("showtraceback", None)


def _lines(error: BaseException) -> list[str] | None:
    if isinstance(error, EvonbError):
        # IPython prints everything that has a group inside of it raw, without asking for the error's own text.
        return rendered(error)
    card = card_of_interrupt(error) or _card_of_lists(error)
    if card is None:
        return None
    show_card(card)
    return card_text(card).split("\n")


def _card_of_lists(error: BaseException) -> Card | None:
    """The card of an error that only Python can raise: `>>` never asks us when both sides are lists."""
    if not isinstance(error, TypeError) or not _LISTS.search(str(error)):
        return None
    info = describe(error)
    return Card(
        "TypeError",
        "Two lists can't stand on both sides of >>",
        info.where,
        "write one chain for each target: [a, b] >> c and [a, b] >> d",
        info.source,
    )


_LISTS = re.compile(r"operand type\(s\) for >>: '(list|tuple|set)' and '(list|tuple|set)'")
