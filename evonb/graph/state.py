"""`StateCkpt`: a checkpoint of the state as the documented class; runs themselves work on `record.Record`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from pydantic import Field, PrivateAttr, SkipValidation

from evonb.errors import StateError
from evonb.graph import record as records
from evonb.graph.component import BaseComponent
from evonb.graph.edges import StateFilterLike
from evonb.graph.record import Record
from evonb.graph.schema import CompiledSchema, compile_schema
from evonb.typing import State

__all__ = ["StateCkpt"]


class StateCkpt(BaseComponent):
    """A state, kept as a change of an earlier one.

    Materializing gives a copy: whatever is done to it changes neither this checkpoint nor its parents.

    Attributes:
        delta: What changed.
        parent: The checkpoint before; None for the first.
        state_schema: The schema; without one every key is overwritten.
        materialized_state_cache: The state as `materialize` gave it last.
    """

    delta: SkipValidation[Any] = None
    parent: Optional[StateCkpt] = None  # noqa: UP045 - pydantic resolves the class itself
    state_schema: SkipValidation[Any] = None
    materialized_state_cache: SkipValidation[Any] = Field(default=None, init=False, exclude=True, repr=False)
    _record: Record | None = PrivateAttr(default=None)

    def materialize(self) -> State:
        """The whole state, in the type of the schema.

        Raises:
            StateError: A delta doesn't fit the schema.
        """
        schema = self._schema()
        state: State = schema.hand_out(records.values_of(schema, self._at(schema)), {})
        self.materialized_state_cache = schema.hand_out(records.values_of(schema, self._at(schema)), {})
        return state

    @classmethod
    def merge(cls, checkpoints: list[StateCkpt], strategy: Callable[[list[Any]], Any] | None = None) -> StateCkpt:
        """One checkpoint of several.

        Without a strategy, what they changed since they parted is replayed once, in the order given, on what they
        share. With one, its answer is the whole new state.

        Raises:
            ValueError: There are none.
        """
        if not checkpoints:
            raise StateError("There are no checkpoints to merge", fix="give at least one")
        schema = checkpoints[0]._schema()
        tips = [checkpoint._at(schema) for checkpoint in checkpoints]
        return cls._of(records.merged(schema, tips, strategy, "The merge strategy"), schema)

    @classmethod
    def filter(cls, checkpoint: StateCkpt, strategy: StateFilterLike) -> StateCkpt:
        """A new first checkpoint with the state that `strategy` makes of this one's."""
        schema = checkpoint._schema()
        here = checkpoint._at(schema)
        answer = strategy(schema.hand_out(records.values_of(schema, here), {}))
        return cls._of(records.cut(schema, here, answer, "The filter"), schema)

    @staticmethod
    def merge_state(state: Any, delta: Any, state_schema: Any) -> Any:
        """A new state: `state` with `delta` merged in, in the type of the schema. Changes neither argument."""
        schema = compile_schema(state_schema)
        start = records.root(schema, state)
        values = records.values_of(schema, start)
        _, updates = schema.absorb(values, delta, None)
        return schema.hand_out({**values, **updates}, {})

    @classmethod
    def _of(cls, record: Record, schema: CompiledSchema) -> StateCkpt:
        """The checkpoint of a record, with those before it."""
        line = [record]
        while (past := line[-1].parent) is not None and line[-1].cut is None and line[-1].parents is None:
            line.append(past)
        made: StateCkpt | None = None
        for step in reversed(line):
            delta = step.delta if made is not None else schema.view(records.values_of(schema, step))
            made = cls.model_construct(
                delta=delta, parent=made, state_schema=schema.schema, materialized_state_cache=None
            )
            made._record = step
        assert made is not None
        return made

    def _schema(self) -> CompiledSchema:
        schema = self.state_schema
        ancestor = self.parent
        while schema is None and ancestor is not None:
            schema, ancestor = ancestor.state_schema, ancestor.parent
        return compile_schema(schema)

    def _at(self, schema: CompiledSchema) -> Record:
        """The record of this checkpoint, made once; message ids stay the same from then on."""
        pending: list[StateCkpt] = []
        at: StateCkpt | None = self
        while at is not None and at._record is None:
            pending.append(at)
            at = at.parent
        here = at._record if at is not None else None
        for checkpoint in reversed(pending):
            if here is None:
                here = records.root(schema, checkpoint.delta)
            else:
                cleaned, updates = schema.absorb(records.values_of(schema, here), checkpoint.delta, None)
                here = records.after(here, cleaned, updates, keep=True)
            checkpoint._record = here
        assert here is not None
        return here
