"""A stored session read back: the end of its line for going on, all of it for looking back. No node runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph.debugging.beginning import is_plain, start_of, undecided
from evonb.graph.debugging.edits import edited_output, edited_state
from evonb.graph.debugging.kept_state import KeptState, unreadable
from evonb.graph.debugging.line import Inner, Line, Moment
from evonb.graph.debugging.missing import stand_ins_made
from evonb.graph.debugging.points import Point, SessionError, Waiting, advanced, record_of, start_waits
from evonb.graph.debugging.rows import change_from, error_from, hops_from, logs, record_from, usage_from
from evonb.graph.debugging.steps import RAN
from evonb.graph.debugging.ways import visits_at
from evonb.graph.decide import Task, decide
from evonb.graph.plan import Plan
from evonb.graph.ports import RunStore, StoredStep
from evonb.graph.record import Record
from evonb.typing import MISSING

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Reader"]


class Reader:
    """Reads one run into a session.

    Attributes:
        kept: Reads the whole states in it.
        position: Where the run was said to stand when it paused last.
        tip: The step that it stands at.
        crashed: Whether steps were made after that pause.
        is_single: Whether there is one line only, and it stands at its end.
    """

    def __init__(self, session: Session, store: RunStore, run_id: str) -> None:
        self._session = session
        self._store = store
        self._run_id = run_id
        self._visits: list[int] = []
        self.kept = KeptState(session.plan, store, run_id)
        self._at: Moment | None = None
        self._after: dict[int, int] = {}
        self.position: Mapping[str, Any] = store.document(run_id, "position") or {}
        noted = int(self.position.get("newest", -1))
        # Only what was made after that pause: a step at a pause may hold a whole state, which takes long to read.
        newest = next(iter(store.steps(run_id, after=noted, newest_first=True)), None)
        self._newest = newest
        self.crashed = newest is not None
        self.tip = int(self.position.get("step", 0)) if newest is None else newest.number
        is_main = int(self.position.get("branches", 1)) == 1 and (newest is None or newest.branch == 0)
        self.is_single = is_main and self.tip == (noted if newest is None else newest.number)
        self.inner_tip = 0 if self.crashed else int(self.position.get("inner", 0))
        self._last_inner = int(self.position.get("inners", 0))
        self._crashed_inside()

    def _crashed_inside(self) -> None:
        """Steps inside of sub-graphs that were made after the last pause, and after the last step of the line."""
        noted = self._last_inner
        self.is_single = self.is_single and (self.crashed or bool(self.position.get("at_end", True)))
        if not has_subgraphs(self._session.plan):
            return
        row = next(iter(self._store.steps(self._run_id, after=noted, newest_first=True, inner=True)), None)
        known = 0 if self._newest is None else int((self._newest.notes or {}).get("inners", 0))
        self._last_inner = noted if row is None else row.number
        if row is None or row.number <= known:
            return
        outer = int((row.notes or {})["outer"])
        # It may hang on a step that somebody had gone back to, and not on the newest.
        newest = self.tip if self._newest is not None else int(self.position.get("newest", 0))
        self.is_single = self.is_single and row.branch == 0 and outer == newest
        self.crashed, self.tip, self.inner_tip = True, outer, row.number

    @property
    def last_number(self) -> int:
        """The last waiting number that was given."""
        given = 0 if self._newest is None else int((self._newest.notes or {})["numbers"][1])
        return max(given, int(self.position.get("numbers", 0)))

    # --- all of it -----------------------------------------------------------------------------------

    def whole(self) -> None:
        """Read every moment."""
        session = self._session
        known: dict[int, Moment] = {}
        line: Line | None = None
        for row in self._store.steps(self._run_id, after=-1):
            moment = self._first(row) if row.number == 0 else self._next(row, known)
            known[row.number] = moment
            if line is None:
                line = Line(moment)
            else:
                line.put(moment)
        if line is None:
            line = Line(self._from_inputs())
            if session.keeper is not None and not start_waits(line.present.point):
                session.keeper.note(line.present)  # it was never written, and what follows goes on from it
        tip, inner = self._tip_now()
        self._read_inside(line, 0)
        present = known.get(tip, line.present)
        line.present, line.inner = present, line.inners.get(inner)
        self._stand(line, visits_at(present, len(session.plan.nodes)))

    def _tip_now(self) -> tuple[int, int]:
        """Where it stands: what was read first may have been gone on from since."""
        line = self._session._line
        if line is None:
            return self.tip, self.inner_tip
        return line.present.number, 0 if line.inner is None else line.inner.number

    def _stand(self, line: Line, visits: list[int]) -> None:
        session = self._session
        if session._line is not None:
            line.names = session._line.names
        line.last_inner = max(line.last_inner, self._last_inner)
        session.set_line(line)
        session.numbers.last = max(self.last_number, session.numbers.last)
        run = session.run
        run.visits = visits
        for moment in line.moments.values():
            session.learn(moment)

    # --- the end of it ---------------------------------------------------------------------------------

    def tail(self) -> None:
        """Read back to the last whole state, if there is one line only; else all."""
        if not self.is_single:
            self._session.load_whole = None
            self.whole()
            return
        rows: list[StoredStep] = []
        number: int | None = self.tip
        while number is not None:
            row = self._store.step(self._run_id, number)
            if row is None and not number:
                self._session.load_whole = None
                self.whole()  # where it stands was written, but it hasn't begun
                return
            if row is None:
                raise self._broken(f"step {number} is missing")
            rows.append(row)
            notes = row.notes or {}
            number = None if "base" in notes else notes.get("before")
        moment = self._base(rows[-1]) if rows[-1].number else self._first(rows[-1])
        line = Line(moment)
        if self._session.keeper is not None:
            self._session.keeper.bases.go_on(rows[::-1], self.kept.logs)
        self._session.unread = [kept.log for kept in self.kept.logs.values()]
        if moment.number == 0:
            self._session.load_whole = None  # that was all of it
        for row in reversed(rows[:-1]):
            moment = self._next(row, line.moments)
            line.put(moment)
            line.present = moment
        self._read_inside(line, 0 if self._session.load_whole is None else self._first_open(line))
        line.inner = line.inners.get(self.inner_tip)
        self._stand(line, self._visits)

    def _first_open(self, line: Line) -> int | None:
        """The moment since which a sub-graph waits at the present; None if none does."""
        waiting = {each.number for each in line.present.point.waiting if each.task and each.node.subgraph is not None}
        made = [each.number for each in line.moments.values() if any(one.number in waiting for one in each.made)]
        return min(made, default=0) if waiting else None

    def _read_inside(self, line: Line, first: int | None) -> None:
        """Hang the steps inside of sub-graphs on a line that were made after this moment or a later one.

        Where their runs stand is worked out when somebody asks.
        """
        if first is None or not has_subgraphs(self._session.plan):
            return
        rows: list[StoredStep] = []
        for row in self._store.steps(self._run_id, after=0, newest_first=True, inner=True):
            if (row.notes or {})["outer"] < first:
                break
            rows.append(row)
        for row in reversed(rows):
            notes = row.notes or {}
            outer, before = line.moments.get(notes["outer"]), line.inners.get(notes["before"] or 0)
            if outer is not None:
                path, origin = tuple(notes["path"]), tuple(notes["origin"])
                inner = Inner(number=row.number, outer=outer, before=before, origin=origin, path=path, row=row)
                inner.branch = row.branch
                line.put_inner(inner)
        for number, after in self._after.items():
            if number in line.moments:
                line.moments[number].after = line.inners.get(after)

    def tail_with_stand_ins(self) -> bool:
        """As `tail`.

        Returns:
            Whether values came up that can't be made again.
        """
        before = stand_ins_made()
        self.tail()
        return stand_ins_made() > before

    def _base(self, row: StoredStep) -> Moment:
        """The moment of a row that holds the whole state."""
        session, plan = self._session, self._session.plan
        schema, notes = plan.schema, row.notes or {}
        base = notes["base"]
        kept = self.kept.of(row)
        values = {**dict.fromkeys(schema.fields, MISSING), **kept}
        record = Record(None, values, cut=kept)
        task = Task(plan.by_name[row.node], (record,), (), -1, "", None, True)
        task.number, task.visit = notes["ran"], row.visit
        follows = Task(plan.by_name[base["node"]], (record,), (task,), base["edge"], base["group"], None, True)
        follows.number, follows.visit = base["waiting"], base["visit"]
        made = Waiting(follows.number, follows.node, task=follows)
        self._visits = [0] * len(plan.nodes)
        for index, count in base["visits"].items():
            self._visits[int(index)] = count
        session.numbers.last = notes["numbers"][1]
        moment = Moment(
            number=row.number, before=None, point=Point((made,), turns=base["turns"]), branch=row.branch,
            status=row.status, ran=Waiting(task.number, task.node, task=task), record=record, made=(made,),
            hops=tuple(hops_from(plan, row, record, task)), at_s=row.at_s, duration_s=row.duration_s,
            wave=notes["wave"],
        )  # fmt: skip
        self._at = moment
        return moment

    # --- one row -----------------------------------------------------------------------------------------

    def _first(self, row: StoredStep) -> Moment:
        """The start."""
        session, plan = self._session, self._session.plan
        record = self._start(row)
        first = start_of(plan, record)
        hops = hops_from(plan, row, record, first)
        outcome = decide({}, first, hops)
        session.numbers.last = 0
        point, made = advanced(Point(), None, first, outcome, session.numbers)
        self._visits = [0] * len(plan.nodes)
        self._count(outcome.ready)
        self._at = Moment(number=0, before=None, point=point, record=record, hops=tuple(hops), made=tuple(made))
        return self._at

    def _start(self, row: StoredStep) -> Record:
        """The record of the inputs, whose strategies and default factories have had their say when the run began."""
        schema, inputs = self._session.plan.schema, self._store.header(self._run_id).inputs
        if row.snapshot is None:
            return records.root(schema, inputs)
        values = {**dict.fromkeys(schema.fields, MISSING), **self.kept.of(row)}
        return Record(None, values, cut=logs(schema, inputs))

    def _from_inputs(self) -> Moment:
        """The start of a run of which nothing but its inputs was written."""
        plan = self._session.plan
        if not is_plain(plan):
            return undecided(plan, records.root(plan.schema, self._store.header(self._run_id).inputs))
        hops = [[edge.index, edge.plain.name, 0, None] for edge in plan.start.outs if edge.plain is not None]
        row = StoredStep(
            number=0, branch=0, node="start", visit=0, parents=(), status="done", at_s=0.0, duration_s=0.0, delta={},
            notes={"hops": hops, "numbers": [0, 0]},
        )  # fmt: skip
        return self._first(row)

    def _next(self, row: StoredStep, known: Mapping[int, Moment]) -> Moment:
        notes = row.notes or {}
        before = known.get(notes["before"])
        if before is None:
            raise self._broken(f"step {notes['before']} is missing")
        if before is not self._at:
            self._visits = visits_at(before, len(self._session.plan.nodes))
        self._session.numbers.last = notes["numbers"][0]
        self._at = self._made(row, before)
        return self._at

    def _made(self, row: StoredStep, before: Moment) -> Moment:
        point, notes = before.point, row.notes or {}
        number = notes.get("ran", 0)
        ran = point.find(number) or Waiting(number, self._session.plan.end)
        if row.status in RAN and ran.task is not None:
            return self._ran(row, before, ran, ran.task)
        record, change = before.record, change_from(row)
        if change is not None:
            point, ran, record = self._edited(point, change.source, number, change.key, change.value)
        elif row.status == "limit":
            point = replace(point, waiting=point.without(number))
        elif row.status == "stopped":
            point = replace(point, waiting=())
        elif row.status == "done" and ran.hop is not None and ran.source is not None:
            record = ran.hop.record
            point = replace(point, waiting=point.without(number), ended=(*point.ended, (ran.source, ran.hop)))
        elif row.status != "failed":
            raise self._broken(f"step {row.number} ran a task that didn't wait")
        return self._moment(row, before, point, ran, record)

    def _ran(self, row: StoredStep, before: Moment, ran: Waiting, task: Task) -> Moment:
        session = self._session
        record = record_from(session.plan.schema, row, task)
        hops = hops_from(session.plan, row, record, task)
        outcome = decide(before.point.slots, task, hops)
        point, made = advanced(before.point, ran, task, outcome, session.numbers)
        self._count(outcome.ready)
        return self._moment(row, before, point, ran, record, hops=tuple(hops), made=tuple(made))

    def _edited(
        self, point: Point, source: int | None, number: int, key: str, value: Any
    ) -> tuple[Point, Waiting, Record]:
        schema, target = self._session.plan.schema, point.find(number)
        if target is None:
            raise self._broken("an edit is of a task that didn't wait")
        if source is None:
            after = edited_state(schema, point, target, key, value)
        else:
            after = edited_output(schema, point, source, target, key, value)
        now = after.find(number) or target
        return after, now, record_of(now, after)

    def _moment(
        self, row: StoredStep, before: Moment, point: Point, ran: Waiting, record: Record, **more: Any
    ) -> Moment:
        notes = row.notes or {}
        if notes.get("after"):
            self._after[row.number] = notes["after"]
        return Moment(
            number=row.number, before=before, point=point, branch=row.branch, status=row.status, ran=ran, record=record,
            at_s=row.at_s, duration_s=row.duration_s, wave=notes.get("wave", 0), error=error_from(row),
            change=change_from(row), tools=tuple(notes.get("tools", ())), usage=usage_from(row), **more,
        )  # fmt: skip

    def _count(self, ready: Iterable[Task]) -> None:
        for each in ready:
            self._visits[each.node.index] += 1
            each.visit = self._visits[each.node.index]

    def _broken(self, why: str) -> SessionError:
        return unreadable(self._run_id, self._session.plan, why)


def has_subgraphs(plan: Plan) -> bool:
    """Whether a node of the graph is a graph."""
    return any(node.subgraph is not None for node in plan.nodes)
