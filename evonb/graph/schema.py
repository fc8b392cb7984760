"""A state schema, compiled once: how states are made from records and how deltas are taken in.

The values of a state are one plain dict in declaration order. A key that nobody has written and that has no
default holds MISSING there; readers see the empty value of its type.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError

from evonb.errors import StateError
from evonb.graph import lending
from evonb.graph.annotations import Declared, declared_keys, is_schema
from evonb.graph.containers import WRAP
from evonb.graph.fields import Field, compile_field, unknown_key
from evonb.graph.isolate import take, wrap
from evonb.graph.late import BIG, late
from evonb.graph.late_log import LateLog
from evonb.graph.lending import Pool, lend
from evonb.graph.message_log import MessageLog
from evonb.graph.reads import Reads
from evonb.graph.strategies import StateUpdater
from evonb.graph.validation import unfit
from evonb.typing import MISSING

__all__ = ["CompiledSchema", "Values", "compile_schema", "no_schema"]

Values = dict[str, Any]
_set = object.__setattr__


class CompiledSchema:
    """Everything that a run needs to know about a schema.

    Attributes:
        schema: What the user gave.
        fields: By key name, in declaration order.
        model: The pydantic class when states are models, else None.
        initialises: Whether that class does something of its own with every new state.
    """

    __slots__ = ("_aliases", "_all_set", "_guarded", "_open", "fields", "initialises", "model", "schema", "strict")

    def __init__(self, schema: Any, keys: list[Declared], *, strict: bool) -> None:
        self.schema = schema
        self.strict = strict
        self.fields: dict[str, Field] = {key.name: compile_field(key) for key in keys}
        self._aliases = {alias: key.name for key in keys for alias in key.aliases}
        origin = get_origin(schema) or schema
        is_model = isinstance(origin, type) and issubclass(origin, BaseModel)
        self.model: type[BaseModel] | None = schema if is_model else None
        self._all_set = frozenset(self.fields)
        self._guarded = self.model is not None and _has_validators(self.model)
        self.initialises = bool(self.model is not None and self.model.__pydantic_post_init__)
        self._open = not self.fields if self.model is None else self.model.model_config.get("extra") == "allow"

    # --- values out ----------------------------------------------------------------

    def hand_out(self, values: Values, pool: Pool, reads: Reads | None = None) -> Any:
        """A state for user code, which may do anything with it.

        Args:
            values: The values of the state.
            pool: The run's copies that may be lent again.
            reads: What the code can see; big values beyond that are copied only if somebody looks all the same.
        """
        out = values.copy()
        lent = lending.LENT
        for key, value in values.items():
            kind = value.__class__
            if kind in lent:
                if kind is not set and len(value) > BIG and self._unseen(reads, key):
                    out[key] = late(value)
                else:
                    out[key] = lend(pool, key, value)
            elif value is MISSING:
                self._fill(out, key)
            elif kind is LateLog and self._unseen(reads, key):
                out[key] = late(value)
            elif WRAP.get(kind, wrap) is not None:
                out[key] = wrap(value)
        return out if self.model is None else self._instance(out)

    def _unseen(self, reads: Reads | None, key: str) -> bool:
        return reads is not None and not self.initialises and not reads.sees(key)

    def view(self, values: Values) -> Any:
        """A state that shares its values with the run: for results, events and readers that change nothing."""
        out = values.copy()
        for key, value in values.items():
            if value is MISSING:
                self._fill(out, key)
            elif isinstance(value, MessageLog):
                out[key] = list(value)
        return out if self.model is None else self._instance(out)

    def _fill(self, out: Values, key: str) -> None:
        blank = self.blank(key)
        if blank is MISSING:
            del out[key]
        else:
            out[key] = blank

    def _instance(self, values: Values) -> BaseModel:
        model = self.model
        assert model is not None
        state = object.__new__(model)
        extra = None
        if self._open:
            extra = {key: values.pop(key) for key in list(values) if key not in self.fields}
        _set(state, "__dict__", values)
        _set(state, "__pydantic_fields_set__", set(self._all_set))
        _set(state, "__pydantic_extra__", extra)
        _set(state, "__pydantic_private__", None)
        if self.initialises:
            state.model_post_init(None)
        return state

    # --- values in -------------------------------------------------------------------

    def start(self, inputs: Any, *, borrow: bool = False) -> tuple[Values, Values]:
        """The values of a first state: inputs, then defaults for the rest; and which of them were given.

        An input takes the place of the key's default; it isn't merged into it.

        Args:
            inputs: State keys and values.
            borrow: Whether plain lists and dicts may be kept as they are instead of copied. Readers get copies either
                way; it spares copying what nobody touches.

        Raises:
            StateError: An input doesn't fit, or isn't declared and the schema is strict.
        """
        given: Values = {}
        try:
            for key, value in self.changes(inputs, "input").items():
                name = self.name_of(key, "The inputs")
                if name is not None and (whole := self._first(name, value, borrow=borrow)) is not MISSING:
                    given[name] = whole
            return self.checked({**self.defaults(given), **given}), given
        except StateError as error:
            error.where = error.where or "the inputs of the run"
            raise

    def defaults(self, given: Values | None = None) -> Values:
        """Declared defaults, made anew; MISSING for keys without one."""
        values: Values = {}
        for name, field in self.fields.items():
            values[name] = given[name] if given and name in given else field.default(values)
        return values

    def _first(self, name: str, value: Any, *, borrow: bool) -> Any:
        field = self.fields.get(name)
        borrow = borrow and value.__class__ in lending.LENT
        if field is None:
            return value if borrow else take(value)
        if borrow and field.overwrites:
            return field.check(value)
        cleaned = field.clean(value, MISSING, None)
        return MISSING if cleaned is MISSING else field.merge(MISSING, cleaned)

    def replacement(self, name: str, value: Any) -> Any:
        """A whole value of a key, as a filter or a merge strategy gives it; the key's strategy isn't asked."""
        field = self.fields.get(name)
        return take(value) if field is None else field.replacement(value)

    def blank(self, name: str) -> Any:
        """What a reader sees under a key that nobody has written."""
        return self.fields[name].blank() if name in self.fields else MISSING

    def checked(self, values: Values) -> Values:
        """The values as the model's own validators, if it has any, want them."""
        return self.guard(values) if self._guarded else values

    def absorb(self, values: Values, delta: Any, node_name: str | None) -> tuple[Values, Values]:
        """What a node's answer means for the state.

        Returns:
            The cleaned delta, and the new values of the keys that it writes. A key that is overwritten with the very
            value it has is in the former only: it doesn't count as a write. Neither holds anything that the node
            could still change, and `values` stays as it was.

        Raises:
            StateError: The answer is no delta, or a value doesn't fit.
        """
        cleaned: Values = {}
        updates: Values = {}
        fields = self.fields
        for key, new in (delta if delta.__class__ is dict else self.changes(delta, "delta", values)).items():
            field = fields.get(key)
            if field is None:
                name = self.name_of(key, f"Node {node_name!r}" if node_name else "The delta")
                if name is None or name not in fields:
                    if name is not None:
                        cleaned[name] = updates[name] = take(new)
                    continue
                key, field = name, fields[name]
            old = values[key]
            kind = new.__class__
            exact = kind in field.exact
            if not exact and (new is MISSING or (new := field.clean(new, old, node_name)) is MISSING):
                continue
            cleaned[key] = new
            if not field.overwrites:
                updates[key] = field.merge(old, new)
            elif new is not old and not (exact and kind is old.__class__ and new == old):
                updates[key] = new
        if self._guarded and updates:
            updates = self._guard_updates(values, updates)
        return cleaned, updates

    def replay(self, values: Values, cleaned: Values) -> None:
        """Merge a cleaned delta into `values`, in place."""
        for key, new in cleaned.items():
            field = self.fields.get(key)
            values[key] = new if field is None or field.overwrites else field.merge(values[key], new)

    def changes(self, answer: Any, role: str, values: Values | None = None) -> Mapping[str, Any]:
        """The mapping in what user code gave as delta, inputs or a whole state.

        Raises:
            StateError: It is no mapping and no such model.
        """
        if answer is None:
            return {}
        if isinstance(answer, Mapping):
            return answer
        if isinstance(answer, BaseModel) and (self.model is None or isinstance(answer, self.model)):
            return {**answer.__dict__, **(answer.__pydantic_extra__ or {})}
        raise StateError(
            f"A {role} must be a dict of state keys, found {type(answer).__name__}",
            fix="return a dict with the keys to change, or None for no change",
        )

    def key_of(self, name: str) -> str | None:
        """The key that has this name or alias; None when the schema has none."""
        if name in self.fields:
            return name
        return self._aliases.get(name, name if self._open else None)

    def name_of(self, key: str, who: str) -> str | None:
        """The name of a key or alias; None with a warning (strict: an error) when the schema has none."""
        name = self.key_of(key)
        if name is not None:
            return name
        error = unknown_key(key, self.fields)
        error.where = who
        if self.strict:
            raise error
        from evonb.graph.warned import warn  # most runs warn of nothing

        warn(f"{who}: {error.what}. The value is ignored")
        return None

    # --- the validators of a model ---------------------------------------------------

    def guard(self, values: Values) -> Values:
        """The values after the model's own validators; blanks stay unwritten."""
        assert self.model is not None
        state = self.hand_out(values, {}).__dict__
        try:
            checked = self.model.__pydantic_validator__.validate_python({self._alias(key): state[key] for key in state})
        except ValidationError as error:
            raise unfit("", error) from error
        result = dict(values)
        for key, value in checked.__dict__.items():
            before = state.get(key)
            if value is not before and value != before:
                result[key] = self.replacement(key, value)
        return result

    def _alias(self, key: str) -> str:
        field = self.fields.get(key)
        return field.declared.aliases[-1] if field is not None and field.declared.aliases else key

    def _guard_updates(self, values: Values, updates: Values) -> Values:
        after = self.guard({**values, **updates})
        return {key: value for key, value in after.items() if value is not values.get(key, MISSING)}


def _has_validators(model: type[BaseModel]) -> bool:
    found = model.__pydantic_decorators__
    return bool(found.field_validators or found.validators or found.model_validators or found.root_validators)


_compiled: OrderedDict[Any, tuple[int, CompiledSchema]] = OrderedDict()
_KEPT = 64  # notebooks define schemas again and again; old ones must not pile up


def no_schema(schema: Any) -> StateError:
    """The error for something that is no schema."""
    if isinstance(schema, type):
        return StateError(
            f"Class {schema.__name__!r} is a plain class, but a state schema must be a TypedDict, a pydantic model "
            "class or dict",
            where=f"state schema {schema.__name__!r}",
            fix=f"write class {schema.__name__}(TypedDict): ...",
        )
    return StateError(
        f"A state schema must be a TypedDict, a pydantic model class or dict, found {schema!r:.80}",
        where="the state schema",
        fix="class State(TypedDict): ..., then GraphBuilder(state_schema=State)",
    )


def compile_schema(schema: Any, *, strict: bool = False) -> CompiledSchema:
    """The compiled form of a schema, made once per class (and again after a strategy was registered).

    Raises:
        StateError: It is no schema, an annotation can't be resolved, or a strategy isn't registered.
    """
    if schema is None:
        schema = dict
    if not is_schema(schema):
        raise no_schema(schema)
    cacheable = isinstance(schema, type) and schema is not dict and not strict
    kept = _compiled.get(schema) if cacheable else None
    if kept is not None and kept[0] == StateUpdater.version:
        return kept[1]
    compiled = CompiledSchema(schema, declared_keys(schema), strict=strict)
    if cacheable:
        _compiled[schema] = (StateUpdater.version, compiled)
        if len(_compiled) > _KEPT:
            _compiled.popitem(last=False)
    return compiled
