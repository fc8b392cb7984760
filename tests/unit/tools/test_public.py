"""The public face, and how little it loads."""

import doctest
import subprocess
import sys

import evonb.tools as public
import evonb.tools.define


def test_everything_public_is_there_and_sorted() -> None:
    assert all(hasattr(public, name) for name in public.__all__)
    assert len(set(public.__all__)) == len(public.__all__)
    assert not [name for name in public.__all__ if name.startswith("_")]


def test_importing_tools_loads_no_optional_package() -> None:
    script = (
        "import sys, evonb.tools; "
        "heavy = {'mcp', 'docker', 'docstring_parser', 'openai', 'httpx', 'IPython', 'evonb.graph', 'evonb.llm', "
        "'evonb.parsing'}; print(sorted(heavy & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"


def test_the_example_in_the_documentation_of_tool_runs() -> None:
    assert doctest.testmod(evonb.tools.define).failed == 0
