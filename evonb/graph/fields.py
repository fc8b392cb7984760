"""What a state key does with a delta: `clean` it once when it comes in, `merge` it as often as it is replayed.

A kind of key is a subclass. Only keys with a user's own strategy pay for wrapping; the built-in strategies are
known to change nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, get_args, get_origin, is_typeddict

from evonb.errors import StateError
from evonb.graph.annotations import Declared, declared_keys, function_name, strategy_name, strategy_of, unwrap
from evonb.graph.failure import text_of
from evonb.graph.isolate import is_atom, take, wrap
from evonb.graph.message_log import MessageLog, append_log, clean_messages
from evonb.graph.near import near_names, short
from evonb.graph.strategies import BUILT_IN, StateUpdater, Strategy, UnknownStrategy
from evonb.graph.validation import Check, blank_value, constraints, exact_types, has_strategies, make_check
from evonb.typing import MISSING

__all__ = ["Field", "compile_field"]


class Field:
    """A key that is overwritten; the base of the other kinds.

    Attributes:
        exact: Types whose values need no cleaning at all.
        overwrites: Whether merging just takes the new value, so that the hot path needn't call `merge`.
    """

    __slots__ = ("_check", "_default", "annotation", "declared", "exact", "name", "strategy")
    overwrites = True

    def __init__(self, declared: Declared, strategy: str | None) -> None:
        self.declared = declared
        self.name = declared.name
        self.annotation = declared.annotation
        self.strategy = strategy or "overwrite"
        extras = constraints(declared.metadata)
        self.exact = exact_types(declared.annotation, extras)
        self._check: Check | None = make_check(declared.name, declared.annotation, extras)

    def clean(self, new: Any, old: Any, node_name: str | None) -> Any:
        """The delta value as the state keeps it, or MISSING if it is what the node was given, untouched.

        Raises:
            StateError: It doesn't fit the annotation.
        """
        new = take(new)
        if new is old and not is_atom(new.__class__):
            return MISSING
        return self.check(new)

    def merge(self, old: Any, new: Any) -> Any:
        """The value after the cleaned delta value; changes neither."""
        return new

    def check(self, value: Any) -> Any:
        """A whole value as the annotation wants it."""
        return value if self._check is None else self._check(value)

    def replacement(self, value: Any) -> Any:
        """A whole value that takes the place of the old one, whatever the strategy."""
        return self.check(take(value))

    def default(self, values: Mapping[str, Any]) -> Any:
        """The declared default, made anew; MISSING if there is none."""
        info = self.declared.info
        if info is None or info.is_required():
            return MISSING
        if info.default_factory is not None and info.default_factory_takes_validated_data:
            value = info.get_default(call_default_factory=True, validated_data=dict(values))
        else:
            value = info.get_default(call_default_factory=True)
        return self.starting(take(value))

    def starting(self, default: Any) -> Any:
        """A default as the state keeps it."""
        return default

    def blank(self) -> Any:
        """What a node sees while nothing was written; MISSING for a key that may be absent."""
        return MISSING if self.declared.optional else blank_value(self.annotation)


class MessagesField(Field):
    """`append_messages`."""

    __slots__ = ()
    overwrites = False

    def clean(self, new: Any, old: Any, node_name: str | None) -> Any:
        return clean_messages(new, old, node_name)

    def merge(self, old: Any, new: Any) -> Any:
        return append_log(old, new)

    def starting(self, default: Any) -> Any:
        return MessageLog() if default is None else self.replacement(default)

    def replacement(self, value: Any) -> Any:
        taken = take(value)
        return taken if isinstance(taken, MessageLog) else append_log(MISSING, clean_messages(taken, MISSING, None))


class BuiltInField(Field):
    """The other built-in strategies: what is right for the delta is right for the result, unless constrained."""

    __slots__ = ("_constrained", "_strategy")
    overwrites = False

    def __init__(self, declared: Declared, strategy: str) -> None:
        super().__init__(declared, strategy)
        self._strategy = StateUpdater.get(strategy)
        self._constrained = bool(constraints(declared.metadata))
        self.exact = frozenset()

    def clean(self, new: Any, old: Any, node_name: str | None) -> Any:
        new = take(new)
        if new is old and not is_atom(new.__class__):
            return MISSING
        return new if self._constrained else self.check(new)

    def merge(self, old: Any, new: Any) -> Any:
        try:
            merged = self._strategy(old, new)
        except Exception as error:
            raise strategy_failed(self.strategy, self.name, error) from error
        return self.check(merged) if self._constrained else merged


class CustomField(Field):
    """A user's strategy, registered or given as a function: it sees copies, and its answer is checked."""

    __slots__ = ("_function", "_wants_missing")
    overwrites = False

    def __init__(self, declared: Declared, strategy: str | Strategy) -> None:
        super().__init__(declared, strategy if isinstance(strategy, str) else function_name(strategy))
        self._function = StateUpdater.get(strategy) if isinstance(strategy, str) else strategy
        self._wants_missing = _wants_missing(self._function)
        self.exact = frozenset()

    def clean(self, new: Any, old: Any, node_name: str | None) -> Any:
        new = take(new)
        return MISSING if new is old and not is_atom(new.__class__) else new

    def merge(self, old: Any, new: Any) -> Any:
        if old is MISSING and not self._wants_missing:
            old = blank_value(self.annotation)
        try:
            merged = self._function(wrap(old), wrap(new))
        except Exception as error:
            raise strategy_failed(self.strategy, self.name, error) from error
        if merged is MISSING:
            raise StateError(
                f"Update strategy {self.strategy!r} of key {self.name!r} returned MISSING, expected the merged value",
                fix="return `old` when nothing changes",
            )
        try:
            return self.check(take(merged))
        except StateError as error:
            error.what = (
                f"Update strategy {self.strategy!r} returned {type(merged).__name__} {short(merged)}. {error.what}"
            )
            raise


class NestedField(Field):
    """A TypedDict with strategies of its own, or `dict[str, Annotated[T, "strategy"]]`: updated key by key."""

    __slots__ = ("_each", "_fields")
    overwrites = False

    def __init__(self, declared: Declared, fields: dict[str, Field], each: Field | None) -> None:
        super().__init__(declared, None)
        self._fields, self._each = fields, each
        self.exact = frozenset()

    def _field(self, key: Any) -> Field:
        field = self._fields.get(key, self._each)
        if field is None:
            raise unknown_key(f"{self.name}.{key}", [f"{self.name}.{name}" for name in self._fields])
        return field

    def clean(self, new: Any, old: Any, node_name: str | None) -> Any:
        new = take(new)
        if new is old:
            return MISSING
        if not isinstance(new, Mapping):
            raise StateError(
                f"State key {self.name!r} takes a dict of changes, found {type(new).__name__} {short(new)}"
            )
        before = {} if old is MISSING else old
        cleaned = {
            key: self._field(key).clean(value, before.get(key, MISSING), node_name) for key, value in new.items()
        }
        return {key: value for key, value in cleaned.items() if value is not MISSING}

    def merge(self, old: Any, new: Any) -> Any:
        merged = {} if old is MISSING else dict(old)
        for key, value in new.items():
            merged[key] = self._field(key).merge(merged.get(key, MISSING), value)
        return merged


def compile_field(declared: Declared) -> Field:
    """The field that a declared key needs.

    Raises:
        StateError: Its strategy isn't registered, or can't be called with (old, new).
    """
    strategy = strategy_of(declared.metadata, declared.name)
    if strategy is None:
        return _nested(declared) or Field(declared, None)
    if not isinstance(strategy, str):
        return CustomField(declared, strategy)
    try:
        StateUpdater.get(strategy)
    except UnknownStrategy as error:
        error.where = f"state key {declared.name!r}"
        raise
    if strategy == "append_messages":
        return MessagesField(declared, strategy)
    if strategy == "overwrite":
        return Field(declared, strategy)
    return (BuiltInField if strategy in BUILT_IN else CustomField)(declared, strategy)


def _nested(declared: Declared) -> Field | None:
    annotation = declared.annotation
    origin = get_origin(annotation) or annotation
    if is_typeddict(origin) and has_strategies(annotation):
        return NestedField(declared, {key.name: compile_field(key) for key in declared_keys(annotation)}, None)
    if origin is dict and len(args := get_args(annotation)) == 2:
        bare, metadata = unwrap(args[1])
        if strategy_name(metadata) is not None or (is_typeddict(bare) and has_strategies(bare)):
            return NestedField(declared, {}, compile_field(Declared(f"{declared.name}[...]", bare, metadata)))
    return None


def _wants_missing(function: Strategy) -> bool:
    try:
        parameters: list[Any] = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some C functions don't tell
        return False
    return bool(parameters) and parameters[0].default is MISSING


def strategy_failed(strategy: str, key: str, error: Exception) -> StateError:
    """The error for a strategy that raised; the user's exception becomes its cause."""
    return StateError(
        f"Update strategy {strategy!r} of key {key!r} failed: {type(error).__name__}: {text_of(error)}".rstrip(": "),
        fix="mend the strategy, or what it was given; it gets (old, new) and returns the merged value",
    )


def unknown_key(key: str, known: Any) -> StateError:
    """The error (or, as text, the warning) for a key that the schema doesn't declare."""
    names = list(known)
    near = near_names(key, names, n=1)
    has = f"it has {near[0]!r}" if near else f"it has {', '.join(map(repr, names)) or 'no keys'}"
    return StateError(
        f"The state has no key {key!r}; {has}",
        fix=f"write {near[0]!r}, or declare {key!r} in the schema" if near else "",
    )
