"""`%evo answer` and what the other commands say of a question, in a real IPython shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evonb.agents import open_questions
from evonb.errors import MagicError
from evonb.graph.asking import AnswerRefused
from evonb.graph.debugging.points import SessionError
from evonb.magics.completion import suggestions
from tests.unit.magics.conftest import Notebook

DESK = """%%evograph desk
from evonb.agents import HumanInput

class State(TypedDict, total=False):
    amount: int
    approved: bool
    words: str

@node
def plan(state):
    return {"amount": 40}

approve = node(HumanInput(question=lambda state: f"Refund {state['amount']} €?", answer_type=bool, key="approved"),
               name="approve")
write = node(HumanInput(question="What do we write?", key="words"), name="write")

START >> plan >> approve >> write
"""
SIDE_BY_SIDE = """%%evograph both
from typing import Literal
from evonb.agents import HumanInput

class State(TypedDict, total=False):
    colour: str
    words: str

@node
def plan(state):
    return {}

paint = node(HumanInput(question="Which?", answer_type=Literal["red", "blue"], key="colour"), name="paint")
write = node(HumanInput(question="What do we write?", key="words"), name="write")

START >> plan >> [paint, write]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Runs are stored beside the notebook; no question outlives its test."""
    monkeypatch.chdir(tmp_path)
    yield
    assert open_questions() == []


@pytest.fixture(params=["terminal", "kernel"])
def book(request: pytest.FixtureRequest, notebook: Notebook) -> Notebook:
    if request.param == "terminal":
        del notebook.shell.kernel
    notebook.ok(DESK)
    return notebook


def said(notebook: Notebook, line: str) -> str:
    return repr(notebook.ok(line))


def test_a_session_that_asks_is_answered_and_goes_on(book: Notebook) -> None:
    assert said(book, "%evo debug desk").splitlines() == [
        "Waits for you: %evo answer VALUE goes on.",
        "  step 1: plan done, wrote amount",
        "  approve asks: Refund 40 €?",
    ]
    assert said(book, "%evo answer amount < 100").splitlines()[1:] == [
        "  step 2: approve done, wrote approved",
        "  write asks: What do we write?",
    ]
    assert said(book, "%evo answer Dear customer, see you at noon").startswith("Finished after step")
    assert book["desk"].state()["words"] == "Dear customer, see you at noon"
    assert book["desk"].state()["approved"] is True


def test_state_and_why_say_what_is_asked(book: Notebook) -> None:
    book.ok("%evo debug desk")
    assert said(book, "%evo state").endswith("approve asks: Refund 40 €?")
    assert said(book, "%evo why approve") == "approve asks a person and waits for the answer: Refund 40 €?"
    with pytest.raises(SessionError, match="it runs") as caught:
        raise book.fails("%evo edit amount=50")
    assert caught.value.fix == "answer 'Refund 40 €?' first, or call stop()"
    book.ok("%evo stop")


def test_an_answer_that_does_not_fit_is_refused_and_the_question_stays(book: Notebook) -> None:
    book.ok("%evo debug desk")
    error = book.fails("%evo answer perhaps")
    assert isinstance(error, AnswerRefused)
    assert "should be a valid boolean" in error.what
    assert said(book, "%evo state").endswith("approve asks: Refund 40 €?")
    book.ok("%evo answer 0")
    assert book["desk"].state()["approved"] is False
    book.ok("%evo stop")


def test_a_number_answers_a_question_for_a_text_as_it_was_typed(book: Notebook) -> None:
    book.ok("%evo debug desk")
    book.ok("%evo answer true")
    book.ok("%evo answer 40")
    assert book["desk"].state()["words"] == "40"


def test_several_questions_are_told_apart_by_their_nodes(book: Notebook) -> None:
    book.ok(SIDE_BY_SIDE)
    text = said(book, "%evo debug both")
    assert "  paint asks: Which? (red, blue)" in text.splitlines()
    error = book.fails("%evo answer red")
    assert isinstance(error, MagicError)
    assert (error.what, error.fix) == ("2 questions are open", "say which: %evo answer VALUE at paint")
    assert suggestions("%evo answer ") == ["red", "blue"]
    assert suggestions("%evo answer r") == ["red"]
    assert suggestions("%evo answer red ") == ["at"]
    assert suggestions("%evo answer red at ") == ["paint", "write"]
    assert "write asks" in said(book, "%evo answer blue at paint")
    book.ok("%evo answer meet me at noon")
    assert book["both"].state() == {"colour": "blue", "words": "meet me at noon"}


def test_what_can_not_be_answered_says_what_to_do(book: Notebook) -> None:
    error = book.fails("%evo answer yes")
    assert isinstance(error, MagicError)
    assert (error.what, error.fix) == ("Nothing is asked", "answer once a node asks")
    book.ok("%evo debug desk")
    error = book.fails("%evo answer")
    assert isinstance(error, MagicError)
    assert (error.where, error.fix) == ("approve asks: Refund 40 €?", "write for example: %evo answer True")
    error = book.fails("%evo answer 1/0")
    assert isinstance(error, MagicError)
    assert error.what == "The answer can't be worked out: ZeroDivisionError: division by zero"
    book.ok("%evo stop")


def test_a_run_without_a_debugger_is_answered_too(book: Notebook) -> None:
    book.ok("handle = desk.start({})\nawait handle.question()")
    assert said(book, "%evo answer no") == "approve got False"
    book.ok("await handle.question()")
    assert said(book, "%evo answer 'no refund'") == "write got 'no refund'"
    state: dict[str, Any] = book.ok("await handle")
    assert state["words"] == "no refund"


def test_the_help_names_it(book: Notebook) -> None:
    assert "answer VALUE [at NODE]" in book.shell.magics_manager.magics["line"]["evo"].__doc__
    assert "answer VALUE [at NODE]" in book.fails("%evo").fix  # type: ignore[attr-defined]
