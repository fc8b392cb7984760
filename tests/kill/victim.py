"""The process that is killed: it goes on with the run and kills itself with SIGKILL at a chosen moment of a write.

The kernel's timer sends the signal, so it hits a transaction, a write to the log or a checkpoint wherever it is; where
that was stands in a shared page of memory that survives the process.

    python -m tests.kill.victim

reads orders as lines of JSON and runs each in a fork of its own, which saves the imports.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evonb.persistence import SqliteStore, keeper, sqlite
from tests.kill import workload
from tests.kill.timer import KillTimer

PHASES = ("open", "encode", "begin", "insert", "commit", "checkpoint", "between", "close")
LAYOUT = struct.Struct("<BIQQ")
"""Phase, last step that was acknowledged, and the file's time and size when the commit began."""

_STATEMENTS = {"BEGIN": "begin", "INSERT": "insert", "UPDATE": "insert", "DELETE": "insert", "COMMIT": "commit"}
_UNKNOWN_S = 0.002
_CHECKPOINT_S = 0.0005


class Victim:
    """Marks where the process is, and dies at the right moment."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.path = Path(order["path"])
        self.target: str = order["phase"]
        self.fraction: float = order["fraction"]
        self.is_armed = self.target == "open"
        self.took_s: dict[str, float] = {}
        self.phase, self.since = "between", time.perf_counter()
        self.acknowledged: int = order["acknowledged"]
        with open(order["page"], "r+b") as file:
            self.page = mmap.mmap(file.fileno(), LAYOUT.size)
        self.timer = KillTimer()
        self.is_large = True
        self.never = threading.Event()

    def _marked(self) -> str:
        # A checkpoint is the last part of a commit, and has no mark of its own.
        return "commit" if self.target == "checkpoint" else self.target

    def mark(self, phase: str) -> None:
        """The process is in this phase from now on."""
        now = time.perf_counter()
        if phase != self.phase:
            took_s = now - self.since
            self.took_s[self.phase] = took_s
            self.phase, self.since = phase, now
        if phase == "commit":
            os.utime(self.path, (0, 0))  # its clock ticks too rarely to tell two writes apart
            found = os.stat(self.path)
            LAYOUT.pack_into(self.page, 0, PHASES.index(phase), self.acknowledged, found.st_mtime_ns, found.st_size)
        else:
            LAYOUT.pack_into(self.page, 0, PHASES.index(phase), self.acknowledged, 0, 0)
        if self.is_armed and phase == self._marked() and (self.target != "checkpoint" or self.is_large):
            self.is_armed = False
            self._die()

    def _die(self) -> None:
        if self.target == "checkpoint":
            found = os.stat(self.path)
            threading.Thread(target=self._die_in_checkpoint, args=(found,), daemon=True).start()
        else:
            self.timer.start(self.fraction * self.took_s.get(self.phase, _UNKNOWN_S))
            if self.target == "between":
                self.never.wait()  # a node that runs for long

    def _die_in_checkpoint(self, before: os.stat_result) -> None:
        """A commit doesn't say when it begins to bring the log into the file; the file does."""
        while (found := os.stat(self.path)).st_mtime_ns == before.st_mtime_ns and found.st_size == before.st_size:
            pass
        self.timer.start(self.fraction * _CHECKPOINT_S)

    def watch(self) -> None:
        """Put marks where the store opens, encodes, writes and closes."""
        open_file, to_row, close = keeper.open_file, sqlite.to_row, keeper.Keeper._close

        def opening(*args: Any, **options: Any) -> Any:
            self.mark("open")
            file = open_file(*args, **options)
            if file is not None:
                if self.target == "checkpoint":
                    file.connection.execute("PRAGMA wal_autocheckpoint = 20")
                file.connection.set_trace_callback(self._statement)
            self.mark("between")
            return file

        keeper.open_file = opening
        sqlite.to_row = self._marking("encode", to_row)
        keeper.Keeper._close = self._marking("close", close)  # type: ignore[method-assign]

    def _statement(self, sql: str) -> None:
        phase = _STATEMENTS.get(sql.partition(" ")[0])
        if phase is not None and self.phase != "close":
            self.mark(phase)

    def _marking(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def marked(*args: Any) -> Any:
            self.mark(phase)
            result = function(*args)
            self.mark("between")
            return result

        return marked

    def live(self) -> None:
        """Go on with the run, and die in it."""
        self.watch()
        store = SqliteStore(self.path)
        number = self.acknowledged = workload.last_step(store)
        last_calm = number + 4
        while True:
            number += 1
            # The first steps tell how long each phase takes; the one that is hit is a large one.
            last = number > last_calm and workload.is_big(number)
            self.is_armed = self.is_armed or (last and self.target != "between")
            workload.write(store, number)
            self.acknowledged = number
            self.is_armed = self.is_armed or last
            self.mark("between")
            if number % 4 == 0 or last:
                store.close()


def main(made: type[Victim] = Victim) -> None:
    """Carry out orders until there are no more."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                made(json.loads(line)).live()
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0}), flush=True)


if __name__ == "__main__":
    main()
