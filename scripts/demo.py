"""`make demo`: run lesson 1 as a reader would, print what its graph did, leave the notebook and a picture.

`make demo MODEL=local` runs it on the small real model of this machine instead of the recorded replies.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import nbformat
from lessons import LESSONS, ROOT, Lesson, Silent

from evonb.export.page import html_picture

LESSON = LESSONS / "01_first_graph.ipynb"
BUILD = ROOT / "build"

SCRIPTED = 'model = ScriptedModel(recorded("data/replies.jsonl"), tokens_per_s=40)'
FIRST_RUN = 'triage.run({"ticket": tickets["T-101"]})'
LOCAL = "from evonb.llm import LocalModel\nmodel = LocalModel(max_tokens={tokens})"

# Run in the lesson's kernel; the recording goes on until the kernel ends.
RECORD = """
from evonb.testing import record as _record
_recording = _record(triage)
_events = _recording.__enter__()
"""
REPORT = """
import collections as _collections, dataclasses as _dataclasses, json as _json
from evonb.graph.events import Chunk as _Chunk
from evonb.testing import steps as _steps
from evonb.widgets.feed import feed_of as _feed_of
print(_json.dumps({"steps": [_dataclasses.asdict(step) for step in _steps(_events)],
                   "streamed": _collections.Counter(event.node for event in _events if isinstance(event, _Chunk)),
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


def on_local_model(notebook: nbformat.NotebookNode, tokens: int) -> None:
    """Swap the model where a reader would. It ends after the first run: the rest tells of recorded replies."""
    (cell,) = (cell for cell in notebook.cells if SCRIPTED in cell.source)
    cell.source = cell.source.replace(SCRIPTED, LOCAL.format(tokens=tokens))
    last = next(number for number, cell in enumerate(notebook.cells) if FIRST_RUN in cell.source)
    del notebook.cells[last + 1 :]


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run lesson 1 and show what its graph did.")
    parser.add_argument("--model", choices=("scripted", "local"), default="scripted", help="who answers")
    parser.add_argument("--tokens", type=int, default=60, help="the longest reply of the local model")
    parser.add_argument("--out", type=Path, default=BUILD, help="where the notebook and the picture go")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"Running {LESSON.relative_to(ROOT)}, a support desk that drafts, reviews and revises its answers.")
    lesson, story = Lesson(LESSON), Story()
    if options.model == "local":
        print(
            "A small real model answers, on this machine: it is quick and often wrong. Its words stream all the same."
        )
        on_local_model(lesson.notebook, options.tokens)
    else:
        print("One of its runs fails on purpose, and the lesson mends it.")
    notebook = lesson.run(story.after_cell)
    first = story.runs[0]
    print(f"\nThe first run, in the order of the starts:\n{table(first)}\n\nIts final state:\n{final_state(first)}")
    if first["streamed"]:
        print(f"\nStreamed while it ran: {streamed(first)}")

    executed, picture = options.out / LESSON.name, options.out / f"{LESSON.stem}.html"
    nbformat.write(notebook, executed)
    picture.write_text(html_picture(first["snapshot"]), encoding="utf-8")
    print(
        f"\nLeft behind:\n  {shown(executed)}  the executed lesson\n  {shown(picture)}   its picture, for any browser"
    )
    print("\nGo on with\n  make lab    JupyterLab on the lessons, where the graph lights up while it runs")
    return 0


def streamed(run: dict[str, Any]) -> str:
    return ", ".join(f"{count} pieces from {node}" for node, count in run["streamed"].items())


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


if __name__ == "__main__":
    sys.exit(main())
