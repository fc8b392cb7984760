"""What a `RunStore` promises, on a file and in memory, in the session that wrote and in a later one."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evonb.errors import StateError
from evonb.graph.ports import RunStore, default_store
from evonb.persistence import DuplicateRun, SqliteStore, StandIn, StoreError, StoreWarning, UnknownRun, keeper
from tests.unit.persistence.samples import Order, header, step

Open = Callable[..., SqliteStore]
Again = Callable[[], SqliteStore]


@pytest.fixture(params=["this session", "a later session", "memory", "forgotten", "out of reach"])
def again(request: pytest.FixtureRequest, opened: Open, path: Path) -> Again:
    """The store to write to at the first call, the one to read from at the second."""
    made: list[SqliteStore] = []

    def give() -> SqliteStore:
        if not made:
            folder = path.parent / "not there yet"
            made.append(opened({"memory": ":memory:", "out of reach": folder / "runs.db"}.get(request.param, path)))
        elif request.param == "a later session":
            made[0].close()
            return opened()
        elif request.param == "forgotten":
            made[0].vacuum()
        return made[0]

    return give


def test_a_step_comes_back_as_it_was(again: Again) -> None:
    written = step(
        3,
        {"order": Order(kind=Order.Kind.PARCEL), "pair": (1, {2}), "$": None, "big": ["x" * 300_000]},
        cut={"a": [1]},
        snapshot={"whole": {"a": 1}},
        notes={"hops": [["a", "b"]]},
        branch=2,
        visit=4,
        parents=(1, 2),
        status="edited",
    )
    store = again()
    store.begin(header(text="hi", pair=(1, 2), big="y" * 2000))
    store.append("run-1", written)
    store = again()
    assert store.step("run-1", 3) == written
    assert store.step("run-1", 4) is None
    assert store.header("run-1") == header(text="hi", pair=(1, 2), big="y" * 2000)


def test_steps_come_in_order_of_number_from_either_end(again: Again) -> None:
    store = again()
    store.begin(header())
    numbers = [*range(1, 290), 300, 299, 2000]  # parallel tasks end in any order
    for number in numbers:
        store.append("run-1", step(number))
    store = again()
    inside = [each.number for each in store.steps("run-1")]
    assert inside == sorted(numbers)
    assert [each.number for each in store.steps("run-1", after=288)] == [289, 299, 300, 2000]
    assert [each.number for each in store.steps("run-1", newest_first=True)] == inside[::-1]
    assert [each.number for each in store.steps("run-1", after=299, newest_first=True)] == [2000, 300]
    assert next(store.steps("run-1", newest_first=True)).delta == {"count": 2000}


def test_steps_that_are_added_while_one_reads_do_not_disturb(opened: Open) -> None:
    opened().begin(header())
    store = opened()
    for number in range(1, 400):
        store.append("run-1", step(number))
    reader = opened()
    reading = reader.steps("run-1")
    assert next(reading).number == 1
    for number in range(400, 500):
        store.append("run-1", step(number))
    assert [each.number for each in reading][:398] == list(range(2, 400))


def test_documents_are_replaced_and_deleted_by_name(again: Again) -> None:
    store = again()
    store.begin(header())
    store.put("run-1", {"status": "running", "position": {"waiting": [1]}})
    store.append("run-1", step(1), {"position": {"waiting": [2]}, "branches": [0]})
    store.put("run-1", {"branches": None})
    store = again()
    assert store.document("run-1", "position") == {"waiting": [2]}
    assert store.document("run-1", "status") == "running"
    assert store.document("run-1", "branches") is None
    assert store.document("run-1", "never written") is None


def test_steps_can_be_taken_back_and_numbered_again(again: Again) -> None:
    store = again()
    store.begin(header())
    for number in range(1, 6):
        store.append("run-1", step(number, {"image": "x" * 5000, "n": number}))
    store.drop_steps("run-1", [4, 5, 99], {"position": "back at 3"})
    store.append("run-1", step(4, {"image": "x" * 5000, "n": "again"}))
    store.drop_steps("run-1", [2])
    store = again()
    assert [(each.number, each.delta["n"]) for each in store.steps("run-1")] == [(1, 1), (3, 3), (4, "again")]
    assert store.step("run-1", 5) is None
    assert store.document("run-1", "position") == "back at 3"
    assert store.step("run-1", 4).delta["image"] == "x" * 5000  # type: ignore[union-attr]
    assert store.runs()[0].steps == 3


def test_runs_are_listed_newest_first(again: Again) -> None:
    store = again()
    for place, graph in enumerate(["triage", "triage", "other"]):
        store.begin(header(f"run-{place}", graph=graph, started_at=100.0 + place))
    store.append("run-1", step(1), {"status": "paused"})
    store = again()
    assert [each.run_id for each in store.runs()] == ["run-2", "run-1", "run-0"]
    found = store.runs("triage")[0]
    assert (found.run_id, found.graph_name, found.status, found.steps) == ("run-1", "triage", "paused", 1)
    assert found.size_bytes > 0
    assert found.changed_at > found.started_at
    assert store.runs("no such graph") == []


def test_a_store_goes_on_with_a_run_of_an_earlier_session(again: Again) -> None:
    store = again()
    store.begin(header())
    store.append("run-1", step(1))
    store = again()
    store.append("run-1", step(2), {"status": "finished"})
    assert [each.number for each in store.steps("run-1")] == [1, 2]
    assert store.runs()[0].steps == 2


def test_a_run_id_that_exists_is_refused_and_nothing_changes(again: Again) -> None:
    store = again()
    store.begin(header(a=1))
    store = again()
    with pytest.raises(DuplicateRun, match="run 'run-1' already"):
        store.begin(header(a=2))
    assert store.header("run-1").inputs == {"a": 1}
    store.begin(header("run-2"))


def test_a_step_number_that_exists_is_refused(again: Again) -> None:
    store = again()
    store.begin(header())
    store.append("run-1", step(1))
    store = again()
    with pytest.raises(DuplicateRun, match="step 1 already"):
        store.append("run-1", step(1, {"count": "other"}))
    assert store.step("run-1", 1) == step(1)


def test_an_unknown_run_offers_near_ones(again: Again) -> None:
    store = again()
    store.begin(header("triage-2024"))
    store = again()
    for call in (store.header, lambda run: store.append(run, step(1)), lambda run: list(store.steps(run))):
        with pytest.raises(UnknownRun) as caught:
            call("triage-2042")
        assert "did you mean 'triage-2024'?" in str(caught.value)


def test_databases_of_one_file_are_kept_apart(opened: Open) -> None:
    one, two = opened(name="one"), opened(name="two")
    one.begin(header(a=1))
    two.begin(header(a=2))
    one.append("run-1", step(1))
    assert (one.header("run-1").inputs, two.header("run-1").inputs) == ({"a": 1}, {"a": 2})
    assert list(two.steps("run-1")) == []
    two.begin(header("run-2"))
    with pytest.raises(UnknownRun, match="in the database 'two'"):
        one.header("run-2")


def test_a_document_that_is_no_json_is_refused_and_nothing_is_written(again: Again) -> None:
    store = again()
    store.begin(header())
    with pytest.raises(StateError, match="Document 'position' isn't plain JSON"):
        store.append("run-1", step(1), {"position": {1, 2}})
    assert list(again().steps("run-1")) == []


def test_a_file_is_made_by_the_first_run_and_not_before(store: SqliteStore, path: Path) -> None:
    assert store.runs() == []
    with pytest.raises(UnknownRun, match="nothing has been stored yet"):
        store.header("run-1")
    assert store.prune(keep_runs=0) == []
    assert not path.exists()
    store.begin(header())
    assert path.exists()


def test_a_store_can_be_closed_twice_and_used_again(store: SqliteStore, path: Path) -> None:
    store.begin(header())
    store.close()
    store.close()
    assert [each.name for each in path.parent.iterdir()] == [path.name]  # no log is left behind
    store.append("run-1", step(1))
    assert store.step("run-1", 1) == step(1)


def test_a_store_that_nobody_has_any_more_releases_its_file(path: Path) -> None:
    store = SqliteStore(path)
    store.begin(header())
    assert Path(f"{path}-wal").exists()
    del store
    gc.collect()
    assert not Path(f"{path}-wal").exists()


def test_who_listens_to_a_store_is_not_kept_alive_by_it(tmp_path: Path) -> None:
    class Listener:
        def __init__(self) -> None:
            self.store = SqliteStore(tmp_path / "missing" / "x.db", notify=self.listen)
            self.heard: list[StoreError] = []

        def listen(self, problem: StoreError) -> None:
            self.heard.append(problem)

    listener = Listener()
    listener.store.begin(header())
    assert len(listener.heard) == 1
    gone = weakref.ref(listener)
    del listener
    gc.collect()
    assert gone() is None


def test_who_hears_of_a_problem_may_wait_for_another_thread_that_uses_the_store(tmp_path: Path) -> None:
    seen: list[Any] = []

    def ask_in_another_thread(_: StoreError) -> None:
        thread = threading.Thread(target=lambda: seen.extend(store.runs()))
        thread.start()
        thread.join()

    store = SqliteStore(tmp_path / "missing" / "x.db", notify=ask_in_another_thread)
    store.begin(header())
    assert [each.run_id for each in seen] == ["run-1"]


def test_a_long_session_does_not_keep_in_memory_what_is_in_the_file(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "_MEMORY_BYTES", 50_000)
    store.begin(header(big="y" * 3000))
    for number in range(1, 101):
        store.append("run-1", step(number, {"text": f"{number} " * 1000}), {"position": number})
        assert sum(copy.size_bytes for copy in store._keeper.copies.values()) < 60_000
    assert [each.delta["text"][:2].strip() for each in store.steps("run-1", after=98)] == ["99", "10"]
    assert [each.number for each in store.steps("run-1")] == list(range(1, 101))
    assert store.document("run-1", "position") == 100
    with pytest.raises(DuplicateRun):
        store.append("run-1", step(1))


def test_warnings_as_errors_leave_the_store_in_order(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "missing" / "x.db")
    with pytest.raises(StoreWarning):  # pytest makes errors of them
        store.begin(header())
    store.append("run-1", step(1))
    (tmp_path / "missing").mkdir()
    assert store.flush()
    assert list(store.steps("run-1")) == [step(1)]
    store.close()


def test_many_threads_may_write_and_read_at_once(store: SqliteStore) -> None:
    failures: list[BaseException] = []

    def work(run: str) -> None:
        try:
            store.begin(header(run))
            for number in range(1, 40):
                store.append(run, step(number, {"who": run}), {"position": number})
            assert {each.delta["who"] for each in store.steps(run)} == {run}
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=[f"run-{place}"]) for place in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(each.steps for each in store.runs()) == [39] * 6


def test_odd_names_are_only_names(again: Again) -> None:
    odd = "'; DROP TABLE runs; -- \ud800 \x00 名"
    store = again()
    store.begin(header("run-1", graph=odd))
    store.append("run-1", step(1, node=odd), {odd: odd})
    store = again()
    assert store.document("run-1", odd) == odd
    assert store.step("run-1", 1) is not None
    assert len(store.runs()) == 1


@pytest.mark.parametrize("number", [-1, 2**32])
def test_an_impossible_number_is_refused(store: SqliteStore, number: int) -> None:
    store.begin(header())
    with pytest.raises(StoreError, match="can't have the number"):
        store.append("run-1", step(number))


def test_a_value_that_can_not_be_stored_costs_one_warning_and_only_that_value(path: Path, opened: Open) -> None:
    store = opened()
    store._notify = None
    lock = threading.Lock()
    store.begin(header())
    with pytest.warns(StoreWarning) as caught:
        store.append("run-1", step(1, {"a": [1, {"b": lock}], "ok": 5}, node="fetch"))
    (warning,) = caught
    store.append("run-1", step(2, {"a": [lock], "ok": 6}))  # a second warning would be an error here
    assert "a[1].b is a _thread.lock, which can't be stored" in str(warning.message)
    assert "run 'run-1' of graph 'triage', node 'fetch', visit 1" in str(warning.message)
    assert store.problem is None
    assert store.step("run-1", 1).delta["a"][1]["b"] is lock  # type: ignore[union-attr]
    later = opened().step("run-1", 1)
    assert later is not None
    assert isinstance(later.delta["a"][1]["b"], StandIn)
    assert later.delta["ok"] == 5


def test_inputs_that_can_not_be_stored_do_not_stop_a_run(opened: Open, problems: list[StoreError]) -> None:
    opened().begin(header(client=threading.Lock(), text="x"))
    assert [each.kind for each in problems] == ["value"]
    assert opened().header("run-1").inputs["text"] == "x"


def test_the_debugger_gets_this_store(tmp_path: Path) -> None:
    store: RunStore = default_store(tmp_path / "x.db", "graph state")
    assert isinstance(store, SqliteStore)
    store.begin(header())
    store.close()


def test_a_damaged_row_is_named_and_the_others_stay_readable(opened: Open, path: Path) -> None:
    import sqlite3

    store = opened()
    store.begin(header())
    for number in (1, 2, 3):
        store.append("run-1", step(number))
    store.close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE steps SET delta = '{\"count\":' WHERE node = 'n2'")
    connection.commit()
    connection.close()
    later: Any = opened()
    assert later.step("run-1", 3) == step(3)
    with pytest.raises(StoreError, match="Step 2 can't be read"):
        later.step("run-1", 2)


def test_a_part_of_a_state_that_is_missing_is_named_when_it_is_asked_for(opened: Open, path: Path) -> None:
    import sqlite3

    store = opened()
    store.begin(header())
    store.append("run-1", step(1, snapshot={"n": 1, "text": "x" * 10_000}))
    store.close()
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM blobs")
    connection.commit()
    connection.close()
    found = opened().step("run-1", 1)
    assert found is not None
    assert found.snapshot is not None
    assert found.snapshot["n"] == 1
    with pytest.raises(StoreError, match=r"Step 1 can't be read: a part of it .* is missing") as caught:
        found.snapshot["text"]
    assert str(path) in caught.value.where


# --- steps inside of sub-graphs --------------------------------------------------------------


def test_steps_inside_of_sub_graphs_are_counted_and_listed_apart(store: SqliteStore, opened: Open) -> None:
    store.begin(header())
    for number in (1, 2, 3):
        store.append("run-1", step(number, {"n": number}))
        store.append("run-1", replace(step(number, {"inside": number}), inner=True))
    for each in (store, opened()):
        assert [(one.number, one.inner, dict(one.delta)) for one in each.steps("run-1", after=1)] == [
            (2, False, {"n": 2}),
            (3, False, {"n": 3}),
        ]
        inside = list(each.steps("run-1", after=1, inner=True, newest_first=True))
        assert [(one.number, one.inner, dict(one.delta)) for one in inside] == [
            (3, True, {"inside": 3}),
            (2, True, {"inside": 2}),
        ]
        assert [one.number for one in each.steps("run-1", newest_first=True)] == [3, 2, 1]
        assert [one.steps for one in each.runs()] == [3]
