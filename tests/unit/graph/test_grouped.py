"""Exception groups are told by what is inside of them."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest

from evonb.errors import NodeError
from evonb.graph import GraphBuilder
from evonb.graph.grouped import first_inside, leaves


class State(TypedDict):
    n: int


def test_the_errors_of_nested_groups_come_in_order() -> None:
    first, second, third = ValueError("1"), KeyError("2"), OSError("3")
    group = ExceptionGroup("all", [ExceptionGroup("some", [first, second]), third])
    assert list(leaves(group)) == [first, second, third]
    assert first_inside(group) == (first, 2)


def test_another_error_is_itself() -> None:
    error = ValueError("alone")
    assert first_inside(error) == (error, 0)


def test_an_endless_nest_ends() -> None:
    error: Exception = ValueError("deep")
    for _ in range(500):
        error = ExceptionGroup("again", [error])
    assert len(list(leaves(error))) == 1


def test_a_node_whose_task_group_fails_is_blamed_at_the_line_that_raised() -> None:
    async def bad(text: str) -> None:
        raise ValueError(text)

    async def both(state: Any) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(bad("first"))
            group.create_task(bad("second"))

    builder = GraphBuilder(State)
    builder.add_node("both", both)
    builder.set_entry_point("both")
    with pytest.raises(NodeError, match="ValueError: first") as caught:
        asyncio.run(builder.build().run({"n": 1}))
    info = caught.value.info  # type: ignore[attr-defined]
    assert info.kind == "ValueError"
    assert info.what == "first (and 1 more in the same task group)"
    assert [text.strip() for _, text, is_line in info.source if is_line] == ["raise ValueError(text)"]
    assert "second" in info.traceback
    assert isinstance(caught.value.__cause__, ExceptionGroup)
