"""The state at the point that a panel shows: its keys, its chat messages and its watch expressions, as previews."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.debugging.expressions import compile_condition
from evonb.graph.debugging.steps import Step
from evonb.graph.debugging.views import WaitingTask
from evonb.graph.topology import node_id
from evonb.protocol.debugging import WireKey, WireMessage, WireWatch
from evonb.protocol.preview import fields_of, full_text, kind_of, preview
from evonb.typing import StateBaseMessage
from evonb.widgets.debug_inside import BEGINS
from evonb.widgets.debug_schema import Keys
from evonb.widgets.values import opens, size_of

__all__ = ["Shown", "shown_keys", "shown_messages", "shown_watches", "state_shown", "within"]

KEYS_SHOWN = 200
MESSAGES_SHOWN = 100
MESSAGE_CHARS = 2_000


class Shown:
    """The point that is shown.

    Attributes:
        step: The step that made it, also one inside of a sub-graph; None at the start.
        within: The id in the picture of a node that works with this state.
        state: The state there by key; empty before a run.
        before: The state that the step started from; empty at the start.
    """

    def __init__(self, debugger: GraphEngineDebugger, step: Step | None, *, begun: bool) -> None:
        self.debugger = debugger
        self.step = step
        self.within = within(step)
        self.whole: Any = state_shown(debugger) if begun else {}
        self.state: Mapping[str, Any] = fields_of(self.whole) or {}
        earlier = debugger.state_before(step) if step is not None and step.wrote else {}
        self.before: Mapping[str, Any] = fields_of(earlier) or {}

    def steps_of_messages(self, key: str) -> dict[object, int]:
        """By message, the step that it came with."""
        found: dict[object, int] = {}
        for write in self.debugger.who_wrote(key):
            old = {id_of(message) for message in write.old} if isinstance(write.old, list) else set()
            for message in write.new if isinstance(write.new, list) else ():
                if id_of(message) not in old:
                    found.setdefault(id_of(message), write.step)
        return found


def within(step: Step | None) -> str:
    """The id in the picture of a node that works with the state after a step."""
    if step is None:
        return ""
    return node_id((step.node,), "") if step.status == BEGINS else step.node


def state_shown(debugger: GraphEngineDebugger) -> Any:
    """The state at the shown point: where all goes on as one task, what that starts from, so joined already."""
    waiting = debugger.waiting()
    if any(each.inside for each in waiting):  # what is around them isn't waited for
        waiting = [each for each in waiting if each.inside or not each.running]
    if len(waiting) == 1 and waiting[0].is_next and not is_call(waiting[0]):
        return debugger.state(uuid=waiting[0].uuid)
    return debugger.state()


def is_call(task: WaitingTask) -> bool:
    """Whether it is a tool call, which has no state of its own."""
    return task.uuid.rpartition("-")[2].startswith("tool")


def shown_keys(shown: Shown, keys: Keys) -> list[WireKey]:
    """The keys of the state, in the schema's order; with what the shown step did to each."""
    wrote = shown.step.wrote if shown.step is not None else ()
    names = [*shown.state, *(key for key in wrote if key in shown.before and key not in shown.state)]
    return [_key(shown, keys, name, wrote) for name in names[:KEYS_SHOWN]]


def _key(shown: Shown, keys: Keys, name: str, wrote: Sequence[str]) -> WireKey:
    known, value = keys[name], shown.state.get(name)
    is_written = name in wrote
    earlier = name in shown.before
    change = "" if not is_written else "removed" if name not in shown.state else "changed" if earlier else "added"
    return {
        "key": name[:80],
        "strategy": known.strategy,
        "type": known.type if name in keys.by_name else kind_of(value),
        "value": preview(value),
        "size": size_of(value),
        "opens": opens(value),
        "change": change,  # type: ignore[typeddict-item]  # one of the declared words
        "before": preview(shown.before[name]) if is_written and earlier else None,
        "edited": is_written and shown.step is not None and shown.step.status == "edited",
    }


def shown_messages(shown: Shown, keys: Keys, came_with: dict[object, int]) -> list[WireMessage] | None:
    """The chat messages of the state, the newest hundred; None when no key holds messages.

    Args:
        came_with: By message, its step. What it lacks is added while nothing runs: it takes a look at all steps.
    """
    key = _messages_key(shown, keys)
    if key is None:
        return None
    messages = [each for each in shown.state.get(key) or () if isinstance(each, StateBaseMessage)]
    newest = messages[-MESSAGES_SHOWN:]
    number = shown.step.number if shown.step is not None else -1
    if shown.step is not None and shown.step.inner:
        # Which step of the line they come with is decided when the sub-graph has finished.
        old = {id_of(each) for each in shown.before.get(key) or ()}
        return [_message(each, is_new=key in shown.step.wrote and id_of(each) not in old, step=None) for each in newest]
    is_still = shown.debugger.status not in ("running", "pausing")
    if is_still and any(id_of(each) not in came_with for each in newest):
        # Messages of the inputs came with no step.
        came_with.update((id_of(each), 0) for each in newest)
        came_with.update(shown.steps_of_messages(key))
    return [
        _message(each, is_new=came_with.get(id_of(each)) == number, step=came_with.get(id_of(each)) or None)
        for each in newest
    ]


def _messages_key(shown: Shown, keys: Keys) -> str | None:
    declared = [key.name for key in keys.by_name.values() if key.strategy == "append_messages"]
    if declared:
        return declared[0]
    for name, value in shown.state.items():
        if isinstance(value, list) and value and all(isinstance(each, StateBaseMessage) for each in islice(value, 3)):
            return name
    return None


def id_of(message: Any) -> object:
    return getattr(message, "msg_id", None) or id(message)


def _message(message: StateBaseMessage, *, is_new: bool, step: int | None) -> WireMessage:
    calls = getattr(message, "tool_calls", None) or ()
    return {
        "role": str(getattr(message, "role", "") or "message")[:40],
        "node": (message.node_name or "")[:80],
        "step": step,
        "text": full_text(message.content if message.content is not None else "", MESSAGE_CHARS),
        "calls": [_call(call) for call in islice(calls, 20)],
        "new": is_new,
    }


def _call(call: Any) -> str:
    function = getattr(call, "function", call)
    name, arguments = getattr(function, "name", None), getattr(function, "arguments", "")
    text = arguments if isinstance(arguments, str) else preview(arguments)["text"]
    return f"{name or 'tool'}({text})"[:200]


def shown_watches(shown: Shown, watches: Sequence[str]) -> list[WireWatch]:
    """Each watch expression with its value, or what is wrong with it. They come from browsers: the small language."""
    return [_watch(shown, text) for text in watches]


def _watch(shown: Shown, text: str) -> WireWatch:
    try:
        value = compile_condition(text)(shown.whole)
    except Exception as error:  # whatever the expression does to the values
        return {"text": text, "value": None, "error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
    return {"text": text, "value": preview(value), "error": ""}
