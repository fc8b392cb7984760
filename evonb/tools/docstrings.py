"""What a docstring says about a function and its parameters, in Google, NumPy, Sphinx or Epydoc style.

Reading the styles is the job of the package `docstring-parser` (extra `tools`). Without it the summary is still used.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from evonb._optional import require
from evonb.errors import MissingDependency

__all__ = ["DocText", "read_docstring"]


@dataclass(frozen=True, slots=True)
class DocText:
    """The parts of a docstring that matter to a model.

    Attributes:
        description: Summary and explanation, without the sections; None if there is nothing.
        parameters: The text of each described parameter, on one line.
    """

    description: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)


def read_docstring(function: Callable[..., Any]) -> DocText:
    """The description of a function and of its parameters; empty parts where the docstring has none.

    Warns:
        UserWarning: `docstring-parser` isn't installed, so descriptions of parameters are left out.
    """
    text = inspect.getdoc(function)
    if not text or not text.strip():
        return DocText()
    if "\n" not in text.strip():
        return DocText(description=text.strip())
    try:
        parser = require("docstring_parser", "to read the parameters' descriptions in docstrings")
    except MissingDependency:
        warnings.warn(
            f"The descriptions of the parameters of {function.__qualname__} aren't read: install docstring-parser "
            "(pip install docstring-parser), or write Annotated[type, 'description']",
            stacklevel=2,
        )
        return DocText(description=text.strip().split("\n\n", 1)[0])
    return _parsed(parser, text)


def _parsed(parser: Any, text: str) -> DocText:
    try:
        doc = parser.parse(text)
    except parser.ParseError:  # a text that only looks like sections
        return DocText(description=text.strip())
    parts = [part.strip() for part in (doc.short_description, doc.long_description) if part and part.strip()]
    found: dict[str, str] = {}
    for parameter in doc.params:
        described = " ".join((parameter.description or "").split())
        for name in (parameter.arg_name or "").split(","):  # NumPy style names several at once
            if described and name.strip():
                found.setdefault(name.strip().lstrip("*"), described)
    return DocText("\n\n".join(parts) or None, found)
