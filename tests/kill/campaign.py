"""Kills a writer again and again, each time in another phase of a write, and looks at what is left."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from evonb.persistence import SqliteStore
from tests.kill import workload
from tests.kill.victim import LAYOUT, PHASES

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Report:
    """What came of it.

    Attributes:
        hit: How often each phase was really hit.
        torn: Kills that left part of a transaction in the log.
        steps: How many steps the run has in the end.
        faults: What should not have been, one line for each.
    """

    hit: Counter[str] = field(default_factory=Counter)
    torn: int = 0
    steps: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def missed(self) -> list[str]:
        """The phases that no kill has hit."""
        return [phase for phase in PHASES if not self.hit[phase]]

    def __str__(self) -> str:
        phases = ", ".join(f"{phase} {self.hit[phase]}" for phase in PHASES)
        text = f"{self.hit.total()} kills ({phases}; {self.torn} left a torn log), {self.steps} steps"
        return "\n".join([f"{text}: {len(self.faults)} faults", *self.faults[:20]])


@contextmanager
def victims(module: str) -> Iterator[subprocess.Popen[str]]:
    """A process of that module, which takes orders."""
    command = [sys.executable, "-m", module]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def spread(kills: int) -> Iterator[tuple[str, float]]:
    """The phases in turn, and how far into each: a multiple of their number spreads the moments evenly over them."""
    rounds = max(1, kills // len(PHASES))
    for kill in range(kills):
        yield PHASES[kill % len(PHASES)], (kill // len(PHASES) + 0.5) / rounds


def each_phase(kills: int, report: Report) -> Iterator[tuple[str, float]]:
    """Every phase once, and as long as there are kills left, those again that the report says weren't hit."""
    yield from spread(len(PHASES))
    for kill in range(kills - len(PHASES)):
        if missed := report.missed:
            yield missed[kill % len(missed)], 0.25 + 0.5 * (kill % 2)


def run(folder: Path, kills: int, *, few: bool = False) -> Report:
    """Kill a writer so many times.

    Args:
        folder: An empty folder; it holds the store afterwards.
        kills: How many at most.
        few: Whether that is just enough to hit every phase once.
    """
    report, path, page = Report(), folder / "runs.db", folder / "page"
    page.write_bytes(bytes(LAYOUT.size))
    last = 0
    with victims("tests.kill.victim") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for kill, (phase, fraction) in enumerate(each_phase(kills, report) if few else spread(kills)):
            order = {"path": str(path), "page": str(page), "phase": phase, "fraction": fraction, "acknowledged": last}
            print(json.dumps(order), file=process.stdin, flush=True)
            answer = json.loads(process.stdout.readline())
            if answer != {"signal": 9}:
                report.faults.append(f"kill {kill}: the writer ended by itself: {answer}")
            last = _look(path, page, f"kill {kill} in {phase}", report)
    _finish(path, report)
    return report


def _look(path: Path, page: Path, name: str, report: Report) -> int:
    """Note where the kill hit and what is wrong. Gives the last step that is there."""
    phase, acknowledged, torn = phase_hit(path, page)
    report.hit[phase] += 1
    report.torn += torn
    try:
        last, faults = _faults(path, acknowledged)
        report.faults.extend(f"{name}: {fault}" for fault in faults)
    except Exception as error:
        report.faults.append(f"{name}: {type(error).__name__}: {error}")
        return acknowledged
    return last


def phase_hit(path: Path, page: Path) -> tuple[str, int, bool]:
    """The phase that a kill hit, what was acknowledged by then, and whether it tore the log."""
    index, acknowledged, time_ns, size = LAYOUT.unpack(page.read_bytes())
    phase = PHASES[index]
    if phase == "commit" and path.exists():
        found = os.stat(path)
        # The file itself changes only when the log is brought into it.
        phase = "checkpoint" if (found.st_mtime_ns, found.st_size) != (time_ns, size) else "commit"
    return phase, int(acknowledged), _is_torn(Path(f"{path}-wal"))


def _faults(path: Path, acknowledged: int) -> tuple[int, list[str]]:
    """The last step as a new session finds it, and what is wrong."""
    faults: list[str] = []
    with closing(SqliteStore(path, notify=lambda problem: faults.append(str(problem)))) as store:
        if not any(each.run_id == workload.RUN for each in store.runs()):
            return 0, [*faults, *([f"the run is gone after {acknowledged} steps"] if acknowledged else [])]
        if store.header(workload.RUN) != workload.HEADER:
            faults.append("the header is another")
        newest = next(store.steps(workload.RUN, newest_first=True), None)
        last = 0 if newest is None else newest.number
        position = store.document(workload.RUN, "position")
        if newest is not None and position != workload.documents(last)["position"]:
            faults.append(f"step {last} and position {position} don't belong together")
        if last not in (acknowledged, acknowledged + 1):
            faults.append(f"step {last} is the last one, {acknowledged} was acknowledged")
        found = store.steps(workload.RUN, after=max(0, last - 12))
        wrong = [step.number for step in found if step != workload.step(step.number, draft=step.status == "draft")]
        faults.extend(f"step {number} isn't what was written" for number in wrong)
        if (counted := store.runs()[0].steps) != last:
            faults.append(f"{counted} steps are counted, there should be {last}")
    return last, faults


def _finish(path: Path, report: Report) -> None:
    """Let a writer that nobody kills end the run, and hold the whole of it against an undisturbed one."""
    with closing(SqliteStore(path)) as store:
        last = workload.last_step(store)
        for number in range(last + 1, last + 11):
            workload.write(store, number)
        report.steps = last + 10
    with closing(SqliteStore(path)) as store:
        number = 0
        for number, step in enumerate(store.steps(workload.RUN), 1):
            if step != workload.step(number):
                report.faults.append(f"step {number} isn't that of an undisturbed run")
        if number != report.steps:
            report.faults.append(f"the run has {number} steps, an undisturbed one {report.steps}")
    with closing(sqlite3.connect(path)) as connection:
        if (check := connection.execute("PRAGMA integrity_check").fetchone()) != ("ok",):
            report.faults.append(f"the file is damaged: {check}")


def _is_torn(log: Path) -> bool:
    """Whether the log ends within a transaction: after its last commit there are frames of its present round."""
    try:
        data = log.read_bytes()
    except OSError:
        return False
    size = int.from_bytes(data[8:12], "big")
    salts, place, torn = data[16:24], 32, False
    while size and len(data) >= place + 24 and data[place + 8 : place + 16] == salts:
        torn = data[place + 4 : place + 8] == bytes(4)  # only a commit's frame holds the size of the database
        place += 24 + size
    return torn
