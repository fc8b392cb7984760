"""`python -m bench`: a table of ratios; fails when one is beyond its bound by more than a busy machine explains."""

from __future__ import annotations

import argparse
import gc
import math
import platform
import statistics
import sys
from pathlib import Path
from typing import Any

from bench.flows import Run, bare, bare_message, graph, graph_message
from bench.side_jobs import import_pair, memory_pair, stream_pair, timed
from bench.workloads import WORKLOADS, Workload

LOOSE = 2.0  # a shared machine may be this much worse than the bound before it counts as a failure
Row = dict[str, Any]


def measure_pair(floor: Run, ours: Run, repeats: int, *, cpu: bool) -> tuple[float, float]:
    """Medians of both, taking turns so that a busy moment hits both."""
    timed(floor, cpu=cpu), timed(ours, cpu=cpu)  # warm up
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for run, samples in zip((floor, ours), times, strict=True):
            gc.collect()
            samples.append(timed(run, cpu=cpu))
    return statistics.median(times[0]), statistics.median(times[1])


def flow_row(name: str, workload: Workload, repeats: int, *, cpu: bool) -> Row:
    """The largest size's ratio, and how time grows with size."""
    cpu = cpu and name != "slow_branch"  # sleeping takes no processor time
    results = []
    for size in workload.sizes:
        (plain_flow, _), (flow, check) = workload.make(size, bare_message), workload.make(size, graph_message)
        ours = _checked(graph(flow), check)
        results.append((size, *measure_pair(bare(plain_flow), ours, repeats, cpu=cpu)))
    _, floor_s, ours_s = results[-1]
    return _row(name, workload.what, results[-1][0], floor_s, ours_s, workload.most, _growth(results), workload.growth)


def _checked(run: Run, check: Any) -> Run:
    async def checked() -> Any:
        state = await run()
        assert check(state), "wrong final state"
        return state

    return checked


def _growth(results: list[tuple[int, float, float]]) -> float | None:
    if len(results) < 2:
        return None
    xs, ys = [math.log(size) for size, _, _ in results], [math.log(ours) for _, _, ours in results]
    middle_x, middle_y = statistics.mean(xs), statistics.mean(ys)
    spread = sum((x - middle_x) ** 2 for x in xs)
    return sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True)) / spread


def _row(
    name: str, what: str, size: Any, floor: float, ours: float, most: float, growth: float | None, bound: float | None
) -> Row:
    return {
        "name": name, "what": what, "size": size, "floor": floor, "ours": ours, "ratio": ours / floor, "most": most,
        "growth": growth, "growth_most": bound,
    }  # fmt: skip


def side_rows(repeats: int, *, cpu: bool) -> list[Row]:
    """Streaming, importing, memory."""
    floor, ours = measure_pair(*stream_pair(), repeats, cpu=cpu)
    rows = [_row("stream", "N chunks from one node", 10_000, floor, ours, 8, None, None)]
    rows.append(_row("import", "importing, processor time", "", *import_pair(), 3, None, None))
    rows.append(_row("memory", "peak MB of `messages`, history kept", 1000, *memory_pair(), 4, None, None))
    return rows


def table(rows: list[Row]) -> str:
    """The results as a Markdown table."""
    lines = ["| workload | what | size | × bare | bound | growth | bound |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        growth = "" if row["growth"] is None else f"{row['growth']:.2f}"
        bound = "" if row["growth_most"] is None else f"{row['growth_most']:g}"
        cells = (row["name"], row["what"], row["size"], f"{row['ratio']:.2f}", f"{row['most']:g}", growth, bound)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Speed of evonb.graph as ratios to the bare work.")
    parser.add_argument("--workload", action="append", choices=WORKLOADS, help="repeatable; default: everything")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--clock", choices=("cpu", "wall"), default="cpu", help="processor time is steadier")
    parser.add_argument("--write", metavar="FILE", help="also write the table to a Markdown file")
    args = parser.parse_args()
    cpu = args.clock == "cpu"
    rows = [flow_row(name, WORKLOADS[name], args.repeats, cpu=cpu) for name in args.workload or WORKLOADS]
    if not args.workload:
        rows += side_rows(args.repeats, cpu=cpu)
    print(table(rows))
    if args.write:
        Path(args.write).write_text(document(rows, args.clock), encoding="utf-8")
    slow = [row["name"] for row in rows if row["ratio"] > row["most"] * LOOSE]
    if slow:
        print(f"more than {LOOSE:g} times beyond the bound: {', '.join(slow)}", file=sys.stderr)
    return 1 if slow else 0


def document(rows: list[Row], clock: str) -> str:
    """The page for the documentation."""
    return (
        "# Speed\n\n"
        "How many times longer a graph takes than the same functions called plainly on one dict, with no isolation,\n"
        "no history and no checks. Ratios of one run on one machine; absolute times don't carry over.\n\n"
        f"    python -m bench --clock {clock} --write docs/benchmarks.md\n\n"
        f"Python {platform.python_version()}, {clock} clock. Growth is the exponent e in time ~ size^e.\n\n"
        f"{table(rows)}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
