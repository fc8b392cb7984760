"""Texts that every encoder takes."""

from __future__ import annotations

from typing import Any

import pytest

from evonb._unicode import encodable


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("tea", "tea"),
        ("\U0001f375", "\U0001f375"),
        ("\ud83c\udf75", "\U0001f375"),
        ("a\ud83c", "a\ufffd"),
        ("\udf75b", "\ufffdb"),
        ({"\ud83c": ["\ud83c", ("x", 1)]}, {"\ufffd": ["\ufffd", ["x", 1]]}),
        (None, None),
        (1.5, 1.5),
    ],
)
def test_lone_halves_are_replaced_and_pairs_joined(given: Any, made: Any) -> None:
    assert encodable(given) == made
