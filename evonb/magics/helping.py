"""`%evo help`: every command, how it is written and what it does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from evonb.errors import MagicError
from evonb.magics.listing import Table
from evonb.magics.options import near
from evonb.magics.session import Session

__all__ = ["COMMANDS", "HELP"]

HELP: Mapping[str, tuple[str, str]] = {
    "list": ("list", "the graphs of the notebook and how they ran last"),
    "show": ("show NAME", "show a graph's picture"),
    "run": ("run NAME [inputs]", "run a graph to its end and give its state"),
    "debug": ("debug NAME [inputs]", "begin a session that stops, steps and goes back"),
    "answer": ("answer VALUE [at NODE]", "answer what a node asks"),
    "break": ("break [NODE [if EXPR] [after] [hit N] [log EXPR]]", "stop before or after a node; alone it lists"),
    "unbreak": ("unbreak NODE | ID | all", "take breakpoints away"),
    "step": ("step [NODE] [--into | --out] [--again]", "run one task, or every ready one; into a sub-graph, out of it"),
    "resume": ("resume [--again]", "run on to the next breakpoint; --again lets effects act again"),
    "to": ("to NODE", "run everything on, up to a node"),
    "pause": ("pause", "stop before the next task"),
    "stop": ("stop", "end the session; its record stays"),
    "edit": ("edit [NODE.]KEY=EXPR", "change a key of the state that the next task starts from"),
    "fork": ("fork [NAME]", "go on from the step that is shown, on a branch of its own"),
    "state": ("state [KEY]", "the state that is shown, or one key of it"),
    "back": ("back [N]", "show an earlier step; nothing runs"),
    "on": ("on [N]", "show a later step; nothing runs"),
    "live": ("live", "show the present again"),
    "until": ("until EXPR", "show the first step after which an expression over the state was true"),
    "why": ("why NODE", "why a node waits, is held, ran twice or hasn't run"),
    "who": ("who KEY", "which steps wrote a key"),
    "compare": ("compare [A B]", "what differs between two branches; alone the newest and main"),
    "runs": ("runs [NAME]", "the stored runs of a graph"),
    "open": ("open RUN", "stand where a stored run stands"),
    "help": ("help [COMMAND]", "this list, or one line of it"),
}
"""By command, how it is written behind `%evo` and what it does."""


async def _help(_session: Session, rest: str) -> Table:
    """`help [COMMAND]`: what there is."""
    if rest and rest not in HELP:
        what = f"%evo has no command {rest!r}"
        raise MagicError(what, where=f"%evo help {rest}", fix=near(rest, list(HELP)))
    rows = [(f"%evo {usage}", text) for name, (usage, text) in HELP.items() if rest in ("", name)]
    return Table(("command", "what it does"), rows, note="--graph NAME says which graph, where there are several")


COMMANDS: Mapping[str, Callable[[Session, str], Awaitable[Any]]] = {"help": _help}
