"""`%%evograph` cells in a real IPython shell."""

from __future__ import annotations

import pytest

from evonb.errors import EvonbError, MagicError, NodeError
from evonb.graph import GraphEngine
from evonb.widgets.feed import feed_of
from tests.unit.magics.conftest import Notebook

HELP = '{"role": "user", "content": "help"}'

RUN = f'await support.run({{"messages": [{HELP}]}})'

SUPPORT = """%%evograph support
class State(TypedDict):
    messages: Annotated[list, "append_messages"]
    topic: Annotated[str, "overwrite"]

@node
def classify(state):
    return {"topic": "tech"}

@router("billing", "tech")
def by_topic(state):
    return state["topic"]

@node
async def billing(state):
    return {"messages": [{"role": "assistant", "content": "billed"}]}
@node
def tech(state):
    return {"messages": [{"role": "assistant", "content": "fixed"}]}
@node
def review(state):
    "Reads it again."
    return {"messages": [{"role": "assistant", "content": f"reviewed {len(state['messages'])}"}]}

START >> classify >> by_topic
[billing, tech] >> review >> END
"""


def test_a_cell_leaves_the_graph_and_shows_it(notebook: Notebook) -> None:
    assert notebook.ok(SUPPORT) is None
    assert isinstance(notebook["support"], GraphEngine)
    assert notebook["support"].name == "support"
    assert len(notebook.views()) == 1
    assert len(notebook.stills()) == 1


def test_the_graph_runs_in_a_later_cell_and_its_result_is_the_value(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    state = notebook.ok(RUN)
    assert state["topic"] == "tech"
    assert [message.content for message in state["messages"]] == ["help", "fixed", "reviewed 2"]


def test_the_view_of_the_earlier_cell_shows_the_run(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    notebook.ok(RUN)
    snapshot = feed_of(notebook["support"]).snapshot()
    assert snapshot["run"]["status"] == "finished"
    assert snapshot["nodes"]["review"]["status"] == "done"
    assert snapshot["edges"]["classify>billing"] == {"taken": 0, "passed_over": 1, "unused": True}
    assert "Done" in notebook.stills(update=True)[-1]["text/plain"]


def test_functions_stay_functions(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    assert notebook.ok("classify({})") == {"topic": "tech"}
    assert "Reads it again." in notebook.ok("import inspect; inspect.getsource(review)")


def test_line_numbers_are_those_of_the_cell(notebook: Notebook) -> None:
    notebook.ok(
        "%%evograph g\nclass State(TypedDict):\n    a: int\n"
        "@node\ndef one(state):\n    return 1 / 0\nSTART >> one >> END"
    )
    error = notebook.fails("await g.run({'a': 1})")
    assert isinstance(error, NodeError)
    (card,) = notebook.cards()
    assert "line 6" in card
    assert "return 1 / 0" in card


def test_await_braces_and_magics_work_in_the_body(notebook: Notebook) -> None:
    notebook.ok(
        "%%evograph g --no-show\n"
        "import asyncio\n"
        "x = await asyncio.sleep(0, 'slept')\n"
        "y = f'{x} {{}}'\n"
        "%time z = {1}\n"
        "class State(TypedDict):\n    a: int\n"
        "@node\ndef one(state): return {'a': 2}\n"
        "START >> one >> END\n"
    )
    assert (notebook["x"], notebook["y"], notebook["z"]) == ("slept", "slept {}", {1})


def test_the_state_is_found_in_a_cell_with_magics(notebook: Notebook) -> None:
    notebook.ok(
        "# a comment\n%%evograph g --no-show\n%time x = 1\nclass Mine(TypedDict):\n    a: int\n"
        "@node\ndef one(state): return {'a': 2}\nSTART >> one >> END\n"
    )
    assert notebook["g"].state_schema is notebook["Mine"]


def test_running_the_cell_again_replaces_the_graph_in_place(notebook: Notebook) -> None:
    notebook.ok(SUPPORT, "cell-1")
    first = notebook["support"]
    notebook.ok("support", "cell-2")
    feed = feed_of(first)
    notebook.ok(SUPPORT.replace("Reads it again.", "Reads it once more."), "cell-1")
    assert notebook["support"] is not first
    assert feed_of(notebook["support"]) is feed
    notebook.ok(RUN)
    assert feed.snapshot()["run"]["status"] == "finished"


def test_another_name_for_a_graph_does_not_take_its_views(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    feed = feed_of(notebook["support"])
    notebook.ok("other = support")
    notebook.ok(SUPPORT.replace("support", "other", 1))
    assert feed_of(notebook["support"]) is feed
    assert feed_of(notebook["other"]) is not feed


def test_running_the_cell_again_keeps_positions(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    boxes = feed_of(notebook["support"]).snapshot()["layout"]["boxes"]
    notebook.ok(SUPPORT)
    assert feed_of(notebook["support"]).snapshot()["layout"]["boxes"] == boxes


def test_listeners_that_the_user_attached_are_kept(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    notebook.ok("heard = []; detach = support.attach(heard.append)")
    notebook.ok(SUPPORT)
    notebook.ok('await support.run({"messages": []})')
    assert notebook["heard"]
    notebook.ok("heard.clear(); detach()")
    notebook.ok('await support.run({"messages": []})')
    assert notebook["heard"] == []


def test_fifty_reruns_leave_one_view(notebook: Notebook) -> None:
    from evonb.widgets import display

    for _ in range(50):
        notebook.ok(SUPPORT, "cell-1")
    assert len(display._shelf.items) == 1


def test_a_host_without_cell_ids_keeps_a_bounded_number_of_views(notebook: Notebook) -> None:
    from evonb.widgets import display

    for _ in range(20):
        notebook.ok(SUPPORT)
    assert len(display._shelf.items) == display.MAX_LIVE


def test_options_reach_the_graph(notebook: Notebook) -> None:
    notebook.ok(SUPPORT.replace("support\n", "support --max-turn 1 --no-show --mode debug --break review\n", 1))
    assert notebook.views() == []
    assert type(notebook["support"]).__name__ == "GraphEngineDebugger"


def test_the_users_own_names_come_back_after_the_cell(notebook: Notebook) -> None:
    notebook.ok("node = 'mine'; edge = 3")
    notebook.ok(SUPPORT)
    assert (notebook["node"], notebook["edge"]) == ("mine", 3)
    notebook.fails("%%evograph g\n1 / 0")
    assert notebook["node"] == "mine"


def test_an_engine_as_the_value_of_a_cell_is_shown(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    notebook.ok("support")
    assert len(notebook.views()) == 2
    assert "GraphEngine" not in notebook.printed


def test_a_builder_and_a_background_run_are_shown_too(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    notebook.ok(
        "import asyncio; await asyncio.sleep(0); handle = support.start({'messages': []}); await handle; handle"
    )
    assert len(notebook.views()) == 2
    notebook.ok("from evonb.graph import GraphBuilder\nb = GraphBuilder(state_schema=State, name='plain')\nb")
    assert "plain isn't a graph yet" in notebook.printed
    notebook.ok("b.add_node('one', lambda state: {}); b.set_entry_point('one'); b")
    assert len(notebook.views()) == 3


BROKEN = {
    "reserved name": ("@node\ndef start(state): return {}\nSTART >> start >> END", "start"),
    "unknown target": ("@node\ndef one(state): return {}\nSTART >> one >> 'tow'", "tow"),
    "undeclared router target": (
        "@node\ndef one(state): return {}\n@router('one', 'twoo')\ndef pick(state): return 'one'\nSTART >> one >> pick",
        "twoo",
    ),
    "no entry point": ("@node\ndef one(state): return {}\n@node\ndef two(state): return {}\none >> two >> END", ""),
    "nothing declared": ("x = 1", ""),
    "not a node": ("@node\ndef one(state): return {}\nSTART >> 3 >> END", ""),
}


@pytest.mark.parametrize("body", [pytest.param(*value[:1], id=key) for key, value in BROKEN.items()])
def test_a_broken_graph_is_one_card_and_the_old_graph_stays(notebook: Notebook, body: str) -> None:
    notebook.ok(SUPPORT)
    graph = notebook["support"]
    error = notebook.fails(f"%%evograph support\nclass State(TypedDict):\n    a: int\n{body}\n")
    assert isinstance(error, EvonbError | TypeError)
    if isinstance(error, EvonbError):
        assert error.what
        assert error.fix
        assert len(notebook.cards()) == 1
    assert notebook["support"] is graph
    assert notebook.ok(RUN)["topic"] == "tech"


@pytest.mark.parametrize(
    ("head", "what", "fix"),
    [
        ("support --max-turns 3", "no option --max-turns", "--max-turn"),
        ("", "no name", "%%evograph NAME"),
        ("support --break reviw", "no node &#x27;reviw&#x27;", "review"),
        ("support --state Stat", "no class Stat", "did you mean State"),
    ],
)
def test_a_wrong_first_line_is_one_card(notebook: Notebook, head: str, what: str, fix: str) -> None:
    error = notebook.fails(SUPPORT.replace("support", head, 1))
    assert isinstance(error, MagicError)
    (card,) = notebook.cards()
    assert what in card
    assert fix in card
    assert "support" not in notebook.shell.user_ns


def test_an_unknown_update_strategy_is_one_card(notebook: Notebook) -> None:
    notebook.fails(SUPPORT.replace("append_messages", "apend_messages"))
    (card,) = notebook.cards()
    assert "append_messages" in card


def test_no_state_class_is_one_card(notebook: Notebook) -> None:
    notebook.fails("%%evograph g\n@node\ndef one(state): return {}\nSTART >> one >> END")
    (card,) = notebook.cards()
    assert "defines no state" in card


def test_a_node_that_returns_no_dict_is_one_card(notebook: Notebook) -> None:
    notebook.ok(SUPPORT.replace('return {"topic": "tech"}', "return 7"))
    notebook.fails('await support.run({"messages": []})')
    (card,) = notebook.cards()
    assert "classify" in card


def test_a_router_that_returns_an_undeclared_target_is_one_card(notebook: Notebook) -> None:
    notebook.ok(SUPPORT.replace('{"topic": "tech"}', '{"topic": "teck"}'))
    notebook.fails('await support.run({"messages": []})')
    (card,) = notebook.cards()
    assert "teck" in card
    assert "tech" in card


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("x = 1\ny = = 2\n", 3),
        ("def f():\n", 2),
        ("x = (1,\n", 2),
        ("s = '''\nabc\n", 2),
        ("if True:\nx = 1\n", 3),
        ("return 3\n", 2),
        ("def f():\n    await x\n", 3),
    ],
)
def test_a_syntax_error_is_one_card_with_the_true_line(notebook: Notebook, body: str, line: int) -> None:
    notebook.ok(SUPPORT)
    graph = notebook["support"]
    error = notebook.fails(f"%%evograph support\n{body}")
    assert isinstance(error, SyntaxError)
    (card,) = notebook.cards()
    assert f"line {line}" in card
    assert "__import__" not in card + notebook.printed
    assert notebook["support"] is graph


def test_a_bracket_left_open_is_named(notebook: Notebook) -> None:
    notebook.fails("%%evograph g\nx = (1,\ny = 2\n")
    assert "&#x27;(&#x27; was never closed" in notebook.cards()[0]


def test_syntax_errors_of_other_cells_are_ipythons(notebook: Notebook) -> None:
    notebook.fails("x = = 1")
    assert notebook.cards() == []
    assert "invalid syntax" in notebook.printed


def test_a_syntax_error_inside_what_the_cell_runs_is_ipythons(notebook: Notebook) -> None:
    notebook.fails("%%evograph g\neval('1 +')")
    assert notebook.cards() == []


def test_an_error_of_the_body_is_an_ordinary_traceback_and_leaves_nothing_open(notebook: Notebook) -> None:
    notebook.ok(SUPPORT)
    graph = notebook["support"]
    error = notebook.fails("%%evograph support\nx = 1\n1 / 0\n")
    assert isinstance(error, ZeroDivisionError)
    assert notebook.cards() == []
    assert "----> 3 1 / 0" in notebook.printed
    assert notebook["support"] is graph
    notebook.ok(SUPPORT)


def test_the_text_of_a_card_stands_in_the_error_output(notebook: Notebook) -> None:
    notebook.fails(SUPPORT.replace("support", "support --zzz", 1))
    assert "MagicError: There is no option --zzz" in notebook.printed
    assert "fix:" in notebook.printed
    assert "Traceback" not in notebook.printed


def test_names_on_a_card_are_text(notebook: Notebook) -> None:
    notebook.fails(SUPPORT.replace("support", "support --break '<img src=x onerror=alert(1)>'", 1))
    (card,) = notebook.cards()
    assert "<img" not in card
    assert "&lt;img" in card


def test_the_same_error_object_is_shown_again_in_the_next_cell(notebook: Notebook) -> None:
    notebook.ok("from evonb.errors import GraphError\ne = GraphError('odd', fix='mend')")
    notebook.fails("raise e")
    notebook.fails("raise e")
    assert len(notebook.cards()) == 2


def test_called_as_a_magic_it_says_where_it_belongs(notebook: Notebook) -> None:
    error = notebook.fails("get_ipython().run_cell_magic('evograph', 'g', 'x = 1')")
    assert isinstance(error, MagicError)
    assert "very first line" in error.what


def test_unloading_takes_everything_back(notebook: Notebook) -> None:
    shell = notebook.shell
    notebook.ok(SUPPORT)
    shell.extension_manager.unload_extension("evonb")
    assert not any(name in shell.user_ns for name in ("START", "END", "node", "router", "edge", "TypedDict"))
    assert "evo" not in shell.magics_manager.magics["line"]
    assert "evograph" not in shell.magics_manager.magics["cell"]
    assert "evonb" not in shell.transform_cell("%%evograph g\nx = 1")
    assert not hasattr(EvonbError, "_render_traceback_")
    assert GraphEngine not in shell.display_formatter.ipython_display_formatter.type_printers
    from evonb.widgets import display

    assert display._shelf.items == []
    shell.extension_manager.load_extension("evonb")
    notebook.ok(SUPPORT)


def test_without_a_kernel_the_graph_is_text(notebook: Notebook) -> None:
    notebook.shell.kernel = None
    notebook.ok(SUPPORT)
    assert notebook.published.bundles == []
    assert "classify" in notebook.printed
