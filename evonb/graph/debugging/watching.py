"""What tools and models tell of themselves while their node runs in a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evonb.graph.debugging.points import Waiting
from evonb.graph.debugging.steps import Usage

if TYPE_CHECKING:
    from evonb.graph.debugging.inside import Inside

__all__ = ["Told", "Watch"]


@dataclass(slots=True)
class Told:
    """What the tools and models of a task told, also before it failed or was cancelled and started again."""

    calls: list[dict[str, object]] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)

    @property
    def usage(self) -> Usage | None:
        """All of it together; None if no model told."""
        each = self.usages
        if not each:
            return None
        return Usage(
            sum(one.tokens_in for one in each), sum(one.tokens_out for one in each), sum(one.seconds for one in each)
        )


class Watch:
    """The `ToolWatch` of one task."""

    def __init__(
        self, inside: Inside, owner: Waiting, told: Told, *, rerun: bool = False, around: Watch | None = None
    ) -> None:
        self.told = told
        self.rerun = rerun
        self._inside = inside
        self._owner = owner
        self._around = around

    def within(self) -> Watch:
        """That of a task inside of this one."""
        return Watch(self._inside, self._owner, Told(), rerun=self.rerun, around=self)

    async def before(self, tool: str, arguments: Any, *, call_id: str | None = None) -> None:
        """As `ToolWatch.before`."""
        await self._inside.before_tool(self._owner, tool, arguments, call_id)

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
        """As `ToolWatch.done`."""
        call: dict[str, object] = {"tool": tool, "call_id": call_id, "effect": effect, "replayed": replayed}
        self._add({**call, "failed": failed, "duration_s": duration_s})
        self._inside.after_tool(self._owner, tool, call_id)

    def used(self, tokens_in: int, tokens_out: int, seconds: float) -> None:
        """As `ToolWatch.used`."""
        for each in self._all():
            each.told.usages.append(Usage(tokens_in, tokens_out, seconds))

    def replayed(self, calls: Iterable[Mapping[str, object]]) -> None:
        """Note calls that aren't made again, because the record answers for their task."""
        for call in calls:
            self._add({**{key: value for key, value in call.items() if key != "inner"}, "replayed": True})

    def _add(self, call: dict[str, object]) -> None:
        for each in self._all():
            each.told.calls.append(call)

    def _all(self) -> Iterator[Watch]:
        """This one and those of the tasks around it."""
        each: Watch | None = self
        while each is not None:
            yield each
            each = each._around

    def keep(self, call_id: str, record: Mapping[str, Any]) -> None:
        """As `ToolWatch.keep`."""
        call = next((each for each in reversed(self.told.calls) if each["call_id"] == call_id), None)
        if call is not None:
            call["record"] = dict(record)

    def records(self, call_id: str) -> Iterator[Mapping[str, Any]]:
        """As `ToolWatch.records`."""
        if self._around is not None:
            yield from self._around.records(call_id)
            return
        calls = [*self._inside.past_calls(), *self.told.calls]
        for each in reversed(calls):
            if each.get("call_id") == call_id and isinstance(record := each.get("record"), Mapping):
                yield record
