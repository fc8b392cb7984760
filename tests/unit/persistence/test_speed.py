"""A step costs what is new in it, in time and on disk, however long the run is.

Processor time and the best of several turns: the machine may be busy.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from evonb.persistence import SqliteStore
from evonb.typing import AssistantMessage, UserMessage
from tests.unit.persistence.samples import header, step

Open = Callable[..., SqliteStore]


def cpu_s(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def append_all(store: SqliteStore, run_id: str, count: int) -> None:
    for number in range(1, count + 1):
        store.append(run_id, step(number), {"position": {"waiting": [number + 1]}})


def bare_s(path: Path, count: int) -> float:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("CREATE TABLE steps (node TEXT, state TEXT)")

        def work() -> None:
            for number in range(count):
                connection.execute("INSERT INTO steps VALUES (?, ?)", ("n", json.dumps({"count": number})))
                connection.commit()

        return cpu_s(work)


def test_a_step_costs_little_more_than_bare_sqlite_and_the_same_in_a_long_run(opened: Open, tmp_path: Path) -> None:
    store, ratios, growths = opened(), [], []
    for turn in range(8):
        took = {}
        # Both are long enough to bring the log into the file now and then.
        for count in (500, 4000):
            run_id = f"run-{turn}-{count}"
            store.begin(header(run_id))
            took[count] = cpu_s(lambda run_id=run_id, count=count: append_all(store, run_id, count))  # type: ignore[misc]
        ratios.append(took[4000] / bare_s(tmp_path / f"bare-{turn}.db", 4000))
        growths.append(math.log(took[4000] / took[500], 8))
        if min(growths) < 1.05 and min(ratios) < 15:
            return
    raise AssertionError(f"{min(ratios)} times bare, growth {min(growths)}")


def test_a_stopped_run_opens_as_quickly_when_it_is_long(opened: Open, path: Path) -> None:
    store = opened()
    for count in (10, 3000):
        store.begin(header(f"run-{count}"))
        append_all(store, f"run-{count}", count)
    store.close()

    def reopen(run_id: str) -> float:
        def work() -> None:
            later = SqliteStore(path)
            found = (
                later.header(run_id),
                later.document(run_id, "position"),
                next(later.steps(run_id, newest_first=True)),
            )
            assert found[2].number == found[1]["waiting"][0] - 1
            later.close()

        return min(cpu_s(work) for _ in range(5))

    reopen("run-10")
    assert reopen("run-3000") < max(0.015, 2 * reopen("run-10"))
    assert reopen("run-3000") < 0.015


def talk(count: int) -> list[Any]:
    text = "lorem ipsum dolor sit amet, " * 7
    kinds = [UserMessage, AssistantMessage]
    return [kinds[i % 2](content=f"{i}: {text}", msg_id=f"{i:032x}") for i in range(count)]


def test_two_hundred_turns_of_a_growing_list_stay_below_a_megabyte(opened: Open, path: Path) -> None:
    messages = talk(200)
    for run_id, delta in (
        ("appended", lambda turn: {"messages": messages[turn - 1 : turn]}),
        ("overwritten", lambda turn: {"messages": messages[:turn]}),
    ):
        store = opened(path.with_name(run_id))
        store.begin(header(run_id))
        for turn in range(1, 201):
            store.append(run_id, step(turn, delta(turn)))
        store.close()
        assert store.size_bytes() < 1_000_000
        last = opened(path.with_name(run_id)).step(run_id, 200)
        assert last is not None
        assert last.delta == delta(200)


def test_an_image_in_a_message_is_stored_once(opened: Open) -> None:
    image = "data:image/png;base64," + "iVBORw0KGgo" * 27_000
    messages = talk(200)
    messages[2] = UserMessage(content=[{"type": "image_url", "image_url": {"url": image}}], msg_id="3")
    store = opened()
    store.begin(header())
    for turn in range(1, 201):
        store.append(
            "run-1", step(turn, {"messages": messages[:turn]}, snapshot={"messages": messages[:turn], "turn": turn})
        )
    store.close()
    assert store.size_bytes() < len(image) + 1_000_000
    last = opened().step("run-1", 200)
    assert last is not None
    assert last.snapshot == {"messages": messages, "turn": 200}
