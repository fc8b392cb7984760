"""Stores on files of their own, closed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from evonb.persistence import SqliteStore, StoreError

Open = Callable[..., SqliteStore]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def problems() -> list[StoreError]:
    """What stores made by `opened` warned of."""
    return []


@pytest.fixture
def opened(path: Path, problems: list[StoreError]) -> Iterator[Open]:
    """Opens stores, on the test's file if no other is given."""
    with ExitStack() as stack:

        def opened(at: Path | str = path, name: str = "graph state", **options: Any) -> SqliteStore:
            return stack.enter_context(closing(SqliteStore(at, name, notify=problems.append, **options)))

        yield opened


@pytest.fixture
def store(opened: Open) -> SqliteStore:
    return opened()
