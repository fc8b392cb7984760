"""`MISSING` stays one object wherever it travels."""

import copy
import pickle
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import pytest

from evonb.typing import MISSING, MissingType


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_missing_survives_pickle(protocol: int) -> None:
    assert pickle.loads(pickle.dumps({"old": [MISSING]}, protocol))["old"][0] is MISSING


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda value: copy.deepcopy([value])[0]])
def test_missing_survives_copies(duplicate: Any) -> None:
    assert duplicate(MISSING) is MISSING


def test_missing_survives_as_a_dataclass_default() -> None:
    @dataclass
    class Slot:
        value: Any = field(default=MISSING)

    assert copy.deepcopy(Slot()).value is MISSING


def test_making_another_missing_gives_the_same_one() -> None:
    assert MissingType() is MISSING


def test_missing_reads_well_and_is_neither_empty_nor_equal_to_anything_else() -> None:
    assert repr(MISSING) == "MISSING"
    assert MISSING
    assert MISSING != None  # noqa: E711 - the comparison is the point
    assert object() != MISSING


def test_importing_the_types_loads_pydantic_and_nothing_else_from_outside() -> None:
    program = (
        "import sys; before = set(sys.modules); import evonb.typing;"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(*sorted(top for top in tops if top not in sys.stdlib_module_names))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    allowed = {"evonb", "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"}
    assert {name for name in answer.stdout.split() if not name.startswith("_")} <= allowed
