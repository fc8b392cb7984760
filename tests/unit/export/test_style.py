"""The style rules as Python works them out: the browser must agree, and the colours must be readable."""

from __future__ import annotations

import re

import pytest

from evonb.export.shared import text
from evonb.export.style import Scheme, Style, rgb, styles

_STATES = ("idle", "queued", "waiting", "running", "done", "failed", "skipped", "paused", "edited")


def _style(scheme: Scheme, *path: tuple[str, str]) -> Style:
    style = styles(scheme).root
    for tag, classes in path:
        style = styles(scheme).child(style, tag, classes)
    return style


def _looks(scheme: Scheme, *path: tuple[str, str]) -> dict[str, str]:
    return dict(_style(scheme, ("svg", "graph"), *path).attributes)


def test_a_state_gives_its_colour_to_what_lies_in_it() -> None:
    assert _looks("light", ("g", "node running"), ("rect", "box"))["stroke"] == "#1a5fd0"
    assert _looks("dark", ("g", "node running"), ("rect", "box"))["stroke"] == "#74aaff"


def test_a_rule_that_says_more_wins() -> None:
    assert _looks("light", ("g", "edge"), ("path", "line"))["stroke-width"] == "1.25"
    assert _looks("light", ("g", "edge cond taken"), ("path", "line"))["stroke-width"] == "1.75"
    assert _looks("light", ("g", "edge cond taken"), ("path", "line"))["stroke-dasharray"] == "5 4"


def test_colours_are_mixed_as_the_browser_does() -> None:
    # color-mix(in srgb, #16191d 60%, #ffffff)
    assert styles("light").color("evo-outline") == "#737577"


def test_the_current_colour_comes_from_around() -> None:
    assert _looks("light", ("g", "edge off"), ("path", "head"))["fill"] == styles("light").color("evo-faint")


def test_rules_that_only_move_are_not_read() -> None:
    assert "cursor" not in _style("light", ("svg", "graph"), ("g", "node done")).attributes
    assert _looks("light", ("g", "edge pulse"), ("path", "comet dot")).get("opacity") is None


def test_no_value_is_left_for_the_browser() -> None:
    classes = set(
        re.findall(r"\.([a-z][\w-]*)", text("picture.css").partition("/* Live only */")[0] + text("still.css"))
    )
    for scheme in ("light", "dark"):
        for state in _STATES:
            for inner in classes:
                looks = _looks(scheme, ("g", f"node edge label card callout group head-bar {state}"), ("rect", inner))
                assert not [v for v in looks.values() if "var(" in v or "color-mix" in v or v == "currentColor"], inner


def _luminance(color: str) -> float:
    parts = (part / 255 for part in rgb(color))
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(first: str, second: str) -> float:
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["evo-canvas", "evo-surface", "evo-sunken"])
def test_every_colour_can_be_read_on_every_ground(scheme: Scheme, ground: str) -> None:
    color = styles(scheme).color
    for name in (*(f"evo-{state}" for state in _STATES), "evo-text", "evo-text-2", "evo-text-3"):
        assert _contrast(color(name), color(ground)) >= 4.5, name
    assert _contrast(color("evo-outline"), color(ground)) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_can_be_read_on_filled_states(scheme: Scheme) -> None:
    color = styles(scheme).color
    for state in _STATES:
        assert _contrast(color("evo-on-state"), color(f"evo-{state}")) >= 4.5, state
