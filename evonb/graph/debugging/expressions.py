"""Conditions on the state: a function, Python typed in the kernel, or the small language for what a browser sent.

The small language has literals, state keys, attributes and items of data, arithmetic, comparisons, `and or not in`,
conditional expressions and a handful of functions. It can't call methods, reach names that begin with an underscore,
or make anything big, so an expression out of a saved notebook or file can do no harm.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from evonb.errors import GraphError

__all__ = ["Condition", "compile_condition", "python_condition"]

_MAX_TEXT = 500
_MAX_SIZE = 10_000
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs, "all": all, "any": any, "bool": bool, "float": float, "int": int, "len": len, "max": max, "min": min,
    "round": round, "sorted": sorted, "str": str, "sum": sum,
}  # fmt: skip
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda item, box: item in box, ast.NotIn: lambda item, box: item not in box,
}  # fmt: skip


class Condition:
    """`(state, delta) -> value`, with the text that it was made of ("" for a function).

    Attributes:
        restricted: Whether it is in the small language.
    """

    def __init__(self, text: str, evaluate: Callable[[Any, Any], Any], *, restricted: bool) -> None:
        self.text = text
        self.restricted = restricted
        self._evaluate = evaluate

    def __call__(self, state: Any, delta: Any = None) -> Any:
        return self._evaluate(state, delta)

    def __repr__(self) -> str:
        return f"<Condition {self.text or 'function'!r}>"


def python_condition(condition: Any) -> Condition:
    """A condition that was given in the kernel: a function of the state, or a Python expression over its keys.

    Raises:
        GraphError: It is neither.
    """
    if isinstance(condition, Condition):
        return condition
    if callable(condition):
        return Condition("", lambda state, _delta: condition(state), restricted=False)
    if not isinstance(condition, str):
        raise GraphError(f"A breakpoint condition must be a function or an expression, found {condition!r}")
    try:
        code = compile(condition.strip(), "<breakpoint condition>", "eval")
    except SyntaxError as error:
        raise _no_expression(condition, error.msg) from error

    def evaluate(state: Any, delta: Any) -> Any:
        # Typed by the user in the kernel, so it is Python. What comes from elsewhere goes through compile_condition.
        return eval(code, {**_fields(state), "state": state, "delta": delta})

    return Condition(condition, evaluate, restricted=False)


def compile_condition(text: str) -> Condition:
    """A condition in the small language, for text that nobody typed in the kernel.

    Example:
        >>> compile_condition("len(notes) > 1 and notes[0] == 'a'")({"notes": ["a", "b"]})
        True

    Raises:
        GraphError: It isn't an expression, or uses more than the small language has.
    """
    if not isinstance(text, str) or len(text) > _MAX_TEXT:
        raise GraphError(f"A condition is a text of at most {_MAX_TEXT} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _no_expression(text, getattr(error, "msg", None) or str(error)) from error
    _check(tree, text)
    return Condition(
        text,
        lambda state, delta: _value(tree, {**_fields(state), "state": _fields(state), "delta": delta}),
        restricted=True,
    )


def _no_expression(text: str, why: str | None) -> GraphError:
    return GraphError(f"The condition {text!r} isn't an expression: {why}", fix="write one as in: count > 3")


def _fields(state: Any) -> Mapping[str, Any]:
    return state if isinstance(state, Mapping) else dict(state.__dict__)


_ALLOWED = (
    ast.Constant, ast.Name, ast.Load, ast.Attribute, ast.Subscript, ast.Slice, ast.List, ast.Tuple, ast.BoolOp,
    ast.And, ast.Or, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, *_BINARY, *_UNARY, *_COMPARE,
)  # fmt: skip


def _check(tree: ast.AST, text: str) -> None:
    for node in ast.walk(tree):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        called = isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not node.keywords
        )
        if not isinstance(node, _ALLOWED) or name.startswith("_") or called:
            found = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
            raise GraphError(
                f"The condition {text!r} uses {found!r}, which conditions from outside of the kernel may not",
                fix=f"use state keys, comparisons, and, or, not, in, and {', '.join(_FUNCTIONS)}",
            )


def _value(node: ast.AST, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            if node.id in names:
                return names[node.id]
            raise NameError(f"the state has no key {node.id!r}")
        case ast.Attribute():
            return _attribute(_value(node.value, names), node.attr)
        case ast.Subscript():
            return _value(node.value, names)[_value(node.slice, names)]
        case ast.Slice():
            return slice(
                *(None if part is None else _value(part, names) for part in (node.lower, node.upper, node.step))
            )
        case ast.List() | ast.Tuple():
            return [_value(item, names) for item in node.elts]
        case ast.BoolOp():
            return _chain(node, names)
        case ast.UnaryOp():
            return _UNARY[type(node.op)](_value(node.operand, names))
        case ast.BinOp():
            return _arithmetic(node, names)
        case ast.Compare():
            return _comparison(node, names)
        case ast.IfExp():
            return _value(node.body if _value(node.test, names) else node.orelse, names)
        case ast.Call():
            assert isinstance(node.func, ast.Name)
            return _FUNCTIONS[node.func.id](*(_value(argument, names) for argument in node.args))
    raise AssertionError(node)


def _attribute(value: Any, name: str) -> Any:
    """Data only: a field of a model, a dataclass or a named tuple, or an item of a dict; never a method."""
    if isinstance(value, Mapping):
        return value[name]
    if name in getattr(type(value), "_fields", ()):
        return getattr(value, name)
    fields: Any = getattr(value, "__dict__", {})
    if name in fields:
        return fields[name]
    raise AttributeError(f"{type(value).__name__} has no field {name!r}")


def _chain(node: ast.BoolOp, names: Mapping[str, Any]) -> Any:
    value: Any = None
    for part in node.values:
        value = _value(part, names)
        if bool(value) is isinstance(node.op, ast.Or):
            return value
    return value


def _arithmetic(node: ast.BinOp, names: Mapping[str, Any]) -> Any:
    left, right = _value(node.left, names), _value(node.right, names)
    sized = [value for value in (left, right) if isinstance(value, str | bytes | list | tuple)]
    if sized and not isinstance(node.op, ast.Add):
        raise TypeError("only numbers can be calculated with")
    if sum(map(len, sized)) > _MAX_SIZE or any(
        isinstance(each, int) and abs(each) > 1 << 256 for each in (left, right)
    ):
        raise ValueError("the values are too big for a condition")
    return _BINARY[type(node.op)](left, right)


def _comparison(node: ast.Compare, names: Mapping[str, Any]) -> Any:
    left = _value(node.left, names)
    for kind, part in zip(node.ops, node.comparators, strict=True):
        right = _value(part, names)
        if not _COMPARE[type(kind)](left, right):
            return False
        left = right
    return True
