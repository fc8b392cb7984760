"""Completion behind `%evo`: commands, then names of graphs. And behind `%%evograph NAME`: options."""

from __future__ import annotations

from typing import Any

from IPython.core.completer import SimpleCompletion, context_matcher

from evonb.magics.evo import COMMANDS
from evonb.magics.options import OPTIONS
from evonb.magics.session import current

__all__ = ["evo_matcher", "suggestions"]


@context_matcher()  # type: ignore[untyped-decorator, unused-ignore]
def evo_matcher(context: Any) -> dict[str, Any]:
    """IPython's question what may stand at the cursor."""
    lines = context.full_text.split("\n")
    line = lines[context.cursor_line][: context.cursor_position]
    found = suggestions(line)
    return {"completions": [SimpleCompletion(text, type="evonb") for text in found], "suppress": bool(found)}


def suggestions(line: str) -> list[str]:
    """What may stand at the end of this line; nothing where it isn't ours."""
    words = line.split()
    last = "" if line.endswith(" ") or not words else words[-1]
    before = words if not last else words[:-1]
    choices: list[str] = []
    if before == ["%evo"]:
        choices = list(COMMANDS)
    elif before in (["%evo", "show"], ["%evo", "run"]):
        choices = list(current().graphs())
    elif before[:1] == ["%%evograph"] and len(before) > 1:
        choices = list(OPTIONS)
    return [choice for choice in choices if choice.startswith(last)]
