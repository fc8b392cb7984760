"""Update strategies: how a state key takes in what a node returned, `(old, new) -> merged`.

A strategy never changes its arguments. Laws are stated per strategy, because a join replays the deltas of
its branches: an associative strategy gives the same whether deltas came one by one or folded together, an
idempotent one forgives a delta that comes twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, TypeVar

from evonb.errors import StateError
from evonb.graph.near import near_names
from evonb.typing import MISSING, StateMessage, cast_state_message

__all__ = ["StateUpdater", "Strategy", "UnknownStrategy"]

Strategy = Callable[[Any, Any], Any]
_F = TypeVar("_F", bound=Callable[..., Any])


class UnknownStrategy(StateError, KeyError):
    """No update strategy is registered under this name; a `KeyError`."""


class StrategyExists(StateError, KeyError):
    """An update strategy is registered under this name already; a `KeyError`."""


class StateUpdater:
    """The registry of update strategies, one per process.

    Example:
        >>> @StateUpdater.register("longest")
        ... def longest(old, new):
        ...     return new if len(new) > len(old) else old
        >>> StateUpdater.get("longest")("ab", "abc")
        'abc'
    """

    _strategies: ClassVar[dict[str, Strategy]] = {}
    version: ClassVar[int] = 0
    """Grows with every registration; compiled schemas are made anew when it does."""

    @classmethod
    def register(cls, name: str) -> Callable[[_F], _F]:
        """A decorator that registers a strategy under `name` and gives the function back.

        A strategy whose parameter `old` defaults to `MISSING` is called with MISSING when the key has no value
        yet; any other gets the empty value of the key's type ([], 0, "", {}). A notebook cell that is run again
        may register its function again: the new definition of the same function in `__main__` replaces the old.

        Raises:
            KeyError: The name is taken.
        """
        if name in cls._strategies and not _from_notebook(cls._strategies[name]):
            raise _taken(name)

        def remember(function: _F) -> _F:
            known = cls._strategies.get(name)
            if known is not None and not _redefines(known, function):
                raise _taken(name)
            cls._strategies[name] = function
            cls.version += 1
            return function

        return remember

    @classmethod
    def get(cls, name: str) -> Strategy:
        """The strategy registered under `name`.

        Raises:
            KeyError: There is none.
        """
        try:
            return cls._strategies[name]
        except KeyError:
            near = near_names(name, cls._strategies, n=1)
            raise UnknownStrategy(
                f"No update strategy is called {name!r}",
                fix=f"did you mean {near[0]!r}?"
                if near
                else f"register it with @StateUpdater.register({name!r}), or use one of: {', '.join(cls._strategies)}",
            ) from None

    @classmethod
    def list_strategies(cls) -> list[str]:
        """The names of all registered strategies, built-in ones first."""
        return list(cls._strategies)

    @classmethod
    def registered(cls, name: str) -> bool:
        """Whether a strategy is registered under `name`."""
        return name in cls._strategies


def _from_notebook(function: Any) -> bool:
    return getattr(function, "__module__", None) == "__main__"


def _redefines(known: Any, function: Any) -> bool:
    same_name = getattr(known, "__qualname__", None) == getattr(function, "__qualname__", "")
    return known is not function and same_name and _from_notebook(known) and _from_notebook(function)


def _taken(name: str) -> StrategyExists:
    return StrategyExists(
        f"An update strategy called {name!r} is registered already",
        fix=f"choose another name, or use StateUpdater.get({name!r})",
    )


@StateUpdater.register("overwrite")
def _overwrite_state_update_strategy(old: Any = MISSING, new: Any = MISSING) -> Any:
    """The new value, or the old one when there is no new one. Associative and idempotent."""
    return old if new is MISSING else new


@StateUpdater.register("append_messages")
def _append_messages(old: Any = MISSING, new: Any = MISSING) -> list[StateMessage]:
    """The old messages, then those new ones whose `msg_id` isn't there yet; dicts become messages.

    Associative; idempotent for messages that have ids.

    Raises:
        StateError: An item is no message. A `ValueError`.
    """
    merged = [cast_state_message(item) for item in messages_of(old)]
    known = {message.msg_id for message in merged}
    for item in messages_of(new):
        message = cast_state_message(item)
        if message.msg_id not in known:
            known.add(message.msg_id)
            merged.append(message)
    return merged


def messages_of(value: Any) -> Iterable[Any]:
    """The items of a list of messages; MISSING and None are empty.

    Raises:
        StateError: It is a single message or no list at all.
    """
    if value is MISSING or value is None:
        return ()
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable) or hasattr(value, "msg_id"):
        raise StateError(
            f"A list of messages was expected, found {type(value).__name__}", fix="put the message into a list: [...]"
        )
    return value


@StateUpdater.register("add")
def _add(old: Any = MISSING, new: Any = MISSING) -> Any:
    """`old + new`: a running sum. Associative for numbers; not idempotent."""
    if old is MISSING or new is MISSING:
        return old if new is MISSING else new
    return old + new


@StateUpdater.register("extend")
def _extend(old: Any = MISSING, new: Any = MISSING) -> Any:
    """The items of `old`, then all of `new`, as a list. Associative; not idempotent."""
    return [*([] if old is MISSING else old), *([] if new is MISSING else new)]


@StateUpdater.register("union")
def _union(old: Any = MISSING, new: Any = MISSING) -> Any:
    """The items of `old`, then those of `new` that aren't there yet; a set stays a set. Associative and idempotent."""
    if isinstance(old, set | frozenset) or (old is MISSING and isinstance(new, set | frozenset)):
        return set(_extend(old, new))
    try:
        return list(dict.fromkeys(_extend(old, new)))
    except TypeError:  # items without a hash, such as dicts: compare one by one
        merged: list[Any] = []
        for item in _extend(old, new):
            if item not in merged:
                merged.append(item)
        return merged


@StateUpdater.register("merge")
def _merge(old: Any = MISSING, new: Any = MISSING) -> Any:
    """One dict of both, `new` winning key by key. Associative and idempotent."""
    return {**({} if old is MISSING else old), **({} if new is MISSING else new)}


@StateUpdater.register("max")
def _max(old: Any = MISSING, new: Any = MISSING) -> Any:
    """The larger one, the old one on a tie. Associative and idempotent."""
    if old is MISSING or new is MISSING:
        return old if new is MISSING else new
    return new if new > old else old


@StateUpdater.register("min")
def _min(old: Any = MISSING, new: Any = MISSING) -> Any:
    """The smaller one, the old one on a tie. Associative and idempotent."""
    if old is MISSING or new is MISSING:
        return old if new is MISSING else new
    return new if new < old else old


@StateUpdater.register("keep_first")
def _keep_first(old: Any = MISSING, new: Any = MISSING) -> Any:
    """The first value that was ever written; a declared default counts as one. Associative and idempotent."""
    return new if old is MISSING else old


BUILT_IN = frozenset(StateUpdater.list_strategies())
"""Strategies that are known to change nothing and to keep nothing of their arguments but shared immutable parts."""
