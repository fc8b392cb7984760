"""Which class of a cell is the graph's state."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from typing_extensions import is_typeddict

from evonb.errors import MagicError
from evonb.magics.options import near

__all__ = ["classes_in", "find_schema"]


def classes_in(cell: str) -> list[str]:
    """Names of the classes that a cell's own code defines, in order; those inside functions and classes aside."""
    try:
        tree = ast.parse(cell)
    except SyntaxError:
        return []
    return [node.name for node in _statements(tree.body) if isinstance(node, ast.ClassDef)]


def find_schema(namespace: Mapping[str, Any], cell_classes: list[str], wanted: str | None) -> type:
    """The class that `wanted` names; else this cell's `State`, its last usable class, or a `State` of an earlier cell.

    Raises:
        MagicError: There is none, or the wanted one isn't a TypedDict or a pydantic model.
    """
    if wanted is not None:
        return _wanted(namespace, wanted)
    usable = [name for name in cell_classes if _is_schema(namespace.get(name))]
    if "State" in usable:
        return _as_type(namespace["State"])
    if usable:
        return _as_type(namespace[usable[-1]])
    if _is_schema(namespace.get("State")):
        return _as_type(namespace["State"])
    raise MagicError(
        "The cell defines no state",
        where="the cell's classes",
        fix='add `class State(TypedDict): messages: Annotated[list, "append_messages"]`, or --state CLASS',
    )


def _wanted(namespace: Mapping[str, Any], name: str) -> type:
    found = namespace.get(name)
    if _is_schema(found):
        return _as_type(found)
    known = [key for key, value in namespace.items() if _is_schema(value) and not key.startswith("_")]
    what = f"{name} isn't a TypedDict or a pydantic model" if found is not None else f"There is no class {name}"
    fix = near(name, known) if known else "define it as a TypedDict or a pydantic model"
    raise MagicError(what, where=f"--state {name}", fix=fix)


def _is_schema(value: object) -> bool:
    if value is BaseModel:
        return False
    return is_typeddict(value) or (isinstance(value, type) and issubclass(value, BaseModel))


def _as_type(value: Any) -> type:
    found: type = value
    return found


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements that run with the cell: those in `if`, `try`, `with` and loops included."""
    found: list[ast.stmt] = []
    for statement in body:
        found.append(statement)
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for name in ("body", "orelse", "finalbody"):
            found += _statements(getattr(statement, name, []))
        for handler in getattr(statement, "handlers", []):
            found += _statements(handler.body)
    return found
