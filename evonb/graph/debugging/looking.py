"""The debugger's commands that look: at what waits, at the past, at branches, at reasons. None of them runs a node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph.debugging.asked import only_asks, questions_of
from evonb.graph.debugging.compare import Comparison, compare_lines
from evonb.graph.debugging.effects import Effect, ledger
from evonb.graph.debugging.face import Face
from evonb.graph.debugging.holding import LogLine
from evonb.graph.debugging.line import Inner, Moment, Place
from evonb.graph.debugging.points import SessionError
from evonb.graph.debugging.reverse import Write, before, first_true, last_write, writes
from evonb.graph.debugging.steps import Branch, Step
from evonb.graph.debugging.views import WaitingTask, allowed, step_at, step_of, waiting_tasks
from evonb.graph.debugging.ways import line_to, places_back, step_after, step_before
from evonb.graph.debugging.why import Why, why
from evonb.graph.debugging.why_inside import why_inside
from evonb.graph.events import Detach
from evonb.graph.near import wrong_kind
from evonb.graph.topology import PATH_SEPARATOR

if TYPE_CHECKING:
    from evonb.graph.asking import Question
    from evonb.graph.debugging.inner import Standing

__all__ = ["Looking"]


class Looking(Face):
    """Look at the session, now and then."""

    @property
    def status(self) -> str:
        """The session's state: "idle", "running", "pausing", "paused", "failed" or "finished"."""
        return self._session.status

    @property
    def run_id(self) -> str | None:
        """The id of the session's run, None before it has begun."""
        return self._session.run.bus.run_id if self._session.begun else None

    def allowed(self) -> dict[str, str]:
        """By command, "" or why it isn't allowed now, as in "Pause: nothing runs"."""
        return allowed(self._session)

    def questions(self) -> list[Question]:
        """What its nodes ask a person and wait for, oldest first; `question.answer(value)` answers one."""
        return questions_of(self._session)

    @property
    def only_asks(self) -> bool:
        """Whether it runs and waits for nothing but answers to `questions()`; other tasks can be stepped meanwhile."""
        return only_asks(self._session)

    def waiting(self) -> list[WaitingTask]:
        """What waits at the moment that is shown, oldest first; then what waits inside of running nodes."""
        return waiting_tasks(self._session)

    def find(self, node_name: str) -> str:
        """The id of the first waiting task of a node, for commands; a join waits from its first input on.

        Raises:
            UnknownTask: None waits. A `LookupError`.
        """
        if self._session.begun and (PATH_SEPARATOR in str(node_name) or self._session.inside.parked):
            inside = next((each.uuid for each in self.waiting() if each.node_name == node_name), None)
            if inside is not None and node_name not in self.nodes:
                return inside
        return self._trace_tree.get_leaf_node_uuid_by_node_name(node_name)

    def log_lines(self) -> list[LogLine]:
        """What log points printed, oldest first."""
        return list(self._session.holding.log)

    def watch(self, callback: Callable[[], None]) -> Detach:
        """Have a function called whenever the session is to be looked at anew, as after every command.

        Returns:
            A function that ends it.
        """
        _must_call(callback, "watch", "A watcher is called without arguments")
        watchers = self._session.watchers
        watchers.append(callback)
        return lambda: watchers.remove(callback) if callback in watchers else None

    # --- the past --------------------------------------------------------------------------------------

    def history(self, branch: int | str | None = None, *, inside: bool = False) -> list[Step]:
        """The steps of a line, oldest first, those before its fork included.

        Args:
            branch: The branch's id or name, up to its newest step; None for the line that is shown, which is the
                session's own up to the present as long as one looks at a step of it.
            inside: Whether the steps inside of sub-graphs are wanted too, each where it was made. They come before
                the step of the sub-graph's node, whose id is their `owner`; one that is "entered" begins each run.

        Raises:
            SessionError: No session has begun, or there is no such branch.
        """
        line = self._session.past
        tip = line.towards() if branch is None else line.tip(self._branch(branch))
        session = self._session  # once: reaching it takes longer than a step that is known
        if not (inside and line.inners):
            return [each.step or step_of(session, each) for each in line_to(tip[0])]
        places = [each for each in places_back(tip) if each[0].before is not None or each[1] is not None]
        return [step_at(session, each) for each in reversed(places)]

    @property
    def looking_at(self) -> int | None:
        """The number of the earlier step that is shown, None while the present is; see `looking_inside` too."""
        if not self._session.begun:
            return None
        cursor = self._session.line.cursor
        return None if cursor is None else cursor.number

    @property
    def looking_inside(self) -> int | None:
        """While an earlier step inside of a sub-graph is shown, its number there (`Step.inner`), else None."""
        inner = self._session.line.inner_cursor if self._session.begun else None
        return None if inner is None else inner.number

    def state(self, step: int | Step | None = None, *, uuid: str | None = None) -> Any:
        """A copy of the state, equal to the recorded one.

        Args:
            step: After this step; None for the moment that is shown. At the end it is the whole result; inside of a
                sub-graph it is the state there.
            uuid: Instead, the state that this waiting task will start from.

        Raises:
            SessionError: There is no such step, or the task still misses inputs.
        """
        session = self._session
        schema = session.plan.schema
        if uuid is not None:
            inside = session.nested.find(uuid)
            waiting = self._must_wait(uuid) if inside is None else inside.waiting
            if not waiting.can_run:
                raise SessionError(f"{waiting.node.name!r} still misses inputs", fix="see waiting()")
            if inside is not None and waiting.task is not None:
                schema = inside.standing.plan.schema
                record = session.nested.joined(inside.standing.plan, inside.path, waiting.task)
            else:
                record = waiting.hop.record if waiting.hop is not None else session.joined(waiting.task)  # type: ignore[arg-type]
        else:
            moment, inner = session.line.place if step is None else self._place(step)
            if inner is not None:
                return self._state_inside(inner)
            record = session.record_at(moment)
        return schema.hand_out(records.values_of(schema, record), {})

    def _state_inside(self, inner: Inner) -> Any:
        standing = self._standing(inner)
        schema = standing.plan.schema
        return schema.hand_out(records.values_of(schema, standing.moment.record), {})

    def _standing(self, inner: Inner) -> Standing:
        standing = self._session.nested.standing(inner)
        if standing is None:
            raise SessionError(
                f"The sub-graph {PATH_SEPARATOR.join(inner.path)!r} has another shape since",
                fix="its steps can be listed, not their states: history(inside=True)",
            )
        return standing

    def state_before(self, step: int | Step) -> Any:
        """A copy of the state that a step started from; of step 0, and of keys that nobody had written, blanks.

        Args:
            step: The step, or its number; one inside of a sub-graph started from the state there.

        Raises:
            SessionError: There is no such step.
        """
        moment, inner = self._place(step)
        schema = self._session.plan.schema
        if inner is not None:
            standing = self._standing(inner)
            schema, record = standing.plan.schema, self._session.nested.before(inner)
        else:
            record = before(schema, moment) if moment.ran is not None else None
        return schema.hand_out(schema.defaults() if record is None else records.values_of(schema, record), {})

    def step_back(self, n: int = 1) -> Step:
        """Show an earlier moment of the line that is shown; runs nothing. Going on from it makes a branch.

        Inside of a sub-graph a step is one there, and before its first one it waits to be begun. From the present of
        the line on, a sub-graph that has finished is one step: `goto` a step of `history(inside=True)` goes into it.

        Raises:
            SessionError: There aren't so many steps before it.
        """
        place = self._session.past.place
        for _ in range(_count(n, "step_back")):
            before = step_before(place)
            if before is None:
                raise SessionError("Step back: this is the start", fix="step_forward() or live()")
            place = before
        return self._show(*place)

    def step_forward(self, n: int = 1) -> Step:
        """Show a later moment of the line that is shown; runs nothing.

        Raises:
            SessionError: There aren't so many steps after it.
        """
        line = self._session.past
        place, towards = line.place, line.towards()
        for _ in range(_count(n, "step_forward")):
            after = step_after(place, towards)
            if after is None:
                raise SessionError("Step forward: the newest step is shown", fix="go on with step_over() or resume()")
            place = after
        return self._show(*place)

    def goto(self, step: int | Step, *, inside: int | None = None) -> Step:
        """Show a moment of any branch by its step's number, 0 for the start; runs nothing.

        Args:
            step: The step, or its number.
            inside: Instead of a step of the line one inside of a sub-graph, by its number there (`Step.inner`).

        Raises:
            SessionError: There is no such step.
        """
        return self._show(*self._place(step, inside))

    def live(self) -> Step:
        """Show the present again."""
        line = self._session.past
        return self._show(line.present, line.inner)

    def _show(self, moment: Moment, inner: Inner | None = None) -> Step:
        self._session.past.show(moment, inner)
        self._session.changed()
        return step_at(self._session, (moment, inner))

    def _place(self, step: int | Step, inside: int | None = None) -> Place:
        number, inside = (step.number, step.inner or None) if isinstance(step, Step) else (step, inside)
        moment = self._moment(number)
        if inside is None:
            return moment, None
        inner = self._session.past.inners.get(inside)
        if inner is None or inner.outer is not moment:
            raise SessionError(
                f"There is no step {inside} inside of a sub-graph after step {number}",
                fix="take one of history(inside=True)",
            )
        return moment, inner

    def _moment(self, number: int) -> Moment:
        line = self._session.past
        if number not in line.moments:
            raise SessionError(f"There is no step {number!r}", fix=f"steps go from 0, the start, to {line.last_number}")
        return line.moments[number]

    # --- branches --------------------------------------------------------------------------------------

    def branches(self) -> list[Branch]:
        """All lines of the session's history, oldest first."""
        return self._session.past.branches()

    def name_branch(self, branch: int | str, name: str) -> None:
        """Give a branch a name.

        Raises:
            SessionError: There is no such branch, or the name is taken or empty.
        """
        line = self._session.past
        number = self._branch(branch)
        if not name.strip() or any(line.name(each) == name for each in line.tips if each != number):
            raise SessionError(f"A branch can't be called {name!r}", fix="give a name that no other branch has")
        line.names[number] = name
        if self._session.keeper is not None:
            self._session.keeper.put({"names": {str(each): text for each, text in line.names.items()}})
        self._session.changed()

    def compare(self, a: int | str, b: int | str) -> Comparison:
        """Two branches side by side, from their fork on: steps aligned, state and route differences.

        Args:
            a, b: Ids or names.

        Returns:
            A comparison that is false when nothing differs.

        Raises:
            SessionError: There is no such branch.
        """
        session = self._session
        return compare_lines(session, self._tip(a), self._tip(b), lambda moment: step_of(session, moment))

    def _tip(self, branch: int | str) -> Moment:
        return self._session.past.tips[self._branch(branch)]

    def _branch(self, branch: int | str) -> int:
        line = self._session.past
        for each in line.tips:
            if branch in (each, line.name(each)):
                return each
        names = ", ".join(repr(line.name(each)) for each in line.tips)
        raise SessionError(f"There is no branch {branch!r}", fix=f"there are {names}")

    # --- reasons ---------------------------------------------------------------------------------------

    def who_wrote(self, key: str) -> list[Write]:
        """Every write of a state key on the way to the moment that is shown, oldest first.

        Raises:
            SessionError: The state has no such key.
        """
        return writes(self._session, key)

    def back_to(self, key: str) -> Step:
        """Show the step that wrote a key last; once more, the one before. Runs nothing.

        Raises:
            SessionError: Nothing has written it before.
        """
        return self._show(last_write(self._session, key))

    def back_until(self, predicate: Callable[[Any], Any]) -> Step:
        """Show the first moment of this line whose state fulfils a predicate, `(state) -> bool`. Runs nothing.

        A key of the state that isn't there yet counts as not fulfilled.

        Raises:
            SessionError: There is none.
        """
        _must_call(predicate, "back_until", "A predicate is a function of the state")
        return self._show(first_true(self._session, predicate))

    def why(self, node: str) -> Why:
        """Why a node waits, is held, wasn't chosen, ran twice or hasn't run, at the moment that is shown.

        Args:
            node: Its name; of one inside of a sub-graph its id in the picture ("sub › inner").

        Raises:
            GraphError: There is no such node.
            SessionError: No session has begun.
        """
        name = self._node(node)
        plan = self._session.plan
        return why(self._session, plan.by_name[name]) if name in plan.by_name else why_inside(self._session, name)

    def effects(self) -> list[Effect]:
        """The ledger: what touched the world, what was replayed from the record, what would act again."""
        self._session.past  # noqa: B018 - all of it
        return ledger(self._session)


def _count(n: int, command: str) -> int:
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise wrong_kind(SessionError, "n is a number of steps", n, where=command, fix=f"{command}(2)")
    return n


def _must_call(function: Any, command: str, expected: str) -> None:
    if not callable(function):
        raise wrong_kind(SessionError, expected, function, where=command, fix=f"pass a function to {command}")
