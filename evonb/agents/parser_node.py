"""`ParserNode`: text of a model in the state to a checked value in the state."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import PrivateAttr, SkipValidation

from evonb.agents import payloads
from evonb.agents.cards import card, output_line
from evonb.agents.conversation import as_message, value_of
from evonb.agents.settings import check_settings
from evonb.agents.structured import feedback, is_good, parser_for, problem_of, tried
from evonb.errors import StateError
from evonb.graph.nodes import SyncStreamNode
from evonb.graph.streaming import StreamWriter, current_ctx
from evonb.parsing import OutputParser, ParseError, ParseResult

__all__ = ["ParserNode"]


class ParserNode(SyncStreamNode):
    """Parses the text under one state key and writes the checked value under another.

    Attributes:
        parser: An `OutputParser`, or a class that the value should be of.
        source: The state key with the text: a text, a message, or a list of messages, of which the last counts.
        target: The state key for the value; None is written there when there is no good one.
        on_problem: "raise" makes the node fail; "keep" goes on, for a router to look at `problem_key`.
        problem_key: A state key for what is wrong, in words; "" when nothing is.
        trace_key: A state key for the `ParseResult`, with its trace.
        feedback_key: A state key of a conversation to which the problem is appended, so that the model can be asked
            again.

    Raises:
        ParseError: `parser` is neither a class nor a parser.
    """

    parser: SkipValidation[Any]
    source: str = "messages"
    target: str = "answer"
    on_problem: Literal["raise", "keep"] = "raise"
    problem_key: str | None = None
    trace_key: str | None = None
    feedback_key: str | None = None
    _parser: OutputParser = PrivateAttr()

    def __init__(self, **fields: Any) -> None:
        check_settings(type(self), fields)
        parser = parser_for(fields.get("parser"), "ParserNode")
        if parser is None:
            raise ParseError(
                "A parser node needs a parser or a class", where="ParserNode", fix="ParserNode(parser=...)"
            )
        super().__init__(**fields)
        self._parser = parser

    def describe(self) -> str:
        """What its card says: what it reads, and what has to come out."""
        lines = {"reads": f"the state's {self.source!r}", "output": output_line(self.parser)}
        return card("Parses text into a checked value.", lines)

    def __call__(self, state: Any, stream_writer: StreamWriter) -> dict[str, Any]:
        """Parse.

        Raises:
            StateError: There is no text under `source`.
            ParseError: There is no good value, and `on_problem` is "raise"; the error has the trace.
        """
        where = f"node {current_ctx().node_name or type(self).__name__!r}"
        result = tried(self._parser, self._text(state, where))
        problem = problem_of(result)
        stream_writer.put(_told(result, problem))
        if problem and self.on_problem == "raise":
            raise ParseError(
                f"The text under {self.source!r} couldn't be used: {problem}",
                result.trace,
                where=where,
                fix="look at the trace, or go on with on_problem='keep' and a router",
            )
        return self._delta(result, problem)

    def _text(self, state: Any, where: str) -> str:
        value = value_of(state, self.source, where)
        if isinstance(value, list | tuple) and value:
            value = value[-1]
        text = value if isinstance(value, str) else getattr(as_message(value), "content", None) if value else None
        if isinstance(text, str):
            return text
        raise StateError(
            f"The state key {self.source!r} holds {type(value).__name__}, expected text or messages",
            where=where,
            fix="let an earlier node write the reply there, or name another key as source",
        )

    def _delta(self, result: ParseResult, problem: str) -> dict[str, Any]:
        delta: dict[str, Any] = {self.target: result.data if is_good(result) else None}
        if self.problem_key is not None:
            delta[self.problem_key] = problem
        if self.trace_key is not None:
            delta[self.trace_key] = result
        if problem and self.feedback_key is not None:
            delta[self.feedback_key] = [feedback(self._parser, result)]
        return delta


def _told(result: ParseResult, problem: str) -> payloads.Payload:
    trace = result.trace
    repairs = list(trace.repairs) if trace is not None else []
    text = f"✗ {problem}" if problem else f"read {trace.detected_format.value}" if trace is not None else "read"
    more = f", {len(repairs)} repaired" if repairs else ""
    summary = trace.summary() if trace is not None else {}
    return {"type": "parsed", "content": f"{payloads.short(text)}{more}\n", "problem": problem, **summary}
