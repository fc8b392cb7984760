"""Several processes, and several stores of one process, on one file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from evonb.persistence import SqliteStore, StoreError
from evonb.persistence.owner import Owner
from tests.unit.persistence.children import start, until
from tests.unit.persistence.samples import header, step

Open = Callable[..., SqliteStore]

WRITER = """
run = sys.stdin.readline().strip()
store.begin(header(run))
print("ready", flush=True)
sys.stdin.readline()
for number in range(1, 151):
    store.append(run, step(number, {"who": run, "text": run * 500}), {"position": number})
store.close()
assert not problems, problems
"""


def test_two_notebooks_on_one_file_both_work(path: Path, opened: Open, problems: list[StoreError]) -> None:
    children = [start(WRITER, path) for _ in range(2)]
    for place, child in enumerate(children):
        assert child.stdin is not None
        child.stdin.write(f"run-{place}\n")
        child.stdin.flush()
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n", child.communicate()[1]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    here = opened()
    here.begin(header("run-here"))
    for number in range(1, 51):
        here.append("run-here", step(number))
    for child in children:
        _, err = child.communicate()
        assert child.returncode == 0, err
    for place in range(2):
        steps = list(here.steps(f"run-{place}"))
        assert [each.number for each in steps] == list(range(1, 151))
        assert {each.delta["who"] for each in steps} == {f"run-{place}"}
    assert [each.number for each in here.steps("run-here")] == list(range(1, 51))
    assert problems == []


OWNER = """
store.begin(header())
store.append("run-1", step(1))
print("ready", flush=True)
sys.stdin.readline()
store.append("run-1", step(2, {"who": "first"}))
print([each.kind for each in problems], str(os.getppid()) in problems[0].what, "run 'run-1'" in problems[0].where)
print([each.number for each in store.steps("run-1")], flush=True)
"""


def test_a_run_that_another_process_has_open_is_reported_to_both(
    path: Path, opened: Open, problems: list[StoreError]
) -> None:
    with start(OWNER, path) as first:
        assert first.stdout is not None
        assert first.stdin is not None
        assert first.stdout.readline() == "ready\n"
        here = opened()
        assert here.header("run-1") == header()
        assert problems == []  # looking disturbs nobody
        here.append("run-1", step(2, {"who": "second"}))
        (problem,) = problems
        assert problem.kind == "taken"
        assert f"process {first.pid}" in problem.what
        assert "run 'run-1' of graph 'triage'" in problem.where
        out, err = first.communicate("go\n")
    assert first.returncode == 0, err
    assert out.splitlines() == ["['taken'] True True", "[1, 2]"]
    here.append("run-1", step(3))
    assert [each.number for each in here.steps("run-1")] == [1, 2, 3]
    assert opened().step("run-1", 2) == step(2, {"who": "second"})
    assert len(problems) == 1


def test_a_run_of_a_process_that_was_killed_is_taken_over_silently(
    path: Path, opened: Open, problems: list[StoreError]
) -> None:
    with start(OWNER, path) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "ready\n"
        first.kill()
        first.communicate()
    here = opened()
    here.append("run-1", step(2))
    assert [each.number for each in here.steps("run-1")] == [1, 2]
    assert problems == []


STATUSES = """
for run, status, newest in (("run-1", "running", None), ("run-2", "paused", 0), ("run-3", "paused", 1)):
    store.begin(header(run))
    store.put(run, {"status": status, "position": None if newest is None else {"newest": newest}})
    store.append(run, step(0))
    store.append(run, step(1))
print("ready", flush=True)
sys.stdin.readline()
"""


def test_runs_whose_process_was_killed_in_the_middle_were_interrupted(path: Path, opened: Open) -> None:
    def told() -> dict[str, str]:
        return {run.run_id: run.status for run in opened().runs()}

    with start(STATUSES, path) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        assert told() == {"run-1": "running", "run-2": "paused", "run-3": "paused"}
        child.kill()
        child.wait()
    assert told() == {"run-1": "interrupted", "run-2": "interrupted", "run-3": "paused"}


def test_a_second_store_of_the_same_process_on_one_run_is_reported(opened: Open, problems: list[StoreError]) -> None:
    one, two = opened(), opened()
    one.begin(header())
    two.append("run-1", step(1))
    one.append("run-1", step(2))
    assert [each.kind for each in problems] == ["taken", "taken"]
    assert "another store in this process" in problems[0].what
    assert [each.number for each in two.steps("run-1")] == [1]


def test_a_run_of_a_store_that_was_closed_is_taken_over_silently(opened: Open, problems: list[StoreError]) -> None:
    one, two = opened(), opened()
    one.begin(header())
    one.close()
    two.append("run-1", step(1))
    two.close()
    one.append("run-1", step(2))
    assert [each.number for each in two.steps("run-1")] == [1, 2]
    assert problems == []


def test_a_process_id_that_is_used_again_is_not_the_old_owner() -> None:
    mine = Owner.this()
    assert mine.is_alive()
    other = Owner("token", os.getppid(), "0", mine.host)
    assert not other.is_alive()
    mine.release()
    assert not mine.is_alive()


@pytest.mark.parametrize("text", [None, "", "{", "{}", "[]", '{"token": 1}'])
def test_an_owner_that_is_not_readable_is_none(text: str | None) -> None:
    assert Owner.read(text) is None


FORK = """
store.begin(header())
store.append("run-1", step(1))
child = os.fork()
if child == 0:
    store.begin(header("run-of-child"))
    store.append("run-of-child", step(1))
    store.close()
    os._exit(1 if problems else 0)
_, status = os.waitpid(child, 0)
assert status == 0
store.append("run-1", step(2))
assert not problems, problems
store.close()
assert sorted((each.run_id, each.steps) for each in SqliteStore(path).runs()) == [("run-1", 2), ("run-of-child", 1)]
"""


def test_a_forked_process_opens_the_file_for_itself(path: Path) -> None:
    with start(FORK, path) as child:
        _, err = child.communicate()
    assert child.returncode == 0, err


def test_a_run_goes_on_in_another_process_after_this_one_has_closed(path: Path, opened: Open) -> None:
    store = opened()
    store.begin(header())
    store.append("run-1", step(1))
    store.close()
    with start("store.append('run-1', step(2)); store.close(); assert not problems", path) as child:
        _, err = child.communicate()
    assert child.returncode == 0, err
    until(lambda: [each.number for each in store.steps("run-1")] == [1, 2])


def test_a_step_that_somebody_else_has_made_meanwhile_is_told_as_that(opened: Open) -> None:
    opened().begin(header())
    one, other = opened(), opened()
    assert list(one.steps("run-1")) == list(other.steps("run-1")) == []
    other.append("run-1", step(1))
    with pytest.raises(StoreError, match="somebody else has gone on with this run") as told:
        one.append("run-1", step(1))
    assert told.value.fix == "open the run again to go on from there"
    with pytest.raises(StoreError, match=r"There is a step 1 already\n"):
        other.append("run-1", step(1))
