"""Why a node runs, waits, was passed over, or ran twice: said from what happened, with the facts behind it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from evonb.graph import record as records
from evonb.graph.debugging.asked import questions_of
from evonb.graph.debugging.attempts import WORDS
from evonb.graph.debugging.effects import is_effect, verdict
from evonb.graph.debugging.line import Moment
from evonb.graph.debugging.points import Point, Waiting
from evonb.graph.debugging.steps import RAN
from evonb.graph.debugging.ways import line_to
from evonb.graph.decide import Task
from evonb.graph.failure import ordinal
from evonb.graph.near import short
from evonb.graph.plan import EdgePlan, NodePlan
from evonb.graph.topology import node_id
from evonb.graph.waits import parted

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Why", "why"]

Kind = Literal["running", "asks", "failed", "waits", "held", "ready", "ran twice", "ran", "not chosen", "not reached"]


@dataclass(frozen=True, slots=True)
class Why:
    """An explanation.

    Attributes:
        kind: What is to be explained.
        sentence: The explanation.
        facts: What it rests on, by name: who arrived, who is missing, what a router saw and chose.
    """

    kind: Kind
    sentence: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.sentence


def why(session: Session, node: NodePlan) -> Why:
    """The explanation for a node at the moment that is shown."""
    point = session.past.here.point
    waiting = [each for each in point.waiting if each.node is node]
    if stands := _stands_inside(session, node):
        next_ones = " and ".join(stands)
        return Why("waits", f"{node.name} was begun; inside of it {next_ones} comes next.", {"inside": stands})
    if any(each.number in {flying.number for flying in session.flying.values()} for each in waiting):
        return _running(session, node)
    for each in waiting:
        if not each.can_run:
            return _join(session, point, each)
    if waiting:
        return _ready(session, waiting[0])
    ran = [each for each in line_to(session.past.here) if each.status in RAN and each.ran and each.ran.node is node]
    if len(ran) > 1:
        return _twice(session, node, ran)
    if ran:
        return _once(session, ran[0])
    return _never(session, node)


def _stands_inside(session: Session, node: NodePlan) -> tuple[str, ...]:
    """What waits inside of a sub-graph that was begun, while nothing runs."""
    if node.subgraph is None or (session.line.cursor is None and session.busy):
        return ()
    return tuple(each.name for each in session.nested.waiting() if each.path[0] == node.name)


def _running(session: Session, node: NodePlan) -> Why:
    asked = [each for each in questions_of(session) if (*each.path, each.node)[0] == node.name]
    if not asked:
        return Why("running", f"{node.name} runs now.")
    inside = node_id(asked[0].path, asked[0].node or "")
    who = node.name if inside == node.name else f"{node.name} runs now; inside of it {inside}"
    facts = {"questions": [each.text for each in asked]}
    return Why("asks", f"{who} asks a person and waits for the answer: {asked[0].text}", facts)


def _ready(session: Session, waiting: Waiting) -> Why:
    name = waiting.node.name
    here = session.past.here
    if here.status == "failed" and here.ran is not None and here.ran.number == waiting.number and here.error:
        facts = {"error": here.error.what, "step": here.number}
        retry = "Step it again to retry."
        if is_effect(waiting):
            retry = "It may have acted: stepping it again asks first."
        return Why("failed", f"{name} failed: {here.error.what}. {retry}", facts)
    held = session.holding.holder(waiting)
    if held is not None:
        what = "run_to runs up to it" if held == "run_to" else f"breakpoint {held} holds it"
        problem = next((each.problem for each in session.breakpoints if each.id == held), "")
        facts = {"breakpoint": held, **({"problem": problem} if problem else {})}
        return Why("held", f"{name} could run; {what}{', as ' + problem if problem else ''}.", facts)
    facts = {"after": _parents(waiting)}
    found = None if waiting.number in session.performer.allowed else verdict(session, waiting)
    if found is not None and found.attempt is not None:
        words = WORDS[session.attempts.fate(found.attempt)]
        text = f"{name} is ready. It {words} and may have acted: going on asks before it acts again."
        return Why("ready", text, facts)
    if found is None or found.by is None:
        return Why("ready", f"{name} is ready and runs next.", facts)
    asks = "would act again with another state: going on asks first"
    then = asks if found.what == "ask" else "isn't run again: its recorded answer is used"
    facts["acted in"] = found.by.number
    return Why("ready", f"{name} is ready. It acted already, in step {found.by.number}, and {then}.", facts)


def _parents(waiting: Waiting) -> tuple[str, ...]:
    if waiting.task is not None:
        return tuple(parent.node.name for parent in waiting.task.parents)
    return () if waiting.source is None else (waiting.source.node.name,)


# --- joins ----------------------------------------------------------------------------------------


def _join(session: Session, point: Point, waiting: Waiting) -> Why:
    assert waiting.key is not None
    assert waiting.node.joins is not None
    join = waiting.node.joins[waiting.key[1]]
    arrived, missing = parted(join, point.slots[waiting.key].mask)
    coming = {name: _can_come(session, point, name) for name in missing}
    facts = {"group": join.group, "arrived": arrived, "missing": missing, "can still come": coming}
    parts = [_still(session, name, can=can) for name, can in coming.items()]
    got = (
        f"{len(arrived)} of {len(join.sources)} arrived ({', '.join(arrived)})" if arrived else "nothing whole arrived"
    )
    return Why("waits", f"{waiting.node.name} waits: {got}; {'; '.join(parts)}.", facts)


def _still(session: Session, name: str, *, can: bool) -> str:
    if can:
        return f"{name} is missing and can still come"
    ran = [
        each for each in line_to(session.past.here) if each.ran and each.ran.node.name == name and each.status in RAN
    ]
    if not ran:
        return f"{name} is missing and can't come any more, as nothing that waits leads to it"
    went = ", ".join(hop.target.name for hop in ran[-1].hops) or "nowhere"
    return f"{name} is missing and can't come any more: it ran and went to {went}"


def _can_come(session: Session, point: Point, name: str) -> bool:
    """Whether anything that waits and can run leads to this node."""
    plan = session.plan
    todo = [each.node for each in point.waiting if each.can_run and not each.node.is_end]
    seen = set()
    while todo:
        node = todo.pop()
        if node.name in seen:
            continue
        seen.add(node.name)
        todo += [plan.by_name[target] for edge in node.outs for target in edge.targets]
    return name in seen


# --- what ran ---------------------------------------------------------------------------------------


def _once(session: Session, moment: Moment) -> Why:
    assert moment.ran is not None
    after = _parents(moment.ran)
    led = f"after {', '.join(after)}" if after != ("start",) else "as the entry"
    return Why("ran", f"{moment.ran.node.name} ran once, in step {moment.number}, {led}.", {"steps": (moment.number,)})


def _twice(session: Session, node: NodePlan, ran: list[Moment]) -> Why:
    visits = [(each.number, _parents(each.ran)) for each in ran if each.ran is not None]
    ways = ", ".join(f"{ordinal(at)} after {' and '.join(names)}" for at, (_, names) in enumerate(visits[:5], 1))
    more = ", ..." if len(visits) > 5 else ""
    reason = ""
    apart = any(not _comes_from(each.ran.task, ran[0].ran.task) for each in ran[1:] if each.ran and ran[0].ran)
    if node.joins is None and apart and len({names for _, names in visits}) > 1:
        reason = ' Its mode is "any": it runs once for each that arrives; "all" would wait for all of them.'
    elif _in_loop(session, node):
        reason = " It is part of a loop."
    facts = {"steps": tuple(number for number, _ in visits), "after": tuple(names for _, names in visits)}
    facts["mode"] = ("any",) if node.joins is None else ("all",)
    return Why("ran twice", f"{node.name} ran {len(visits)} times: {ways}{more}.{reason}", facts)


def _comes_from(task: Task | None, former: Task | None) -> bool:
    """Whether one execution led to another, as in a loop."""
    todo, seen = [task], set()
    while todo:
        each = todo.pop()
        if each is None or id(each) in seen:
            continue
        if each is former:
            return True
        seen.add(id(each))
        todo += each.parents
    return False


def _in_loop(session: Session, node: NodePlan) -> bool:
    todo, seen = [target for edge in node.outs for target in edge.targets.values()], set()
    while todo:
        each = todo.pop()
        if each is node:
            return True
        if each.name not in seen:
            seen.add(each.name)
            todo += [target for edge in each.outs for target in edge.targets.values()]
    return False


# --- what never ran -----------------------------------------------------------------------------------


def _never(session: Session, node: NodePlan) -> Why:
    moments = [each for each in line_to(session.past.here) if each.status in RAN]
    for moment in reversed(moments):
        for edge in moment.ran.node.outs if moment.ran is not None else ():
            if edge.plain is None and node.name in edge.targets and not any(hop.target is node for hop in moment.hops):
                return _not_chosen(session, node, moment, edge)
    before = tuple(edge.source for edge in session.plan.edges if node.name in edge.targets)
    can = _can_come(session, session.past.here.point, node.name)
    hope = "it can still come" if can else "nothing that waits leads to it any more"
    ran = {each.ran.node.name for each in moments if each.ran is not None}
    idle = [name for name in before if name not in ran]
    told = f"{' and '.join(idle)} never ran" if idle else "no edge leads to it" if not before else "nothing went to it"
    return Why("not reached", f"{node.name} hasn't run: {told}; {hope}.", {"before": before, "can still come": can})


def _not_chosen(session: Session, node: NodePlan, moment: Moment, edge: EdgePlan) -> Why:
    chosen = tuple(hop.target.name for hop in moment.hops if hop.edge is edge)
    values = _seen_values(session, moment, edge)
    name = getattr(getattr(edge.spec, "router", None), "__name__", "its router")
    shown = ", ".join(f"{key} = {short(value)}" for key, value in values.items())
    facts = {"router": name, "of": edge.source, "chosen": chosen, "declared": tuple(edge.targets), "values": values}
    facts["step"] = moment.number
    went = " and ".join(chosen) or "none of its targets"
    sentence = f"{node.name} wasn't chosen: {edge.source} chose {went}" + (f", seeing {shown}" if shown else "") + "."
    return Why("not chosen", sentence, facts)


def _seen_values(session: Session, moment: Moment, edge: EdgePlan) -> dict[str, Any]:
    """The state keys that a router's text names, with their values; what the step wrote where its text is unknown."""
    schema = session.plan.schema
    state = schema.hand_out(records.values_of(schema, moment.record), {})
    fields: Mapping[str, Any] = state if isinstance(state, dict) else state.__dict__
    named = _names_in(getattr(edge.spec, "router", None))
    keys = [key for key in fields if key in named] or [key for key in fields if key in moment.wrote]
    return {key: fields[key] for key in keys}


def _names_in(router: Any) -> set[str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(router)))
    except (OSError, TypeError, SyntaxError):  # no text, or a lambda in the middle of a call
        code = getattr(router, "__code__", None)
        return set() if code is None else {*code.co_names, *(each for each in code.co_consts if isinstance(each, str))}
    texts = {each.value for each in ast.walk(tree) if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    return texts | {each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)}
