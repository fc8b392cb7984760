"""`make demo`: run lesson 1 as a reader would, print what its graph did, leave the notebook and a picture."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import nbformat
from lessons import LESSONS, ROOT, Lesson, Silent

from evonb.export.page import html_picture

LESSON = LESSONS / "01_first_graph.ipynb"
BUILD = ROOT / "build"

# Run in the lesson's kernel; the recording goes on until the kernel ends.
RECORD = """
from evonb.testing import record as _record
_recording = _record(triage)
_events = _recording.__enter__()
"""
REPORT = """
import dataclasses as _dataclasses, json as _json
from evonb.testing import steps as _steps
from evonb.widgets.feed import feed_of as _feed_of
print(_json.dumps({"steps": [_dataclasses.asdict(step) for step in _steps(_events)],
                   "snapshot": _feed_of(triage).snapshot()}))
_events.clear()
"""


class Story:
    """The runs of the lesson's graph, gathered while the lesson goes on."""

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []
        self._recording = False

    def after_cell(self, cell: Any, silent: Silent) -> None:
        if cell.source.startswith("%%evograph triage"):
            silent(RECORD)
            self._recording = True
        elif self._recording:
            run = json.loads(silent(REPORT))
            if run["steps"]:
                self.runs.append(run)
                print(f"  run {len(self.runs)} of triage: {summary(run)}", flush=True)


def summary(run: dict[str, Any]) -> str:
    state = run["snapshot"]["run"]
    count = len(run["steps"])
    end = state["reason"] if state["error"] is None else f"failed at {state['failed_node']}: {state['message']}"
    return f"{count} steps in {state['elapsed_s']:.1f} s, {end}"


def table(run: dict[str, Any]) -> str:
    rows = [("node", "visit", "time", "wrote")]
    rows += [(step["node"], str(step["visit"]), seconds(step["duration_s"]), ", ".join(step["wrote"]) or step["what"])
             for step in run["steps"]]  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        f"  {node:<{widths[0]}}  {visit:>{widths[1]}}  {time:>{widths[2]}}  {wrote}"
        for node, visit, time, wrote in rows
    )


def seconds(duration_s: float | None) -> str:
    if duration_s is None:
        return ""
    return f"{duration_s * 1000:.0f} ms" if duration_s < 0.0995 else f"{duration_s:.1f} s"


def final_state(run: dict[str, Any]) -> str:
    result = run["snapshot"]["run"]["result"] or {}
    width = max(map(len, result), default=0)
    return "\n".join(f"  {key:<{width}}  {value['text']}" for key, value in result.items())


def main() -> int:
    BUILD.mkdir(exist_ok=True)
    print(f"Running {LESSON.relative_to(ROOT)}, a support desk that drafts, reviews and revises its answers.")
    print("One of its runs fails on purpose, and the lesson mends it.")
    story = Story()
    notebook = Lesson(LESSON).run(story.after_cell)
    first = story.runs[0]
    print(f"\nThe first run, in the order of the starts:\n{table(first)}\n\nIts final state:\n{final_state(first)}")

    executed, picture = BUILD / LESSON.name, BUILD / f"{LESSON.stem}.html"
    nbformat.write(notebook, executed)
    picture.write_text(html_picture(first["snapshot"]), encoding="utf-8")
    print(
        f"\nLeft behind:\n  {shown(executed)}  the executed lesson\n  {shown(picture)}   its picture, for any browser"
    )
    print("\nGo on with\n  make lab    JupyterLab on the lessons, where the graph lights up while it runs")
    return 0


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


if __name__ == "__main__":
    sys.exit(main())
