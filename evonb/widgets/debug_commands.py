"""What a panel may ask, carried out: each command gets one reply, and nothing that a browser sends is evaluated.

A command that runs nodes is answered once it is under way; what comes of it is in the states that follow.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from evonb.errors import EvonbError, NodeError
from evonb.graph.debugging.compare import Comparison
from evonb.graph.debugging.effects import EffectRepeats
from evonb.graph.debugging.expressions import compile_condition
from evonb.graph.debugging.views import WaitingTask
from evonb.logger import get_logger
from evonb.protocol.debug_commands import CompareResult, EditResult, WhyResult
from evonb.protocol.messages import ReplyError
from evonb.protocol.preview import fields_of, preview
from evonb.typing import MISSING
from evonb.widgets.debug_feed import MAX_WATCHES, DebugFeed
from evonb.widgets.debug_inside import line_shown
from evonb.widgets.debug_questions import question_of
from evonb.widgets.debug_steps import wire_step
from evonb.widgets.debug_values import state_shown
from evonb.widgets.going_on import go_on
from evonb.widgets.values import open_value, value_at

__all__ = ["DebugCommands", "error_of"]

SOON_S = 0.25
"""A command that has ended by then is answered by how it ended, else by "it is under way"."""
MAX_TEXT = 100_000
READS = frozenset({"inspect_key", "why", "compare"})
"""Commands that leave the panel's state as it is."""
AT_ONCE = frozenset({"step_back", "step_forward", "goto", "live", "watch", "unwatch", "name_branch"})
"""Commands that only change what is shown, and await nothing."""

_log = get_logger(__name__)
Command = Mapping[str, Any]


class DebugCommands:
    """Carries out the commands of the panels of one debugger, on its loop."""

    def __init__(self, feed: DebugFeed) -> None:
        self._feed = feed
        self._running: set[asyncio.Future[Any]] = set()
        self._asked: frozenset[str] = frozenset()

    def knows(self, kind: object) -> bool:
        """Whether this is a command of the panel."""
        return kind in _HANDLERS

    async def answer(self, command: Command) -> Any:
        """Carry out a command; its result.

        Raises:
            EvonbError: It isn't allowed now, or asks for something that isn't there.
        """
        kind = command["type"]
        if kind in READS:
            return await _HANDLERS[kind](self, command)
        if kind in AT_ONCE:
            with self._feed.one_state():
                self._feed.say("")
                return await _HANDLERS[kind](self, command)
        self._feed.say("")
        result = await _HANDLERS[kind](self, command)
        self._feed.flush(force=True)
        return result

    # --- running -------------------------------------------------------------------------------------

    async def _run(self, command: Command) -> None:
        given = command.get("inputs")
        keys = self._feed.keys
        inputs = {
            str(key): keys[str(key)].check(value) for key, value in (given if isinstance(given, dict) else {}).items()
        }
        handle = self._debugger.start(inputs)
        await self._follow(handle.settled())

    async def _resume(self, command: Command) -> None:
        await self._go(lambda again: go_on(self._debugger, rerun_effects=again))

    async def _step_into(self, command: Command) -> None:
        task = command.get("task")
        await self._go(lambda again: self._debugger.step_into(None if task is None else str(task)))

    async def _step_out(self, command: Command) -> None:
        await self._go(lambda again: self._debugger.step_out())

    async def _step_wave(self, command: Command) -> None:
        await self._go(lambda again: self._debugger.step_over(rerun_effects=again))

    async def _step_one(self, command: Command) -> None:
        uuid = command.get("task") or self._first().uuid
        await self._go(lambda again: self._debugger.step_over(str(uuid), rerun_effects=again))

    async def _retry(self, command: Command) -> None:
        failed = next((each.uuid for each in self._debugger.waiting() if each.failed), None)
        if failed is None:
            raise EvonbError("Retry: nothing failed", where=self._where, fix="resume, or step")
        await self._go(lambda again: self._debugger.step_over(failed, rerun_effects=again))

    async def _run_to(self, command: Command) -> None:
        await self._go(lambda again: self._debugger.run_to(str(command.get("node"))))

    async def _pause(self, command: Command) -> None:
        self._debugger.pause()

    async def _stop(self, command: Command) -> None:
        self._debugger.stop()

    async def _go(self, start: Callable[[bool], Awaitable[Any]]) -> None:
        """Run nodes. Pressing again after the question about effects is the answer yes."""
        here = frozenset(each.uuid for each in self._debugger.waiting())
        again = bool(self._asked) and self._asked <= here
        self._asked = frozenset()
        self._feed.look_back()
        await self._follow(start(again))

    async def _follow(self, work: Awaitable[Any], *, shows_failure: bool = True) -> None:
        """Await work for a moment, and the rest of it in the background.

        Args:
            work: Running something, or asking a node's routers.
            shows_failure: Whether the session's state shows what failed in it, so that nothing is to be said.
        """
        task = asyncio.ensure_future(work)
        self._running.add(task)
        done, _ = await asyncio.wait((task,), timeout=SOON_S)
        if done:
            self._running.discard(task)
            self._ended(task, shows_failure, late=False)
        else:
            task.add_done_callback(lambda task: self._ended_late(task, shows_failure))

    def _ended_late(self, task: asyncio.Future[Any], shows_failure: bool) -> None:
        self._running.discard(task)
        self._ended(task, shows_failure, late=True)

    def _ended(self, task: asyncio.Future[Any], shows_failure: bool, *, late: bool) -> None:
        error = None if task.cancelled() else task.exception()
        if error is None or (shows_failure and isinstance(error, NodeError)):
            return
        if isinstance(error, EffectRepeats):
            self._asked = frozenset(error.uuids)
            error.fix = "press it once more to let it act again, or skip it with a delta"
        if not late:
            raise error
        self._feed.say(str(error_of(error)["what"]))

    async def _answer(self, command: Command) -> None:
        question = question_of(self._debugger.run_id, command.get("question"))
        value = command.get("value")
        if len(json.dumps(value)) > MAX_TEXT:
            raise EvonbError(f"An answer has at most {MAX_TEXT:,} characters", where="the panel", fix="shorten it")
        question.answer(value)

    # --- looking -------------------------------------------------------------------------------------

    async def _step_back(self, command: Command) -> None:
        self._debugger.step_back(_count(command))

    async def _step_forward(self, command: Command) -> None:
        self._debugger.step_forward(_count(command))

    async def _goto(self, command: Command) -> None:
        inside = command.get("inside")
        self._debugger.goto(_number(command.get("count")), inside=None if inside is None else _number(inside))

    async def _live(self, command: Command) -> None:
        self._debugger.live()

    async def _inspect_key(self, command: Command) -> Any:
        key, path = str(command.get("key")), _path(command.get("path"))
        debugger = self._debugger
        state = fields_of(state_shown(debugger)) or {}
        if key not in state:
            raise EvonbError(f"The state has no key {key!r} here", where=self._where, fix="look at the state's tree")
        result = open_value(state[key], path)
        step = line_shown(debugger).shown
        if step is not None and key in step.wrote:
            result["before"] = _before(fields_of(debugger.state_before(step)) or {}, key, path)
        return result

    async def _why(self, command: Command) -> WhyResult:
        node = str(command.get("node"))
        why = self._debugger.why(node)
        # The sentence names the breakpoint already.
        facts = [f"{name}: {preview(value)['text']}" for name, value in why.facts.items() if name != "breakpoint"]
        return {"kind": why.kind, "title": f"Why: {node}", "sentences": [why.sentence, *facts]}

    async def _compare(self, command: Command) -> CompareResult:
        return compared(self._debugger.compare(_number(command.get("a")), _number(command.get("b"))))

    async def _name_branch(self, command: Command) -> None:
        self._debugger.name_branch(_number(command.get("branch")), _text(command, "name")[:80])

    async def _watch(self, command: Command) -> None:
        text = _text(command, "text").strip()
        compile_condition(text)
        if text not in self._feed.watches:
            if len(self._feed.watches) >= MAX_WATCHES:
                raise EvonbError(f"There are {MAX_WATCHES} watches already", where=self._where, fix="remove one first")
            self._feed.watches.append(text)

    async def _unwatch(self, command: Command) -> None:
        text = _text(command, "text").strip()
        if text in self._feed.watches:
            self._feed.watches.remove(text)

    # --- changing ------------------------------------------------------------------------------------

    async def _edit(self, command: Command) -> EditResult:
        task, debugger = self._task(command), self._debugger
        key = self._feed.keys_at(task.node_name)[str(command.get("key"))]
        value = key.read(_text(command, "text"))
        branch = self._feed.state["next_branch"]
        if not command.get("check"):
            debugger.edit(key.name, value, task.uuid)
        return {"expects": key.expects, "branch": branch}

    async def _skip(self, command: Command) -> None:
        task = self._task(command)
        keys, given = self._feed.keys_at(task.node_name), command.get("delta")
        delta = {str(key): keys[str(key)].read(str(text)) for key, text in dict(given or {}).items()}
        self._feed.look_back()
        if command["type"] == "pin":
            self._debugger.pin(task.node_name, delta)
        else:
            await self._follow(self._debugger.skip_async(task.uuid, delta), shows_failure=False)

    async def _set_breakpoint(self, command: Command) -> None:
        debugger, former, enabled = self._debugger, command.get("id"), bool(command.get("enabled", True))
        if former is not None and self._only_switched(command):
            # Made anew it would lose its hits, and a condition that is a Python function.
            (debugger.enable_breakpoint if enabled else debugger.disable_breakpoint)(str(former))
            return
        condition, log = _condition(command, "condition"), _condition(command, "log")
        kind = command.get("kind")
        options: dict[str, Any] = {"hit": command.get("hit"), "log": log, "condition": condition}
        if kind == "predicate":
            options.update(predicate=condition, condition=None)
        elif kind == "exception":
            options.update(on_exception=True, node=command.get("node"))
        elif kind == "tool":
            options["tool"] = command.get("node")
        elif kind == "edge":
            options["edge"] = command.get("edge")
        else:
            options.update(node=command.get("node"), when=command.get("when") or "before")
        made = debugger.add_breakpoint(**options)
        if former is not None:
            debugger.remove_breakpoint(str(former))
        if not enabled:
            debugger.disable_breakpoint(made.id)

    def _only_switched(self, command: Command) -> bool:
        """Whether the command leaves a breakpoint as the panel shows it, but for being on or off."""
        shown = next((each for each in self._feed.state["breakpoints"] if each["id"] == command.get("id")), None)
        said = ("kind", "node", "edge", "when", "condition", "hit", "log")
        return shown is not None and all(command.get(name) == shown[name] for name in said)  # type: ignore[literal-required]

    async def _remove_breakpoint(self, command: Command) -> None:
        self._debugger.remove_breakpoint(str(command.get("id")))

    # --- what they share -----------------------------------------------------------------------------

    @property
    def _debugger(self) -> Any:
        return self._feed.debugger

    @property
    def _where(self) -> str:
        return f"graph {self._debugger.name!r}"

    def _task(self, command: Command) -> WaitingTask:
        """The task that a command is about, the next one if it names none."""
        uuid = command.get("task")
        if uuid is None:
            return self._first()
        found: WaitingTask | None = next((each for each in self._debugger.waiting() if each.uuid == uuid), None)
        if found is None:
            raise EvonbError("That task isn't waiting any more", where=self._where, fix="choose one that waits")
        return found

    def _first(self) -> WaitingTask:
        found: WaitingTask | None = next((each for each in self._debugger.waiting() if each.is_next), None)
        if found is None:
            raise EvonbError("Nothing waits that could run", where=self._where, fix="look at an earlier step, or run")
        return found


def compared(comparison: Comparison) -> CompareResult:
    """A comparison as the panel shows it."""
    rows: CompareResult = {"rows": [], "state": {}}
    for pair in comparison.pairs[:500]:
        keys = {key for step in (pair.left, pair.right) if step is not None for key in step.wrote}
        rows["rows"].append({
            "a": None if pair.left is None else wire_step(pair.left),
            "b": None if pair.right is None else wire_step(pair.right),
            "differs": [] if pair.same else sorted(keys),
        })  # fmt: skip
    for each in comparison.state[:200]:
        rows["state"][each.key[:80]] = [preview(_shown(each.left)), preview(_shown(each.right))]
    return rows


def error_of(error: BaseException) -> ReplyError:
    """An error as the three fields of a reply."""
    if isinstance(error, EvonbError):
        return {"what": error.what, "where": error.where, "fix": error.fix}
    _log.error("A command of a panel failed", exc_info=error)
    what = f"{type(error).__name__}: {error}"[:500]
    return {"what": what, "where": "the kernel", "fix": "run the graph's cell again"}


def _shown(value: Any) -> Any:
    return None if value is MISSING else value


def _before(state: Mapping[str, Any], key: str, path: list[str | int]) -> Any:
    try:
        found = open_value(value_at(state[key], path))
    except (KeyError, EvonbError):  # it wasn't there before
        return None
    return {"text": found["text"], "children": found["children"]}


def _condition(command: Command, name: str) -> Any:
    text = _text(command, name).strip()
    return compile_condition(text) if text else None


def _text(command: Command, name: str) -> str:
    value = command.get(name, "")
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise EvonbError(f"{name} is a text of at most {MAX_TEXT:,} characters", where="the panel", fix="shorten it")
    return value


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise EvonbError(f"Expected a number, found {str(value)[:80]!r}", where="the panel", fix="reload the page")
    return value


def _count(command: Command) -> int:
    return max(1, _number(command.get("count", 1)))


def _path(value: Any) -> list[str | int]:
    if not isinstance(value, list) or len(value) > 100 or not all(isinstance(part, str | int) for part in value):
        raise EvonbError("A path is a list of keys and positions", where="the panel", fix="reload the page")
    return value


_HANDLERS: Mapping[str, Callable[[DebugCommands, Command], Awaitable[Any]]] = {
    "run": DebugCommands._run,
    "resume": DebugCommands._resume,
    "pause": DebugCommands._pause,
    "step_wave": DebugCommands._step_wave,
    "step_one": DebugCommands._step_one,
    "step_into": DebugCommands._step_into,
    "step_out": DebugCommands._step_out,
    "step_back": DebugCommands._step_back,
    "step_forward": DebugCommands._step_forward,
    "goto": DebugCommands._goto,
    "live": DebugCommands._live,
    "run_to": DebugCommands._run_to,
    "stop": DebugCommands._stop,
    "retry": DebugCommands._retry,
    "answer": DebugCommands._answer,
    "edit": DebugCommands._edit,
    "skip": DebugCommands._skip,
    "pin": DebugCommands._skip,
    "inspect_key": DebugCommands._inspect_key,
    "why": DebugCommands._why,
    "watch": DebugCommands._watch,
    "unwatch": DebugCommands._unwatch,
    "name_branch": DebugCommands._name_branch,
    "compare": DebugCommands._compare,
    "set_breakpoint": DebugCommands._set_breakpoint,
    "remove_breakpoint": DebugCommands._remove_breakpoint,
}
