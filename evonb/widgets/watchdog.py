"""One thread that notices what a blocked loop can't: that something was due and didn't happen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

__all__ = ["Watchdog"]


class Watchdog:
    """Calls back, from a thread of its own, for each promise that wasn't kept in time.

    The thread starts with the first promise and sleeps while there is none; it doesn't keep the process alive.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: dict[int, tuple[float, Callable[[], None]]] = {}
        self._thread: threading.Thread | None = None

    def promise(self, key: int, within_s: float, otherwise: Callable[[], None]) -> None:
        """Call `otherwise` once unless `keep(key)` comes within that time. A standing promise stays as it is."""
        with self._changed:
            if key in self._due:
                return
            self._due[key] = (time.monotonic() + within_s, otherwise)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="evonb-watchdog", daemon=True)
                self._thread.start()
            elif len(self._due) == 1:
                self._changed.notify()

    def keep(self, key: int) -> None:
        """It happened."""
        with self._changed:
            self._due.pop(key, None)

    def _watch(self) -> None:
        while True:
            with self._changed:
                while not self._due:
                    self._changed.wait()
                key, (due, otherwise) = min(self._due.items(), key=lambda item: item[1][0])
                left = due - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                    continue
                del self._due[key]
            otherwise()
