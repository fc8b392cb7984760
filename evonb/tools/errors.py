"""The errors of tools. A call never raises them: it ends in a receipt, and `ToolReceipt.unwrap` raises when asked."""

from __future__ import annotations

from dataclasses import dataclass

from evonb.errors import EvonbError

__all__ = ["FieldFault", "SandboxError", "ToolCancelled", "ToolError", "ToolInputError"]


@dataclass(frozen=True, slots=True)
class FieldFault:
    """One argument that a tool can't take.

    Attributes:
        field: Where it is, as in `filters[0].name`; empty for the arguments as a whole.
        message: What was expected.
        found: A bounded preview of what was there; None if nothing was.
    """

    field: str
    message: str
    found: str | None = None

    def __str__(self) -> str:
        head = f"{self.field}: {self.message}" if self.field else self.message
        return head if self.found is None else f"{head}; found {self.found}"


class ToolError(EvonbError):
    """A tool can't be defined, registered or called as asked."""


class ToolInputError(ToolError, ValueError):
    """The arguments of a call don't fit the tool.

    Attributes:
        faults: Each argument that doesn't fit, in the order of the arguments.
    """

    def __init__(
        self, what: str, *, where: str = "", fix: str = "", faults: tuple[FieldFault, ...] | list[FieldFault] = ()
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.faults = tuple(faults)


class ToolCancelled(ToolError):
    """The invocation was cancelled; `reason` says by whom or why."""

    def __init__(self, what: str, *, where: str = "", fix: str = "", reason: object = None) -> None:
        super().__init__(what, where=where, fix=fix)
        self.reason = reason


class SandboxError(ToolError, RuntimeError):
    """The code sandbox can't be started or can't run what it was given."""
