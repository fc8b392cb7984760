"""Findings (being assembled)."""

from __future__ import annotations

from typing import Any


def check_engine(engine: Any) -> list[Any]:
    return []
