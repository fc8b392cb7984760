"""The pace of publishing, on a loop and a clock that the test moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evonb.widgets import pace as module
from evonb.widgets.pace import Pace
from tests.unit.widgets.fakes import FakeClock

PERIOD_S = 0.04


class FakeTimer:
    def __init__(self, due: float, callback: Callable[[], None]) -> None:
        self.due, self.callback, self.is_over = due, callback, False

    def cancel(self) -> None:
        self.is_over = True


class FakeLoop:
    """Rings timers as the clock passes them."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.timers: list[FakeTimer] = []

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> FakeTimer:
        self.timers.append(FakeTimer(self.clock.now + delay_s, callback))
        return self.timers[-1]

    def is_closed(self) -> bool:
        return False

    def pass_to(self, now: float) -> None:
        self.clock.now = now
        for timer in [each for each in self.timers if not each.is_over and each.due <= now]:
            timer.is_over = True
            timer.callback()


class Published:
    """Counts what is flushed, with its times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = FakeClock()
        self.loop = FakeLoop(self.clock)
        monkeypatch.setattr(module, "running_loop", lambda: self.loop)
        self.times: list[float] = []
        self.pace = Pace(self.flush, PERIOD_S, self.clock)

    def flush(self) -> None:
        self.times.append(self.clock.now)
        self.pace.flushed(again=False)


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Published(monkeypatch)
    yield made
    made.pace.stop()


def test_news_within_a_period_goes_out_at_its_end(published: Published) -> None:
    published.pace.ask()
    published.loop.pass_to(100.01)
    published.pace.ask()
    assert published.times == [100.0]
    published.loop.pass_to(100.051)
    assert published.times == [100.0, 100.051]


def test_news_that_never_stop_go_out_once_a_period(published: Published) -> None:
    for tick in range(2000):
        published.loop.clock.now = 100.0 + tick / 1000
        published.pace.ask()
        published.loop.pass_to(published.clock.now)
    gaps = [after - before for before, after in zip(published.times, published.times[1:], strict=False)]
    assert min(gaps) > PERIOD_S - 0.002
    assert len(published.times) <= 2 / PERIOD_S + 1


def test_what_is_urgent_goes_out_at_once(published: Published) -> None:
    published.pace.ask()
    published.loop.pass_to(100.001)
    published.pace.ask(urgent=True)
    assert published.times == [100.0, 100.001]
