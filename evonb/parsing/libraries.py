"""Optional packages of the parsers, loaded when a format first needs them."""

from __future__ import annotations

from typing import Any

from evonb._optional import require
from evonb.errors import MissingDependency


def load(name: str, purpose: str) -> Any:
    """The module `name`.

    Raises:
        MissingDependency: It isn't installed; `fix` names the extra.
    """
    try:
        return require(name, purpose)
    except MissingDependency as error:
        # Import names and package names differ here (ruamel.yaml, json_repair); the extra is right for all.
        error.fix = "pip install 'evonb[parsing]'"
        raise
