"""Whatever happens to the file: one warning that says what to do, no wait beyond two seconds, and no lost step."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from evonb.persistence import SqliteStore, StoreError, StoreWarning, opening, schema
from tests.unit.persistence.children import WITHOUT_RIGHTS, run, until
from tests.unit.persistence.samples import header, step

Open = Callable[..., SqliteStore]
LONGEST_S = 2.0


def numbers(store: SqliteStore, run_id: str = "run-1") -> list[int]:
    return [each.number for each in store.steps(run_id)]


@contextmanager
def lock(path: Path, how: str = "IMMEDIATE") -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"BEGIN {how}")
        yield


@contextmanager
def within(seconds: float) -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < seconds


def write_steps(store: SqliteStore, first: int, last: int, run_id: str = "run-1") -> None:
    for number in range(first, last + 1):
        store.append(run_id, step(number, {"text": f"{number}" * 3000}), {"position": number})


@pytest.fixture
def used(store: SqliteStore) -> SqliteStore:
    """A store with three steps."""
    store.begin(header(big="y" * 5000))
    write_steps(store, 1, 3)
    return store


# --- locked --------------------------------------------------------------------------------


def test_a_lock_costs_one_warning_and_the_steps_follow(
    used: SqliteStore, opened: Open, path: Path, problems: list[StoreError]
) -> None:
    with lock(path):
        with within(LONGEST_S):
            write_steps(used, 4, 4)
        with within(0.5):  # who waited once doesn't wait again
            write_steps(used, 5, 9)
            assert numbers(used) == list(range(1, 10))
            assert used.document("run-1", "position") == 9
            assert not used.flush()
        assert numbers(opened()) == [1, 2, 3]
    assert used.flush()
    assert used.problem is None
    assert numbers(opened()) == list(range(1, 10))
    assert opened().document("run-1", "position") == 9
    (problem,) = problems
    assert problem.kind == "locked"
    assert str(path) in problem.where
    assert "run 'run-1' of graph 'triage'" in problem.where
    assert problem.fix


def test_steps_are_written_by_themselves_when_a_lock_is_gone(used: SqliteStore, opened: Open, path: Path) -> None:
    with lock(path):
        write_steps(used, 4, 4)
        assert used.problem is not None
    until(lambda: used.problem is None)
    assert numbers(opened()) == [1, 2, 3, 4]


def test_a_file_that_is_locked_from_the_start_delays_nobody(
    opened: Open, path: Path, problems: list[StoreError]
) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE t (x)")
        other.execute("DROP TABLE t")
    store = opened()
    with lock(path, "EXCLUSIVE"), within(LONGEST_S):
        store.begin(header())
        write_steps(store, 1, 2)
        assert numbers(store) == [1, 2]
        assert [each.run_id for each in store.runs()] == ["run-1"]
    assert store.flush()
    assert numbers(opened()) == [1, 2]
    assert [each.kind for each in problems] == ["locked"]


def test_closing_a_store_writes_what_was_waiting(used: SqliteStore, opened: Open, path: Path) -> None:
    with lock(path):
        write_steps(used, 4, 4)
    used.close()
    assert numbers(opened()) == [1, 2, 3, 4]


def test_steps_taken_back_while_locked_stay_away(used: SqliteStore, opened: Open, path: Path) -> None:
    with lock(path):
        used.drop_steps("run-1", [2, 3], {"position": 1})
        used.append("run-1", step(3, {"text": "again"}))
        assert numbers(used) == [1, 3]
    assert used.flush()
    later = opened()
    assert [each.delta["text"][:5] for each in later.steps("run-1")] == ["1" * 5, "again"]
    assert later.runs()[0].steps == 2


def test_a_run_id_that_turns_out_to_be_taken_when_a_lock_is_gone_is_told_and_the_run_goes_on(
    used: SqliteStore, opened: Open, path: Path, problems: list[StoreError]
) -> None:
    other = opened()
    with lock(path):
        other.begin(header(mine=True))  # nobody can know yet that there is one
        write_steps(other, 1, 2)
    other.flush()
    write_steps(other, 3, 3)
    assert [each.kind for each in problems] == ["locked", "taken"]
    assert numbers(other) == [1, 2, 3]
    assert other.header("run-1").inputs == {"mine": True}
    write_steps(used, 4, 4)
    assert numbers(opened()) == [1, 2, 3, 4]


def test_a_run_that_is_opened_while_the_file_is_locked_goes_on_in_it(
    used: SqliteStore, opened: Open, path: Path, problems: list[StoreError]
) -> None:
    used.close()
    later = opened()
    assert numbers(later) == [1, 2, 3]
    with lock(path):
        write_steps(later, 4, 4)
    assert later.flush()
    assert numbers(opened()) == [1, 2, 3, 4]
    assert [each.kind for each in problems] == ["locked"]


# --- not a file of ours ------------------------------------------------------------------------


def make_garbage(path: Path) -> None:
    path.write_bytes(b"name,price\npen,3\n" * 500)


def make_truncated(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.begin(header("old"))
        write_steps(store, 1, 50, "old")
    os.truncate(path, path.stat().st_size // 2)


def make_foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE customers (name)")


def make_newer(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.begin(header("old"))
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA user_version = {schema.VERSION + 1}")


UNUSABLE = {
    "garbage": (make_garbage, "damaged"),
    "truncated": (make_truncated, "damaged"),
    "foreign": (make_foreign, "foreign"),
    "newer": (make_newer, "newer"),
    "a folder": (lambda path: path.mkdir(), "unreachable"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_file_that_can_not_be_used_is_left_alone_and_the_run_goes_on(
    name: str, opened: Open, path: Path, problems: list[StoreError]
) -> None:
    make, kind = UNUSABLE[name]
    make(path)
    before = path.read_bytes() if path.is_file() else None
    store = opened()
    with pytest.raises(StoreError) as caught:
        store.runs()
    assert caught.value.kind == kind
    assert str(path) in caught.value.where
    assert caught.value.fix
    store.begin(header())
    write_steps(store, 1, 3)
    assert numbers(store) == [1, 2, 3]
    assert [each.kind for each in problems] == [kind]
    assert "goes on in memory" in problems[0].what
    if before is not None:
        assert path.read_bytes() == before
    path.rename(path.with_suffix(".away"))  # what the warning says
    assert store.flush()
    assert numbers(opened()) == [1, 2, 3]


def test_an_empty_file_is_taken(opened: Open, path: Path, problems: list[StoreError]) -> None:
    path.touch()
    assert opened().runs() == []
    store = opened()
    store.begin(header())
    write_steps(store, 1, 1)
    assert numbers(opened()) == [1]
    assert problems == []


def test_a_folder_that_comes_later_is_used_then(opened: Open, tmp_path: Path, problems: list[StoreError]) -> None:
    store = opened(tmp_path / "mounted later" / "runs.db")
    store.begin(header())
    write_steps(store, 1, 2)
    assert [each.kind for each in problems] == ["unreachable"]
    (tmp_path / "mounted later").mkdir()
    assert store.flush()
    assert numbers(opened(tmp_path / "mounted later" / "runs.db")) == [1, 2]


def test_without_somebody_who_listens_a_problem_is_a_python_warning(path: Path) -> None:
    make_garbage(path)
    with closing(SqliteStore(path)) as store:
        with pytest.warns(StoreWarning, match="damaged, or isn't one") as caught:
            store.begin(header())
        assert len(caught) == 1
        write_steps(store, 1, 2)
        path.unlink()


# --- what happens to a file in use ---------------------------------------------------------------


def empty(path: Path) -> None:
    os.truncate(path, 0)


def remove(path: Path) -> None:
    for each in path.parent.iterdir():
        each.unlink()


def remove_only_the_file(path: Path) -> None:
    path.unlink()


def replace_by_another(path: Path) -> None:
    other = path.with_name("other.db")
    with closing(SqliteStore(other)) as store:
        store.begin(header("run-of-other"))
    other.replace(path)


LOSSES = [empty, remove, remove_only_the_file, replace_by_another]


@pytest.mark.parametrize("lose", LOSSES)
@pytest.mark.parametrize("checkpointed", [False, True])
def test_a_file_lost_in_use_is_reported_and_written_again(
    lose: Callable[[Path], None],
    checkpointed: bool,
    used: SqliteStore,
    opened: Open,
    path: Path,
    problems: list[StoreError],
) -> None:
    if checkpointed:
        with closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    lose(path)
    write_steps(used, 4, 5)
    (problem,) = problems
    assert problem.kind == "lost"
    assert str(path) in problem.where
    assert "run 'run-1' of graph 'triage'" in problem.where
    assert used.problem is None
    used.close()
    later = opened()
    assert numbers(later) == [1, 2, 3, 4, 5]
    assert later.step("run-1", 2) == step(2, {"text": "2" * 3000})
    assert later.header("run-1") == header(big="y" * 5000)
    assert later.document("run-1", "position") == 5
    if lose is replace_by_another:
        assert "run-of-other" in [each.run_id for each in later.runs()]
    with closing(sqlite3.connect(path)) as check:
        assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("lose", [empty, remove])
def test_two_stores_on_a_lost_file_both_write_again(lose: Callable[[Path], None], opened: Open, path: Path) -> None:
    one, two = opened(), opened(name="two")
    for store in (one, two):
        store.begin(header())
        write_steps(store, 1, 2)
    lose(path)
    write_steps(one, 3, 3)
    write_steps(two, 3, 3)
    write_steps(one, 4, 4)
    one.close()
    two.close()
    assert numbers(opened()) == [1, 2, 3, 4]
    assert numbers(opened(name="two")) == [1, 2, 3]


def test_a_file_cut_off_in_use_is_told_and_the_run_goes_on(
    used: SqliteStore, opened: Open, path: Path, problems: list[StoreError]
) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    write_steps(used, 4, 4)
    os.truncate(path, path.stat().st_size // 4096 // 2 * 4096)
    write_steps(used, 5, 6)
    assert [each.kind for each in problems] == ["damaged"]
    assert numbers(used) == [1, 2, 3, 4, 5, 6]
    assert used.step("run-1", 2) == step(2, {"text": "2" * 3000})
    assert not used.flush()
    remove(path)
    assert used.flush()
    used.close()
    assert numbers(opened()) == [1, 2, 3, 4, 5, 6]


def test_a_run_that_was_opened_says_that_its_earlier_steps_went_with_the_file(
    used: SqliteStore, opened: Open, path: Path, problems: list[StoreError]
) -> None:
    used.close()
    later = opened()
    write_steps(later, 4, 4)
    remove(path)
    write_steps(later, 5, 5)
    (problem,) = problems
    assert "earlier steps are lost with it" in problem.what
    assert numbers(later) == [4, 5]


# --- file systems ----------------------------------------------------------------------------


def test_a_file_system_without_shared_memory_is_told_and_used(
    opened: Open, path: Path, problems: list[StoreError], monkeypatch: pytest.MonkeyPatch
) -> None:
    # SQLite's own layer for such places: it locks by files and can't share memory, so it refuses the log.
    monkeypatch.setattr(opening, "VFS", "unix-dotfile")
    store = opened()
    store.begin(header())
    write_steps(store, 1, 3)
    (problem,) = problems
    assert problem.kind == "network"
    assert "one notebook at a time" in problem.what
    assert store.problem is None
    store.close()
    assert not Path(f"{path}-wal").exists()
    assert numbers(opened()) == [1, 2, 3]


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that a user without rights can get to."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder) / "runs.db"


CHECK_LOOKING = """
    assert [each.number for each in store.steps("old")] == list(range(1, 51)), "read"
    assert [each.run_id for each in store.runs()] == ["old"]
    assert not problems, "looking warns of nothing"
    store.begin(header())
    store.append("old", step(51))
    store.append("run-1", step(1))
    assert [each.kind for each in problems] == ["read-only"], problems
    assert str(path) in problems[0].where and "run 'run-1'" in problems[0].where and problems[0].fix
    assert [each.number for each in store.steps("old", after=49)] == [50, 51]
    assert store.step("run-1", 1) == step(1)
    try:
        store.prune(keep_runs=0)
    except StoreError as error:
        assert error.kind == "read-only"
    else:
        raise AssertionError("pruned")
"""


def file_only(path: Path) -> None:
    path.chmod(0o444)
    path.parent.chmod(0o777)


def folder_only(path: Path) -> None:
    path.chmod(0o666)
    path.parent.chmod(0o555)


def both(path: Path) -> None:
    path.chmod(0o444)
    path.parent.chmod(0o555)


@pytest.mark.parametrize("protect", [file_only, folder_only, both])
@pytest.mark.parametrize("log", [False, True])
def test_what_can_not_be_written_opens_for_looking(public: Path, protect: Callable[[Path], None], log: bool) -> None:
    with closing(SqliteStore(public)) as store, closing(sqlite3.connect(public, isolation_level=None)) as other:
        store.begin(header("old"))
        write_steps(store, 1, 50, "old")
        store.close()
        if log:
            # As a killed process leaves it: part of the file is in a log without an index.
            other.execute("PRAGMA wal_autocheckpoint = 0")
            other.execute("UPDATE runs SET name = 'in the log'")
            left = public.read_bytes(), Path(f"{public}-wal").read_bytes()
    if log:
        public.write_bytes(left[0])
        Path(f"{public}-wal").write_bytes(left[1])
        Path(f"{public}-wal").chmod(0o444)
    protect(public)
    name = "in the log" if log else ""
    run(WITHOUT_RIGHTS + CHECK_LOOKING.replace("\n    ", "\n") + f"assert store.header('old').name == {name!r}", public)
    public.parent.chmod(0o755)


def test_a_folder_that_can_not_be_written_costs_one_warning(public: Path) -> None:
    public.parent.chmod(0o555)
    code = """
store.begin(header())
store.append("run-1", step(1))
assert [each.kind for each in problems] in (["unreachable"], ["read-only"]), problems
assert store.step("run-1", 1) == step(1)
"""
    run(WITHOUT_RIGHTS + code, public)


FULL = """
    import resource, signal
    store.begin(header())
    for number in range(1, 6):
        store.append("run-1", step(number, {"text": str(number) * 3000}))
    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    limit(os.stat(str(path) + "-wal").st_size + 20_000)  # the log may grow a little and no more
    for number in range(6, 60):
        start = time.monotonic()
        store.append("run-1", step(number, {"text": str(number) * 3000}))
        assert time.monotonic() - start < 2
    assert [each.kind for each in problems] == ["full"], problems
    assert str(path) in problems[0].where and "run 'run-1'" in problems[0].where
    assert "free some space" in problems[0].fix
    assert [each.number for each in store.steps("run-1")] == list(range(1, 60))
    assert not store.flush()
    limit(resource.RLIM_INFINITY)
    assert store.flush() and store.problem is None
    store.close()
    later = SqliteStore(path)
    assert [each.number for each in later.steps("run-1")] == list(range(1, 60))
    assert later.step("run-1", 59) == step(59, {"text": "59" * 3000})
"""


def test_a_full_disk_costs_one_warning_and_the_steps_follow(path: Path) -> None:
    run(FULL, path)


def test_a_disk_that_is_full_from_the_start_costs_one_warning(path: Path) -> None:
    code = """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, resource.RLIM_INFINITY))
    store.begin(header())
    store.append("run-1", step(1))
    assert [each.kind for each in problems] == ["full"], problems
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert store.flush()
    assert SqliteStore(path).step("run-1", 1) == step(1)
    """
    run(code, path)
