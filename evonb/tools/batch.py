"""Several calls at once: in what order they run, with how many at a time. What a call does isn't known here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from evonb.tools.errors import ToolError
from evonb.tools.receipts import ToolReceipt
from evonb.tools.signals import CancelSignal
from evonb.tools.text import preview
from evonb.typing import ToolCall

__all__ = ["CallLike", "CallRequest", "run_batch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """One call of a batch; the fields are the arguments of `ToolRegistry.ainvoke`."""

    tool_id: str
    raw: Any = None
    call_id: str | None = None
    signal: CancelSignal | None = None
    timeout: float | None = None
    rerun: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.tool_id, str):
            raise ToolError(
                f"The id of a tool is a text, found {type(self.tool_id).__name__}: {preview(self.tool_id)}",
                where="ToolRegistry.ainvoke",
                fix="pass the tool's id first and its arguments second",
            )

    @classmethod
    def of(cls, call: CallLike) -> CallRequest:
        """A request out of a request, a model's `ToolCall`, an id, or a pair of id and arguments.

        Raises:
            ToolError: It is none of these.
        """
        if isinstance(call, CallRequest):
            return call
        if isinstance(call, ToolCall):
            return cls(tool_id=call.function.name, raw=call.function.arguments, call_id=call.id)
        if isinstance(call, str):
            return cls(tool_id=call)
        if isinstance(call, tuple) and len(call) == 2 and isinstance(call[0], str):
            return cls(tool_id=call[0], raw=call[1])
        raise ToolError(
            f"A call was expected, found {preview(call)}",
            where="ToolRegistry.ainvoke_many",
            fix="use a ToolCall, a CallRequest(tool_id=..., raw=...), or a pair (tool_id, arguments)",
        )


CallLike: TypeAlias = CallRequest | ToolCall | str | tuple[str, Any]


async def run_batch(
    requests: list[CallRequest],
    one: Callable[[CallRequest], Awaitable[ToolReceipt]],
    is_exclusive: Callable[[str], bool],
    max_concurrency: int | None,
) -> list[ToolReceipt]:
    """Run the requests; the results are in their order. An exclusive one divides the batch in two.

    Raises:
        ToolError: `max_concurrency` is below 1.
    """
    if max_concurrency is not None and max_concurrency < 1:
        raise ToolError(
            f"max_concurrency is {max_concurrency}, expected 1 or more",
            where="ToolRegistry.ainvoke_many",
            fix="leave it out for no limit",
        )
    gate = asyncio.Semaphore(max_concurrency or max(len(requests), 1))

    async def gated(request: CallRequest) -> ToolReceipt:
        async with gate:
            return await one(request)

    receipts: list[ToolReceipt] = []
    for group in _groups(requests, is_exclusive):
        receipts += await asyncio.gather(*(gated(request) for request in group))
    return receipts


def _groups(requests: list[CallRequest], is_exclusive: Callable[[str], bool]) -> list[list[CallRequest]]:
    groups: list[list[CallRequest]] = [[]]
    for request in requests:
        if is_exclusive(request.tool_id):
            groups += [[request], []]
        else:
            groups[-1].append(request)
    return [group for group in groups if group]
