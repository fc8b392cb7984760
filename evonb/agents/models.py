"""Several models, configured once and picked by id: by a node, by a state key, or by a request."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

from evonb.errors import EvonbError, GraphError
from evonb.llm import ChatModel

__all__ = ["ModelSet", "check_model", "pick_model", "use_model"]

_chosen: ContextVar[str | None] = ContextVar("evonb_model", default=None)


class ModelSet(Mapping[str, ChatModel]):
    """Chat models by id. Never changes; `with_models` makes a larger one.

    Args:
        models: The models by id.
        default: The id that is used when nobody picks one; the first if None.

    Raises:
        GraphError: It is empty, something in it is no chat model, or the default isn't in it.

    Example:
        >>> from evonb.llm import ScriptedModel
        >>> models = ModelSet({"small": ScriptedModel(["hi"]), "large": ScriptedModel(["good day"])})
        >>> models.default, list(models)
        ('small', ['small', 'large'])
    """

    def __init__(self, models: Mapping[str, ChatModel], *, default: str | None = None) -> None:
        if not models:
            raise GraphError("A model set needs at least one model", fix='ModelSet({"small": ScriptedModel([...])})')
        self._models: dict[str, ChatModel] = {
            name: check_model(model, f"model {name!r}") for name, model in models.items()
        }
        self.default = next(iter(self._models)) if default is None else default
        self.pick(self.default)

    def pick(self, model_id: str | None = None) -> ChatModel:
        """The model with this id; None takes what the request chose by `use_model`, else the default.

        Raises:
            EvonbError: There is none; near ids are named.
        """
        wanted = model_id or _chosen.get() or self.default
        if wanted in self._models:
            return self._models[wanted]
        near = difflib.get_close_matches(str(wanted), self._models, n=1)
        raise EvonbError(
            f"There is no model {wanted!r}; there are {', '.join(map(repr, self._models))}",
            where="ModelSet",
            fix=f"did you mean {near[0]!r}?" if near else "pick one of these, or add it to the set",
        )

    def with_models(self, **models: ChatModel) -> ModelSet:
        """A set of these models and more; the default stays."""
        return ModelSet({**self._models, **models}, default=self.default)

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: the models, each in its own way, and the default."""
        return {"models": dict(self._models), "default": self.default}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A set of such models."""
        return cls(fields["models"], default=fields["default"])

    def __getitem__(self, model_id: str) -> ChatModel:
        return self._models[model_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def __repr__(self) -> str:
        return f"ModelSet({', '.join(self._models)}; default {self.default!r})"


@contextmanager
def use_model(model_id: str | None) -> Iterator[None]:
    """Pick a model for everything that runs inside: `with use_model("large"): await graph.run(...)`."""
    token = _chosen.set(model_id)
    try:
        yield
    finally:
        _chosen.reset(token)


def check_model(model: Any, where: str) -> Any:
    """The model itself, if it is a chat model or a set of them.

    Raises:
        GraphError: It is neither.
    """
    if isinstance(model, ModelSet) or (isinstance(model, ChatModel) and not isinstance(model, type)):
        return model
    found = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
    raise GraphError(
        f"A chat model has the methods chat and chat_sync, found {found}",
        where=where,
        fix='give ChatClient("name", base_url=...), LocalModel(), ScriptedModel([...]), or a ModelSet of such',
    )


def pick_model(model: Any, model_id: str | None) -> ChatModel:
    """The model to ask: out of a set by id, or the only one there is.

    Raises:
        EvonbError: The set has no such id, or there is an id and no set to pick from.
    """
    if isinstance(model, ModelSet):
        return model.pick(model_id)
    if model_id is not None:
        raise EvonbError(
            f"The model {model_id!r} was asked for, and the node has one model only",
            fix="give the node a ModelSet, or leave model_key out",
        )
    only: ChatModel = model
    return only
