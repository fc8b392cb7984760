"""Why a run ended as it did, in words: which join waits for whom, which limit was met in which cycle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from evonb.graph.decide import Task
from evonb.graph.plan import JoinPlan

if TYPE_CHECKING:
    from evonb.graph.run import Run

__all__ = ["OpenJoin", "end_message", "open_joins", "parted"]


class OpenJoin(NamedTuple):
    """A join that the end of the run found waiting."""

    node: str
    group: str
    arrived: tuple[str, ...]
    missing: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        got = f"got {', '.join(map(repr, self.arrived))}" if self.arrived else "got nothing whole"
        return f"{self.node!r} {got} and waits for {', '.join(map(repr, self.missing))}: {self.why}"


def parted(join: JoinPlan, mask: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The predecessors of a join that have arrived, and those that haven't."""
    arrived = tuple(name for bit, name in enumerate(join.sources) if mask >> bit & 1)
    return arrived, tuple(name for name in join.sources if name not in arrived)


def open_joins(run: Run) -> Iterable[OpenJoin]:
    """Every join that is left waiting, in the order of the nodes."""
    for (index, group), slot in sorted(run.slots.items()):
        node = run.plan.nodes[index]
        assert node.joins is not None
        arrived, missing = parted(node.joins[group], slot.mask)
        yield OpenJoin(node.name, group, arrived, missing, "; ".join(_why(run, name) for name in missing))


def _why(run: Run, name: str) -> str:
    visits = run.visits[run.plan.by_name[name].index]
    if not visits:
        return f"{name!r} was never started, as no edge to it was taken"
    return f"{name!r} ran {visits} time{'s' if visits > 1 else ''} and went elsewhere"


def end_message(run: Run) -> str:
    """Which limit was met and in which cycle, or who waits for whom; "" for a run that simply ended."""
    if run.skipped:
        return f"the limit of {run.limit} node calls was met{_cycle(run.skipped[0])}"
    return "; ".join(map(str, open_joins(run)))


def _cycle(task: Task) -> str:
    """The loop that a task was about to go round again."""
    route = [*task.route()[-200:], task.node.name]
    for back in range(len(route) - 2, -1, -1):
        if route[back] == route[-1]:
            return ", in the cycle " + " > ".join(route[back:])
    return ""
