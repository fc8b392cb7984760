"""Kills a debugging session again and again, each time in another phase; each time it is opened and run to its end."""

from __future__ import annotations

import asyncio
import json
import shutil
import warnings
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evonb.graph import GraphEngineDebugger
from evonb.graph.ports import StoredStep
from evonb.persistence import SqliteStore
from tests.kill import session_graph
from tests.kill.campaign import Report, each_phase, phase_hit, spread, victims
from tests.kill.victim import LAYOUT


@dataclass
class SessionReport(Report):
    """What came of it.

    Attributes:
        halves, inner_halves: After how many kills the join had got some of its inputs, and that of the graph inside.
        inside: After how many the session stood inside of that graph.
        lost: How many node calls weren't recorded, by how many of one kill.
        runs: How many runs were begun.
    """

    halves: int = 0
    inner_halves: int = 0
    inside: int = 0
    runs: int = 0

    def __post_init__(self) -> None:
        self.lost: Counter[int] = Counter()

    def __str__(self) -> str:
        losses = ", ".join(f"{count} lost {nodes}" for nodes, count in sorted(self.lost.items()))
        where = f"{self.halves} half-arrived joins ({self.inner_halves} inside), {self.inside} times inside"
        return f"sessions: {super().__str__()}\n{self.runs} runs, {where}; kills: {losses}"


class Campaign:
    """Where the session and its remains are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path, self.page, self.calls = folder / "runs.db", folder / "page", folder / "calls"
        self.page.write_bytes(bytes(LAYOUT.size))
        self.report = SessionReport()
        self.expected = asyncio.run(session_graph.builder().build().run(session_graph.INPUTS))

    def run(self, aims: Iterable[tuple[str, float]]) -> SessionReport:
        """Kill in these phases, so far into each, and at steps spread over the nodes of the graph."""
        rows = 0
        with victims("tests.kill.session_victim") as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for kill, (phase, fraction) in enumerate(aims):
                order = {"path": str(self.path), "page": str(self.page), "phase": phase, "acknowledged": rows}
                order |= {"fraction": fraction, "calls": str(self.calls), "calm": 4 + kill * 3 % 7}
                self.calls.unlink(missing_ok=True)
                print(json.dumps(order), file=process.stdin, flush=True)
                if (answer := json.loads(process.stdout.readline())) != {"signal": 9}:
                    self.report.faults.append(f"kill {kill}: the session ended by itself: {answer}")
                rows = self.look(f"kill {kill} in {phase}")
        return self.report

    def look(self, name: str) -> int:
        """Note where the kill hit and what is wrong. Gives how many rows the newest run has."""
        hit, acknowledged, torn = phase_hit(self.path, self.page)
        self.report.hit[hit] += 1
        self.report.torn += torn
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                rows, faults = self._faults(acknowledged)
        except Exception as error:
            rows, faults = acknowledged, [f"{type(error).__name__}: {error}"]
        self.report.faults.extend(f"{name}: {fault}" for fault in faults)
        return rows

    def _faults(self, acknowledged: int) -> tuple[int, list[str]]:
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for file in self.folder.glob("runs.db*"):
            shutil.copy(file, copy)
        with closing(SqliteStore(copy / "runs.db", session_graph.NAME)) as store:
            runs = store.runs()
            self.report.runs = len(runs)
            rows = list(store.steps(runs[0].run_id, after=-1)) if runs else []
            inner = list(store.steps(runs[0].run_id, inner=True)) if runs else []
        if not runs:
            return 0, [] if acknowledged == 0 else [f"the run is gone after {acknowledged} rows"]
        faults = []
        beginning = acknowledged == 0 and len(rows) == session_graph.STEPS + 1  # killed before the next run was there
        if len(rows) not in (acknowledged, acknowledged + 1) and not beginning:
            faults.append(f"{len(rows)} rows are there, {acknowledged} were acknowledged")
        if [row.number for row in rows] != list(range(len(rows))):
            faults.append(f"the steps are {[row.number for row in rows]}")
        if [row.number for row in inner] != list(range(1, len(inner) + 1)):
            faults.append(f"the steps inside are {[row.number for row in inner]}")
        done = Counter((row.node, row.visit) for row in rows[1:] if row.node not in ("c", "end"))
        done += _done_inside(inner)
        twice = [each for each, count in done.items() if count > 1]
        faults += [f"visit {visit} of {node} is recorded twice" for node, visit in twice]
        faults += self._lost(done)
        faults += asyncio.run(self._to_the_end(copy, runs[0].run_id, len(done)))
        return len(rows), faults

    def _lost(self, done: Counter[Any]) -> list[str]:
        """What the killed process called in vain: a node's call is known by the round, which is its visit."""
        made = [line.split() for line in session_graph.called(self.calls)]
        begun = max((at + 1 for at, (node, _) in enumerate(made) if node == "begin"), default=0)
        lost = [(node, n) for node, n in made[begun:] if (node, int(n) - 1) not in done]
        self.report.lost[len(lost)] += 1
        waves = {node for node, _ in lost}
        if len(lost) > len(waves) or not any(waves <= together for together in session_graph.TOGETHER):
            return [f"{lost} were called and aren't recorded: more than what ran at once"]
        return []

    async def _to_the_end(self, folder: Path, run_id: str, done: int) -> list[str]:
        """Open the run as a new process would and let it end."""
        calls = folder / "calls"
        graph = GraphEngineDebugger.open(
            folder / "runs.db", run_id, graph=session_graph.builder(calls), name=session_graph.NAME
        )
        halves = [each.node_name for each in graph.waiting() if each.arrived and each.missing]
        self.report.halves += "join" in halves
        self.report.inner_halves += "c › z" in halves
        self.report.inside += any("›" in each.node_name for each in graph.waiting())
        graph.clear_all_breakpoint()
        state = await graph.resume()
        steps = graph.history()
        graph.store.close()
        faults = []
        if state != self.expected:
            faults.append("the end isn't that of an undisturbed run")
        if len(steps) != session_graph.STEPS:
            faults.append(f"it has {len(steps)} steps in the end, an undisturbed one {session_graph.STEPS}")
        if (again := len(session_graph.called(calls))) != session_graph.CALLS - done:
            faults.append(f"{done} nodes were recorded and {again} more ran")
        self.report.steps += len(steps)
        return faults


def _done_inside(rows: list[StoredStep]) -> Counter[Any]:
    """What was done in the graph inside, by node and round; each round has a task of its own around it."""
    owners = sorted({(row.notes or {})["origin"][0] for row in rows})
    rounds = {owner: place + 1 for place, owner in enumerate(owners)}
    return Counter((f"c.{row.node}", rounds[(row.notes or {})["origin"][0]]) for row in rows if row.status == "done")


def run(folder: Path, kills: int, *, few: bool = False) -> SessionReport:
    """Kill a session so many times.

    Args:
        folder: An empty folder.
        kills, few: As for the writer's campaign.
    """
    made = Campaign(folder)
    return made.run(each_phase(kills, made.report) if few else spread(kills))
