"""The corpus of real and hostile replies, with the thresholds that must hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evonb.parsing import OutputParser

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

Rows = list[dict[str, Any]]


def score(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, str(HERE / "score_parsing.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=600).stdout


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    found = tmp_path_factory.mktemp("corpus") / "rows.json"
    # Limits in the corpus are for a machine of its own; the tests share theirs.
    score("--json", str(found), "--timeout", "10", str(HERE / "parsing.jsonl"))
    answers: Rows = json.loads(found.read_text())["evonb"]
    return answers


def shown(rows: Rows) -> str:
    return "\n".join(f"{row['outcome']}: {row['name']}: {row['detail']}" for row in rows)


def test_the_whole_corpus_ran(rows: Rows) -> None:
    assert len(rows) == sum(1 for line in (HERE / "parsing.jsonl").read_text().splitlines() if line.strip())


def test_at_least_97_of_100_replies_are_parsed_right(rows: Rows) -> None:
    failed = [row for row in rows if row["outcome"] != "pass"]
    assert len(failed) <= 0.03 * len(rows), shown(failed)


@pytest.mark.parametrize("outcome", ["crash", "timeout", "silent"])
def test_no_reply_ends_in(rows: Rows, outcome: str) -> None:
    assert [row["name"] for row in rows if row["outcome"] == outcome] == []


def test_no_kind_of_reply_is_left_behind(rows: Rows) -> None:
    total, passed = (
        Counter(row["kind"] for row in rows),
        Counter(row["kind"] for row in rows if row["outcome"] == "pass"),
    )
    assert {kind: passed[kind] / total[kind] for kind in total if passed[kind] < 0.9 * total[kind]} == {}


def test_formats_are_detected_as_well_as_read(rows: Rows) -> None:
    judged = [row for row in rows if row["format_ok"] is not None]
    wrong = [row for row in judged if not row["format_ok"]]
    assert len(wrong) <= 0.03 * len(judged), shown(wrong)


def test_a_megabyte_of_json_is_parsed_at_15_megabytes_a_second() -> None:
    row = '{"id": %d, "name": "row %d", "tags": ["x", "y"], "ok": true}'
    text = "[" + ", ".join(row % (index, index) for index in range(16_000)) + "]"
    parser = OutputParser(enable_cache=False)
    speeds = []
    for _ in range(10):
        # Time of this process alone, the best of several: a busy machine says nothing about the parser.
        started = time.process_time()
        assert len(parser.parse(text).data) == 16_000
        speeds.append(len(text) / 1e6 / (time.process_time() - started))
    assert max(speeds) >= 15
