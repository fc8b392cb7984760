"""Calling a node when there is more to it: a worker thread, a time limit, another try, one at a time."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from evonb.graph.plan import NodePlan
from evonb.graph.stopwatch import stopwatch
from evonb.logger import get_logger

if TYPE_CHECKING:
    from evonb.graph.retry import RetryPolicy

__all__ = ["TookTooLong", "call_node"]

_log = get_logger(__name__)
_GRACE_S = 1.0


class TookTooLong(Exception):
    """A node execution met its time limit."""


async def call_node(node: NodePlan, make_state: Callable[[], Any], *, threaded: bool) -> Any:
    """The answer of a node, tried as often as its policy allows.

    Args:
        node: The node.
        make_state: Makes the copy of the state for one try.
        threaded: Whether a sync node goes to a worker thread.

    Raises:
        TookTooLong: The time limit was met.
    """
    if node.retry is None:
        return await _once(node, make_state(), threaded=threaded)
    from evonb.graph.retry import as_policy  # many graphs never retry

    policy = as_policy(node.retry)
    delay_s = policy.delay_s
    for attempt in range(1, policy.attempts + 1):
        try:
            return await _once(node, make_state(), threaded=threaded)
        except Exception as error:
            if attempt == policy.attempts or not _worth_it(policy, error):
                raise
            await asyncio.sleep(delay_s)
            delay_s *= policy.backoff
    raise AssertionError("a policy allows at least one attempt")


def _worth_it(policy: RetryPolicy, error: Exception) -> bool:
    if isinstance(error, TookTooLong):
        kinds = policy.on if isinstance(policy.on, tuple) else (policy.on,)
        return any(issubclass(TimeoutError, kind) for kind in kinds)
    return isinstance(error, policy.on)


async def _once(node: NodePlan, state: Any, *, threaded: bool) -> Any:
    if node.is_async:
        return await _limited(node.call(state), node.timeout)
    answer: Any
    if threaded:
        from evonb.graph.threads import in_thread  # many runs never need a thread

        answer = await _limited(in_thread(_with_context(node.call, state)), node.timeout)
    else:
        answer = node.call(state)
    # A plain function may hand back a coroutine, as decorated ones do.
    return await _limited(answer, node.timeout) if inspect.isawaitable(answer) else answer


def _with_context(call: Callable[[Any], Any], state: Any) -> Callable[[], Any]:
    context = copy_context()
    return lambda: context.run(call, state)


async def _limited(work: Awaitable[Any], timeout_s: float | None) -> Any:
    if timeout_s is None:
        return await work
    future = asyncio.ensure_future(work)
    try:
        watch = stopwatch.get()
        if watch is None:
            await asyncio.wait((future,), timeout=timeout_s)
        else:
            await watch.wait(future, timeout_s)
    except asyncio.CancelledError:
        future.cancel()
        raise
    if future.done():
        return future.result()
    future.cancel()
    if isinstance(future, asyncio.Task):
        _, running = await asyncio.wait((future,), timeout=_GRACE_S)
        if running:
            _log.warning("A node goes on after its time limit: it swallows asyncio.CancelledError")
    raise TookTooLong
