"""Which class of a cell is the graph's state."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel
from typing_extensions import is_typeddict

from evonb.errors import MagicError
from evonb.magics.options import near

__all__ = ["classes_in", "defined_as", "defined_twice", "find_schema", "parts_in"]


def classes_in(cell: str) -> list[str]:
    """Names of the classes that a cell's own code defines, in order; those inside functions and classes aside."""
    return [node.name for node in _parsed(cell) if isinstance(node, ast.ClassDef)]


def parts_in(cell: str) -> set[str]:
    """Names of the classes that another class of the cell is made of: bases, and types of its fields."""
    classes = [node for node in _parsed(cell) if isinstance(node, ast.ClassDef)]
    return {
        part.id
        for each in classes
        for part in ast.walk(each)
        if isinstance(part, ast.Name) and part.id != each.name and any(part.id == other.name for other in classes)
    }


def defined_as(cell: str, name: str) -> str:
    """What a cell's own code defines under a name: "class", "function", or "" for nothing."""
    for node in _parsed(cell):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return "class" if isinstance(node, ast.ClassDef) else "function"
    return ""


def defined_twice(cell: str, name: str) -> bool:
    """Whether a cell defines a class twice in a row; two branches of an `if` are a choice."""
    try:
        body = ast.parse(cell).body
    except SyntaxError:
        return False
    return sum(isinstance(node, ast.ClassDef) and node.name == name for node in body) > 1


def find_schema(
    namespace: Mapping[str, Any], cell_classes: list[str], wanted: str | None, parts: Collection[str] = ()
) -> type:
    """The class that `wanted` names; else this cell's `State`, its only usable class, or a `State` of an earlier cell.

    Args:
        namespace: What the names stand for.
        cell_classes: Names of the cell's classes.
        wanted: What `--state` says.
        parts: Those of them that others are made of: they count only where there is nothing else.

    Raises:
        MagicError: There is none or several, or the wanted one isn't a TypedDict or a pydantic model.
    """
    if wanted is not None:
        return _wanted(namespace, wanted)
    if "State" in cell_classes:
        if not _is_schema(namespace.get("State")):
            raise _plain("State")
        return _as_type(namespace["State"])
    usable = [name for name in dict.fromkeys(cell_classes) if _is_schema(namespace.get(name))]
    usable = [name for name in usable if name not in parts] or usable
    if len(usable) > 1:
        raise MagicError(
            f"Which class is the state? {', '.join(usable[:-1])} and {usable[-1]} could be",
            where="the cell's classes",
            fix=f"say so in the first line: --state {usable[-1]}, or call it State",
        )
    if usable:
        return _as_type(namespace[usable[0]])
    if _is_schema(namespace.get("State")):
        return _as_type(namespace["State"])
    if plain := [name for name in cell_classes if isinstance(namespace.get(name), type) and name != "BaseModel"]:
        raise _plain(plain[-1])
    raise MagicError(
        "The cell defines no state",
        where="the cell's classes",
        fix='add `class State(TypedDict): messages: Annotated[list, "append_messages"]`, or --state CLASS',
    )


def _plain(name: str) -> MagicError:
    return MagicError(
        f"{name} is a plain class, and a state is a TypedDict or a pydantic model",
        where="the cell's classes",
        fix=f"write: class {name}(TypedDict):",
    )


def _wanted(namespace: Mapping[str, Any], name: str) -> type:
    found = namespace.get(name)
    if _is_schema(found):
        return _as_type(found)
    known = [key for key, value in namespace.items() if _is_users(value) and not key.startswith("_")]
    what = f"{name} isn't a TypedDict or a pydantic model" if found is not None else f"There is no class {name}"
    fix = near(name, known) if known else "define it as a TypedDict or a pydantic model"
    raise MagicError(what, where=f"--state {name}", fix=fix)


def _is_schema(value: object) -> bool:
    if value is BaseModel:
        return False
    return is_typeddict(value) or (isinstance(value, type) and issubclass(value, BaseModel))


def _is_users(value: object) -> bool:
    """Whether it is a state class that isn't one of evonb's own, which a notebook may have imported."""
    return _is_schema(value) and not str(getattr(value, "__module__", "")).startswith("evonb.")


def _as_type(value: Any) -> type:
    found: type = value
    return found


def _parsed(cell: str) -> list[ast.stmt]:
    try:
        return _statements(ast.parse(cell).body)
    except SyntaxError:
        return []


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
