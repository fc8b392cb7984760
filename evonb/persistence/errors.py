"""What the store raises and what it warns of. Nothing of `sqlite3` gets past this package."""

from __future__ import annotations

from typing import Literal

from evonb.errors import EvonbError

__all__ = ["DuplicateRun", "ProblemKind", "StoreError", "StoreWarning", "UnknownRun", "Unusable"]

ProblemKind = Literal[
    "", "locked", "full", "read-only", "damaged", "foreign", "newer", "network", "unreachable", "lost", "taken", "value"
]
"""What is wrong with a file. "lost": removed or emptied under us; "taken": another process goes on with a run."""


class StoreError(EvonbError, RuntimeError):
    """A stored run can't be read, or a command on the store can't be carried out.

    Attributes:
        kind: What is wrong with the file, "" if it isn't the file.
    """

    kind: ProblemKind = ""


class DuplicateRun(StoreError, ValueError):
    """A run, or a step of a run, is there already."""


class UnknownRun(StoreError, LookupError):
    """No run has this id."""


class Unusable(Exception):
    """A file is of no use; `diagnosis` makes a clear error of it.

    Attributes:
        kind: Why.
        detail: More of it, "" if that says all.
    """

    def __init__(self, kind: ProblemKind, detail: str = "") -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class StoreWarning(UserWarning):
    """Something can't be written as it should be; the session goes on.

    Attributes:
        problem: The same as an error with `what`, `where` and `fix`, for views that draw a card.
    """

    def __init__(self, problem: StoreError) -> None:
        super().__init__(str(problem))
        self.problem = problem
