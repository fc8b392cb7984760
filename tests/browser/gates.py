"""Gates between a test and the nodes of its graph: a node waits, the page is looked at, the test opens.

A gate is a named pipe in the kernel's folder, so it opens also while a cell is busy and the kernel hears nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

KERNEL_SIDE = '''
import asyncio, os

def wait_at(name):
    """Block until the test opens the gate once."""
    pipe = os.open(name, os.O_RDONLY)
    try:
        os.read(pipe, 1)
    finally:
        os.close(pipe)

async def wait_at_async(name):
    await asyncio.to_thread(wait_at, name)
'''


class Gates:
    """The test's side. `open` lets one waiting node pass, or the next one that comes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pipes: dict[str, int] = {}

    def make(self, *names: str) -> Gates:
        for name in names:
            os.mkfifo(self._folder / name)
            # Open for both, so that neither side ever waits for the other to be there.
            self._pipes[name] = os.open(self._folder / name, os.O_RDWR)
        return self

    def open(self, *names: str) -> None:
        for name in names:
            os.write(self._pipes[name], b".")

    def close(self) -> None:
        """Let everybody pass who still waits, so that the kernel can end."""
        for name, pipe in self._pipes.items():
            os.write(pipe, b"." * 64)
            os.close(pipe)
            (self._folder / name).unlink()
