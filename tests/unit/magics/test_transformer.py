"""The source transforms: a cell stays an ordinary cell, line by line."""

from __future__ import annotations

import ast

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from evonb.magics.transformer import EvoCommand, evograph_cell, is_evograph


@pytest.fixture
def manager() -> TransformerManager:
    manager = TransformerManager()
    manager.cleanup_transforms.insert(0, evograph_cell)
    manager.token_transformers.insert(0, EvoCommand)
    return manager


def test_lines_keep_their_numbers(manager: TransformerManager) -> None:
    lines = manager.transform_cell("%%evograph g --break a\nx = 1\n\ny = f'{x}'").split("\n")
    assert lines[1:4] == ["x = 1", "", "y = f'{x}'"]
    assert ".begin('g --break a')" in lines[0]
    assert ".end()" in lines[4]


def test_leading_blank_lines_count(manager: TransformerManager) -> None:
    lines = manager.transform_cell("\n\n%%evograph g\nx = 1\n").split("\n")
    assert ".begin('g')" in lines[0]
    assert lines[3] == "x = 1"


def test_comments_may_stand_above(manager: TransformerManager) -> None:
    lines = manager.transform_cell("# my graph\n\n%%evograph g\nx = 1\n").split("\n")
    assert ".begin('g')" in lines[0]
    assert lines[0].endswith("# my graph")
    assert lines[3] == "x = 1"


def test_code_may_not_stand_above() -> None:
    assert not is_evograph("x = 1\n%%evograph g\n")


def test_braces_quotes_and_backslashes_of_the_line_arrive_untouched(manager: TransformerManager) -> None:
    line = """g --break '{a}' "{'b': 1}" \\n"""
    first = manager.transform_cell(f"%%evograph {line}\n").split("\n")[0]
    call = ast.parse(first).body[0]
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    assert ast.literal_eval(call.value.args[0]) == line


@pytest.mark.parametrize("above", ["y = 2\n", "%load_ext evonb\n", "if y:\n    pass\n"])
def test_code_above_the_first_line_is_refused_as_a_whole(above: str) -> None:
    lines = [*above.splitlines(keepends=True), "%%evograph g\n", "z = 1\n"]
    place = "__import__('evonb.magics.cell', fromlist=['misplaced']).misplaced"
    assert evograph_cell(lines) == [f"{place}('g', {len(lines) - 1})\n"]


@pytest.mark.parametrize(
    "cell",
    [
        "%%writefile x.txt\n%%evograph g\n",
        "x = 1\n",
        "%%time\nx = 1\n",
        "# %%evograph g\n",
        "x = '''\n%%evograph g\n'''\n",
        "",
    ],
)
def test_other_cells_are_left_alone(cell: str) -> None:
    lines = cell.splitlines(keepends=True)
    assert evograph_cell(lines) == lines
    assert not is_evograph(cell)


def test_a_longer_word_is_not_ours() -> None:
    assert not is_evograph("%%evographs g\n")


def test_magics_and_await_work_in_the_body(manager: TransformerManager) -> None:
    text = manager.transform_cell("%%evograph g\n%time x = 1\nawait z\n!ls\n")
    assert "run_line_magic('time', 'x = 1')" in text
    assert "\nawait z\n" in text
    assert "system('ls')" in text


def test_future_imports_of_the_body_come_first(manager: TransformerManager) -> None:
    text = manager.transform_cell("%%evograph g\nfrom __future__ import annotations  # x\ny = 1\n")
    lines = text.split("\n")
    assert lines[0].startswith("from __future__ import annotations; __import__")
    assert lines[1:3] == ["", "y = 1"]
    compile(text, "cell", "exec")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%evo list\n", "await {}('list')\n"),
        ("x = %evo run g {'a': 1}\n", "x = await {}(\"run g {{'a': 1}}\")\n"),
        ("if True:\n    %evo show g\n", "if True:\n    await {}('show g', shown=True)\n"),
        ("async def f():\n    %evo run g\n", "async def f():\n    await {}('run g', shown=True)\n"),
        ("def f():\n    pass\n%evo list\n", "def f():\n    pass\nawait {}('list')\n"),
        ("%evo\n", "await {}('')\n"),
        (
            "x = 1\n%evo run g {'a': \\\n  1}\ny = 2\n",
            "x = 1\nawait {}(\"run g {{'a':    1}}\", shown=True)\n\ny = 2\n",
        ),
    ],
)
def test_evo_becomes_an_await(manager: TransformerManager, cell: str, expected: str) -> None:
    call = "__import__('evonb.magics.evo', fromlist=['run_command']).run_command"
    assert manager.transform_cell(cell) == expected.format(call)


@pytest.mark.parametrize("cell", ["s = '''\n%evo list\n'''\n", "# %evo list\n", "evo = 3\nx = 10 %evo\n"])
def test_evo_in_strings_comments_and_arithmetic_is_not_a_command(manager: TransformerManager, cell: str) -> None:
    assert manager.transform_cell(cell) == cell


def test_other_magics_are_not_ours(manager: TransformerManager) -> None:
    assert "run_line_magic('evolve', 'x')" in manager.transform_cell("%evolve x\n")
    assert "run_line_magic('pinfo', '%evo')" in manager.transform_cell("%evo?\n")


@pytest.mark.parametrize(
    "cell", ["def f(a):\n    %evo run g\n", "class C:\n    def f(self):\n        if 1:\n            %evo list\n"]
)
def test_evo_inside_a_plain_function_refuses_the_whole_cell(manager: TransformerManager, cell: str) -> None:
    text = manager.transform_cell(cell)
    assert "refuse_in_function(" in text
    assert text.count("\n") == 1


def test_transforming_is_pure() -> None:
    lines = ["%%evograph g\n", "x = 1\n"]
    assert evograph_cell(lines) == evograph_cell(lines)
    assert lines == ["%%evograph g\n", "x = 1\n"]


def test_an_unfinished_cell_is_reported_as_unfinished(manager: TransformerManager) -> None:
    assert manager.check_complete("if 1:\n    %evo list")[0] == "incomplete"
    assert manager.check_complete("%evo list")[0] == "complete"
