"""`python -m bench`: a table of ratios; fails when one is beyond its bound by more than a busy machine explains."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench import live, peers
from bench.measure import measure
from bench.report import Row, document, growth, table
from bench.workloads import BOUNDS, SIZES

LOOSE = 2.0  # a shared machine may be this much worse than the bound before it counts as a failure


def measured(name: str, repeats: int, *, cpu: bool) -> Row:
    """One workload: the largest size's ratio, and how time grows with size."""
    results = [(size, measure("evonb", name, size, repeats, cpu=cpu)) for size in SIZES[name]]
    what, most, growth_most = BOUNDS[name]
    size, (floor, ours) = results[-1]
    return Row(name, what, str(size or ""), ours / floor, most, growth(results), growth_most)


def live_figures() -> list[live.Figure]:
    """The live views' figures; none where they can't be measured, which is said."""
    print("\nThe live views, in a browser (about two minutes) ...", flush=True)
    try:
        figures = live.measure_live()
    except live.Missing as missing:
        print(f"The live views weren't measured. {missing}", file=sys.stderr)
        return []
    print(live.section(figures))
    return figures


def main() -> int:
    """Measure, print, maybe write."""
    parser = argparse.ArgumentParser(description="Speed of evonb.graph as ratios to the bare work.")
    parser.add_argument("--workload", action="append", choices=[*SIZES, "live"], help="repeatable; default: everything")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--clock", choices=("cpu", "wall"), default="cpu", help="processor time is steadier")
    parser.add_argument("--peers", action="store_true", help="other engines too, installed under build/peers")
    parser.add_argument("--write", metavar="FILE", help="also write the table to a Markdown file")
    args = parser.parse_args()
    cpu = args.clock == "cpu"
    pythons = peers.environments() if args.peers else {}
    rows = []
    wanted = args.workload or [*SIZES, "live"]
    for name in (each for each in wanted if each in SIZES):
        row = measured(name, args.repeats, cpu=cpu)
        row.peers = {
            peer: peers.ratio(peer, python, name, min(args.repeats, 3), cpu=cpu) for peer, python in pythons.items()
        }
        rows.append(row)
        print(table([row]), flush=True)
    if rows:
        print(f"\n{table(rows)}")
    figures = live_figures() if "live" in wanted else []
    if args.write:
        versions = {name: peers.version(name, python) for name, python in pythons.items()}
        command = f"python -m bench {' '.join(sys.argv[1:])}"
        Path(args.write).write_text(document(rows, command, args.clock, versions, figures), encoding="utf-8")
    slow = [row.name for row in rows if row.is_off_by(LOOSE)]
    slow += [each.what for each in figures if each.is_off_by(LOOSE)]
    if slow:
        print(
            f"more than {LOOSE:g} times beyond the bound, or growing faster than it: {', '.join(slow)}", file=sys.stderr
        )
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
