"""How calls of tools and models tell a debugging session of themselves. Whoever makes them inside a node asks for the
watch; outside of a session there is none. This package knows no tools, and tools know no graph: the code that joins
them uses this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Protocol

__all__ = ["ToolWatch", "current_tool_watch"]


class ToolWatch(Protocol):
    """The session around a running node, as far as its tool calls are concerned.

    Attributes:
        rerun: Whether calls are to be made again that a record could answer, as the user asked for.
    """

    rerun: bool

    async def before(self, tool: str, arguments: Any, *, call_id: str | None = None) -> None:
        """Await this before a call; a breakpoint on the tool holds it here. Call it on the session's loop.

        Tell `done` of the call whatever comes of it: until then the session takes the call for running.
        """

    def done(
        self,
        tool: str,
        *,
        call_id: str | None = None,
        effect: bool = False,
        replayed: bool = False,
        failed: bool = False,
        duration_s: float | None = None,
    ) -> None:
        """Note a finished call for the step's record and the ledger of effects.

        Args:
            tool: The tool's name.
            call_id: The model's id of the call.
            effect: Whether it does something outside of the state.
            replayed: Whether it was answered from a record instead of running.
            failed: Whether it gave no result.
            duration_s: How long it took, None if that isn't known.
        """

    def used(self, tokens_in: int, tokens_out: int, seconds: float) -> None:
        """Note what one reply of a model took, for the step's record.

        Args:
            tokens_in, tokens_out: As its server counts them, 0 where it doesn't say.
            seconds: How long the node waited for it.
        """

    def keep(self, call_id: str, record: Mapping[str, Any]) -> None:
        """Keep with the session what answers a finished call, as plain JSON, for when its node runs again."""

    def records(self, call_id: str) -> Iterator[Mapping[str, Any]]:
        """What was kept for a call on the way to here and elsewhere in the session, newest first."""


watch: ContextVar[ToolWatch | None] = ContextVar("evonb_tool_watch", default=None)


def current_tool_watch() -> ToolWatch | None:
    """The watch of the node that this code runs in, if a debugger runs it."""
    return watch.get()
