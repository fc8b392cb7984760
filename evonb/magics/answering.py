"""`%evo answer`: what a person says to a node that asks; of the session that is debugged, else of any run."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from evonb.errors import MagicError
from evonb.graph.asking import AnswerRefused, Question, open_questions
from evonb.graph.debugger import GraphEngineDebugger
from evonb.magics.evo_inputs import names_over
from evonb.magics.session import Session
from evonb.magics.standing import Answer, Standing, asked_lines, place_of, standing_of
from evonb.magics.target import SOON_S, debugger_of, wait_until_still
from evonb.widgets.display import has_kernel

__all__ = ["COMMANDS", "answer_choices", "asking_nodes"]

USAGE = "%evo answer VALUE [at NODE]"


async def _answer(session: Session, rest: str) -> Standing | Answer:
    """`answer VALUE [at NODE]`: an expression, or else a text, as the answer to the question that is open."""
    asked, rest = _asked(session, rest)
    text, node = _parted(rest, asked)
    question = _the_one(asked, node)
    if not text:
        example = next(iter(answer_choices([question])), "VALUE")
        raise MagicError(f"{USAGE} wants a value", where=asked_lines([question])[0].strip(),
                         fix=f"write for example: %evo answer {example}")  # fmt: skip
    debugger = _debugger_of(session, question)
    taken = _take(question, _value(session, debugger, text), text)
    if debugger is None:
        return Answer(f"{place_of(question)} got {taken!r:.200}")
    await wait_until_still(debugger, SOON_S if has_kernel() else None)
    return standing_of(debugger)


def _asked(session: Session, rest: str) -> tuple[list[Question], str]:
    """The questions that the command may mean, and the command without `--graph NAME`."""
    words = rest.split(" ")
    if "--graph" in words:
        at = words.index("--graph")
        debugger = debugger_of(session, words[at + 1] if at + 1 < len(words) else "")
        rest = " ".join([*words[:at], *words[at + 2 :]]).strip()
        asked = debugger.questions()
    else:
        current = session.graphs().get(session.debugging or "")
        asked = current.questions() if isinstance(current, GraphEngineDebugger) else []
        asked = asked or open_questions()
    if not asked:
        raise MagicError("Nothing is asked", where=f"%evo answer {rest[:60]}".strip(), fix="answer once a node asks")
    return asked, rest


def _parted(rest: str, asked: Sequence[Question]) -> tuple[str, str | None]:
    """The value and the node; "at" is a word of the answer where no node that asks comes after it."""
    text, at, node = f" {rest}".rpartition(" at ")
    known = {name for each in asked for name in (each.node, place_of(each))}
    return (text.strip(), node.strip()) if at and node.strip() in known else (rest, None)


def _the_one(asked: Sequence[Question], node: str | None) -> Question:
    found = [each for each in asked if node in (None, each.node, place_of(each))]
    if len(found) == 1:
        return found[0]
    nodes = sorted({place_of(each) for each in found})
    fix = f"say which: %evo answer VALUE at {nodes[0]}"
    if len(nodes) == 1:
        fix = "use question.answer(VALUE) of one in evonb.agents.open_questions()"
    raise MagicError(
        f"{len(found)} questions are open", where="; ".join(line.strip() for line in asked_lines(found)), fix=fix
    )


def _debugger_of(session: Session, question: Question) -> GraphEngineDebugger | None:
    debuggers = (graph for graph in session.graphs().values() if isinstance(graph, GraphEngineDebugger))
    return next((each for each in debuggers if question in each.questions()), None)


def _value(session: Session, debugger: GraphEngineDebugger | None, text: str) -> Any:
    """JSON, or Python over the notebook's names and the state's keys; else the text as it stands."""
    with suppress(ValueError):
        return json.loads(text)
    names = session.namespace if debugger is None else names_over(session, debugger, debugger.state())
    try:
        return eval(text, names)
    except (NameError, SyntaxError):
        return text
    except Exception as error:
        raise MagicError(
            f"The answer can't be worked out: {type(error).__name__}: {error}", where=f"%evo answer {text[:60]}",
            fix="write a Python expression, or a text in quotes",
        ) from error  # fmt: skip


def _take(question: Question, value: Any, text: str) -> Any:
    """A text is wanted where somebody typed a number, say: then what was typed counts."""
    try:
        return question.answer(value)
    except AnswerRefused:
        if value is text:
            raise
        with suppress(AnswerRefused):
            return question.answer(text)
        raise


def asking_nodes() -> list[str]:
    """The nodes that ask, for completion."""
    return sorted({place_of(each) for each in open_questions()})


def answer_choices(asked: Sequence[Question]) -> list[str]:
    """Values that questions name, for completion and as an example."""
    found: list[str] = []
    for each in asked:
        if each.schema.get("type") == "boolean":
            found += ["True", "False"]
        found += [str(value) for value in each.schema.get("enum", ())]
    return list(dict.fromkeys(found))


COMMANDS: Mapping[str, Callable[[Session, str], Awaitable[Any]]] = {"answer": _answer}
