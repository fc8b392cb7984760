"""The face of the package: light, complete, with examples that run."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import subprocess
import sys

import pytest

import evonb.agents

MODULES = sorted(each.name for each in pkgutil.iter_modules(evonb.agents.__path__, "evonb.agents."))


def test_the_import_loads_no_optional_package() -> None:
    wanted = ["numpy", "openai", "mcp", "docker", "IPython", "xllamacpp", "json_repair", "ruamel.yaml"]
    code = f"import evonb.agents, sys, json; print(json.dumps([name for name in {wanted} if name in sys.modules]))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(loaded.stdout) == []


@pytest.mark.parametrize("module", [*MODULES, "evonb.graph.asking"])
def test_the_examples_run(module: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(module))
    assert failed == 0
