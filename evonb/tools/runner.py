"""Runs one `execute` in its discipline and ends the wait for it in time. Knows nothing of receipts.

A sync tool gets a daemon thread of its own: in a shared pool a few hung tools would block all others, and the
interpreter would wait for them at its end.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from evonb.logger import get_logger
from evonb.tools.context import ToolExecutionContext, running
from evonb.tools.errors import ToolError
from evonb.tools.signals import CancelSource, post

__all__ = ["ContractError", "Outcome", "RunIn", "ask", "supervise", "work"]

_log = get_logger(__name__)
# Time for an orderly clean-up after a cancel; a longer one goes on behind the receipt.
GRACE_S = 0.05
RunIn: TypeAlias = Literal["thread", "loop"]
Body: TypeAlias = Callable[[], Any]
# Tasks that go on after their receipt; asyncio itself holds tasks only weakly.
_lingering: set[asyncio.Future[Outcome]] = set()


class ContractError(ToolError):
    """A tool didn't do what its declared mode says."""

    category = "contract"


@dataclass(slots=True)
class Outcome:
    """How `execute` ended; with an error there is no value.

    Attributes:
        denied: Whether the error came from the hook that runs before `execute`.
    """

    value: Any = None
    error: BaseException | None = None
    denied: bool = False


async def work(
    body: Body,
    context: ToolExecutionContext,
    *,
    run_in: RunIn = "thread",
    before: Callable[[], object] | None = None,
    around: Callable[[ToolExecutionContext], AbstractContextManager[object]] | None = None,
) -> Outcome:
    """Run the hook, then the tool. Every exception but a cancellation comes back inside the outcome."""
    if before is not None and (refused := await ask(before)).denied:
        return refused
    try:
        with around(context) if around is not None else nullcontext():
            running.set(context)
            if context.mode == "async":
                return Outcome(value=await _awaitable(body()))
            if run_in == "loop":
                return Outcome(value=_plain(body()))
            return await _in_thread(body, context.tool_id)
    except (Exception, SystemExit) as error:  # sys.exit() in a tool must not end the kernel
        return Outcome(error=error)


async def ask(hook: Callable[[], object]) -> Outcome:
    """Run a hook, async or not; what it raises comes back as a refusal."""
    try:
        allowed = hook()
        if inspect.isawaitable(allowed):
            await allowed
    except (Exception, SystemExit) as error:
        return Outcome(error=error, denied=True)
    return Outcome()


async def supervise(
    task: asyncio.Task[Outcome], source: CancelSource, limit_s: float | None
) -> Outcome | Literal["timed_out", "cancelled"]:
    """Wait for the tool, its time limit or its cancellation, whichever comes first.

    Whatever ends the wait early also aborts the signal and cancels the task, and doesn't wait for a slow clean-up.
    If the caller itself is cancelled, so is the tool, and the `CancelledError` goes on.
    """
    loop = asyncio.get_running_loop()
    aborted: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not aborted.done():
            aborted.set_result(None)

    remove = source.signal.on_abort(lambda: post(loop, wake))
    either: set[asyncio.Future[Any]] = {task, aborted}
    try:
        await asyncio.wait(either, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        source.cancel("the caller was cancelled")
        await _end(task)
        raise
    finally:
        remove()
    if task.done() and not task.cancelled():
        return task.result()
    if task.done() or source.signal.aborted:
        source.cancel("the tool cancelled its own task")
        await _end(task)
        return "cancelled"
    source.cancel(TimeoutError(f"timed out after {limit_s:g} s"))
    await _end(task)
    return "timed_out"


async def _end(task: asyncio.Task[Outcome]) -> None:
    """Cancel the task, give it a moment, then leave it to itself."""
    if task.done():
        return
    task.cancel()
    _lingering.add(task)
    task.add_done_callback(_lingering.discard)
    task.add_done_callback(_say_how_it_ended)
    # Wait on a clock of our own and not on the task: a second cancellation of the caller must get through.
    deadline = time.monotonic() + GRACE_S
    while not task.done() and (left := deadline - time.monotonic()) > 0:
        await asyncio.wait({task}, timeout=left)


def _say_how_it_ended(task: asyncio.Future[Outcome]) -> None:
    # Also fetches the exception, which asyncio would otherwise complain about.
    error = None if task.cancelled() else task.exception()
    if error is not None:
        _log.warning("A tool raised while it was being cancelled", exc_info=error)


async def _awaitable(result: Any) -> Any:
    if not inspect.isawaitable(result):
        raise ContractError(
            f"The tool is declared async, but execute returned {type(result).__name__}",
            fix="make execute a coroutine function, or declare mode='sync'",
        )
    return await result


def _plain(result: Any) -> Any:
    if not inspect.isawaitable(result):
        return result
    if inspect.iscoroutine(result):
        result.close()  # nobody will await it, and Python would warn about that
    raise ContractError(
        "The tool is declared sync, but execute returned an awaitable",
        fix="declare mode='async'; a decorator around an async function has to be async as well",
    )


async def _in_thread(body: Body, name: str) -> Outcome:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Outcome] = loop.create_future()
    inherited = contextvars.copy_context()

    def deliver(outcome: Outcome) -> None:
        if not done.done():  # the wait may have ended before the tool did
            done.set_result(outcome)

    def run() -> None:
        try:
            outcome = Outcome(value=inherited.run(lambda: _plain(body())))
        except BaseException as error:  # handed over whole: StopIteration can't be set on a future
            outcome = Outcome(error=error)
        post(loop, lambda: deliver(outcome))

    threading.Thread(target=run, name=f"evonb-tool-{name}", daemon=True).start()
    return await done
