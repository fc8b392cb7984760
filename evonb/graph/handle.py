"""Ways to run an engine other than awaiting it: in the background, in a thread, as a stream of events."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from evonb._optional import require
from evonb.errors import GraphError, StateError
from evonb.graph.bus import Bus
from evonb.graph.near import wrong_kind

if TYPE_CHECKING:
    from evonb.graph.asking import Question
    from evonb.graph.engine import GraphEngine
    from evonb.graph.events import Event, Listener, RunId

__all__ = ["RunHandle", "run_all", "run_in_loop_thread", "stream_events"]


class RunHandle:
    """A run in the background.

    Awaiting it, as often as one likes, gives the result or raises the run's error; awaiting and giving up doesn't stop
    the run. A failure that nobody awaits is told by the run's events only.
    """

    def __init__(self, bus: Bus, engine: GraphEngine, work: Coroutine[Any, Any, Any]) -> None:
        self._bus = bus
        self._engine = engine
        self._stopped = False
        self._task: asyncio.Task[Any] = asyncio.get_running_loop().create_task(work)
        self._task.add_done_callback(_retrieve)

    @property
    def run_id(self) -> RunId:
        """The id that the run's events carry."""
        return self._bus.run_id

    @property
    def engine(self) -> GraphEngine:
        """The graph that runs."""
        return self._engine

    @property
    def done(self) -> bool:
        """Whether the run is over."""
        return self._task.done()

    def stop(self) -> None:
        """Stop the run as soon as its nodes can be cancelled. Call it on the run's loop; does nothing after the end."""
        if not self._task.done():
            self._stopped = True
            self._task.cancel()

    async def question(self) -> Question | None:
        """The question to a person that this run waits on, or the next one; None if the run ends without asking."""
        from evonb.graph.asking import next_question  # most runs never ask

        asked = asyncio.ensure_future(next_question(self.run_id))
        await asyncio.wait((asked, self._task), return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            return asked.result()
        asked.cancel()
        return None

    def answer(self, value: Any, *, node: str | None = None) -> Any:
        """Answer the question that this run waits on; from any thread.

        Args:
            value: The answer.
            node: The node that asks, when several do.

        Returns:
            The value as the node gets it, with the declared type.

        Raises:
            AnswerRefused: It doesn't fit; the question stays open.
            NoQuestion: No question is open, or several are.
        """
        from evonb.graph.asking import answer

        return answer(value, run_id=self.run_id, node=node)

    def __await__(self) -> Generator[Any, None, Any]:
        return self._result().__await__()

    async def _result(self) -> Any:
        """The result; None for a run that was stopped."""
        await asyncio.wait((self._task,))
        if self._task.cancelled() and self._stopped:
            return None
        return self._task.result()

    def __repr__(self) -> str:
        state = "running" if not self.done else "stopped" if self._stopped else "done"
        return f"<RunHandle of graph {self._engine.name!r}: {state}>"


def _retrieve(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()  # asyncio would complain about an error that nobody awaited


# --- plain code ------------------------------------------------------------------------------

_loop: asyncio.AbstractEventLoop | None = None
_lock = threading.Lock()


def run_in_loop_thread(work: Coroutine[Any, Any, Any]) -> Any:
    """Await a coroutine on the loop thread that evonb keeps for plain code; blocks, and cancels it when interrupted."""
    future = asyncio.run_coroutine_threadsafe(work, _loop_of_thread())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _loop_of_thread() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="evonb-loop", daemon=True).start()
        return _loop


# --- many at once ---------------------------------------------------------------------------------


async def run_all(
    run: Callable[[Mapping[str, Any]], Awaitable[Any]],
    inputs: Iterable[Mapping[str, Any]],
    concurrency: int,
    *,
    progress: bool,
) -> list[Any]:
    """`run` for each input, some at a time; results and errors in the order of the inputs.

    Raises:
        GraphError: `concurrency` is no number above 0.
        StateError: The inputs are no list.
        MissingDependency: A progress bar is wanted, and `tqdm` is missing.
    """
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
        raise GraphError(
            f"concurrency is {concurrency!r}, expected a number above 0", where="run_many", fix="concurrency=8"
        )
    if isinstance(inputs, Mapping | str) or not isinstance(inputs, Iterable):
        raise wrong_kind(
            StateError,
            "run_many takes the inputs of each run in a list",
            inputs,
            where="run_many",
            fix="run_many([{...}])",
        )
    waiting = list(enumerate(inputs))[::-1]
    results: list[Any] = [None] * len(waiting)
    bar = require("tqdm.auto", "to show progress").tqdm(total=len(waiting)) if progress else None

    async def work() -> None:
        while waiting:
            at, given = waiting.pop()
            try:
                results[at] = await run(given)
            except Exception as error:
                results[at] = error
            if bar is not None:
                bar.update()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(waiting))):
                group.create_task(work())
    finally:
        if bar is not None:
            bar.close()
    return results


# --- as a stream -------------------------------------------------------------------------------


async def stream_events(begin: Callable[[Listener], Awaitable[Any]]) -> AsyncIterator[Event]:
    """The events of the run that `begin` makes with a listener, in order."""
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[Event | None] = asyncio.Queue()

    def listen(event: Event) -> None:
        loop.call_soon_threadsafe(events.put_nowait, event)

    async def work() -> None:
        try:
            await begin(listen)
        finally:
            loop.call_soon_threadsafe(events.put_nowait, None)

    task = asyncio.create_task(work())
    try:
        while (event := await events.get()) is not None:
            yield event
        await task
    finally:
        task.cancel()
        await asyncio.wait((task,))
        _retrieve(task)
