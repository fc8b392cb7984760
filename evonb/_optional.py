"""The only door to optional packages: they load on first use, and their absence is one clear error.

To detect a user's object of an optional package, ask `loaded(...)`: what isn't imported can't have made it.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from evonb.errors import MissingDependency

# Which extra of pyproject.toml brings a package.
_EXTRAS = {
    "IPython": "jupyter",
    "anywidget": "jupyter",
    "defusedxml": "parsing",
    "docker": "sandbox",
    "docstring_parser": "tools",
    "httpx2": "mcp",
    "ipywidgets": "jupyter",
    "jsonschema": "mcp",
    "graphlay": "export",
    "networkx": "export",
    "pyvis": "export",
    "referencing": "mcp",
    "resvg_py": "export",
    "ruamel": "parsing",
    "mcp": "mcp",
    "nest_asyncio": "jupyter",
    "numpy": "agents",
    "openai": "llm",
    "tqdm": "jupyter",
    "xllamacpp": "local",
}


def require(name: str, purpose: str) -> ModuleType:
    """Import an optional package.

    Args:
        name: Import name, dotted names allowed.
        purpose: What it is needed for, as the end of "... is needed": "to draw in a notebook".

    Raises:
        MissingDependency: The package isn't installed; `fix` holds the command that installs it.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        extra = _EXTRAS.get(package)
        install = f"pip install 'evonb[{extra}]'" if extra else f"pip install {package}"
        raise MissingDependency(
            f"The package '{package}' is needed {purpose}, and importing it failed: {error}", fix=install
        ) from error


def loaded(name: str) -> ModuleType | None:
    """The module if somebody has imported it already, else None. Imports nothing."""
    return sys.modules.get(name)
