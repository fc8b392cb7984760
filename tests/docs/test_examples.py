"""What we show works: examples in docstrings, in the README, and the files and commands that our texts name."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import evonb

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [module.name for module in pkgutil.walk_packages(evonb.__path__, "evonb.")]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(module: str) -> None:
    found = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(module))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    reports: list[str] = []
    for example in found:
        runner.run(example, out=reports.append)
    assert runner.failures == 0, "".join(reports)


def python_blocks(text: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("text", [text for text in TEXTS if python_blocks(text)], ids=lambda text: text.name)
def test_python_blocks_run_one_after_the_other(text: Path, shell: InteractiveShell) -> None:
    for block in python_blocks(text):
        result = shell.run_cell(block, store_history=False)
        result.raise_error()


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)  # what an example writes
    made = InteractiveShell.instance()
    yield made
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_links_and_commands_of_a_text_exist(text: Path) -> None:
    content = text.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", content) + re.findall(r'(?:src|srcset)="([^"]+)"', content)
    assert [link for link in links if not (text.parent / link).exists()] == []
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)", content)) | set(re.findall(r"^make ([a-z]+)", content, re.MULTILINE))
    assert named <= targets
