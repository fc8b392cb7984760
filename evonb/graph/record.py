"""Where a state came from: records that share their past, and the replay that joins branches.

A record stands for the state after one task. It holds what that task changed and points to the record before; its
`values` are there while somebody needs them and can be made again by replay. A join doesn't merge states: it takes
the last record that all branches share and replays, once each and in edge order, what the branches did since.

A filter or a merge strategy answers with a whole state. The keys that it changed are `cut`: for them the past of
that branch ends there, and a later join merges the answer itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from evonb.graph.schema import CompiledSchema, Values
from evonb.typing import MISSING

__all__ = [
    "Edit",
    "Record",
    "after",
    "changes_since",
    "cut",
    "joined",
    "lineage",
    "merged",
    "replaced",
    "root",
    "values_of",
]


class Record:
    """One point of a state's history. Only `values` is ever changed: dropped, or made again.

    Attributes:
        parent: The record before; for a join the last one that all its branches share; None for a root.
        delta: What was changed, cleaned: merged into the values before.
        values: The whole state, None when nobody needs it.
        depth: How many parents there are.
        parents: For a join, the branches in edge order.
        cut: Keys that a filter, a merge strategy or an input set anew; MISSING for a key that was dropped.
    """

    __slots__ = ("cut", "delta", "depth", "parent", "parents", "values")

    def __init__(
        self,
        parent: Record | None,
        values: Values | None,
        delta: Values | None = None,
        parents: tuple[Record, ...] | None = None,
        cut: Values | None = None,
    ) -> None:
        self.parent = parent
        self.values = values
        self.delta = delta
        self.parents = parents
        self.cut = cut
        self.depth: int = 0 if parent is None else parent.depth + 1


def root(schema: CompiledSchema, inputs: Any, *, borrow: bool = False) -> Record:
    """A record without a past: what was given, and defaults for the rest; `borrow` as in `CompiledSchema.start`.

    Raises:
        StateError: An input doesn't fit, or isn't declared and the schema is strict.
    """
    values, given = schema.start(inputs, borrow=borrow)
    return Record(None, values, cut=given)


def after(record: Record, cleaned: Values, updates: Values, *, keep: bool) -> Record:
    """The record after a delta.

    Args:
        record: The one before; its values must be there.
        cleaned, updates: From `CompiledSchema.absorb`.
        keep: Whether somebody still needs the values of `record`; if not, they move on and are changed in place.
    """
    values = record.values
    assert values is not None
    if keep:
        values = values.copy()
    else:
        record.values = None
    values.update(updates)
    if len(updates) != len(cleaned):
        cleaned = {key: value for key, value in cleaned.items() if key in updates}
    return Record(record, values, cleaned)


class Edit(Record):
    """A record whose `cut` a person set: it stands for what led there, so a join doesn't count that once more."""

    __slots__ = ()


def cut(schema: CompiledSchema, record: Record, answer: Any, who: str, kind: type[Record] = Record) -> Record:
    """The record after a filter answered with a whole state.

    Raises:
        StateError: The answer is no state, or a value doesn't fit.
    """
    before = values_of(schema, record)
    given = _named(schema, answer, "filtered state", who)
    changed: Values = {}
    for name, value in given.items():
        old = before.get(name, MISSING)
        whole = schema.replacement(name, value)
        if not (_same(whole, old) or (old is MISSING and whole == schema.blank(name))):
            changed[name] = whole
    changed.update({name: MISSING for name, value in before.items() if name not in given and value is not MISSING})
    return kind(record, _with_cut(schema, before, changed), cut=changed)


def _with_cut(schema: CompiledSchema, before: Values, changed: Values) -> Values:
    values = {**before, **changed}
    if any(value is MISSING for value in changed.values()):
        defaults = schema.defaults()
        values.update({key: defaults.get(key, MISSING) for key, value in changed.items() if value is MISSING})
    return values


def replaced(schema: CompiledSchema, answer: Any, who: str) -> Record:
    """A record without a past, holding the whole state that a merge strategy answered with."""
    named = _named(schema, answer, "merged state", who)
    given = {name: schema.replacement(name, value) for name, value in named.items()}
    return Record(None, schema.checked({**schema.defaults(), **given}), cut=given)


def _named(schema: CompiledSchema, answer: Any, role: str, who: str) -> Values:
    """A whole state that user code answered with, by key name; unknown keys are told and left out."""
    names = ((schema.name_of(key, who), value) for key, value in schema.changes(answer, role).items())
    return {name: value for name, value in names if name is not None}


def _same(new: Any, old: Any) -> bool:
    return new is old or (new.__class__ is old.__class__ and isinstance(new, int | str | float | bool) and new == old)


def joined(schema: CompiledSchema, branches: Sequence[Record]) -> Record:
    """One record of several branches: their changes since they parted, replayed once each, in this order."""
    tips = tuple(dict.fromkeys(branches))
    if len(tips) == 1:
        return tips[0]
    base = _shared(tips)
    steps = _steps(tips, base)
    values = schema.defaults() if base is None else dict(values_of(schema, base))
    for step in steps:
        if step.delta:
            schema.replay(values, step.delta)
    for key in dict.fromkeys(key for step in steps if step.cut for key in step.cut):
        cuts = [step for step in steps if step.cut and key in step.cut]
        if all(isinstance(step, Edit) for step in cuts):
            values[key] = _edited_key(schema, steps, cuts, base, key)
        else:
            values[key] = _replayed_key(schema, tips, key)
    return Record(base, schema.checked(values), parents=tips)


def merged(
    schema: CompiledSchema, tips: Sequence[Record], strategy: Callable[[list[Any]], Any] | None, who: str
) -> Record:
    """One record of several, by replay or by a strategy of the user."""
    if strategy is None:
        return joined(schema, tips)
    states = [schema.hand_out(values_of(schema, tip), {}) for tip in tips]
    return replaced(schema, strategy(states), who)


def values_of(schema: CompiledSchema, record: Record) -> Values:
    """The values of a record, made again from its past if they were dropped. Not to be changed."""
    if record.values is None:
        steps = []
        source: Record | None = record
        while source is not None and source.values is None:
            steps.append(source)
            source = source.parent
        values = schema.defaults() if source is None or source.values is None else dict(source.values)
        for step in reversed(steps):
            _redo(schema, values, step)
        record.values = values
    return record.values


def _redo(schema: CompiledSchema, values: Values, step: Record) -> None:
    if step.parents is not None:
        values.update(values_of(schema, joined(schema, step.parents)))
    elif step.cut:
        values.update(_with_cut(schema, values, step.cut))
    elif step.delta:
        schema.replay(values, step.delta)


def _shared(tips: Sequence[Record]) -> Record | None:
    """The last record that every tip descends from, whichever way one goes back."""
    shared: Record | None = tips[0]
    seen: set[Record] = set()  # all of them descend from `shared`, so a way back that meets one can stop
    for tip in tips[1:]:
        other: Record | None = tip
        while shared is not other:
            if shared is None or other is None:
                return None
            if shared.depth > other.depth:
                seen.add(shared)
                shared = shared.parent
            elif other in seen:
                break
            else:
                seen.add(other)
                other = other.parent
    return shared


def _before(record: Record) -> Iterable[Record]:
    if record.parents is not None:
        return record.parents
    return () if record.parent is None else (record.parent,)


def _steps(tips: Sequence[Record], base: Record | None) -> list[Record]:
    """All records between `base` and the tips, each once, pasts before their futures, branches in order."""
    order: list[Record] = []
    seen = set() if base is None else {base}
    stack: list[tuple[Record, bool]] = [(tip, False) for tip in reversed(tips)]
    while stack:
        record, done = stack.pop()
        if done:
            order.append(record)
        elif record not in seen:
            seen.add(record)
            stack.append((record, True))
            stack.extend((past, False) for past in reversed(tuple(_before(record))))
    return order


def lineage(tips: Sequence[Record]) -> list[Record]:
    """All records that led to these, oldest first."""
    return _steps(tips, None)


def _replayed_key(schema: CompiledSchema, tips: Sequence[Record], key: str) -> Any:
    """The value of one key that was cut in some branch: each branch's past of this key goes back to its cut."""
    field = schema.fields.get(key)
    merge = field.merge if field is not None and not field.overwrites else lambda _old, new: new
    value: Any = MISSING
    for step in _key_steps(tips, key):
        if step.cut is not None and key in step.cut:
            if (change := step.cut[key]) is not MISSING:
                value = change if value is MISSING else merge(value, change)
        elif step.delta is not None and key in step.delta:
            start = schema.defaults().get(key, MISSING) if value is MISSING else value
            value = merge(start, step.delta[key])
    return schema.defaults().get(key, MISSING) if value is MISSING else value


def _edited_key(
    schema: CompiledSchema, steps: Sequence[Record], edits: Sequence[Record], base: Record | None, key: str
) -> Any:
    """The value of one key that was edited in some branch: the last edit, and what no edit has seen on top of it."""
    field = schema.fields.get(key)
    merge = field.merge if field is not None and not field.overwrites else lambda _old, new: new
    seen = set(_steps(edits, base))
    value = (edits[-1].cut or {})[key]
    for step in steps:
        if step not in seen and step.delta is not None and key in step.delta:
            value = merge(schema.defaults().get(key, MISSING) if value is MISSING else value, step.delta[key])
    return schema.defaults().get(key, MISSING) if value is MISSING else value


def changes_since(schema: CompiledSchema, base: Record, tip: Record) -> Values:
    """What happened between two records, folded into one delta.

    What a filter did to a key counts for keys that are overwritten; for others it shaped what nodes saw.
    """
    folded: Values = {}
    for step in _steps((tip,), base):
        for key, change in (step.delta or {}).items():
            field = schema.fields.get(key)
            merges = field is not None and not field.overwrites and key in folded
            folded[key] = field.merge(folded[key], change) if merges and field is not None else change
        for key, change in (step.cut or {}).items():
            field = schema.fields.get(key)
            if change is not MISSING and (field is None or field.overwrites):
                folded[key] = change
    return folded


def _key_steps(tips: Sequence[Record], key: str) -> list[Record]:
    order: list[Record] = []
    seen: set[Record] = set()
    stack: list[tuple[Record, bool]] = [(tip, False) for tip in reversed(tips)]
    while stack:
        record, done = stack.pop()
        if done:
            order.append(record)
        elif record not in seen:
            seen.add(record)
            stack.append((record, True))
            if record.cut is None or key not in record.cut:
                stack.extend((past, False) for past in reversed(tuple(_before(record))))
    return order
