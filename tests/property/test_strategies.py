"""The laws that the docstrings of the update strategies state."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evonb.graph import StateUpdater
from evonb.typing import MISSING, AssistantMessage

MESSAGES = st.lists(
    st.builds(AssistantMessage, content=st.text("m", max_size=2), msg_id=st.sampled_from("abcd")), max_size=4
)
DELTAS: dict[str, st.SearchStrategy[Any]] = {
    "overwrite": st.integers(),
    "append_messages": MESSAGES,
    "add": st.integers(),
    "extend": st.lists(st.integers(0, 3), max_size=4),
    "union": st.lists(st.integers(0, 3), max_size=4) | st.lists(st.just({"a": 1}), max_size=2),
    "merge": st.dictionaries(st.sampled_from("abc"), st.integers(), max_size=3),
    "max": st.integers(),
    "min": st.integers(),
    "keep_first": st.integers(),
}
IDEMPOTENT = [name for name in DELTAS if name not in ("add", "extend")]


def test_every_built_in_strategy_has_its_laws_tested() -> None:
    from evonb.graph.strategies import BUILT_IN

    assert set(DELTAS) == BUILT_IN


@pytest.mark.parametrize("name", DELTAS)
@given(data=st.data())
def test_folding_deltas_first_gives_the_same(name: str, data: st.DataObject) -> None:
    strategy, deltas = StateUpdater.get(name), DELTAS[name]
    one, two, three = data.draw(deltas), data.draw(deltas), data.draw(deltas)
    assert strategy(strategy(one, two), three) == strategy(one, strategy(two, three))


@pytest.mark.parametrize("name", IDEMPOTENT)
@given(data=st.data())
def test_a_delta_that_comes_twice_changes_nothing_more(name: str, data: st.DataObject) -> None:
    strategy, deltas = StateUpdater.get(name), DELTAS[name]
    old, new = data.draw(deltas), data.draw(deltas)
    once = strategy(old, new)
    assert strategy(once, new) == once


@pytest.mark.parametrize("name", DELTAS)
@given(data=st.data())
def test_missing_is_neutral(name: str, data: st.DataObject) -> None:
    strategy = StateUpdater.get(name)
    value = data.draw(DELTAS[name])
    normal = strategy(MISSING, value)
    assert strategy(normal, MISSING) == normal
    if name not in ("append_messages", "union"):  # these drop repeats
        assert normal == value


@pytest.mark.parametrize("name", DELTAS)
@given(data=st.data())
def test_arguments_are_left_alone(name: str, data: st.DataObject) -> None:
    old, new = data.draw(DELTAS[name]), data.draw(DELTAS[name])
    before = copy.deepcopy((old, new))
    StateUpdater.get(name)(old, new)
    assert (old, new) == before
