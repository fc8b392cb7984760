"""Which tools are active: the first rule that fits decides."""

from typing import Any

import pytest

from evonb.tools import ToolController, ToolControlPattern, ToolError


def schema(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def test_without_rules_the_default_holds() -> None:
    assert ToolController().check_tool_status("x")
    assert not ToolController(default_mode="deactivate").check_tool_status("x")


def test_the_first_rule_that_fits_decides() -> None:
    controller = ToolController(
        [
            ToolControlPattern(mode="activate", pattern="math_add"),
            {"mode": "deactivate", "pattern": "math_*"},
            {"mode": "activate", "pattern": "*"},
        ],
        default_mode="deactivate",
    )
    assert [controller.check_tool_status(name) for name in ("math_add", "math_mul", "text")] == [True, False, True]
    told = [schema(name) for name in ("math_mul", "text")]
    assert controller.filter_tool_list(told) == told[1:]


def test_switching_one_tool_beats_all_rules_and_leaves_one_rule_for_it() -> None:
    controller = ToolController({"math_*": False})
    controller.activate_tool("math_add")
    assert controller.check_tool_status("math_add")
    controller.deactivate_tool("math_add")
    assert not controller.check_tool_status("math_add")
    assert [rule.pattern for rule in controller.rules] == ["math_add", "math_*"]


@pytest.mark.parametrize("rules", [[{"mode": "on", "pattern": "x"}], [{"pattern": "x"}], [3]])
def test_a_rule_that_is_none_is_refused(rules: Any) -> None:
    with pytest.raises(ToolError, match="A rule isn't usable"):
        ToolController(rules)


def test_an_unknown_default_is_refused() -> None:
    with pytest.raises(ToolError, match="Unknown default_mode"):
        ToolController(default_mode="off")  # type: ignore[arg-type]
