"""The first line of an `%%evograph` cell: never exits, leaves braces alone, offers near names."""

from __future__ import annotations

import pytest

from evonb.errors import MagicError
from evonb.magics.options import Options, parse_options


def test_a_name_alone_is_enough() -> None:
    assert parse_options("support") == Options("support")


def test_all_options() -> None:
    line = "g --state S --max-turn 7 --timeout=2.5 --mode debug --strict --no-show --break a --break 'b c'  # note"
    assert parse_options(line) == Options("g", "S", 7, 2.5, "debug", True, False, ("a", "b c"))


@pytest.mark.parametrize(
    ("line", "mode"),
    [("g --break a", "debug"), ("g --break=a", "debug"), ("g --break a --mode run", "run"), ("g", "run")],
)
def test_a_node_to_stop_before_asks_for_a_debugger(line: str, mode: str) -> None:
    assert parse_options(line).mode == mode


def test_braces_stay() -> None:
    assert parse_options("g --break {a}").breaks == ("{a}",)


@pytest.mark.parametrize(
    ("line", "what", "fix"),
    [
        ("", "no name", "%%evograph NAME"),
        ("--strict", "no name", "%%evograph NAME"),
        ("g --max-turns 3", "no option --max-turns", "did you mean --max-turn?"),
        ("g --zzz", "no option --zzz", "use one of: --state"),
        ("g --mode debgu", "no mode 'debgu'", "did you mean debug?"),
        ("g --max-turn", "--max-turn needs a value", ""),
        ("g --max-turn --strict", "--max-turn needs a value", ""),
        ("g --max-turn many", "not 'many'", "--max-turn 20"),
        ("g --max-turn 0", "positive", ""),
        ("g --timeout inf", "positive", ""),
        ("g --timeout nan", "positive", ""),
        ("g other", "'other' is neither", ""),
        ("my-graph", "'my-graph' can't be", "my_graph"),
        ("class", "'class' can't be", "graph_class"),
        ("print", "a name of Python's own", "print_graph"),
        ("START", "a word of the cell's language", "start_graph"),
        ("2nd", "'2nd' can't be", "graph_2nd"),
        ("g --break 'a", "can't be read", "close the quote"),
        ("-h", "can't be", ""),
    ],
)
def test_what_is_not_understood_is_one_error_with_a_fix(line: str, what: str, fix: str) -> None:
    with pytest.raises(MagicError) as caught:
        parse_options(line)
    assert what in caught.value.what
    assert fix in caught.value.fix
    assert caught.value.where == "first line of the cell"
