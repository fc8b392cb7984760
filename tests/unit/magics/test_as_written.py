"""What a user reads of a cell is what they wrote: in tracebacks, on cards, in numbers."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

from evonb.magics.sources import as_written
from evonb.magics.transformer import BEGIN, END, RUN, RUN_SHOWN
from tests.unit.magics.conftest import Notebook

GRAPH = """%%evograph g
class State(TypedDict):
    n: int

@node
def one(state):
    return {"n": 1}

START >> one >> END
"""
OURS = ("__import__", "fromlist", "evonb.magics")


def shown(notebook: Notebook, cell: str) -> str:
    """Run a failing cell; what it printed."""
    notebook.fails(cell)
    return notebook.printed


@pytest.mark.parametrize(
    "cell",
    [
        GRAPH + "1 / 0",
        "%%evograph g\n1 / 0",
        "# mine\n\n%%evograph g\n1 / 0",
        "%evo list\n1 / 0\n%evo list",
        "x = %evo list\n1 / 0",
    ],
)
def test_a_traceback_shows_the_cell_as_written(notebook: Notebook, cell: str) -> None:
    text = shown(notebook, cell)
    assert "ZeroDivisionError" in text
    assert not any(word in text for word in OURS)


def test_a_card_shows_the_cell_as_written(notebook: Notebook) -> None:
    notebook.ok(GRAPH.replace("1}", "1 / 0}"))
    text = shown(notebook, "await g.run({'n': 0})")
    assert "START >> one >> END" in text
    assert not any(word in text for word in OURS)


def test_lines_keep_their_numbers() -> None:
    compiled = [
        BEGIN.format(line="g") + "  # above\n",
        "\n",
        "\n",
        "x = 1\n",
        RUN_SHOWN.format(line="list") + "\n",
        END,
    ]
    written = as_written(compiled, "# above\n\n%%evograph g\nx = 1\n%evo list")
    assert written == ["# above\n", "\n", "# %%evograph g\n", "x = 1\n", "%evo list\n"]


@pytest.mark.parametrize("line", ["list", "run g {'a': \"b\"}", "", 'run g {"it\'s": 1}'])
def test_a_command_reads_as_it_was_typed(line: str) -> None:
    assert as_written([f"x = {RUN.format(line=line)}\n"], "") == [f"x = %evo {line}".rstrip() + "\n"]


def test_other_cells_keep_their_lines(notebook: Notebook) -> None:
    notebook.ok("def plain():\n    return '__import__'\n")
    assert "return '__import__'" in "".join(linecache.getlines(notebook["plain"].__code__.co_filename))


@pytest.mark.parametrize("cell", ["%%evograph g\nclass State(:", "def f():\n    %evo list", "x = 1\n%%evograph g"])
def test_a_card_names_the_cell_by_the_number_in_front_of_it(notebook: Notebook, cell: str) -> None:
    notebook.ok("1")
    result = notebook.run(cell)
    assert f"cell [{result.execution_count}]" in notebook.printed


def test_a_command_inside_a_block_shows_what_it_tells(notebook: Notebook) -> None:
    notebook.ok(GRAPH)
    notebook.ok("for _ in range(2):\n    %evo list\n")
    assert [bundle["text/plain"].count("g      1") for bundle in tables(notebook)] == [1, 1]


def test_a_command_above_others_shows_what_it_tells_and_the_last_one_is_the_value(notebook: Notebook) -> None:
    notebook.ok(GRAPH)
    assert "not run" in repr(notebook.ok("%evo list\nx = 1\n%evo list"))
    assert len(tables(notebook)) == 1


def test_a_run_inside_a_block_shows_its_picture_and_not_its_state(notebook: Notebook) -> None:
    notebook.ok(GRAPH)
    notebook.ok("if True:\n    %evo run g {'n': 0}\n")
    assert not any("'n'" in bundle.get("text/plain", "") for bundle in notebook.published.bundles)


@pytest.mark.parametrize(
    ("cell", "whose"),
    [
        (GRAPH.replace("evograph g", "evograph print"), "a name of Python's own"),
        (GRAPH.replace("evograph g", "evograph node"), "a word of the cell's language"),
        (GRAPH.replace("evograph g", "evograph State"), "the name of a class in the cell"),
        (GRAPH.replace("evograph g", "evograph one"), "the name of a function in the cell"),
    ],
)
def test_a_graph_takes_no_name_that_is_needed(notebook: Notebook, cell: str, whose: str) -> None:
    error = notebook.fails(cell)
    assert whose in str(error)
    assert "call the graph" in str(error)
    assert "g" not in notebook.shell.user_ns


def test_a_graph_takes_no_name_of_a_node_of_an_earlier_cell(notebook: Notebook) -> None:
    notebook.ok("def earlier(state):\n    return {}\n")
    error = notebook.fails("%%evograph earlier\nclass State(TypedDict):\n    n: int\nSTART >> earlier >> END")
    assert "'earlier' is also the name of one of its nodes" in str(error)
    assert notebook.ok("earlier({})") == {}


def test_a_state_defined_twice_is_said(notebook: Notebook, capsys: pytest.CaptureFixture[str]) -> None:
    twice = GRAPH.replace("@node", "class State(TypedDict):\n    n: int\n    m: int\n\n@node", 1)
    notebook.shell.run_cell(twice, store_history=True)
    assert "State is defined twice" in capsys.readouterr().err
    assert notebook.ok("set(g.state_schema.__annotations__)") == {"n", "m"}


def tables(notebook: Notebook) -> list[dict[str, Any]]:
    return [bundle for bundle in notebook.published.bundles if "last run" in bundle.get("text/plain", "")]


def test_break_alone_makes_a_session_that_stops_there(notebook: Notebook) -> None:
    notebook.ok(GRAPH.replace("evograph g", "evograph g --break one"))
    assert "next: one (breakpoint 1)" in repr(notebook.ok("%evo debug g {}"))
    assert [each.node for each in notebook["g"].breakpoints()] == ["one"]
