"""The watchdog calls back for broken promises only."""

from __future__ import annotations

import threading

from evonb.widgets.watchdog import Watchdog


def test_a_broken_promise_calls_back_from_another_thread() -> None:
    dog, called = Watchdog(), threading.Event()
    threads: list[int] = []
    dog.promise(1, 0.01, lambda: (threads.append(threading.get_ident()), called.set()))
    assert called.wait(10)
    assert threads != [threading.get_ident()]


def test_a_kept_promise_does_not() -> None:
    dog, second = Watchdog(), threading.Event()
    calls: list[int] = []
    dog.promise(1, 0.05, lambda: calls.append(1))
    dog.keep(1)
    dog.promise(2, 0.1, second.set)
    assert second.wait(10)
    assert calls == []


def test_a_standing_promise_is_not_put_off() -> None:
    dog, first = Watchdog(), threading.Event()
    dog.promise(1, 0.01, first.set)
    dog.promise(1, 1000, lambda: None)
    assert first.wait(10)


def test_keys_may_be_promised_again() -> None:
    dog = Watchdog()
    for _ in range(3):
        called = threading.Event()
        dog.promise(1, 0.01, called.set)
        assert called.wait(10)
