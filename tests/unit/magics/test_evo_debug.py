"""`%evo debug` and what follows, in a real IPython shell: as in a terminal, and as in a kernel."""

from __future__ import annotations

import asyncio
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from evonb.errors import MagicError
from evonb.graph import GraphEngineDebugger
from evonb.graph.debugging.points import SessionError
from evonb.magics.completion import suggestions
from evonb.magics.evo import COMMANDS
from evonb.magics.helping import HELP
from evonb.magics.stops import parse_stop
from tests.unit.magics.conftest import Notebook

DESK = """%%evograph desk
class State(TypedDict, total=False):
    score: float
    topic: str
    notes: Annotated[list, "extend"]

calls = []

@node
def plan(state):
    calls.append("plan")
    return {"topic": "billing", "notes": ["planned"]}

@node
async def draft(state):
    calls.append("draft")
    return {"score": state.get("score", 0.0) + 0.4, "notes": ["drafted"]}

@node
def review(state):
    calls.append("review")
    return {"notes": ["reviewed"]}

@router("draft", END)
def good(state):
    return END if state["score"] > 0.5 else "draft"

START >> plan >> draft >> review >> good
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are stored beside the notebook."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def terminal(notebook: Notebook) -> Notebook:
    """A shell without a kernel, with the graph."""
    del notebook.shell.kernel
    notebook.ok(DESK)
    return notebook


@pytest.fixture(params=["terminal", "kernel"])
def book(request: pytest.FixtureRequest, notebook: Notebook) -> Notebook:
    if request.param == "terminal":
        del notebook.shell.kernel
    notebook.ok(DESK)
    return notebook


def said(notebook: Notebook, line: str) -> str:
    return repr(notebook.ok(line))


def test_a_session_is_begun_stopped_stepped_and_ended(book: Notebook) -> None:
    assert "before review" in said(book, "%evo break review")
    text = said(book, "%evo debug desk {'score': 0.0}")
    assert text.splitlines() == [
        "Paused after step 2.",
        "  step 2: draft done, wrote score, notes",
        "  next: review (breakpoint 1)",
    ]
    assert isinstance(book["desk"], GraphEngineDebugger)
    assert "step 3: review done, wrote notes" in said(book, "%evo step")
    assert "next: review (breakpoint 1)" in said(book, "%evo resume")
    assert said(book, "%evo resume").startswith("Finished after step")
    assert book["calls"] == ["plan", "draft", "review", "draft", "review"]


def test_a_notebook_shows_the_panel_once(notebook: Notebook) -> None:
    notebook.ok(DESK.replace("desk\n", "desk --no-show\n", 1))
    notebook.ok("%evo debug desk {}")
    notebook.ok("%evo debug desk {}")
    assert len(notebook.views()) == 1


def test_a_graph_that_is_shown_as_a_picture_gets_its_panel(notebook: Notebook) -> None:
    notebook.ok(DESK)
    notebook.ok("%evo debug desk {}")
    assert len(notebook.views()) == 2


def test_options_of_the_cell_stand_as_breakpoints(notebook: Notebook) -> None:
    notebook.ok(DESK.replace("desk\n", "desk --mode debug --break draft\n", 1))
    assert [each.node for each in notebook["desk"].breakpoints()] == ["draft"]
    notebook.ok(DESK.replace("desk\n", "desk --break review\n", 1))
    assert "next: draft (breakpoint 1)" in said(notebook, "%evo debug desk {}")


def test_looking_back_runs_nothing_and_going_on_makes_a_branch(terminal: Notebook) -> None:
    terminal.ok("%evo debug desk {}")
    count = len(terminal["calls"])
    assert said(terminal, "%evo back 4").startswith("Looking at step 2 of 6; nothing runs.")
    assert said(terminal, "%evo on").startswith("Looking at step 3 of 6")
    assert said(terminal, "%evo until score > 0.3").startswith("Looking at step 2 of 6")
    assert len(terminal["calls"]) == count
    terminal.ok("score = 'a variable of the notebook'")
    assert said(terminal, "%evo until score > 0.3").startswith("Looking at step 2 of 6")
    assert "NameError" in str(terminal.fails("%evo until scroe > 0.3"))
    assert terminal.ok("%evo state score") == pytest.approx(0.4)
    terminal.ok("%evo fork better")
    assert len(terminal["calls"]) > count
    assert [branch.name for branch in terminal["desk"].branches()] == ["main", "better"]
    assert said(terminal, "%evo compare main better") == "main and better don't differ"
    assert said(terminal, "%evo live")


def test_edits_are_python_over_the_state_or_plain_words(terminal: Notebook) -> None:
    terminal.ok("%evo break review")
    terminal.ok("%evo debug desk {}")
    terminal.ok("%evo edit score = score * 2")
    assert terminal.ok("%evo state score") == pytest.approx(0.8)
    terminal.ok("%evo edit topic=tech")
    terminal.ok("%evo edit notes=[*notes, 'by hand']")
    assert terminal.ok("%evo state topic") == "tech"
    assert said(terminal, "%evo resume").startswith("Finished")
    assert terminal["calls"].count("draft") == 1
    assert "draft (by hand)" not in said(terminal, "%evo who score")
    assert "review (by hand)" in said(terminal, "%evo who score")


def test_an_edit_that_does_not_fit_changes_nothing(terminal: Notebook) -> None:
    terminal.ok("%evo break review")
    terminal.ok("%evo debug desk {}")
    assert "valid number" in str(terminal.fails("%evo edit score='many'"))
    assert "expected: float" in str(terminal.fails("%evo edit score=many"))
    assert "ZeroDivisionError" in str(terminal.fails("%evo edit score=1/0"))
    assert isinstance(terminal.fails("%evo edit score"), MagicError)
    assert terminal.ok("%evo state score") == pytest.approx(0.4)


def test_state_why_and_who_are_told_as_text(terminal: Notebook) -> None:
    terminal.ok("%evo break review")
    terminal.ok("%evo debug desk {}")
    table = said(terminal, "%evo state").splitlines()
    assert table[0].split() == ["key", "type", "value"]
    assert any(re.match(r"\*\s+score\s+float\s+0.4", line) for line in table)
    assert said(terminal, "%evo why review") == "review could run; breakpoint 1 holds it."
    assert "draft" in said(terminal, "%evo who score")
    assert "no key 'scor'" in str(terminal.fails("%evo state scor"))


def test_a_failed_node_is_told_and_can_be_mended(book: Notebook) -> None:
    book.ok("score_key = 'socre'")
    book.ok(DESK.replace('state.get("score", 0.0)', "{'score': 0.2}[score_key]"))
    text = said(book, "%evo debug desk {}")
    assert "Failed at step 2" in text
    assert "KeyError" in text
    assert len(book.cards()) == (1 if hasattr(book.shell, "kernel") else 0)
    assert "KeyError" in book.printed or book.cards()
    book.ok("score_key = 'score'")
    assert "draft done" in said(book, "%evo step")


def test_a_cell_that_is_run_again_while_stopped_goes_on_with_the_new_code(terminal: Notebook) -> None:
    terminal.ok("%evo break review")
    terminal.ok("%evo debug desk {}")
    former = terminal["desk"]
    terminal.ok(DESK.replace('["reviewed"]', '["reviewed anew"]'))
    assert terminal["desk"] is former
    assert "goes on with the new code; its 2 recorded steps stay" in terminal.printed
    terminal.ok("%evo step")
    assert terminal.ok("%evo state notes") == ["planned", "drafted", "reviewed anew"]
    terminal.ok("%evo break draft")
    terminal.ok("%evo debug desk {}")
    terminal.ok(DESK)
    assert "its 1 recorded step stays" in terminal.printed
    terminal.ok("%evo unbreak draft")
    terminal.ok("%evo debug desk {}")
    extra = "@node\ndef extra(state):\n    return {}\n\n@router"
    terminal.ok(DESK.replace("@router", extra).replace("plan >> draft", "plan >> extra >> draft"))
    assert "can't go on with the new code" in terminal.printed
    assert "extra" in terminal.printed
    assert terminal["desk"] is not former


def test_breakpoints_survive_a_new_shape_where_they_fit(notebook: Notebook) -> None:
    notebook.ok(DESK.replace("desk\n", "desk --mode debug\n", 1))
    notebook.ok("%evo break review if score > 1 hit 2")
    notebook.ok("%evo break plan")
    text = DESK.replace("desk\n", "desk --mode debug\n", 1).replace("plan", "outline")
    notebook.ok(text)
    (kept,) = notebook["desk"].breakpoints()
    assert (kept.node, kept.hit, kept.condition.text) == ("review", 2, "score > 1")
    assert "before plan" in notebook.printed


def test_runs_are_listed_and_opened_again(terminal: Notebook) -> None:
    terminal.ok("%evo break review")
    terminal.ok("%evo debug desk {}")
    first = terminal["desk"].run_id
    terminal.ok("%evo debug desk {'score': 1.0}")
    lines = said(terminal, "%evo runs").splitlines()
    assert len(lines) == 3
    assert first is not None
    assert first[:12] in lines[2]
    assert said(terminal, f"%evo open {first[:8]}").startswith("Paused after step 2.")
    assert terminal.ok("%evo state score") == pytest.approx(0.4)
    assert "no run 'zzz'" in str(terminal.fails("%evo open zzz"))


def test_breakpoints_are_set_listed_and_cleared(terminal: Notebook) -> None:
    assert said(terminal, "%evo break") == "No breakpoints: %evo break NODE sets one"
    terminal.ok("%evo break draft after")
    terminal.ok("%evo break edge draft>review if score > 3")
    terminal.ok("%evo break exception")
    terminal.ok("%evo break when score > 9")
    terminal.ok("%evo break plan log topic")
    assert len(said(terminal, "%evo break").splitlines()) == 6
    terminal.ok("%evo unbreak draft")
    terminal.ok("%evo unbreak 2")
    assert len(terminal["desk"].breakpoints()) == 3
    terminal.ok("%evo unbreak all")
    assert terminal["desk"].breakpoints() == []
    assert "did you mean 'draft'" in str(terminal.fails("%evo break drft"))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("review", {"node": "review"}),
        ("review after", {"node": "review", "when": "after"}),
        ("review if score < 0.5 hit 3", {"node": "review", "condition": "score < 0.5", "hit": 3}),
        ("review hit 3 after", {"node": "review", "hit": 3, "when": "after"}),
        ("review if a log b", {"node": "review", "condition": "a", "log": "b"}),
        ("tool search", {"tool": "search"}),
        ("exception", {"on_exception": True}),
        ("edge a>b", {"edge": "a>b"}),
        ("when score > 1", {"predicate": "score > 1"}),
    ],
)
def test_stops_are_read(text: str, options: dict[str, Any]) -> None:
    assert parse_stop(text) == options


@pytest.mark.parametrize("text", ["", "review nonsense", "review hit x", "when", "tool"])
def test_stops_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(MagicError) as caught:
        parse_stop(text)
    assert "%evo break NODE" in caught.value.fix


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("%evo debug", "wants a graph"),
        ("%evo debug dsk", "no graph 'dsk'"),
        ("%evo state", "No session has begun"),
        ("%evo back x", "No session has begun"),
        ("%evo unbreak", "wants a node"),
        ("%evo debug desk {", "can't be read"),
        ("%evo edit --graph nobody x=1", "no graph 'nobody'"),
    ],
)
def test_wrong_commands_are_cards_with_a_fix(terminal: Notebook, line: str, what: str) -> None:
    error = terminal.fails(line)
    assert isinstance(error, MagicError)
    assert what in error.what
    assert error.fix


def test_commands_that_are_not_allowed_say_why(terminal: Notebook) -> None:
    terminal.ok("%evo debug desk {}")
    error = terminal.fails("%evo pause")
    assert isinstance(error, SessionError)
    assert "nothing runs" in error.what
    assert "wants a number" in str(terminal.fails("%evo back x"))
    assert "makes no branch" in str(terminal.fails("%evo fork"))


def test_an_effect_acts_again_only_when_it_is_asked_to(terminal: Notebook) -> None:
    terminal.ok(DESK.replace("@node\ndef review", "@node(effect=True)\ndef review"))
    terminal.ok("%evo debug desk {'score': 0.3}")
    assert terminal["calls"] == ["plan", "draft", "review"]
    terminal.ok("%evo until score > 0.5")
    terminal.ok("%evo edit score = 0.9")
    assert "%evo resume --again" in str(terminal.fails("%evo resume"))
    assert terminal["calls"].count("review") == 1
    assert said(terminal, "%evo resume --again").startswith("Finished")
    assert terminal["calls"].count("review") == 2


def test_a_run_whose_process_is_gone_was_interrupted(terminal: Notebook) -> None:
    terminal.ok("%evo debug desk {}")
    store, run_id = terminal["desk"].store, terminal["desk"].run_id
    store.put(run_id, {"status": "running"})
    assert "running" in said(terminal, "%evo runs")
    store.close()
    assert "was interrupted" in said(terminal, "%evo runs")


def test_help_lists_every_command(terminal: Notebook) -> None:
    assert set(HELP) == set(COMMANDS)
    assert all(usage.split()[0] == name for name, (usage, _) in HELP.items())
    lines = said(terminal, "%evo help").splitlines()
    assert len(lines) == len(COMMANDS) + 2
    assert any(line.startswith("%evo until EXPR ") for line in lines)
    assert (
        said(terminal, "%evo help why").splitlines()[1]
        == "%evo why NODE  why a node waits, is held, ran twice or hasn't run"
    )
    assert "did you mean step?" in str(terminal.fails("%evo help stepp"))


def test_several_graphs_need_a_name(terminal: Notebook) -> None:
    terminal.ok(DESK.replace("desk\n", "other\n", 1))
    assert "Which graph? There are desk, other" in str(terminal.fails("%evo break plan"))
    terminal.ok("%evo break plan --graph other")
    assert isinstance(terminal["other"], GraphEngineDebugger)
    assert not isinstance(terminal["desk"], GraphEngineDebugger)


def test_completion_offers_what_may_stand_there(terminal: Notebook) -> None:
    assert suggestions("%evo br") == ["break"]
    assert suggestions("%evo debug ") == ["desk"]
    assert suggestions("%evo break re") == ["review"]
    assert suggestions("%evo break review ") == ["if", "after", "hit", "log"]
    assert suggestions("%evo step ") == []
    assert not isinstance(terminal["desk"], GraphEngineDebugger)
    terminal.ok("%evo break review")
    terminal.ok("%evo debug desk {}")
    assert suggestions("%evo step ") == ["review"]
    assert suggestions("%evo edit sc") == ["score="]
    assert suggestions("%evo who ") == ["score", "topic", "notes"]
    assert suggestions("%evo unbreak ") == ["review", "all"]
    assert suggestions("%evo compare ") == ["main"]
    assert suggestions("%evo open ") == [terminal["desk"].run_id[:12]]


def test_a_command_that_runs_nodes_cannot_stand_inside_another_magic(terminal: Notebook) -> None:
    assert "line of its own" in str(terminal.fails("%time _ = get_ipython().run_line_magic('evo', 'step')"))
    terminal.ok("%evo debug desk {}")
    assert "key" in repr(terminal.ok("get_ipython().run_line_magic('evo', 'state')"))


def test_a_terminal_tells_what_log_points_print(terminal: Notebook) -> None:
    terminal.ok("%evo break draft log score")
    terminal.ok("%evo break review")
    terminal.ok("%evo debug desk {'score': 0.0}")
    assert terminal.printed.splitlines()[0] == "draft: 0.0"
    terminal.ok("%evo step")
    assert terminal.printed.splitlines()[0] == "draft: 0.4"
    terminal.ok("%evo step")
    assert "draft: " not in terminal.printed


def test_ctrl_c_in_a_terminal_ends_the_command_and_leaves_a_session_that_goes_on(terminal: Notebook) -> None:
    terminal.ok(DESK.replace('calls.append("draft")', "await stuck()"))
    terminal.shell.user_ns["stuck"] = stuck
    before = signal.getsignal(signal.SIGINT)
    assert isinstance(terminal.fails("%evo debug desk {}"), asyncio.CancelledError)
    assert signal.getsignal(signal.SIGINT) is before
    desk = terminal["desk"]
    assert (desk.status, desk.history()[-1].status) == ("finished", "stopped")
    desk.restore_step()
    assert isinstance(terminal.fails("%evo step"), asyncio.CancelledError)
    assert (desk.status, [each.node_name for each in desk.waiting()]) == ("paused", ["draft"])


async def stuck() -> None:
    """As if somebody pressed Ctrl-C while a node waits."""
    signal.raise_signal(signal.SIGINT)
    await asyncio.Event().wait()


def test_a_stop_by_a_condition_that_failed_says_so(terminal: Notebook) -> None:
    terminal.ok("%evo break draft if scroe > 1")
    assert "next: draft (breakpoint 1: its condition scroe > 1 failed: NameError" in said(
        terminal, "%evo debug desk {}"
    )


# --- inside of a sub-graph -----------------------------------------------------------------------------

RESEARCH = """%%evograph research
class State(TypedDict, total=False):
    n: int

@node
def search(state):
    return {"n": state["n"] + 1}

@node
def rank(state):
    return {"n": state["n"] * 10}

START >> search >> rank >> END
"""
PAPER = """%%evograph paper
class State(TypedDict, total=False):
    n: int

@node
def plan(state):
    return {"n": 1}

START >> plan >> research >> END
"""


def test_the_words_say_where_inside_of_a_sub_graph_it_stands(notebook: Notebook) -> None:
    del notebook.shell.kernel
    notebook.ok(RESEARCH)
    notebook.ok(PAPER)
    notebook.ok("%evo break research --graph paper")
    notebook.ok("%evo debug paper {'n': 0}")
    assert suggestions("%evo step --i") == ["--into"]
    assert said(notebook, "%evo step research --into").splitlines() == [
        "Paused after step 1, inside research, before its first step.",
        "  next: research › search",
    ]
    assert said(notebook, "%evo step").splitlines() == [
        "Paused after step 1, inside research, step 1 of 1.",
        "  step 1, inside: research › search done, wrote n",
        "  next: research › rank",
    ]
    assert notebook.ok("%evo state n") == 2
    assert said(notebook, "%evo back").splitlines() == [
        "Looking at step 1 of 1, inside research, before its first step; nothing runs. "
        "%evo fork goes on from here, %evo live leads back.",
        "  next: research › search",
    ]
    assert notebook.ok("%evo state n") == 1
    assert "inside research, step 1 of 1" in said(notebook, "%evo on")
    assert said(notebook, "%evo resume").startswith("Finished after step")
