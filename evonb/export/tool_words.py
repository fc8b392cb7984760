"""The words of tool calls and tokens, the same as the live view says them."""

from __future__ import annotations

from collections.abc import Sequence

from evonb.export.counting import listed, plural
from evonb.export.measure import cut, visible
from evonb.protocol.durations import duration
from evonb.protocol.snapshot import NodeState, WireToolCall


def called(tools: Sequence[WireToolCall]) -> str:
    """ "asked for pay, called find (0.4 s) and read ×2" """
    asked = _tool_names([call for call in tools if call["status"] == "asked"])
    made = _tool_names([call for call in tools if call["status"] != "asked"])
    return ", ".join(f"{verb} {listed(those)}" for verb, those in (("asked for", asked), ("called", made)) if those)


def _tool_names(calls: Sequence[WireToolCall]) -> list[str]:
    """Each tool once, in the order of its first call."""
    by_name: dict[str, list[WireToolCall]] = {}
    for call in calls:
        by_name.setdefault(call["tool"], []).append(call)
    return [_tool_name(visible(name), those) for name, those in by_name.items()]


def _tool_name(name: str, calls: list[WireToolCall]) -> str:
    """How often it was called, or how its only call stands."""
    failed = sum(call["status"] == "failed" for call in calls)
    if len(calls) > 1:
        return f"{name} ×{len(calls)} ({failed} failed)" if failed else f"{name} ×{len(calls)}"
    (call,) = calls
    if call["status"] == "asked":
        return name
    spent = call["duration_s"]
    aside = (
        "failed" if failed else "running" if call["status"] == "running" else "" if spent is None else duration(spent)
    )
    return f"{name} ({aside})" if aside else name


def used(state: NodeState) -> str:
    """ "used 876 tokens", "" where no model was asked or its server doesn't say."""
    tokens = state["tokens_in"] + state["tokens_out"]
    return f"used {plural(tokens, 'token')}" if tokens else ""


def tool_at_work(state: NodeState, elapsed_s: float) -> str:
    """ "search, 0.4 s": the tool that a node at work waits for, "" if there is none."""
    calls = [call for call in state["tools"] if call["status"] == "running"] if state["status"] == "running" else []
    if not calls:
        return ""
    more = f" + {len(calls) - 1}" if len(calls) > 1 else ""
    began = calls[0]["started_s"]
    spent = "" if began is None else f", {duration(max(0.0, elapsed_s - began))}"
    return f"{cut(visible(calls[0]['tool']), 14)}{more}{spent}"
