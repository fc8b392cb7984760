"""What the nodes of one run ask a person, as a panel shows it: bounded, and found again by its id."""

from __future__ import annotations

import json
from typing import Any

from evonb.graph.asking import NoQuestion, Question, open_questions
from evonb.graph.topology import node_id
from evonb.protocol.debugging import WireQuestion

__all__ = ["QUESTIONS_SHOWN", "question_of", "shown_questions"]

QUESTIONS_SHOWN = 20
"""Younger questions wait until older ones are answered."""
MAX_TEXT_CHARS = 2000
MAX_SCHEMA_CHARS = 20_000
"""A form of more than that isn't one: the answer is then asked for as JSON, and the question still checks it."""
MAX_DEFAULT_CHARS = 20_000


def shown_questions(run_id: str | None) -> list[WireQuestion]:
    """The open questions of a run, oldest first."""
    found = open_questions(run_id) if run_id is not None else []
    return [_wire(each) for each in found[:QUESTIONS_SHOWN]]


def question_of(run_id: str | None, question_id: object) -> Question:
    """An open question of a run.

    Raises:
        NoQuestion: It was answered or withdrawn, or there never was one.
    """
    found = open_questions(run_id) if run_id is not None else []
    for each in found:
        if each.question_id == question_id:
            return each
    waiting = ", ".join(f"{each.node} asks {each.text!r:.80}" for each in found[:3]) or "none"
    raise NoQuestion("That question is closed", where=f"open questions: {waiting}", fix="answer one that is open")


def _wire(question: Question) -> WireQuestion:
    told = question.to_wire()
    wire: WireQuestion = {
        "id": question.question_id,
        "node": node_id(question.path, question.node or ""),
        "text": question.text if len(question.text) <= MAX_TEXT_CHARS else question.text[: MAX_TEXT_CHARS - 1] + "…",
        "schema": question.schema if _fits(question.schema, MAX_SCHEMA_CHARS) else {},
    }
    if "default" in told and _fits(told["default"], MAX_DEFAULT_CHARS):
        wire["default"] = told["default"]
    return wire


def _fits(value: Any, most_chars: int) -> bool:
    """Whether a value can travel: plain JSON, which knows no NaN, and not too long."""
    try:
        return len(json.dumps(value, allow_nan=False)) <= most_chars
    except (TypeError, ValueError, RecursionError):
        return False
