"""`HumanInput`: a node that asks a person and waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import SkipValidation, TypeAdapter
from pydantic.errors import PydanticUserError

from evonb._typeddicts import for_pydantic
from evonb.agents.cards import card, text_line, type_line
from evonb.agents.conversation import Text, text_from
from evonb.agents.settings import check_settings
from evonb.errors import GraphError
from evonb.graph.asking import ask
from evonb.graph.nodes import AsyncNode
from evonb.typing import MISSING, UserMessage

__all__ = ["HumanInput"]


class HumanInput(AsyncNode):
    """Asks a person, waits for the answer, and writes it to the state.

    In a script give `ask`, or answer by the handle of the run: `handle.answer(value)`. In a notebook session the node
    waits until somebody answers, by `answer(value)` of `evonb.agents` or in a view. An answer that doesn't fit is
    refused with the reason, and the node goes on waiting. A time limit of the node ends the wait.

    Attributes:
        question: What to ask, or a function that makes it of the state.
        key: The state key for the answer.
        answer_type: What the answer must be: `str`, `bool`, `Literal["yes", "no"]`, a pydantic model, ...
        default: What a form may offer.
        ask: Answers by itself: called with the `Question`, awaited if it is async.
        messages_key: A state key to which a text answer is appended as the user's message; None for none.

    Raises:
        GraphError: No answer of that type could be checked.
    """

    question: SkipValidation[Text]
    key: str = "answer"
    answer_type: SkipValidation[Any] = str
    default: SkipValidation[Any] = MISSING
    ask: SkipValidation[Callable[..., Any] | None] = None
    messages_key: str | None = None

    def __init__(self, **fields: Any) -> None:
        check_settings(type(self), fields)
        answer_type = fields.get("answer_type", str)
        try:
            TypeAdapter(for_pydantic(answer_type)).json_schema()
        except (PydanticUserError, NameError) as error:
            raise GraphError(
                f"The type of an answer must be one that can be checked, found {answer_type!r}",
                where="HumanInput",
                fix="use str, bool, int, Literal[...], or a pydantic model",
            ) from error
        super().__init__(**fields)

    def describe(self) -> str:
        """What its card says: the question, and what an answer has to be."""
        lines = {"question": text_line(self.question), "answer": type_line(self.answer_type)}
        return card("Asks a person and waits for the answer.", lines)

    async def __call__(self, state: Any) -> dict[str, Any]:
        """Ask and wait.

        Raises:
            AnswerRefused: What `ask` answered doesn't fit.
        """
        text = text_from(self.question, state)
        given = await ask(text, self.answer_type, default=self.default, via=self.ask)
        delta: dict[str, Any] = {self.key: given}
        if self.messages_key is not None:
            delta[self.messages_key] = [UserMessage(content=given if isinstance(given, str) else str(given))]
        return delta
