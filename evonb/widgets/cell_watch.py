"""Whether a cell is being run now, for kernels that hear no button meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evonb._optional import loaded
from evonb.graph.events import Detach

__all__ = ["CELL_HOLDS_BUTTONS", "watch_cells"]

CELL_HOLDS_BUTTONS = (
    "A cell runs: on ipykernel 6 buttons wait until it ends. "
    "Begin with graph.start(...) or %evo debug to keep them live."
)


def watch_cells(changed: Callable[[], None]) -> tuple[Callable[[], bool], Detach]:
    """Follow the cells of this kernel.

    Args:
        changed: Called when a cell has begun or ended.

    Returns:
        Whether buttons have to wait for a cell now; and the undo.
    """
    shell = _shell_that_blocks()
    if shell is None:
        return lambda: False, lambda: None
    busy = [True]  # whoever asks does so from a cell

    def begin(_info: Any = None) -> None:
        busy[0] = True
        changed()

    def end(_result: Any = None) -> None:
        busy[0] = False
        changed()

    shell.events.register("pre_run_cell", begin)
    shell.events.register("post_run_cell", end)

    def leave() -> None:
        for name, callback in (("pre_run_cell", begin), ("post_run_cell", end)):
            if callback in shell.events.callbacks[name]:
                shell.events.unregister(name, callback)

    return lambda: busy[0], leave


def _shell_that_blocks() -> Any:
    """The shell of an ipykernel before 7, where messages of widgets wait for the running cell; else None."""
    ipykernel, ipython = loaded("ipykernel"), loaded("IPython")
    if ipykernel is None or ipython is None or int(str(ipykernel.__version__).split(".")[0]) >= 7:
        return None
    shell = ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None
