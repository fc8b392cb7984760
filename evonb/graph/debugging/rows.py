"""A moment as a row of the store, and back. What was decided is written, not what was computed: a row holds the delta
and the ways on, and reading it back makes the same decision again, so no node, router or filter runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evonb.graph import record as records
from evonb.graph.debugging.line import Change, Moment
from evonb.graph.debugging.steps import RAN, Usage
from evonb.graph.decide import Batch, Hop, Place, Task
from evonb.graph.events import ErrorInfo
from evonb.graph.message_log import MessageLog
from evonb.graph.plan import Plan
from evonb.graph.ports import StoredStep
from evonb.graph.record import Record
from evonb.graph.schema import CompiledSchema, Values
from evonb.typing import MISSING

__all__ = ["hops_from", "is_log", "logs", "plain", "record_from", "rough_size", "row_of"]

_ROW_BYTES = 150


def row_of(moment: Moment, first: int, last: int) -> StoredStep:
    """The row of a moment.

    Args:
        moment: What happened.
        first, last: The waiting numbers given before it and by it, so that they come out the same again.
    """
    ran, record = moment.ran, moment.record
    task = None if ran is None else ran.task
    ours = moment.status in RAN and task is not None
    notes: dict[str, Any] = {
        "before": None if moment.before is None else moment.before.number,
        "numbers": [first, last],
        "hops": [_hop(hop, moment.record, task) for hop in moment.hops],
        "wave": moment.wave,
    }
    if ran is not None:
        notes["ran"] = ran.number
    if moment.error is not None:
        notes["error"] = {name: getattr(moment.error, name) for name in ("kind", "what", "where", "fix", "traceback")}
    if moment.change is not None:
        notes["change"] = {"target": moment.change.target, "key": moment.change.key, "source": moment.change.source}
    if moment.tools:
        notes["tools"] = list(moment.tools)
    if moment.usage is not None:
        notes["usage"] = [moment.usage.tokens_in, moment.usage.tokens_out, moment.usage.seconds]
    return StoredStep(
        number=moment.number,
        branch=moment.branch,
        node=ran.node.name if ran is not None else "start",
        visit=task.visit if task is not None else 0,
        parents=() if task is None else tuple(parent.number for parent in task.parents),
        status=moment.status,
        at_s=moment.at_s,
        duration_s=moment.duration_s,
        delta=plain(record.delta or {}) if ours else {},
        cut=_cut(moment) or None,
        notes=notes,
    )


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as the codec knows them."""
    return {key: list(value) if isinstance(value, MessageLog) else value for key, value in values.items()}


def _cut(moment: Moment) -> dict[str, Any]:
    """What filters, merge strategies and people set, which can't be computed again without their code."""
    cut: dict[str, Any] = {}
    if moment.change is not None:
        cut["value"] = moment.change.value
    ran = moment.ran
    if ran is not None and ran.task is not None and moment.status in RAN and merged_by_hand(ran.task):
        parent = moment.record.parent
        cut["merged"] = {} if parent is None else plain(parent.cut or {})
    filtered = {
        str(at): plain(hop.record.cut or {}) for at, hop in enumerate(moment.hops) if hop.record is not moment.record
    }
    if filtered:
        cut["filtered"] = filtered
    return cut


def merged_by_hand(task: Task) -> bool:
    """Whether a user's merge strategy made the state that a task starts from."""
    joins = task.node.joins
    return joins is not None and joins[task.group].strategy is not None


def _hop(hop: Hop, record: Record, task: Task | None) -> list[Any]:
    own = hop.place is not None and (task is None or hop.place is not task.place)
    assert not own or hop.place is not None
    batch = [hop.place[0].size, hop.place[1]] if own and hop.place is not None else None
    return [hop.edge.index, hop.target.name, int(hop.record is not record), batch]


def hops_from(plan: Plan, row: StoredStep, record: Record, task: Task | None) -> list[Hop]:
    """The ways on that a row holds."""
    schema, hops = plan.schema, []
    batches: dict[tuple[int, str], Batch] = {}
    filtered: Mapping[str, Any] = (row.cut or {}).get("filtered", {})
    for at, (index, target, is_filtered, batch) in enumerate((row.notes or {}).get("hops", ())):
        place: Place | None = None if task is None else task.place
        if batch is not None:
            made = batches.setdefault((index, target), Batch(batch[0], place))
            place = (made, batch[1])
        arrived = _cut_record(schema, record, filtered[str(at)]) if is_filtered else record
        hops.append(Hop(plan.edges[index], plan.by_name[target], arrived, place))
    return hops


def _cut_record(schema: CompiledSchema, record: Record, cut: Mapping[str, Any]) -> Record:
    return Record(record, None, cut=logs(schema, cut))


def logs(schema: CompiledSchema, values: Mapping[str, Any]) -> Values:
    """Whole values as the state keeps them: lists of messages are logs again."""
    made: Values = {}
    for key, value in values.items():
        made[key] = MessageLog(value) if is_log(schema, key) and value is not MISSING else value
    return made


def is_log(schema: CompiledSchema, key: str) -> bool:
    """Whether the state keeps a key as a log of messages."""
    field = schema.fields.get(key)
    return field is not None and field.strategy == "append_messages"


def record_from(schema: CompiledSchema, row: StoredStep, task: Task) -> Record:
    """The record of a row: its task's state, and its delta on top; values are made when somebody asks."""
    merged = (row.cut or {}).get("merged")
    if merged is not None:
        given = logs(schema, merged)
        before = Record(None, schema.checked({**schema.defaults(), **given}), cut=given)
    elif len(task.inputs) == 1 and task.node.joins is None:
        before = task.inputs[0]
    else:
        before = _lazily_joined(task.inputs)
    return Record(before, None, dict(row.delta))


def _lazily_joined(inputs: Sequence[Record]) -> Record:
    """As `records.joined`, but the values are made when somebody asks."""
    tips = tuple(dict.fromkeys(inputs))
    return tips[0] if len(tips) == 1 else Record(records._shared(tips), None, parents=tips)


def error_from(row: StoredStep) -> ErrorInfo | None:
    """The error that a row tells of."""
    data = (row.notes or {}).get("error")
    return None if data is None else ErrorInfo(**data)


def usage_from(row: StoredStep) -> Usage | None:
    """What the models of a row's step took."""
    data = (row.notes or {}).get("usage")
    return None if data is None else Usage(*data)


def change_from(row: StoredStep) -> Change | None:
    """The edit that a row tells of."""
    data = (row.notes or {}).get("change")
    if data is None:
        return None
    return Change(data["target"], data["key"], (row.cut or {}).get("value"), data["source"])


def rough_size(values: Mapping[str, Any]) -> int:
    """About how many bytes values take in a row; quick, and only for deciding when to keep a whole state."""
    return _ROW_BYTES + sum(_size(value, 0) for value in values.values())


def _size(value: Any, depth: int) -> int:
    if isinstance(value, str | bytes):
        return len(value) + 4
    if depth > 6:
        return 16
    if isinstance(value, Mapping):
        return 4 + sum(8 + _size(item, depth + 1) for item in value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return 4 + sum(_size(item, depth + 1) for item in value)
    fields = getattr(value, "__dict__", None)
    if fields:
        return 40 + sum(12 + _size(item, depth + 1) for item in fields.values())
    size: Any = getattr(value, "nbytes", 8)
    return size if isinstance(size, int) else 8
