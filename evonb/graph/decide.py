"""The engine's decision: which tasks become ready now that one has finished. Pure: values in, a value out.

Its records are never changed once made. (They are plain classes: frozen dataclasses would triple what making one
costs, and any dataclass slows importing.)
Run mode and the debugger both live off it; neither keeps scheduling state of its own but `Slots`, which a
decision never changes: it says which slots get a new value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evonb.graph.plan import EdgePlan, JoinPlan, NodePlan
from evonb.graph.record import Record

__all__ = ["Batch", "Hop", "JoinNote", "Outcome", "Slot", "SlotKey", "Slots", "Task", "decide", "in_edge_order"]


class Batch:
    """Several tasks of one target that one router started at once; a join behind them waits for all of them."""

    __slots__ = ("outer", "size")

    def __init__(self, size: int, outer: Place | None) -> None:
        self.size = size
        self.outer = outer


Place = tuple[Batch, int]
"""Which of a batch a task belongs to: the batch and the position in it."""


class Task:
    """One execution of a node, waiting or done.

    Attributes:
        node: What runs.
        inputs: The records that it starts from: one, or those of all branches in edge order.
        parents: The tasks before, as `inputs`; empty at the start.
        edge: Index of the edge that it came by (of the first, for a join).
        group: The edge group.
        place: Its place in a batch, or None.
        shared: Whether other tasks start from the same record.
        visit: The how-manieth execution of its node in this run it is, counted from 1.
        number: Unique within its run; 0 until it is queued.
    """

    __slots__ = ("edge", "group", "inputs", "node", "number", "parents", "place", "shared", "visit")

    def __init__(
        self,
        node: NodePlan,
        inputs: tuple[Record, ...],
        parents: tuple[Task, ...],
        edge: int,
        group: str,
        place: Place | None,
        shared: bool,
    ) -> None:
        self.node = node
        self.inputs = inputs
        self.parents = parents
        self.edge = edge
        self.group = group
        self.place = place
        self.shared = shared
        self.visit = 0
        self.number = 0

    def route(self) -> list[str]:
        """The names of the nodes that led here, oldest first; at a join the way of its first branch."""
        names = []
        task = self
        while task.parents:
            task = task.parents[0]
            if task.node.spec is not None:
                names.append(task.node.name)
        return names[::-1]


class Hop:
    """One way that a finished task goes on: along an edge to a target, with the record that gets there."""

    __slots__ = ("edge", "place", "record", "target")

    def __init__(self, edge: EdgePlan, target: NodePlan, record: Record, place: Place | None) -> None:
        self.edge = edge
        self.target = target
        self.record = record
        self.place = place

    def carrying(self, record: Record) -> Hop:
        """The same way, with another record."""
        return Hop(self.edge, self.target, record, self.place)


class Slot:
    """What an "all" node has got for one edge group.

    Attributes:
        mask: The predecessors whose input is complete.
        last: The newest arrival, which links to the one before.
        counts: How many of each batch have come, by predecessor bit; None while there is no batch.
    """

    __slots__ = ("counts", "last", "mask")

    def __init__(
        self, mask: int = 0, last: Arrival | None = None, counts: Mapping[tuple[int, Batch], int] | None = None
    ) -> None:
        self.mask = mask
        self.last = last
        self.counts = counts


class Arrival:
    """One input of a join, linked to the one that came before."""

    __slots__ = ("before", "bit", "hop", "task")

    def __init__(self, bit: int, task: Task, hop: Hop, before: Arrival | None) -> None:
        self.bit = bit
        self.task = task
        self.hop = hop
        self.before = before


SlotKey = tuple[int, str]
Slots = Mapping[SlotKey, Slot]


class JoinNote:
    """What happened at a join, for the events."""

    __slots__ = ("fired", "join", "mask", "node")

    def __init__(self, node: NodePlan, join: JoinPlan, mask: int, *, fired: bool) -> None:
        self.node = node
        self.join = join
        self.mask = mask
        self.fired = fired


class Outcome:
    """What follows from a finished task.

    Attributes:
        ready: Tasks that can run now, in edge order.
        ended: Hops that reached the end.
        slots: New values of join slots; None empties one.
        notes: What happened at joins.
    """

    __slots__ = ("ended", "notes", "ready", "slots")

    def __init__(self) -> None:
        self.ready: list[Task] = []
        self.ended: list[Hop] = []
        self.slots: dict[SlotKey, Slot | None] = {}
        self.notes: list[JoinNote] = []


def decide(slots: Slots, task: Task, hops: Sequence[Hop]) -> Outcome:
    """What becomes ready.

    Args:
        slots: What joins have got so far; left as it is.
        task: The task that finished.
        hops: Where it goes, in edge order, routers and filters asked already.
    """
    outcome = Outcome()
    shared = len(hops) > 1
    for hop in hops:
        target = hop.target
        if target.is_end:
            outcome.ended.append(hop)
        elif target.joins is None:
            outcome.ready.append(
                Task(target, (hop.record,), (task,), hop.edge.index, hop.edge.group, hop.place, shared)
            )
        else:
            _arrive(slots, outcome, task, hop, target.joins[hop.edge.group])
    return outcome


def _arrive(slots: Slots, outcome: Outcome, task: Task, hop: Hop, join: JoinPlan) -> None:
    key = (hop.target.index, join.group)
    slot = outcome.slots[key] if key in outcome.slots else slots.get(key)
    slot = _put(slot or Slot(), join.bits[task.node.index], task, hop)
    fired = slot.mask == join.full
    outcome.notes.append(JoinNote(hop.target, join, slot.mask, fired=fired))
    outcome.slots[key] = None if fired else slot
    if fired:
        outcome.ready.append(_fire(slot, join, hop.target))


def _put(slot: Slot, bit: int, task: Task, hop: Hop) -> Slot:
    last = Arrival(bit, task, hop, slot.last)
    if hop.place is None:
        return Slot(slot.mask | 1 << bit, last, slot.counts)
    batch = hop.place[0]
    count = dict(slot.counts or {})
    count[bit, batch] = count.get((bit, batch), 0) + 1
    complete = count[bit, batch] >= batch.size
    return Slot(slot.mask | (1 << bit if complete else 0), last, count)


def _fire(slot: Slot, join: JoinPlan, node: NodePlan) -> Task:
    arrivals = _chosen(slot)
    place = next((each.hop.place for each in arrivals if each.hop.place is not None), None)
    return Task(
        node,
        tuple(each.hop.record for each in arrivals),
        tuple(each.task for each in arrivals),
        arrivals[0].hop.edge.index,
        join.group,
        None if place is None else place[0].outer,
        True,
    )


def _chosen(slot: Slot) -> list[Arrival]:
    """The newest input of each predecessor, or its newest complete batch in order; predecessors in edge order."""
    chosen: dict[int, dict[int, Arrival]] = {}
    batches: dict[int, Batch | None] = {}
    arrival = slot.last
    while arrival is not None:
        bit, place = arrival.bit, arrival.hop.place
        if bit not in batches:
            complete = place is None or (slot.counts or {}).get((bit, place[0]), 0) >= place[0].size
            if complete:
                batches[bit] = place[0] if place else None
                chosen[bit] = {place[1] if place else 0: arrival}
        elif place is not None and place[0] is batches[bit]:
            chosen[bit].setdefault(place[1], arrival)
        arrival = arrival.before
    return [of_bit[position] for _, of_bit in sorted(chosen.items()) for position in sorted(of_bit)]


def in_edge_order(ended: Sequence[tuple[Task, Hop]]) -> list[tuple[Task, Hop]]:
    """What reached the end, sorted by its last edge, then by the edges that its task came by; whatever was quicker.

    Ways share their beginnings, so each task is looked at once, however many ways lead through it.
    """
    if len(ended) < 2:
        return list(ended)
    ways = _Ways()
    places = [ways.of(task) for task, _ in ended]
    ranks = ways.ranks()
    order = sorted(range(len(ended)), key=lambda at: (ended[at][1].edge.index, ranks[places[at]]))
    return [ended[at] for at in order]


class _Ways:
    """The ways to some tasks as a tree of steps; tasks that came by the same edges share a place in it."""

    def __init__(self) -> None:
        self._places: dict[Task, int] = {}
        self._next: list[dict[tuple[int, int], int]] = [{}]

    def of(self, task: Task) -> int:
        """The place of a task."""
        back = [task]
        while back[-1] not in self._places and back[-1].parents:
            back.append(back[-1].parents[0])
        place = self._places.get(back[-1])
        for each in reversed(back if place is None else back[:-1]):
            place = self._places[each] = self._step(place or 0, each)
        assert place is not None
        return place

    def _step(self, place: int, task: Task) -> int:
        following = self._next[place]
        step = (task.edge, -1 if task.place is None else task.place[1])
        if step not in following:
            following[step] = len(self._next)
            self._next.append({})
        return following[step]

    def ranks(self) -> list[int]:
        """For each place its rank: a way before those that go on from it, then by edges."""
        ranks = [0] * len(self._next)
        stack = [0]
        rank = 0
        while stack:
            place = stack.pop()
            ranks[place] = rank
            rank += 1
            stack.extend(after for _, after in sorted(self._next[place].items(), reverse=True))
        return ranks
