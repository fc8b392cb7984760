"""What people give to a builder, checked before it is taken: each refusal names the option and offers what is right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evonb.errors import GraphError
from evonb.graph.near import near_names, wrong_kind

__all__ = ["check_options", "is_retry", "member_of", "positive", "targets_listed"]


def targets_listed(targets: Any, source: str) -> Iterable[Any]:
    """Several targets of a router; a set in the order of its names.

    Raises:
        GraphError: They are one text, or no list.
    """
    if isinstance(targets, str) or not isinstance(targets, Iterable):
        raise wrong_kind(
            GraphError,
            "possible_targets is a list of node names",
            targets,
            where=f"router of node {source!r}",
            fix='possible_targets=["billing", "end"]',
        )
    return sorted(targets) if isinstance(targets, set | frozenset) else targets


def check_options(known: Iterable[str], given: Mapping[str, Any]) -> None:
    """Refuse an option that a graph has not, with the near ones, and a name that is no text.

    Raises:
        GraphError: An option is unknown, or the name is no text.
    """
    for option in given:
        if option not in known:
            near = near_names(option, known)
            raise GraphError(
                f"A graph has no option {option!r}",
                where="GraphBuilder",
                fix=f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}",
            )
    if not isinstance(given.get("name", ""), str):
        raise wrong_kind(
            GraphError, "The name of a graph is a text", given["name"], where="GraphBuilder", fix='name="triage"'
        )


def member_of(kind: Any, value: Any, option: str) -> Any:
    """The member of an enum that a text or a member means.

    Raises:
        GraphError: There is none.
    """
    try:
        return kind(value)
    except ValueError:
        names = [member.value for member in kind]
        near = near_names(value, names)
        raise GraphError(
            f"{option} is {value!r}, expected one of {', '.join(map(repr, names))}",
            where=option,
            fix=f"{option}={(near or names)[0]!r}",
        ) from None


def is_retry(retry: Any) -> bool:
    """Whether it says how often a node is tried."""
    if isinstance(retry, int):
        return not isinstance(retry, bool) and retry > 0
    from evonb.graph.retry import RetryPolicy  # few graphs retry

    return isinstance(retry, RetryPolicy) and retry.attempts > 0


def positive(value: Any, option: str) -> Any:
    """The value, if it is a number above 0 or None.

    Raises:
        GraphError: It isn't.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or value <= 0):
        raise GraphError(
            f"{option} is {value!r}, expected a number above 0 or None",
            where=option,
            fix=f"{option}=10, or leave it out",
        )
    return value
