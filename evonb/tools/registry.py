"""The registry: the one path that every tool call takes, and the receipt at its end.

Calls never raise for what a tool or a model did wrong; they end in a receipt. Authorisation belongs to the
application: its hook may refuse a call, the registry decides nothing by itself.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from evonb.logger import get_logger
from evonb.tools import failures
from evonb.tools.arguments import Decoder, as_arguments
from evonb.tools.batch import CallLike, CallRequest, run_batch
from evonb.tools.catalog import Entry, ToolCatalog
from evonb.tools.erased import ErasedTool
from evonb.tools.errors import ToolCancelled, ToolError
from evonb.tools.events import ToolObserver
from evonb.tools.invocation import Invocation
from evonb.tools.journal import ReceiptJournal
from evonb.tools.loops import has_running_loop, run_blocking
from evonb.tools.receipts import ToolReceipt
from evonb.tools.repeats import RepeatedFailures
from evonb.tools.runner import ContractError, Outcome, ask, supervise, work
from evonb.tools.scope import BeforeExecute, current_scope
from evonb.tools.signals import CancelSignal

__all__ = ["ToolRegistry"]

_log = get_logger(__name__)


class ToolRegistry(ToolCatalog):
    """Tools by id, and the calling of them.

    Args:
        tools: Tools, or functions that become tools.
        timeout_s: The time limit of tools that have none of their own; None lets them run.
        decoder: Decodes argument texts; by default JSON with lossless repair only.
        before_execute: The application's own check of a parsed call.
        journal: Answers calls that completed before from their receipts; nothing runs again by itself.
        record: Give tools a logger and diagnostics.
        debug: Call the tools' `debug_steps`.
    """

    def __init__(
        self,
        tools: Iterable[Any] = (),
        *,
        timeout_s: float | None = None,
        decoder: Decoder | None = None,
        before_execute: BeforeExecute | None = None,
        journal: ReceiptJournal | None = None,
        record: bool = True,
        debug: bool = False,
    ) -> None:
        self.timeout_s = timeout_s
        self.decoder = decoder
        self.before_execute = before_execute
        self.journal = journal
        self.record = record
        self.debug = debug
        self._observers: list[ToolObserver] = []
        self._running: dict[str, Invocation] = {}
        self._repeats = RepeatedFailures()
        super().__init__(tools)

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: the tools, each in its own way, and its settings. Observers stay behind."""
        settings = ("timeout_s", "decoder", "before_execute", "journal", "record", "debug")
        return {"tools": list(self), **{name: getattr(self, name) for name in settings}}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A registry of these tools."""
        return cls(**fields)

    def attach(self, observer: ToolObserver) -> Callable[[], None]:
        """Tell `observer` every event of calls that begin from now on.

        It is called on the thread where the event happens. If it raises, it is dropped, that is logged, and the
        call goes on.

        Returns:
            A function that detaches it; calling it twice is harmless.
        """
        with self._lock:
            self._observers.append(observer)
        return lambda: self._detach(observer)

    async def ainvoke(
        self,
        tool_id: str,
        raw: Any = None,
        *,
        call_id: str | None = None,
        signal: CancelSignal | None = None,
        timeout: float | None = None,
        rerun: bool = False,
    ) -> ToolReceipt:
        """Call a tool. One `ToolStarted` first, one `ToolFinished` last, and its receipt as the result.

        Args:
            tool_id: The tool to call.
            raw: The arguments: a mapping, or the JSON text of a model. Nothing at all means none.
            call_id: The model's own id of the call.
            signal: Aborting it cancels the call.
            timeout: Seconds; by default the tool's own limit, else the registry's.
            rerun: Run again even if the journal knows the answer.

        Raises:
            asyncio.CancelledError: The caller's own task was cancelled. The tool is cancelled too, and the terminal
                event has been sent.
        """
        request = CallRequest(tool_id=tool_id, raw=raw, call_id=call_id, signal=signal, timeout=timeout, rerun=rerun)
        return await self._answer(request)

    def invoke(self, tool_id: str, raw: Any = None, **options: Any) -> ToolReceipt:
        """`ainvoke` for code without an event loop. The options are the same.

        Raises:
            ToolError: This thread has a running loop, as in a notebook cell, and the tool is async.
        """
        entry = self._entries.get(tool_id)
        if has_running_loop() and entry is not None and entry.mode == "async":
            raise ToolError(
                f"The tool '{tool_id}' is async, and this code runs inside an event loop, which it would block",
                where="ToolRegistry.invoke",
                fix=f"use await: receipt = await registry.ainvoke({tool_id!r}, ...)",
            )
        return run_blocking(self.ainvoke(tool_id, raw, **options))

    async def ainvoke_many(
        self,
        calls: Iterable[CallLike],
        max_concurrency: int | None = None,
        *,
        signal: CancelSignal | None = None,
        timeout: float | None = None,
    ) -> list[ToolReceipt]:
        """Make several calls at once. The receipts come in the order of the calls; none sinks another.

        A tool that is `exclusive` runs alone: after all calls before it, before all calls behind it.

        Args:
            calls: `ToolCall`s of a model, `CallRequest`s, ids, or pairs of id and arguments.
            max_concurrency: How many may run at a time; None sets no limit.
            signal: Aborting it cancels those that still run; what is finished stays finished.
            timeout: Seconds for each call that has no limit of its own in its request.
        """
        requests = [CallRequest.of(call) for call in calls]
        return await run_batch(
            requests, lambda request: self._answer(request, signal, timeout), self._is_exclusive, max_concurrency
        )

    def cancel(self, call_id: str, reason: object = "cancelled by the caller") -> bool:
        """Cancel a running call by its `call_id` or `invocation_id`, from any thread.

        Returns:
            Whether such a call was running.
        """
        with self._lock:
            found = [each for each in self._running.values() if call_id in (each.call_id, each.invocation_id)]
        return sum(each.source.cancel(reason) for each in found) > 0

    # -- the path of one call ----------------------------------------------------------------------

    async def _answer(
        self, request: CallRequest, signal: CancelSignal | None = None, timeout: float | None = None
    ) -> ToolReceipt:
        scope = current_scope()
        with self._lock:
            observers = list(self._observers)
        invocation = Invocation(request, scope=scope, observers=observers, on_broken=self._detach)
        with self._lock:
            self._running[invocation.invocation_id] = invocation
        invocation.start()
        removers = [
            parent.on_abort(lambda parent=parent: invocation.source.cancel(parent.reason))  # type: ignore[misc]
            for parent in (request.signal, signal, scope.signal)
            if parent is not None
        ]
        try:
            return await self._call(invocation, request, request.timeout if request.timeout is not None else timeout)
        except asyncio.CancelledError:
            self._finish_cancelled(invocation)
            raise
        except Exception as error:  # a tool's own description of itself raised: its call ends like any other
            _log.exception("Tool '%s' broke its call from outside of execute", invocation.tool_id)
            return invocation.finish("failed", failures.raised(invocation.place, error), error)
        finally:
            for remove in removers:  # a long run would collect one dead listener for each call
                remove()
            with self._lock:
                self._running.pop(invocation.invocation_id, None)

    async def _call(self, invocation: Invocation, request: CallRequest, timeout: float | None) -> ToolReceipt:
        entry = self._entries.get(request.tool_id)
        if entry is None:
            return invocation.finish("not_found", failures.unknown_tool(invocation.place, request.tool_id, self.ids))
        invocation.accept(kind=entry.tool.kind, mode=entry.mode, effect=entry.effect)
        try:
            arguments = as_arguments(request.raw, self.decoder)
            parsed = entry.tool.parse_input(arguments)
        except Exception as error:
            info = failures.bad_arguments(invocation.place, error, entry.expected_arguments(), entry.argument_names())
            return invocation.finish("invalid_input", self._repeats.note(invocation, request.raw, info), error)
        if self.journal is not None and not request.rerun:
            kept = self.journal.find(request.call_id, request.tool_id, arguments)
            if kept is not None:
                return invocation.finish("completed", output=kept.output, replayed=True)
        receipt = await self._execute(invocation, entry, parsed, arguments, timeout)
        if self.journal is not None:
            self.journal.keep(receipt, arguments)
        return receipt

    async def _execute(
        self, invocation: Invocation, entry: Entry, parsed: Any, arguments: Any, timeout: float | None
    ) -> ToolReceipt:
        limit_s = next((s for s in (timeout, entry.timeout_s, self.timeout_s) if s is not None), None)
        if (stopped := await self._pass_gate(invocation, entry, parsed)) is not None:
            return stopped
        deadline = None if limit_s is None else time.monotonic() + limit_s
        context = invocation.context(entry.mode, record=self.record, deadline=deadline)
        hook = self.before_execute
        task = asyncio.create_task(
            work(
                lambda: entry.tool.execute(parsed, context),
                context,
                run_in=entry.run_in,
                before=None if hook is None else lambda: hook(entry.tool, parsed, context),
                around=invocation.scope.around,
            ),
            name=f"evonb tool {invocation.tool_id}",
        )
        ended = await supervise(task, invocation.source, limit_s)
        if ended == "timed_out":
            reason = invocation.source.signal.reason
            exception = reason if isinstance(reason, BaseException) else None
            return invocation.finish("timed_out", failures.timed_out(invocation.place, limit_s), exception)
        if ended == "cancelled":
            return self._finish_cancelled(invocation)
        return self._settle(invocation, entry, ended, arguments)

    async def _pass_gate(self, invocation: Invocation, entry: Entry, parsed: Any) -> ToolReceipt | None:
        """Wait at the scope's gate, outside the tool's time limit; a receipt if the call ends there."""
        if invocation.source.signal.aborted:
            return self._finish_cancelled(invocation)
        gate = invocation.scope.gate
        if gate is None:
            return None
        context = invocation.context(entry.mode, record=self.record, deadline=None)
        task = asyncio.create_task(ask(lambda: gate(entry.tool, parsed, context)), name="evonb tool gate")
        ended = await supervise(task, invocation.source, None)
        if not isinstance(ended, Outcome):
            return self._finish_cancelled(invocation)
        if ended.error is not None:
            return invocation.finish("failed", failures.denied(invocation.place, ended.error), ended.error)
        return None

    def _settle(self, invocation: Invocation, entry: Entry, ended: Outcome, arguments: Any) -> ToolReceipt:
        if ended.error is not None:
            if isinstance(ended.error, ToolCancelled) and invocation.source.signal.aborted:
                return self._finish_cancelled(invocation)
            describe = failures.denied if ended.denied else failures.raised
            info = self._repeats.note(invocation, arguments, describe(invocation.place, ended.error))
            return invocation.finish("timed_out" if info.category == "timeout" else "failed", info, ended.error)
        try:
            output = entry.tool.parse_output(ended.value)
        except Exception as error:
            return invocation.finish("invalid_output", failures.bad_output(invocation.place, error, ended.value), error)
        self._debug(invocation, entry.tool, output)
        self._repeats.forget(invocation)
        return invocation.finish("completed", output=output)

    def _debug(self, invocation: Invocation, tool: ErasedTool, output: Any) -> None:
        steps = getattr(tool, "debug_steps", None)
        if steps is None or not (self.debug or invocation.scope.debug):
            return
        try:
            answer = steps(output, invocation.reporting_context())
            if inspect.iscoroutine(answer):
                answer.close()  # or Python would warn that nobody awaited it
                raise ContractError("debug_steps is async, and it is called without await")
        except Exception:
            _log.exception("debug_steps of tool '%s' raised; the result is unchanged", invocation.tool_id)

    def _finish_cancelled(self, invocation: Invocation) -> ToolReceipt:
        reason = invocation.source.signal.reason
        exception = reason if isinstance(reason, BaseException) else None
        return invocation.finish("cancelled", failures.cancelled(invocation.place, reason), exception)

    def _is_exclusive(self, tool_id: str) -> bool:
        entry = self._entries.get(tool_id)
        return entry is not None and entry.exclusive

    def _detach(self, observer: ToolObserver) -> None:
        with self._lock:
            if observer in self._observers:
                self._observers.remove(observer)
