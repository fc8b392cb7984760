"""`%evo`: list, show, run and debug the graphs of a notebook. Each command is an awaitable line of Python below."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn

from evonb._optional import require
from evonb.errors import MagicError
from evonb.magics import answering, debugging, helping, looking
from evonb.magics.evo_inputs import name_of, read_inputs
from evonb.magics.listing import Table, graph_table
from evonb.magics.options import near
from evonb.magics.session import Session, current
from evonb.widgets.display import show, show_once

__all__ = ["COMMANDS", "refuse_in_function", "run_command", "run_line"]

USAGE = (
    "%evo list | show NAME | run NAME [inputs] | debug NAME [inputs] | break NODE | step | back | resume | state"
    " | answer VALUE [at NODE]; %evo help lists all"
)


async def run_command(line: str, *, shown: bool = False) -> Any:
    """Carry out what stands behind `%evo`.

    Args:
        line: The command.
        shown: It stands where nobody takes its value, as in a loop: show what it tells; the state of a run aside.

    Returns:
        `list`: the graphs; `run`: the final state; `show`: nothing; the others: what they have to tell.

    Raises:
        MagicError: The command, the graph or the inputs aren't understood.
        EvonbError: What the run raises.
    """
    word, _, rest = line.strip().partition(" ")
    if not word:
        raise MagicError("%evo wants a command", where="%evo", fix=f"write {USAGE}")
    if word not in COMMANDS:
        raise MagicError(f"%evo has no command {word!r}", where=f"%evo {line}".strip(), fix=near(word, list(COMMANDS)))
    told = await COMMANDS[word](current(), rest.strip())
    if not shown or told is None or word == "run":
        return told
    require("IPython.display", "to show what a command tells").display(told)
    return None


def run_line(line: str) -> Any:
    """`%evo` where it can't be awaited, as inside `%time`: everything that doesn't wait for a node."""
    word = line.split(maxsplit=1)[0] if line.strip() else ""
    work = run_command(line) if word not in _RUNS else None
    try:
        if work is not None:
            work.send(None)
            work.close()
    except StopIteration as finished:
        return finished.value
    raise MagicError(
        f"%evo {word} must stand on a line of its own", where=f"%evo {line}", fix="or write: await NAME.run({...})"
    )


def refuse_in_function(line: str, number: int) -> NoReturn:
    """Stands for a whole cell that has `%evo` inside a plain function."""
    raise MagicError(
        "%evo stands inside a function, where it can't wait",
        where=f"{current().cell_place()}, line {number}: %evo {line}",
        fix="move it out of the function, or make it `async def` and call it with await",
    )


async def _list(session: Session, rest: str) -> Table:
    if rest:
        raise MagicError("%evo list takes nothing", where=f"%evo list {rest}", fix="write: %evo list")
    return graph_table(session.graphs())


async def _show(session: Session, rest: str) -> None:
    show(session.graph(name_of(rest, "show")))


async def _run(session: Session, rest: str) -> Any:
    name, _, text = rest.partition(" ")
    graph = session.graph(name_of(name, "run"))
    inputs = read_inputs(session, text.strip(), "run")
    show_once(graph)
    return await graph.run(inputs)


COMMANDS: Mapping[str, Callable[[Session, str], Awaitable[Any]]] = {
    "list": _list,
    "show": _show,
    "run": _run,
    **debugging.COMMANDS,
    **looking.COMMANDS,
    **answering.COMMANDS,
    **helping.COMMANDS,
}
_RUNS = frozenset({"run", "debug", "step", "resume", "to", "fork", "answer"})
