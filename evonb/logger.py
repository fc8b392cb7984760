"""`get_logger`: standard loggers below the name `evonb`, silent until the user configures logging."""

from __future__ import annotations

import logging

__all__ = ["get_logger"]

logging.getLogger("evonb").addHandler(logging.NullHandler())


def get_logger(name: str | None = None) -> logging.Logger:
    """A logger named `evonb` or `evonb.<name>`.

    Args:
        name: Usually `__name__`; None gives the package's own logger.
    """
    if not name or name == "evonb":
        return logging.getLogger("evonb")
    return logging.getLogger(name if name.startswith("evonb.") else f"evonb.{name}")
