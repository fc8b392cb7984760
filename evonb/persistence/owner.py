"""Who writes a run: one store of one process at a time. One that takes it over is told so, and so is the first."""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from uuid import uuid4

__all__ = ["Owner"]

_ALIVE: set[str] = set()
"""Tokens of the open stores of this process."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A store that writes runs.

    Attributes:
        token: Unique.
        pid, started: Its process, and when that began in the system's own measure: process ids are used again.
        host: Its machine.
    """

    token: str
    pid: int
    started: str
    host: str

    @classmethod
    def this(cls) -> Owner:
        """A new owner in this process, alive until `release`."""
        owner = cls(uuid4().hex[:16], os.getpid(), _started(os.getpid()), socket.gethostname())
        _ALIVE.add(owner.token)
        return owner

    @classmethod
    def read(cls, text: str | None) -> Owner | None:
        """What `write` gave; None if nobody owns the run."""
        if not text:
            return None
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            return None

    def write(self) -> str:
        """The owner as text."""
        return _text(self)

    def release(self) -> None:
        """Its store was closed."""
        _ALIVE.discard(self.token)

    def is_alive(self) -> bool:
        """Whether its store can still write, as far as can be known: of another machine it can't."""
        if self.host != socket.gethostname():
            return False
        if self.pid == os.getpid():
            return self.token in _ALIVE
        # On Windows a signal 0 would end the process; there the one that lost the run is told, not this one.
        if sys.platform == "win32":
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass  # somebody else's process, but one
        return _started(self.pid) == self.started

    def is_gone(self) -> bool:
        """Whether its store surely writes no more. Of another machine it isn't known, nor of a process on Windows."""
        if self.host != socket.gethostname() or (sys.platform == "win32" and self.pid != os.getpid()):
            return False
        return not self.is_alive()

    def __str__(self) -> str:
        return "another store in this process" if self.pid == os.getpid() else f"process {self.pid} on {self.host}"


@cache
def _text(owner: Owner) -> str:
    return json.dumps(asdict(owner))


def _started(pid: int) -> str:
    try:
        # The 22nd field; the second is the program's name in brackets and may hold anything.
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
