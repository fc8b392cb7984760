"""Names keep inside their boxes, whatever they are made of."""

from __future__ import annotations

import pytest

from evonb.export.layout import layout
from evonb.export.measure import clean, cut, name_width, shown_name, width
from evonb.graph.topology import NodeInfo, Topology


def test_long_names_are_cut_with_an_ellipsis() -> None:
    assert shown_name("a" * 34) == "a" * 34
    assert shown_name("a" * 35) == "a" * 33 + "…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("two\nlines", "two lines"), ("tab\there", "tab here"), ("null\0", "null\ufffd"), ("lone\ud800", "lone\ufffd")],
)
def test_control_characters_become_visible(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_letters_that_xml_refuses_are_replaced() -> None:
    assert clean("a\ufffeb\x0bc\x1bd") == "a\ufffdb c\ufffdd"


def test_new_emoji_are_kept() -> None:
    assert clean("🪿 \U0001fabf") == "🪿 \U0001fabf"


def test_wide_letters_get_wide_boxes() -> None:
    assert name_width("分类工单") > name_width("abcd")
    assert name_width("🚀🚀") > name_width("ab")
    assert name_width("WWWW") > name_width("llll")


def test_combining_marks_take_no_room() -> None:
    assert width("e\u0301", 13) == width("e", 13)


def test_a_box_has_room_for_name_time_and_count() -> None:
    placed = layout(Topology("one", (NodeInfo("summarise", "summarise"),), ()))
    assert placed.boxes["summarise"].w >= 34 + name_width("summarise") + 58


def test_cutting_counts_letters() -> None:
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"
