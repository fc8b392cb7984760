"""Times and words of the picture."""

from __future__ import annotations

import pytest

from evonb.export.counting import listed, ordinal, plural
from evonb.protocol.durations import duration


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 ms"),
        (0.0124, "12 ms"),
        (0.0994, "99 ms"),
        (0.0996, "0.1 s"),
        (3.14, "3.1 s"),
        (59.94, "59.9 s"),
        (59.96, "1 m 00 s"),
        (64 * 60, "1 h 04 m"),
        (-1, "0 ms"),
    ],
)
def test_times_have_two_or_three_figures(seconds: float, shown: str) -> None:
    assert duration(seconds).replace("\u00a0", " ") == shown


def test_a_number_does_not_part_from_its_unit() -> None:
    assert " " not in duration(64)


def test_counting_words() -> None:
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 112)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th")
    ]
    assert plural(1, "step") == "1 step"
    assert plural(1204, "token") == "1,204 tokens"
    assert [listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
