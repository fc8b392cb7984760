"""`%evo` in a real IPython shell."""

from __future__ import annotations

import pytest
from IPython.core.completer import provisionalcompleter

from evonb.errors import MagicError
from evonb.magics.completion import suggestions
from tests.unit.magics.conftest import Notebook
from tests.unit.magics.test_evograph import HELP, SUPPORT


def test_list_tells_the_graphs(notebook: Notebook) -> None:
    assert repr(notebook.ok("%evo list")) == "No graphs yet: begin a cell with %%evograph NAME"
    notebook.ok(SUPPORT)
    table = notebook.ok("%evo list")
    assert repr(table).splitlines() == [
        "graph    nodes  edges  last run",
        "support  4      6      not run",
    ]
    notebook.ok('await support.run({"messages": []})')
    assert "finished after" in repr(notebook.ok("%evo list"))
    assert "<td>support</td>" in table._repr_html_()


def test_show_shows_again(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    assert notebook.ok("%evo show support") is None
    assert len(notebook.views()) == 2


@pytest.mark.parametrize("inputs", [f'{{"messages": [{HELP}]}}', "{'messages': [word]}", "dict(messages=[word])"])
def test_run_takes_json_and_python(notebook: Notebook, inputs: str) -> None:
    notebook.ok(SUPPORT)
    notebook.ok(f"word = {HELP}")
    state = notebook.ok(f"%evo run support {inputs}")
    assert state["messages"][0].content == "help"
    assert len(notebook.views()) == 1


def test_run_shows_a_graph_that_is_not_shown_yet(notebook: Notebook) -> None:
    notebook.ok(SUPPORT.replace("support\n", "support --no-show\n", 1))
    notebook.ok("%evo run support {'messages': []}")
    assert len(notebook.views()) == 1


def test_the_result_can_be_assigned_and_used_inside_if(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    notebook.ok("if True:\n    final = %evo run support {'messages': []}\n    x = final['topic']")
    assert notebook["x"] == "tech"


@pytest.mark.parametrize(
    ("line", "what", "fix"),
    [
        ("%evo", "wants a command", "list"),
        ("%evo lst", "no command 'lst'", "did you mean list?"),
        ("%evo show", "wants a graph", "%evo show NAME"),
        ("%evo show suport", "no graph 'suport'", "did you mean support?"),
        ("%evo run other", "'other' is a int, not a graph", ""),
        ("%evo run support {'messages': [", "can't be read", "JSON or Python"),
        ("%evo run support {'messages': [nope]}", "NameError", ""),
        ("%evo list all", "takes nothing", ""),
    ],
)
def test_what_is_not_understood_is_one_card(notebook: Notebook, line: str, what: str, fix: str) -> None:
    notebook.ok(SUPPORT)
    notebook.ok("other = 1")
    error = notebook.fails(line)
    assert isinstance(error, MagicError)
    assert what in error.what
    assert fix in error.fix
    assert len(notebook.cards()) == 1


def test_inside_a_function_one_error_and_nothing_of_the_cell_runs(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    error = notebook.fails("ran = True\ndef f():\n    %evo run support\n")
    assert isinstance(error, MagicError)
    assert "line 3" in error.where
    assert "async def" in error.fix
    assert "ran" not in notebook.shell.user_ns
    assert len(notebook.cards()) == 1


def test_inside_an_async_function_it_works(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    notebook.ok("async def f():\n    x = %evo run support {'messages': []}\n    return x")
    assert notebook.ok("(await f())['topic']") == "tech"


def test_where_it_can_not_be_awaited_only_run_is_refused(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    notebook.ok("get_ipython().run_line_magic('evo', 'show support')")
    assert len(notebook.views()) == 2
    error = notebook.fails("get_ipython().run_line_magic('evo', 'run support')")
    assert isinstance(error, MagicError)
    assert "line of its own" in error.what


def test_completion_offers_commands_graphs_and_options(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    assert suggestions("%evo ")[:4] == ["list", "show", "run", "debug"]
    assert suggestions("%evo sh") == ["show"]
    assert suggestions("%evo run su") == ["support"]
    assert suggestions("%%evograph g --m") == ["--max-turn", "--mode"]
    assert suggestions("x = su") == []
    with provisionalcompleter():
        offered = [each.text for each in notebook.shell.Completer.completions("%evo show su", 12)]
    assert offered == ["support"]
