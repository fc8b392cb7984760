"""Which debugger a `%evo` command means, and letting its sessions run without holding the cell."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from evonb.errors import EvonbError, MagicError, NodeError
from evonb.graph.asking import watch_questions
from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.debugging.effects import EffectRepeats
from evonb.graph.debugging.holding import lines_since
from evonb.magics.cards import card_of, card_text, show_card
from evonb.magics.edit_and_continue import replaced, stand_breaks
from evonb.magics.session import Session
from evonb.widgets.display import has_kernel

__all__ = ["debugger_of", "follow", "split_target", "wait_until_still"]

SOON_S = 2.0
"""A cell waits so long for a session to pause; what takes longer goes on in the background, and the cell is free."""

STILL = ("idle", "paused", "failed", "finished")
_left: set[asyncio.Future[Any]] = set()


def split_target(session: Session, rest: str) -> tuple[GraphEngineDebugger, str]:
    """The debugger that a command means, and the command without `--graph NAME`.

    Raises:
        MagicError: There is none, or several and it isn't said which.
    """
    words = rest.split(" ")
    if "--graph" in words:
        at = words.index("--graph")
        name = words[at + 1] if at + 1 < len(words) else ""
        return debugger_of(session, name), " ".join([*words[:at], *words[at + 2 :]]).strip()
    return debugger_of(session, _only_name(session)), rest


def _only_name(session: Session) -> str:
    graphs = session.graphs()
    if session.debugging in graphs:
        return str(session.debugging)
    debuggers = [name for name, graph in graphs.items() if isinstance(graph, GraphEngineDebugger)]
    names = debuggers or list(graphs)
    if len(names) == 1:
        return names[0]
    what = f"Which graph? There are {', '.join(names)}" if names else "There is no graph"
    raise MagicError(what, where="%evo", fix="begin with %evo debug NAME, or add --graph NAME")


def debugger_of(session: Session, name: str) -> GraphEngineDebugger:
    """The debugger in a variable; of a graph that was built to run, one is made and takes its place.

    Raises:
        MagicError: There is no such graph.
    """
    graph = session.graph(name)
    if isinstance(graph, GraphEngineDebugger):
        return graph
    made = GraphEngineDebugger.of(graph)
    replaced(graph, made)
    session.namespace[name] = made
    if (entry := session.entries.get(name)) is not None:
        entry.engine = made
        stand_breaks(made, entry.options.breaks)
    return made


async def follow(debugger: GraphEngineDebugger, work: Awaitable[Any]) -> Any:
    """Wait for a command that runs nodes: in a terminal to its end, in a notebook for a moment.

    In both no longer than until nothing but a person's answer is waited for: the next cell may give it.

    A failed node is shown as a card and isn't raised: the session stands at it, to be mended. In a terminal, which
    has no panel, what log points printed is shown too.

    Returns:
        What the command gave; None if it goes on in the background.
    """
    logged = debugger.log_lines()
    task = asyncio.ensure_future(work)
    asks = asyncio.ensure_future(_until(debugger, lambda: debugger.only_asks))
    limit_s = SOON_S if has_kernel() else None
    try:
        with _interrupting(task):
            await asyncio.wait((task, asks), timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        asks.cancel()
        if not has_kernel():
            for line in lines_since(debugger.log_lines(), logged[-1] if logged else None):
                print(f"{line.node}: {line.text}")
    if not task.done():
        _left.add(task)
        task.add_done_callback(_forget)
        return None
    try:
        return task.result()
    except EffectRepeats as error:
        error.fix = "%evo resume --again (or step --again) lets it act again"
        raise
    except NodeError as error:
        _tell(error)
    return None


@contextmanager
def _interrupting(task: asyncio.Future[Any]) -> Iterator[None]:
    """In a terminal Ctrl-C cancels a command, as a kernel's interrupt does; else it would just leave the loop."""
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)
    try:
        if has_kernel():
            raise NotImplementedError
        loop.add_signal_handler(signal.SIGINT, task.cancel)
    except (NotImplementedError, RuntimeError, ValueError):  # another system, or not the main thread
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)


def _forget(task: asyncio.Future[Any]) -> None:
    _left.discard(task)
    error = None if task.cancelled() else task.exception()
    if isinstance(error, EvonbError):
        _tell(error)


def _tell(error: EvonbError) -> None:
    card = card_of(error)
    show_card(card)
    if not has_kernel():
        print(card_text(card))


async def wait_until_still(debugger: GraphEngineDebugger, limit_s: float | None = None) -> None:
    """Wait while the session runs: a command that needs a paused one, in a cell that was run right after another.

    A session that only waits for a person is still, too.
    """

    def is_still() -> bool:
        return debugger.status in STILL or debugger.only_asks

    if is_still():  # also where no loop runs
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            await _until(debugger, is_still)


async def _until(debugger: GraphEngineDebugger, holds: Callable[[], bool]) -> None:
    if holds():
        return
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    leave = debugger.watch(changed.set)
    hear_no_more = watch_questions(lambda *_: loop.call_soon_threadsafe(changed.set))
    try:
        while not holds():
            changed.clear()
            await changed.wait()
    finally:
        leave()
        hear_no_more()
