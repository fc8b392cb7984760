"""Breakpoints as data, and the list of those of a session. Whether one holds is worked out in `holding`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from evonb.errors import GraphError
from evonb.graph.debugging.expressions import Condition, compile_condition
from evonb.graph.debugging.points import SessionError
from evonb.graph.near import near_names

__all__ = ["Breakpoint", "Breakpoints", "When"]

When = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """Where a session is to stop.

    Attributes:
        id: "1", "2", ...; unique in the session.
        node: The node, with the names of the sub-graphs around it ("sub › inner"); None for those without a node.
        when: Before the node, or after it: before whatever follows from it.
        edge: The id of an edge in the picture: holds what comes along it.
        condition: On the state (and `delta` of a node that it stands after).
        predicate: On the state after any step: holds what follows from the step that makes it true.
        hit: Holds on the n-th time only.
        on_exception: A failing node pauses the session instead of raising; the other branches run on.
        tool: A tool's name: holds its calls before they run.
        log: Prints this into the session's log instead of holding.
        enabled: Whether it is on.
        hits: How often its place was come to with its condition true.
        problem: Why it can't be judged: its condition failed, or couldn't be kept in the store.
    """

    id: str
    node: str | None = None
    when: When = "before"
    edge: str | None = None
    condition: Condition | None = None
    predicate: Condition | None = None
    hit: int | None = None
    on_exception: bool = False
    tool: str | None = None
    log: Condition | None = None
    enabled: bool = True
    hits: int = field(default=0, compare=False)
    problem: str = ""

    def __str__(self) -> str:
        """In words, as in a list of breakpoints."""
        place = f"{self.when} {self.node}" if self.node else f"on {self.edge}" if self.edge else ""
        if self.tool:
            place = f"before tool {self.tool}"
        if self.on_exception:
            place = "on an exception" + (f" in {self.node}" if self.node else "")
        parts = [place or "anywhere"]
        for word, condition in (("if", self.condition), ("when", self.predicate), ("log", self.log)):
            if condition is not None:
                parts.append(f"{word} {condition.text or 'a function says so'}")
        parts += [f"at hit {self.hit}"] if self.hit else []
        return " ".join(parts) + ("" if self.enabled else " (off)")


class Breakpoints:
    """The breakpoints of a session, in the order in which they were set; they outlive runs."""

    def __init__(self) -> None:
        self._by_id: dict[str, Breakpoint] = {}
        self._last = 0
        self.changes = 0

    def __iter__(self) -> Any:
        return iter(tuple(self._by_id.values()))

    def active(self) -> list[Breakpoint]:
        """Those that are on."""
        return [each for each in self._by_id.values() if each.enabled]

    def add(self, **fields: Any) -> Breakpoint:
        """Add one; it gets the next id."""
        self._last += 1
        made = Breakpoint(str(self._last), **fields)
        self._put(made)
        return made

    def get(self, breakpoint_id: str | Breakpoint) -> Breakpoint:
        """The one with this id, or as it is now.

        Raises:
            SessionError: There is none.
        """
        breakpoint_id = getattr(breakpoint_id, "id", breakpoint_id)
        found = self._by_id.get(str(breakpoint_id))
        if found is None:
            near = near_names(breakpoint_id, self._by_id)
            known = ", ".join(self._by_id) or "none"
            raise SessionError(
                f"There is no breakpoint {breakpoint_id!r}", fix=f"did you mean {near[0]}?" if near else f"set: {known}"
            )
        return found

    def change(self, breakpoint_id: str | Breakpoint, **fields: Any) -> Breakpoint:
        """Exchange fields of one."""
        made = replace(self.get(breakpoint_id), **fields)
        self._put(made)
        return made

    def hit(self, each: Breakpoint) -> Breakpoint:
        """Count a hit."""
        made = replace(each, hits=each.hits + 1)
        self._by_id[each.id] = made
        return made

    def remove(self, breakpoint_id: str | Breakpoint) -> None:
        """Take one away."""
        del self._by_id[self.get(breakpoint_id).id]
        self.changes += 1

    def of_node(self, node: str) -> list[Breakpoint]:
        """The plain ones before a node: what `set_breakpoint` makes and `clear_breakpoint` clears."""
        return [each for each in self._by_id.values() if each.node == node and each.when == "before" and not each.log]

    def clear(self) -> None:
        """Take all away."""
        self._by_id.clear()
        self.changes += 1

    def zero(self) -> None:
        """A new session begins: count from nought."""
        self._by_id = {each.id: replace(each, hits=0) for each in self._by_id.values()}

    def _put(self, made: Breakpoint) -> None:
        self._by_id[made.id] = made
        self.changes += 1

    # --- kept with a session ---------------------------------------------------------------------

    def as_data(self) -> list[dict[str, Any]]:
        """All as plain JSON. Functions can't be kept; that one was there is."""
        return [_as_data(each) for each in self._by_id.values()]

    def take_in(self, data: Iterable[Mapping[str, Any]]) -> None:
        """Those of a stored session. Conditions of a file are taken in the small language; what doesn't fit is off."""
        for each in data:
            made = _from_data(each)
            self._by_id[made.id] = made
            self._last = max(self._last, int(made.id))


_TEXTS = ("condition", "predicate", "log")


def _as_data(each: Breakpoint) -> dict[str, Any]:
    data: dict[str, Any] = {
        name: value
        for name in ("id", "node", "when", "edge", "hit", "on_exception", "tool", "enabled", "hits", "problem")
        if (value := getattr(each, name)) not in (None, "", False) or name == "enabled"
    }
    conditions = {name: getattr(each, name) for name in _TEXTS}
    data.update({name: condition.text for name, condition in conditions.items() if condition is not None})
    return data


def _from_data(data: Mapping[str, Any]) -> Breakpoint:
    fields = dict(data)
    problems = []
    for name in _TEXTS:
        text = fields.pop(name, None)
        if text is None:
            continue
        try:
            if not text:
                raise GraphError("a function can't be kept")
            fields[name] = compile_condition(text)
        except GraphError as error:
            problems.append(f"its {name} {text or ''} has to be given again: {error.what}")
            fields[name] = Condition(text, _unknown, restricted=True)
    if problems:
        fields.update(enabled=False, problem="; ".join(problems))
    return Breakpoint(**fields)


def _unknown(_state: Any, _delta: Any) -> bool:
    return True
