"""Which tools may be used right now, by patterns on their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from evonb.tools.errors import ToolError

__all__ = ["ToolControlPattern", "ToolController"]

ControlMode: TypeAlias = Literal["activate", "deactivate"]


class ToolControlPattern(BaseModel):
    """One rule: what to do with tools whose name fits a glob pattern, such as `math_*`."""

    model_config = ConfigDict(defer_build=True, frozen=True)

    mode: ControlMode
    pattern: str


class ToolController:
    """Rules for which tools are active. The first rule that fits a name decides; the default decides for the rest.

    Args:
        rules: `ToolControlPattern`s, dicts of their fields, or one dict `{pattern: active}`.
        default_mode: What holds for tools that no rule fits.

    Raises:
        ToolError: A rule or the default is something else.
    """

    def __init__(
        self,
        rules: Iterable[ToolControlPattern | Mapping[str, str]] | Mapping[str, bool] = (),
        default_mode: ControlMode = "activate",
    ) -> None:
        if default_mode not in ("activate", "deactivate"):
            raise ToolError(
                f"Unknown default_mode {default_mode!r}, expected 'activate' or 'deactivate'",
                where="ToolController",
                fix="use one of the two",
            )
        self.default_mode: ControlMode = default_mode
        self.rules = _rules(rules)

    def check_tool_status(self, tool_name: str) -> bool:
        """Whether the tool is active."""
        mode = next((rule.mode for rule in self.rules if fnmatchcase(tool_name, rule.pattern)), self.default_mode)
        return mode == "activate"

    def filter_tool_list(self, tool_list: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those function schemas whose tools are active."""
        return [each for each in tool_list if self.check_tool_status(each["function"]["name"])]

    def activate_tool(self, tool_name: str) -> None:
        """Make one tool active, before all other rules."""
        self._put_first(tool_name, "activate")

    def deactivate_tool(self, tool_name: str) -> None:
        """Make one tool inactive, before all other rules."""
        self._put_first(tool_name, "deactivate")

    def _put_first(self, tool_name: str, mode: ControlMode) -> None:
        others = [rule for rule in self.rules if rule.pattern != tool_name]
        self.rules = [ToolControlPattern(mode=mode, pattern=tool_name), *others]


def _rules(rules: Any) -> list[ToolControlPattern]:
    if isinstance(rules, Mapping):
        rules = [{"pattern": name, "mode": "activate" if on else "deactivate"} for name, on in rules.items()]
    try:
        return [ToolControlPattern.model_validate(rule) for rule in rules]
    except ValueError as error:
        raise ToolError(
            f"A rule isn't usable: {error.errors()[0]['msg'] if hasattr(error, 'errors') else error}",
            where="ToolController",
            fix='write {"mode": "activate" or "deactivate", "pattern": "math_*"}',
        ) from error
