"""Cards where IPython doesn't ask an error for its own: interrupts, and errors that come with an exception group."""

from __future__ import annotations

import sys
from typing import Any

from evonb.errors import EvonbError
from evonb.magics.cards import card_text, rendered, show_card
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
    card = card_of_interrupt(error)
    if card is None:
        return None
    show_card(card)
    return card_text(card).split("\n")
