"""`%evo`: list, show and run the graphs of a notebook. Each command is an awaitable line of Python underneath."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn

from evonb.errors import MagicError
from evonb.magics.listing import GraphList, rows_of
from evonb.magics.options import near
from evonb.magics.session import Session, current
from evonb.widgets.display import show, show_once

__all__ = ["COMMANDS", "refuse_in_function", "run_command", "run_line"]

USAGE = "%evo list | show NAME | run NAME [inputs]"


async def run_command(line: str) -> Any:
    """Carry out what stands behind `%evo`.

    Returns:
        `list`: the graphs; `run`: the final state; `show`: nothing.

    Raises:
        MagicError: The command, the graph or the inputs aren't understood.
        EvonbError: What the run raises.
    """
    word, _, rest = line.strip().partition(" ")
    if not word:
        raise MagicError("%evo wants a command", where="%evo", fix=f"write {USAGE}")
    if word not in COMMANDS:
        raise MagicError(f"%evo has no command {word!r}", where=f"%evo {line}".strip(), fix=near(word, list(COMMANDS)))
    return await COMMANDS[word](current(), rest.strip())


def run_line(line: str) -> Any:
    """`%evo` where it can't be awaited, as inside `%time`: everything but `run`."""
    if line.split(maxsplit=1)[:1] == ["run"]:
        raise MagicError(
            "%evo run must stand on a line of its own", where=f"%evo {line}", fix="or write: await NAME.run({...})"
        )
    try:
        run_command(line).send(None)
    except StopIteration as finished:
        return finished.value
    raise AssertionError("only `run` waits")


def refuse_in_function(line: str, number: int) -> NoReturn:
    """Stands for a whole cell that has `%evo` inside a plain function."""
    raise MagicError(
        "%evo stands inside a function, where it can't wait",
        where=f"{current().cell_place()}, line {number}: %evo {line}",
        fix="move it out of the function, or make it `async def` and call it with await",
    )


async def _list(session: Session, rest: str) -> GraphList:
    if rest:
        raise MagicError("%evo list takes nothing", where=f"%evo list {rest}", fix="write: %evo list")
    return GraphList(rows_of(session.graphs()))


async def _show(session: Session, rest: str) -> None:
    show(session.graph(_name(rest, "show")))


async def _run(session: Session, rest: str) -> Any:
    name, _, text = rest.partition(" ")
    graph = session.graph(_name(name, "run"))
    inputs = _inputs(session, text.strip())
    show_once(graph)
    return await graph.run(inputs)


COMMANDS: Mapping[str, Callable[[Session, str], Awaitable[Any]]] = {"list": _list, "show": _show, "run": _run}


def _name(name: str, command: str) -> str:
    if not name:
        raise MagicError(f"%evo {command} wants a graph", where=f"%evo {command}", fix=f"write: %evo {command} NAME")
    return name


def _inputs(session: Session, text: str) -> Any:
    """JSON, or a Python expression over the notebook's names: what the user typed, evaluated where they typed it."""
    if not text:
        return {}
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return eval(text, session.namespace)
    except Exception as error:
        raise MagicError(
            f"The inputs can't be read: {type(error).__name__}: {error}",
            where=f"%evo run: {text[:80]}",
            fix='write JSON or Python, as in: %evo run NAME {"topic": "billing"}',
        ) from error
