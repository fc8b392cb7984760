"""The real model, started once: it takes a second, and the tests share two processors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evonb.llm import LocalModel


@pytest.fixture(scope="session")
def local() -> Iterator[LocalModel]:
    with LocalModel(max_tokens=24) as model:
        yield model
