"""Node functions for the tests of `keys_read`: some read known keys, some could read anything."""
# They are odd on purpose, so the linter's advice on them isn't taken.
# ruff: noqa: C416, UP018, RUF060

from __future__ import annotations

import asyncio
import inspect
import sys
from typing import Any

# --- functions that read known keys ------------------------------------------------------------


def plain(state: Any) -> Any:
    return {"count": state["count"] + 1}


def several(state: Any) -> Any:
    total = 0
    for _ in range(3):
        total += state["a"] if state["b"] else state.get("c", 0)
    return {"total": total, "state": "a text that is called as the parameter is"}


def by_get(state: Any) -> Any:
    first = state.get("a")
    return [first, state.get("b", []), state.get("c", None), state.get("d", first)]


def presence(state: Any) -> Any:
    return "payload" in state


def nothing(state: Any) -> Any:
    return None


async def awaited(state: Any) -> Any:
    await asyncio.sleep(0)
    return {"count": state["count"]}


def nested_value(state: Any) -> Any:
    return state["a"]["payload"]


# --- functions that could read anything ---------------------------------------------------------


def returned(state: Any) -> Any:
    return state


def passed_on(state: Any) -> Any:
    return len(state)


def stored(state: Any) -> Any:
    mine = state
    return mine["payload"]


def rebound(state: Any) -> Any:
    state = dict(state)
    return state["payload"]


def rebound_at_first(state: Any) -> Any:
    a = state["a"]
    state = {"a": a}
    return state["a"]


def deleted(state: Any) -> Any:
    a = state["a"]
    del state
    return a


def captured(state: Any) -> Any:
    return (lambda: state["payload"])()


def in_comprehension(state: Any) -> Any:
    return [state for _ in range(2)]


def walked(state: Any) -> Any:
    return [key for key in state]


def unpacked(state: Any) -> Any:
    return {**state}


def star_call(state: Any) -> Any:
    return dict(**state)


def star_args(state: Any) -> Any:
    return print(*state)


def formatted(state: Any) -> Any:
    return f"{state}"


def matched(state: Any) -> Any:
    match state:
        case {"payload": payload}:
            return payload


def other_method(state: Any) -> Any:
    return state.values()


def method_itself(state: Any) -> Any:
    return state.get


def method_passed(state: Any) -> Any:
    return map(state.get, "k")


def computed_key(state: Any) -> Any:
    return state["pay" + str("load")]


def computed_get(state: Any) -> Any:
    return state.get("pay" + str("load"), 1)


def chosen_key(state: Any) -> Any:
    return state["a" if state["b"] else str("payload")]


def chosen_get(state: Any) -> Any:
    return state.get("a" if len("x") else str("payload"))


def in_a_tuple(state: Any) -> Any:
    return (1, state)


def compared(state: Any) -> Any:
    return state == {}


def truth(state: Any) -> Any:
    return 1 if state else 0


def in_something(state: Any) -> Any:
    return state in []


def updated(state: Any) -> Any:
    state["count"] += 1
    return state


def or_ed(state: Any) -> Any:
    return state | {}


def raised(state: Any) -> Any:
    raise ValueError(state)


def looks_at_locals(state: Any) -> Any:
    return locals()["state"]["payload"]


def looks_at_vars(state: Any) -> Any:
    return vars()["state"]


def evaluates(state: Any) -> Any:
    return eval("state")


def executes(state: Any) -> Any:
    exec("x = state")


def looks_at_frame(state: Any) -> Any:
    return sys._getframe().f_locals["state"]


def looks_at_stack(state: Any) -> Any:
    return inspect.currentframe()


def stops(state: Any) -> Any:
    breakpoint()


def generator(state: Any) -> Any:
    yield state["a"]


async def async_generator(state: Any) -> Any:
    yield state["a"]


def positional(*state: Any) -> Any:
    return state


def in_a_default(state: Any) -> Any:
    return state.get("a", state)


def with_class(state: Any) -> Any:
    class Inner:
        kept = state

    return Inner


def as_context(state: Any) -> Any:
    with state:
        return 1


def caught(state: Any) -> Any:
    try:
        return state["a"]
    except Exception as state:
        return 1


ANYTHING = [
    returned, passed_on, stored, rebound, rebound_at_first, deleted, captured, in_comprehension,
    walked, unpacked, star_call, star_args, formatted, matched, other_method, method_itself, method_passed,
    computed_key, computed_get, chosen_key, chosen_get, in_a_tuple, compared, truth, in_something,
    updated, or_ed, raised, looks_at_locals, looks_at_vars, evaluates, executes, looks_at_frame, looks_at_stack, stops,
    generator, async_generator, positional, in_a_default, with_class, as_context, caught,
]  # fmt: skip
