"""A session's state, writes, breakpoints, branches and runs as tables of text."""

from __future__ import annotations

import datetime
from typing import Any

from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.debugging.compare import Comparison
from evonb.graph.debugging.steps import Step
from evonb.magics.listing import Table
from evonb.protocol.preview import fields_of, kind_of, preview
from evonb.typing import MISSING

__all__ = ["breakpoint_table", "comparison_table", "run_table", "state_table", "write_table"]

CELL_CHARS = 40
"""Of a value in a table with several values in a row."""


def state_table(state: Any, changed: tuple[str, ...] = (), note: str = "") -> Table:
    """Key, type and value, one line each; what the shown step wrote is marked."""
    rows = [
        ("*" if key in changed else "", str(key), kind_of(value), preview(value)["text"])
        for key, value in (fields_of(state) or {}).items()
    ]
    return Table(("", "key", "type", "value"), rows, f"The state is empty. {note}".rstrip(" ."), note)


def write_table(debugger: GraphEngineDebugger, key: str) -> Table:
    """Every write of a key on the way to the shown step."""
    rows = [
        (
            str(write.step),
            f"{write.node} (by hand)" if write.by_hand else write.node,
            _text(write.old),
            _text(write.new),
        )
        for write in debugger.who_wrote(key)
    ]
    return Table(("step", "node", "before", "after"), rows, f"Nothing has written {key} so far")


def breakpoint_table(debugger: GraphEngineDebugger) -> Table:
    """All breakpoints with their hits."""
    rows = [(each.id, str(each), str(each.hits), each.problem) for each in debugger.breakpoints()]
    return Table(("", "breakpoint", "hits", ""), rows, "No breakpoints: %evo break NODE sets one")


def comparison_table(found: Comparison, a: str, b: str) -> Table:
    """Two branches from their fork on, and the keys that they left with other values."""
    if not found:
        return Table((a, b), (), f"{a} and {b} don't differ")
    rows = [(_step(pair.left), _step(pair.right), "" if pair.same else "differs") for pair in found.pairs]
    rows += [
        (f"{each.key} = {_text(each.left)}", f"{each.key} = {_text(each.right)}", "at the end") for each in found.state
    ]
    return Table((a, b, ""), rows, note=f"forked after step {found.forked_at}")


def run_table(debugger: GraphEngineDebugger) -> Table:
    """The stored runs of a graph, newest first."""
    rows = [
        (run.run_id[:12], run.name, f"{datetime.datetime.fromtimestamp(run.started_at):%Y-%m-%d %H:%M:%S}",
         "was interrupted" if run.status == "interrupted" else run.status,
         str(run.steps), f"{run.size_bytes / 1000:,.1f} kB")
        for run in debugger.runs()
    ]  # fmt: skip
    head = ("run", "name", "started", "status", "steps", "size")
    return Table(head, rows, "No stored runs: %evo debug NAME {inputs} makes one")


def _step(step: Step | None) -> str:
    return "" if step is None else f"{step.number} {step.node}{'' if step.status == 'done' else f' {step.status}'}"


def _text(value: Any) -> str:
    return "" if value is MISSING else preview(value, CELL_CHARS)["text"]
