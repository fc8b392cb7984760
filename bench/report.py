"""Results as a Markdown table, and as the page of the documentation."""

from __future__ import annotations

import math
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from bench.live import Figure, section
from bench.measure import Pair

__all__ = ["Row", "document", "growth", "table"]


@dataclass
class Row:
    """One workload.

    Attributes:
        name, what: The workload.
        size: The largest size.
        ratio: How many times the bare work.
        most: The bound on it.
        growth, growth_most: The exponent of time over size, and the bound on it.
        peers: Ratios of other engines to the bare work, or why there is none.
    """

    name: str
    what: str
    size: str
    ratio: float
    most: float
    growth: float | None = None
    growth_most: float | None = None
    peers: dict[str, float | str] = field(default_factory=dict)

    def is_off_by(self, times: float) -> bool:
        """Whether it is so many times beyond its bound, or grows by a tenth of an exponent more than its bound."""
        grows = self.growth is not None and self.growth_most is not None and self.growth > self.growth_most + 0.1
        return grows or self.ratio > self.most * times

    def best_peer(self) -> str:
        """How many times faster than the best peer, in words."""
        ratios = [each for each in self.peers.values() if isinstance(each, float)]
        return f"{min(ratios) / self.ratio:.1f}" if ratios else ""


def growth(results: Sequence[tuple[int, Pair]]) -> float | None:
    """The exponent e in time ~ size^e, fitted over the sizes."""
    if len(results) < 2:
        return None
    xs, ys = [math.log(size) for size, _ in results], [math.log(ours) for _, (_, ours) in results]
    middle_x, middle_y = statistics.mean(xs), statistics.mean(ys)
    spread = sum((x - middle_x) ** 2 for x in xs)
    return sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True)) / spread


def table(rows: Sequence[Row]) -> str:
    """The results as a Markdown table; a column for each peer."""
    peers = list(dict.fromkeys(name for row in rows for name in row.peers))
    last = ["best peer ÷ evonb"] if peers else []
    head = ["workload", "what", "size", "evonb", "bound", "growth", "bound", *peers, *last]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in rows:
        cells = [row.name, row.what, row.size, f"{row.ratio:.3g}", f"{row.most:g}", _number(row.growth)]
        cells += ["" if row.growth_most is None else f"{row.growth_most:g}"]
        cells += [_cell(row.peers.get(name, "")) for name in peers]
        lines.append(f"| {' | '.join([*cells, *([row.best_peer()] if peers else [])])} |")
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _cell(value: float | str) -> str:
    return f"{value:.3g}" if isinstance(value, float) else value.replace("|", "/")


def document(
    rows: Sequence[Row], command: str, clock: str, versions: Mapping[str, str], figures: Sequence[Figure] = ()
) -> str:
    """The page for the documentation; `figures` are of the live views."""
    peers = ", ".join(f"{name} {version}" for name, version in versions.items())
    clocks = "processor time (wall time for `slow_branch`)" if clock == "cpu" else "wall time"
    return (
        "# Speed\n\n"
        "How many times longer the work takes than the same functions called plainly on one dict, with no isolation,\n"
        "no history and no checks; for `debug_persist` the plain calls commit a row each. Every engine is measured in\n"
        "turns with the bare work in one process, so only ratios are given; absolute times don't carry over.\n\n"
        f"    {command}\n\n"
        f"{date.today().isoformat()}, Python {platform.python_version()}, {os.cpu_count()} cores, {clocks}. "
        "Growth is the exponent e in time ~ size^e.\n"
        + (f"Other engines, each in an environment of its own: {peers}.\n" if peers else "")
        + f"\n{table(rows)}\n"
        + (section(figures) if figures else "")
    )
