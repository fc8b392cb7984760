"""A file says how large it is and is kept small; older files are brought up to date, whole or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from evonb.persistence import SqliteStore, StoreError, schema
from tests.unit.persistence.samples import header, step

Open = Callable[..., SqliteStore]


def fill(store: SqliteStore, runs: int, size: int = 20_000) -> None:
    for place in range(runs):
        store.begin(header(f"run-{place}", started_at=float(place)))
        for number in range(1, 4):
            store.append(f"run-{place}", step(number, {"text": f"{place} {number} " + "x" * size}))


def ids(store: SqliteStore) -> list[str]:
    return sorted(each.run_id for each in store.runs())


def test_the_runs_that_were_changed_last_are_kept(store: SqliteStore, opened: Open) -> None:
    fill(store, 5)
    store.append("run-0", step(9))
    before = store.size_bytes()
    assert store.prune(keep_runs=2) == ["run-1", "run-2", "run-3"]
    assert ids(store) == ids(opened()) == ["run-0", "run-4"]
    assert store.size_bytes() < before / 2
    assert [each.number for each in store.steps("run-4")] == [1, 2, 3]
    assert store.step("run-4", 2).delta["text"].startswith("4 2 xx")  # type: ignore[union-attr]


def test_runs_go_until_the_rest_is_small_enough(store: SqliteStore) -> None:
    fill(store, 6)
    sizes = {each.run_id: each.size_bytes for each in store.runs()}
    assert store.prune(max_bytes=sizes["run-5"] + sizes["run-4"]) == ["run-0", "run-1", "run-2", "run-3"]


def test_runs_go_by_age(store: SqliteStore, path: Path) -> None:
    fill(store, 3, size=10)
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE runs SET changed_at = changed_at - 3600 WHERE run_id != 'run-1'")
        other.commit()
    assert store.prune(older_than=timedelta(hours=2)) == []
    assert store.prune(older_than=timedelta(minutes=30), spare=["run-2"]) == ["run-0"]
    assert ids(store) == ["run-1", "run-2"]


def test_what_another_store_is_writing_and_other_databases_stay(store: SqliteStore, opened: Open) -> None:
    other, elsewhere = opened(), opened(name="elsewhere")
    fill(store, 2, size=10)
    other.begin(header("run-of-other"))
    elsewhere.begin(header("run-elsewhere"))
    assert store.prune(keep_runs=0) == ["run-0", "run-1"]
    assert ids(store) == ["run-of-other"]
    assert ids(elsewhere) == ["run-elsewhere"]
    other.append("run-of-other", step(1))
    assert other.problem is None


def test_a_pruned_run_can_be_begun_again(store: SqliteStore) -> None:
    fill(store, 1)
    store.prune(keep_runs=0)
    fill(store, 1)
    assert [each.steps for each in store.runs()] == [3]


def test_pruning_works_in_memory(opened: Open) -> None:
    store = opened(":memory:")
    fill(store, 3)
    before = store.size_bytes()
    assert store.prune(keep_runs=1) == ["run-0", "run-1"]
    assert 0 < store.size_bytes() < before
    assert ids(store) == ["run-2"]


def test_a_clean_up_drops_what_steps_taken_back_have_left_and_nothing_else(store: SqliteStore, opened: Open) -> None:
    store.begin(header(shared="input " * 1000))
    kept = {"text": "kept " * 1000, "rows": [{"role": "user", "text": f"row {i} " * 20} for i in range(200)]}
    store.append("run-1", step(1, kept))
    for number in range(2, 30):
        store.append("run-1", step(number, {"text": f"{number} taken back " * 2000}))
    store.append("run-1", step(30, {"text": "2 taken back " * 2000, **kept}))
    store.drop_steps("run-1", list(range(2, 30)))
    before = store.size_bytes()
    assert store.vacuum() == store.size_bytes() < before / 3
    for reader in (store, opened()):
        assert reader.step("run-1", 1) == step(1, kept)
        assert reader.step("run-1", 30) == step(30, {"text": "2 taken back " * 2000, **kept})
        assert reader.header("run-1") == header(shared="input " * 1000)
    store.append("run-1", step(31, kept))
    assert opened().step("run-1", 31) == step(31, kept)


def test_pruning_a_locked_file_is_an_error_and_deletes_nothing(store: SqliteStore, opened: Open, path: Path) -> None:
    fill(store, 2)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as caught:
            store.prune(keep_runs=0)
    assert caught.value.kind == "locked"
    assert ids(opened()) == ["run-0", "run-1"]


# --- migrations ----------------------------------------------------------------------------


def with_another_migration(monkeypatch: pytest.MonkeyPatch, *statements: str) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, statements))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)


def test_an_older_file_becomes_a_newer_one_with_its_runs(
    opened: Open, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(opened(), 1)
    with_another_migration(monkeypatch, "ALTER TABLE runs ADD COLUMN colour TEXT DEFAULT 'red'")
    assert [each.number for each in opened().steps("run-0")] == [1, 2, 3]
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT colour FROM runs").fetchall() == [("red",)]
        assert other.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)


def test_a_file_from_before_steps_inside_of_sub_graphs_takes_them(opened: Open, path: Path) -> None:
    older = opened()
    fill(older, 1)
    older.close()
    with closing(sqlite3.connect(path)) as other:
        other.execute("ALTER TABLE runs DROP COLUMN inner_steps")
        other.execute("PRAGMA user_version = 1")
    store = opened()
    assert [each.number for each in store.steps("run-0")] == [1, 2, 3]
    store.append("run-0", replace(step(1), inner=True))
    assert [(each.number, each.inner) for each in opened().steps("run-0", inner=True)] == [(1, True)]
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT steps, inner_steps FROM runs").fetchall() == [(3, 1)]
        assert other.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)


def test_a_migration_that_fails_half_way_leaves_the_older_file(
    opened: Open, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(opened(), 1)
    with monkeypatch.context() as patch:
        with_another_migration(patch, "ALTER TABLE runs ADD COLUMN colour TEXT", "ALTER TABLE nothing ADD COLUMN x")
        with pytest.raises(StoreError):
            opened().runs()
    with closing(sqlite3.connect(path)) as other:
        assert "colour" not in [row[1] for row in other.execute("PRAGMA table_info(runs)")]
        assert other.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
    assert [each.number for each in opened().steps("run-0")] == [1, 2, 3]
