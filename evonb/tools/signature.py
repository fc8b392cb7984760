"""What a function takes, as a model must see it: through decorators, with types resolved, without what we hand in.

Knows Python's signatures; schemas belong to `schema.py`.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, Union

from evonb.logger import get_logger
from evonb.tools.context import ChunkWriter, NodeReportingContext
from evonb.tools.errors import ToolError
from evonb.tools.signals import CancelSignal
from evonb.typing import MISSING, ToolInnerState

__all__ = ["Injected", "Parameter", "ToolSignature", "innermost", "read_signature"]

_log = get_logger(__name__)
Injected: TypeAlias = Literal["context", "signal", "inner_state", "stream_writer"]
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument that a caller gives."""

    name: str
    annotation: Any
    default: Any
    positional_only: bool = False


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """What the model sees of a function.

    Attributes:
        inner: The function itself, below its decorators.
        parameters: What callers give, in order.
        injected: What the runtime gives, by parameter name.
        extras: The type of further named arguments (`**kwargs`); MISSING if there are none.
        returns: The declared type of the result; MISSING if it isn't declared or can't be resolved.
    """

    inner: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    injected: Mapping[str, Injected]
    extras: Any
    returns: Any

    def types(self) -> dict[str, Any]:
        """The resolved types by parameter, `return` among them, as annotations that say the same."""
        kinds = {what: kind for kind, what in _INJECTED.items()}
        found = {each.name: each.annotation for each in self.parameters if each.annotation is not Any}
        found |= {name: kinds[what] for name, what in self.injected.items() if what in kinds}
        found |= {} if self.returns is MISSING else {"return": self.returns}
        if self.extras is not MISSING:
            declared = inspect.signature(self.inner).parameters.values()
            found |= {each.name: self.extras for each in declared if each.kind is each.VAR_KEYWORD}
        return found


def innermost(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function below decorators, partials and bound methods.

    A decorator that forgot `functools.wraps` is seen through too, if it takes just `*args, **kwargs` and holds
    exactly one function.

    Raises:
        ToolError: Such a decorator holds no function, or several.
    """
    while True:
        below: Callable[..., Any] = inspect.unwrap(function, stop=lambda each: hasattr(each, "__signature__"))
        if isinstance(below, functools.partial):
            below = below.func
        elif inspect.ismethod(below):
            below = below.__func__
        elif not inspect.isroutine(below) and not inspect.isclass(below):
            below = type(below).__call__
        elif below is function and (hidden := _hidden(function)) is not None:
            below = hidden
        if below is function:
            return function
        function = below


def read_signature(
    function: Callable[..., Any],
    *,
    skip_first: bool = False,
    exclude: frozenset[str] = frozenset(),
    local_names: Mapping[str, Any] | None = None,
) -> ToolSignature:
    """Read what a function takes and returns. All faults are told at once.

    Args:
        function: The function, decorated or not.
        skip_first: The first parameter is the instance or the class of a method.
        exclude: Parameters that stay hidden from the model; each needs a default.
        local_names: Names that annotations may use beside the function's own.

    Raises:
        ToolError: A type can't be resolved, or a parameter can't be filled by name.
    """
    inner = innermost(function)
    resolve = _Resolver(inner, local_names or {})
    bound = _bound_names(function)
    declared = list(inspect.signature(_signed(function, inner)).parameters.values())
    parameters: list[Parameter] = []
    injected: dict[str, Injected] = {}
    extras: Any = MISSING
    faults: list[str] = []
    for each in declared[1:] if skip_first else declared:
        if each.name in bound:
            continue
        if (what := _injected(each, resolve)) is not None:
            injected[each.name] = what
        elif each.name in exclude:
            faults += [] if each.default is not each.empty else [f"excluded parameter '{each.name}' has no default"]
        elif each.kind is each.VAR_POSITIONAL:
            faults.append(f"'*{each.name}' can't be filled by name")
        elif each.kind is each.VAR_KEYWORD:
            extras = resolve(each.annotation, each.name, faults)
        else:
            annotation = resolve(each.annotation, each.name, faults)
            parameters.append(Parameter(each.name, annotation, _default(each), each.kind is each.POSITIONAL_ONLY))
    if faults:
        raise ToolError(
            f"The function can't become a tool: {'; '.join(faults)}",
            where=f"function {getattr(inner, '__qualname__', inner)}",
            fix="import the types at run time (not under TYPE_CHECKING) and name each parameter",
        )
    return ToolSignature(inner, tuple(parameters), injected, extras, resolve.result())


class _Resolver:
    """Turns annotations into types, also those written as texts."""

    def __init__(self, inner: Callable[..., Any], local_names: Mapping[str, Any]) -> None:
        self._inner = inner
        self._globals = getattr(inner, "__globals__", {})
        self._locals = {**local_names, **_closure(inner)}

    def __call__(self, annotation: Any, name: str, faults: list[str]) -> Any:
        if annotation is inspect.Parameter.empty:
            return Any
        try:
            return self.type_of(annotation)
        except Exception as error:
            shown = annotation if isinstance(annotation, str) else repr(annotation)
            faults.append(f"the type {shown!r} of parameter '{name}' can't be resolved ({error})")
            return Any

    def type_of(self, annotation: Any) -> Any:
        def holder() -> None: ...

        holder.__annotations__ = {"it": annotation}
        return typing.get_type_hints(holder, self._globals, self._locals, include_extras=True)["it"]

    def result(self) -> Any:
        annotation = getattr(self._inner, "__annotations__", {}).get("return", MISSING)
        if annotation is MISSING:
            return MISSING
        try:
            return self.type_of(annotation)
        except Exception as error:  # the caller loses nothing but a check
            _log.warning("The result of %s stays unchecked: its type can't be resolved (%s)", self._inner, error)
            return MISSING


def _injected(parameter: inspect.Parameter, resolve: _Resolver) -> Injected | None:
    if parameter.kind in _VARIADIC:
        return None
    if parameter.name == "stream_writer":
        return "stream_writer"
    annotation = parameter.annotation
    if isinstance(annotation, str):
        try:
            annotation = resolve.type_of(annotation)
        except Exception:  # perhaps imported for the type checker only: go by its name
            return _INJECTED_NAMES.get(annotation.rpartition(".")[2].removesuffix(" | None"))
    if ChunkWriter in _plain_types(annotation):
        return "stream_writer"
    for kind in _plain_types(annotation):
        for wanted, what in _INJECTED.items():
            if isinstance(kind, type) and issubclass(kind, wanted):
                return what
    return None


_INJECTED: dict[type, Injected] = {
    NodeReportingContext: "context",
    CancelSignal: "signal",
    ToolInnerState: "inner_state",
}
_INJECTED_NAMES: dict[str, Injected] = {
    "ToolExecutionContext": "context",
    "NodeReportingContext": "context",
    "CancelSignal": "signal",
    "ToolInnerState": "inner_state",
    ChunkWriter.__name__: "stream_writer",
}


def _plain_types(annotation: Any) -> list[Any]:
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        return _plain_types(typing.get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [kind for kind in typing.get_args(annotation) if kind is not type(None)]
    return [annotation]


def _signed(function: Callable[..., Any], inner: Callable[..., Any]) -> Callable[..., Any]:
    """Where the signature is read: the outermost function that has one of its own."""
    try:
        seen = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise ToolError(
            f"{function!r} has no signature that Python knows",
            where="@tool",
            fix="wrap it in a function with named parameters",
        ) from error
    only_variadic = bool(seen) and all(each.kind in _VARIADIC for each in seen)
    return inner if only_variadic else function


def _hidden(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The one function that a bare `*args, **kwargs` wrapper calls; None if it isn't such a wrapper."""
    if not inspect.isfunction(function) or hasattr(function, "__signature__"):
        return None
    kinds = {each.kind for each in inspect.signature(function).parameters.values()}
    if kinds != set(_VARIADIC):
        return None
    held = [value for value in _closure(function).values() if inspect.isroutine(value)]
    if len(held) == 1:
        return typing.cast(Callable[..., Any], held[0])
    raise ToolError(
        "The function takes only *args and **kwargs, so what it needs can't be told to a model",
        where=f"function {function.__qualname__}",
        fix="put @functools.wraps(function) on the wrapper inside the decorator, or name the parameters",
    )


def _closure(function: Callable[..., Any]) -> dict[str, Any]:
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    values: dict[str, Any] = {}
    for name, cell in zip(names, getattr(function, "__closure__", None) or (), strict=False):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # not filled yet, as for a function that refers to itself
            continue
    return values


def _bound_names(function: Callable[..., Any]) -> set[str]:
    return set(function.keywords) if isinstance(function, functools.partial) else set()


def _default(parameter: inspect.Parameter) -> Any:
    return MISSING if parameter.default is parameter.empty else parameter.default
