"""Settings of the ready-made nodes: a misspelt one is an error, not a default that nobody asked for."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from evonb.errors import GraphError
from evonb.graph.near import near_names

__all__ = ["check_settings"]


def check_settings(node: type[BaseModel], given: Iterable[str]) -> None:
    """Whether a node class has all the settings that are given.

    Args:
        node: The class.
        given: Names of settings.

    Raises:
        GraphError: It hasn't; all unknown names are named.
    """
    fields = node.model_fields
    known = {*fields, *(field.alias for field in fields.values() if field.alias)}
    unknown = [name for name in given if name not in known]
    if not unknown or node.model_config.get("extra") == "allow":
        return
    near = [found for name in unknown for found in near_names(name, known)]
    meant = f"did you mean {' and '.join(map(repr, near))}? " if near else ""
    raise GraphError(
        f"{node.__name__} has no setting {' and '.join(map(repr, unknown))}",
        where=node.__name__,
        fix=f"{meant}it has {', '.join(fields)}",
    )
