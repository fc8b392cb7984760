"""Writes the TypeScript twins of the wire's modules: `python -m evonb.protocol.typescript [--check]`.

Works from the type hints alone, in the order of their declaration, so the same hints give the same text.
A checkout is needed: the wheel has no TypeScript. `--check` writes nothing and fails when a file has drifted.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

from evonb.protocol import debug_commands, debugging, events, messages, snapshot

FOLDER = Path(__file__).parents[2] / "js" / "src" / "protocol"
FILES: Mapping[str, tuple[ModuleType, ...]] = {
    "generated.ts": (snapshot, events, messages),
    "generated_debugging.ts": (debugging, debug_commands),
}
"""Each file and the modules that it is the twin of. What a later one takes from an earlier one it imports."""
HEAD = """\
// Written by `python -m evonb.protocol.typescript` from {source}. Don't edit: change what it is written from.
"""
_ATOMS: Mapping[Any, str] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    Any: "unknown",
    object: "unknown",
}


def generate(*modules: ModuleType) -> str:
    """The TypeScript text for every public constant, alias and TypedDict that the modules declare.

    Raises:
        TypeError: A hint has no counterpart on the wire, such as `set` or a class that isn't a TypedDict.
    """
    declared: dict[str, Any] = {}
    for module in modules:
        for name, value in _declared(module):
            declared.setdefault(name, value)  # an alias that a later one has imported is there already
    return "\n".join([HEAD.format(source=_paths(modules)), *_imports(modules), *_declarations(declared)])


def _paths(modules: Iterable[ModuleType]) -> str:
    return ", ".join(f"{module.__name__.replace('.', '/')}.py" for module in modules)


def _imports(modules: tuple[ModuleType, ...]) -> Iterator[str]:
    """One line for each other file whose TypedDicts these modules use by name."""
    used = {name for module in modules for name in vars(module)}
    for file, sources in FILES.items():
        taken = sorted(used & {name for source in sources for name in _own_classes(source)}, key=str.lower)
        if sources != modules and taken:
            yield f'import type {{ {", ".join(taken)} }} from "./{file}";\n'


def _own_classes(module: ModuleType) -> set[str]:
    return {name for name, value in vars(module).items() if is_typeddict(value) and value.__module__ == module.__name__}


def _declarations(declared: Mapping[str, Any]) -> Iterator[str]:
    # Hints that have a name of their own, so that a field says `NodeStatus` and not its eight words.
    names = {value: name for name, value in declared.items() if _is_alias(value)}
    for name, value in declared.items():
        if is_typeddict(value):
            yield _interface(value, names)
        elif value in names:
            yield f"export type {name} =\n  | " + "\n  | ".join(_members(value, names)) + ";\n"
        else:
            yield f"export const {name} = {json.dumps(value)};\n"


def _declared(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """What the module declares, in order: its TypedDicts, its aliases and its plain constants."""
    own = _own_classes(module)
    for name, value in vars(module).items():
        if name.startswith("_"):
            continue
        if name in own or _is_alias(value) or (name.isupper() and isinstance(value, str | int | float)):
            yield name, value


def _is_alias(value: Any) -> bool:
    return isinstance(value, UnionType) or get_origin(value) in (Literal, Union)


def _interface(cls: type, names: Mapping[Any, str]) -> str:
    hints = get_type_hints(cls, include_extras=True)
    fields = "".join(f"  readonly {_field(name, hint, names)};\n" for name, hint in hints.items())
    return f"{_comment(cls)}export interface {cls.__name__} {{\n{fields}}}\n"


def _field(name: str, hint: Any, names: Mapping[Any, str]) -> str:
    if get_origin(hint) is NotRequired:
        return f"{name}?: {_type(get_args(hint)[0], names)}"
    if get_origin(hint) is Required:
        hint = get_args(hint)[0]
    return f"{name}: {_type(hint, names)}"


def _comment(cls: type) -> str:
    text = inspect.cleandoc(cls.__doc__ or "")
    if not text:
        return ""
    lines = "\n".join(f" * {line}".rstrip() for line in text.replace("*/", "* /").splitlines())
    return f"/**\n{lines}\n */\n"


def _type(hint: Any, names: Mapping[Any, str]) -> str:
    if _is_alias(hint):
        return names.get(hint) or " | ".join(_members(hint, names))
    if is_typeddict(hint):
        return str(hint.__name__)
    if hint in _ATOMS:
        return _ATOMS[hint]
    args = get_args(hint)
    if get_origin(hint) is list:
        item = _type(args[0], names)
        return f"readonly ({item})[]" if " " in item else f"readonly {item}[]"
    if get_origin(hint) is dict and (args[0] is str or get_origin(args[0]) is Literal):
        return f"Readonly<Record<{_type(args[0], names)}, {_type(args[1], names)}>>"
    allowed = "str, int, float, bool, None, list, dict or a TypedDict"
    raise TypeError(f"{hint!r} has no counterpart on the wire; use {allowed}")


def _members(alias: Any, names: Mapping[Any, str]) -> list[str]:
    if get_origin(alias) is Literal:
        return [json.dumps(value) for value in get_args(alias)]
    return [_type(member, names) for member in get_args(alias)]


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or with `--check` compare; 1 means that one has drifted."""
    parser = argparse.ArgumentParser(prog="python -m evonb.protocol.typescript")
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a file differs")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the files are written or compared")
    options = parser.parse_args(arguments)
    drifted = [name for name, modules in FILES.items() if not _settle(options.folder / name, modules, options.check)]
    return 1 if drifted else 0


def _settle(target: Path, modules: tuple[ModuleType, ...], check_only: bool) -> bool:
    """Write one file, or compare it. False when it was only compared and differs."""
    text = generate(*modules)
    if not check_only:
        target.write_text(text, encoding="utf-8")
        return True
    if target.is_file() and target.read_text(encoding="utf-8") == text:
        return True
    print(
        f"{target.name} differs from {_paths(modules)}\n"
        f"  where: {target}\n"
        "  fix:   run `python -m evonb.protocol.typescript` and commit the file",
        file=sys.stderr,
    )
    return False


if __name__ == "__main__":
    raise SystemExit(main())
