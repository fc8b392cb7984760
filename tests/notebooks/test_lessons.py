"""Every lesson runs offline from top to bottom; what is committed is what a run gives."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from lessons import LESSONS, Lesson, lessons
from nbconvert import HTMLExporter

NAMES = [path.name for path in lessons()]
LESSON1 = "01_first_graph.ipynb"


def outline(notebook: nbformat.NotebookNode) -> list[Any]:
    """What a run must give again: the kinds of outputs of each cell, and whether it failed."""
    return [
        [(output.output_type, sorted(output.get("data", {})), output.get("ename")) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.fixture(scope="module")
def executed() -> dict[str, nbformat.NotebookNode]:
    return {}


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def run(name: str, executed: dict[str, nbformat.NotebookNode]) -> nbformat.NotebookNode:
    if name not in executed:
        executed[name] = Lesson(LESSONS / name).run()
    return executed[name]


def test_a_lesson_runs_and_gives_what_is_committed(name: str, run: nbformat.NotebookNode) -> None:
    committed = nbformat.read(LESSONS / name, as_version=4)
    assert outline(run) == outline(committed)


def test_a_lesson_holds_its_pictures_and_no_widget_state(name: str, run: nbformat.NotebookNode) -> None:
    pictures = [
        output.data["image/svg+xml"]
        for cell in run.cells
        for output in cell.get("outputs", [])
        if "image/svg+xml" in output.get("data", {})
    ]
    assert pictures
    assert all("<svg" in picture for picture in pictures)
    assert "widgets" not in run.metadata


def test_a_lesson_converts_to_a_page_that_needs_no_network(name: str, run: nbformat.NotebookNode) -> None:
    exporter = HTMLExporter(template_name="classic", require_js_url="", jquery_url="", mathjax_url="")
    page, _ = exporter.from_notebook_node(run)
    assert "data:image/svg+xml" in page
    assert "model not found" not in page


def test_lesson_one_answers_every_ticket() -> None:
    outcomes: dict[str, str] = {}

    def after_last_cell(cell: Any, silent: Any) -> None:
        if "search_help" in cell.source and "T-108" in cell.source:
            code = (
                "import json as _json\nmodel = ScriptedModel(recorded('data/replies.jsonl'), tokens_per_s=0)\n"
                "print(_json.dumps({key: (await triage.run({'ticket': ticket}))['outcome']"
                " for key, ticket in tickets.items()}))"
            )
            outcomes.update(json.loads(silent(code)))

    Lesson(LESSONS / LESSON1).run(after_last_cell)
    assert len(outcomes) == 12
    assert {ticket for ticket, outcome in outcomes.items() if outcome != "answered"} == {"T-105"}
