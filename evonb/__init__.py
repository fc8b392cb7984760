"""evonb: see an agent graph think, stop it, step it backwards and go on, inside one notebook cell.

Import what you need from the subpackages: `from evonb.graph import GraphBuilder`. This module stays light; Jupyter and
all optional packages load on first use. `%load_ext evonb` loads the magics.
"""

from __future__ import annotations

from typing import Any

__all__ = ["__version__", "load_ipython_extension", "unload_ipython_extension"]

__version__ = "0.1.0"


def load_ipython_extension(ip: Any) -> None:
    """Called by `%load_ext evonb`: registers `%%evograph`, `%evo` and the notebook displays."""
    from evonb.magics import load

    load(ip)


def unload_ipython_extension(ip: Any) -> None:
    """Called by `%unload_ext evonb`: takes everything back that loading registered."""
    from evonb.magics import unload

    unload(ip)
