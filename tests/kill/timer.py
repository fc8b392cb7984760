"""A timer of the kernel whose signal is SIGKILL: it hits whatever runs then, between any two machine instructions.

A second thread would have to wait for a processor first, which takes longer than a write does.
"""

from __future__ import annotations

import ctypes
import signal

_CLOCK_MONOTONIC = 1


class _Event(ctypes.Structure):
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("how", ctypes.c_int),  # 0: send the signal
        ("room", ctypes.c_char * 48),
    )


class _Times(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_long) for name in ("every_s", "every_ns", "first_s", "first_ns"))


class KillTimer:
    """Made ahead, so that starting it costs one system call."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._timer = ctypes.c_void_p()
        event = _Event(signal=signal.SIGKILL, how=0)
        self._check(self._libc.timer_create(_CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(self._timer)))

    def start(self, delay_s: float) -> None:
        """Kill this process so much later, at once for 0."""
        times = _Times(first_ns=max(1, int(delay_s * 1e9) % 10**9), first_s=int(delay_s))
        self._check(self._libc.timer_settime(self._timer, 0, ctypes.byref(times), None))

    def _check(self, result: int) -> None:
        if result:
            raise OSError(ctypes.get_errno(), "the kernel gives no timer")
