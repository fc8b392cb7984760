"""The class of tools that are made of Python functions."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from evonb.tools.context import NodeReportingContext, ToolExecutionContext
from evonb.tools.docstrings import read_docstring
from evonb.tools.errors import ToolError
from evonb.tools.functioncheck import checked_function, checked_name, is_async, is_method
from evonb.tools.receipts import Effect, Mode
from evonb.tools.runner import RunIn
from evonb.tools.schema import ArgumentModel, brief, output_adapter
from evonb.tools.signature import innermost, read_signature
from evonb.tools.strict import drop_added_nulls, to_strict
from evonb.typing import ToolInnerState

__all__ = ["DebugSteps", "FunctionTool"]

DebugSteps = Callable[[Any, NodeReportingContext], object]


_OPTIONS = ("strict", "effect", "timeout_s", "exclusive", "run_in", "inner_state", "debug_steps")


class FunctionTool:
    """A function that models may call. It stays callable as the function that it was.

    Make one with `@tool` or `define_tool`. On a method it is bound through the instance: `registry.add(shop.order)`.

    Attributes:
        id: The name that callers use.
        kind: "function".
        description: What it does, for the model.
        mode: "async" for a coroutine function, else "sync".
        effect: What calling it does to the world.
        strict: Whether its schema is strict.
        timeout_s: Its own time limit.
        exclusive: Whether it must run alone among parallel calls.
        run_in: Where a sync function runs: in a worker thread, or in the loop for objects bound to its thread.
        inner_state: What it remembers between calls, handed in as the parameter of that type.
        debug_steps: Called with the checked result when debugging is on.
    """

    kind = "function"

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        strict: bool = False,
        effect: Effect = "write",
        timeout_s: float | None = None,
        exclusive: bool = False,
        mode: Mode | None = None,
        run_in: RunIn = "thread",
        inner_state: ToolInnerState | None = None,
        exclude: Iterable[str] = (),
        debug_steps: DebugSteps | None = None,
        local_names: Mapping[str, Any] | None = None,
    ) -> None:
        inner = innermost(checked_function(function))
        self.function = function
        self._exclude = tuple(exclude)
        self._given = {"name": name, "description": description, "mode": mode}
        self.id = checked_name(name or str(getattr(inner, "__name__", type(function).__name__)))
        self._needs_instance = is_method(function, inner)
        self._signature = read_signature(
            function, skip_first=self._needs_instance, exclude=frozenset(self._exclude), local_names=local_names
        )
        text = read_docstring(inner)
        self.description = description or text.description
        self._arguments = ArgumentModel(self.id, self._signature, text.parameters)
        self._output = output_adapter(self._signature.returns)
        self.strict = strict
        self.parameters = self._arguments.json_schema
        if strict:
            self.parameters = to_strict(self._arguments.json_schema, where=f"tool '{self.id}'")
        self.mode: Mode = mode or ("async" if is_async(function) else "sync")
        self.effect = effect
        self.timeout_s = timeout_s
        self.exclusive = exclusive
        self.run_in = run_in
        self.debug_steps = debug_steps
        needs_state = "inner_state" in self._signature.injected.values()
        self.inner_state = inner_state or (ToolInnerState() if needs_state else None)
        functools.update_wrapper(self, inner, updated=())

    # -- the contract of tools ---------------------------------------------------------------------

    def parse_input(self, value: Any) -> dict[str, Any]:
        """The arguments with the declared types, ready for `execute`.

        Raises:
            pydantic.ValidationError: Some don't fit; every fault is in it.
        """
        return self._arguments.check(drop_added_nulls(value, self._arguments.json_schema) if self.strict else value)

    def parse_output(self, value: Any) -> Any:
        """The result, checked against the declared return type if there is one."""
        return value if self._output is None else self._output.validate_python(value)

    def execute(self, input: dict[str, Any], context: ToolExecutionContext) -> Any:
        """Call the function with the parsed arguments and what it asked the runtime for."""
        handed: dict[str, Any] = {
            "context": context,
            "signal": context.signal,
            "inner_state": self.inner_state,
            "stream_writer": context.stream_writer,
        }
        named = {**input, **{name: handed[what] for name, what in self._signature.injected.items()}}
        positional = [
            named.pop(each.name) for each in self._signature.parameters if each.positional_only and each.name in named
        ]
        return self.function(*positional, **named)

    # -- what a model is told ----------------------------------------------------------------------

    def function_schema(self) -> dict[str, Any]:
        """The tool in the form of OpenAI-compatible servers. `strict` is there only when the schema is strict.

        Raises:
            ToolError: It has no description, so a model couldn't know when to use it.
        """
        if not self.description:
            raise ToolError(
                "The tool has no description, so a model can't know when to use it",
                where=f"tool '{self.id}'",
                fix="write a docstring, or pass description=...",
            )
        told = {"name": self.id, "description": self.description, "parameters": copy.deepcopy(self.parameters)}
        return {"type": "function", "function": {**told, "strict": True} if self.strict else told}

    def expected_arguments(self) -> str:
        """The arguments on one line, for error messages."""
        return brief(self._arguments.json_schema)

    def argument_names(self) -> list[str]:
        """The names of the arguments, in order."""
        return self._arguments.names

    # -- memory ------------------------------------------------------------------------------------

    def restore(self, state: ToolInnerState) -> None:
        """Take over a copy of `state`; the object that the function is handed stays the same one."""
        if self.inner_state is not None:
            fresh = state.model_copy(deep=True)
            self.inner_state.state = fresh.state
            self.inner_state.meta_state = fresh.meta_state

    # -- in a saved graph --------------------------------------------------------------------------

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: the function with the types of its arguments, its options, its memory.

        A tool that is taken from an object is the object and the attribute's name.
        """
        if self.holder is not None:
            return {"holder": self.holder, "attribute": self._attribute, "inner_state": self.inner_state}
        options = {name: getattr(self, name) for name in _OPTIONS}
        return {
            "function": self.function,
            "types": {} if _has_name(self.function) else self._signature.types(),
            "options": {**options, **self._given, "exclude": list(self._exclude)},
        }

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """The tool again."""
        if "holder" in fields:
            bound = getattr(fields["holder"], fields["attribute"])
            if fields["inner_state"] is not None:
                bound.restore(fields["inner_state"])
            return bound  # type: ignore[no-any-return]
        function = fields["function"]
        if fields["types"]:
            innermost(function).__annotations__.update(fields["types"])
        return cls(function, **fields["options"])

    # -- as a function and as a method -------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __set_name__(self, owner: type, name: str) -> None:
        self._attribute = name

    def __get__(self, instance: object, owner: type | None = None) -> FunctionTool:
        if not self._needs_instance or instance is None:
            return self
        bound = copy.copy(self)
        bound.function = types.MethodType(self.function, instance)
        bound.inner_state = None if self.inner_state is None else self.inner_state.model_copy(deep=True)
        bound._needs_instance = False
        # Kept on the instance, so that its memory lasts and the same tool comes back each time.
        space = getattr(instance, "__dict__", None)
        if isinstance(space, dict) and not isinstance(instance, type):
            space[getattr(self, "_attribute", self.id)] = bound
        return bound

    @property
    def holder(self) -> Any:
        """The object whose attribute this tool is; None for a tool of a function."""
        of = self.function.__self__ if inspect.ismethod(self.function) else None
        named = inspect.getattr_static(type(of), getattr(self, "_attribute", ""), None)
        return of if isinstance(named, FunctionTool) else None

    @property
    def needs_instance(self) -> bool:
        """Whether this is a method that hasn't been bound to an instance."""
        return self._needs_instance

    def __repr__(self) -> str:
        return f"<FunctionTool '{self.id}' {self.expected_arguments()}>"


def _has_name(function: Any) -> bool:
    """Whether importing leads to the function, types and all."""
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found is function and function.__module__ != "__main__"
