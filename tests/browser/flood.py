"""A graph that floods its views: the code that makes it, and a look at the page while it does.

Used by the tests and by `python -m bench`. One round is a fan of parallel lines, a join and a router that goes back to
the start; every visit streams chunks and waits for its turn on a clock, so the rate holds whatever the machine does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from panel import Panel
from playwright.sync_api import Page

KERNEL_SIDE = '''
import asyncio, time
from typing import Annotated, TypedDict
from evonb.graph import END, GraphBuilder

class Beat:
    """Lets visits pass at a rate of events, all lines of the graph together."""

    def __init__(self, events_a_second):
        self.rate = events_a_second
        self.begin(0)

    def begin(self, seconds):
        self.due = self.began = time.perf_counter()
        self.until = self.began + seconds
        self.opened, self.held = asyncio.Event(), 0
        self.opened.set()

    def hold(self):
        """At the end all lines wait in their first nodes, so that what those streamed can be looked at."""
        self.opened.clear()

    async def take(self, events):
        now = time.perf_counter()
        # What a busy machine missed is made up for; what a pause missed isn't.
        self.due = max(self.due, now - 1.0) + events / self.rate
        await asyncio.sleep(max(0.0, self.due - now))

    async def end_of_first(self):
        if time.perf_counter() >= self.until and not self.opened.is_set():
            self.held += 1
            await self.opened.wait()

    @property
    def over(self):
        return time.perf_counter() >= self.until and self.opened.is_set()

class Flood(TypedDict, total=False):
    rounds: Annotated[int, "add"]
    last: Annotated[str, "max"]

def flood_graph(name, beat, lines=8, length=12, chunks=16, **build):
    """`lines * length + 4` nodes."""
    graph = GraphBuilder(Flood, name=name)

    def work(own):
        async def visit(state, stream_writer):
            for number in range(chunks):
                stream_writer.put(f"{own} says {number}. ")
            await beat.take(chunks + 4)
            if own.endswith("_0"):
                await beat.end_of_first()
            return {"last": own}
        return visit

    def turn(state):
        return "close" if beat.over else "begin"

    for own in ("begin", "turn", "close"):
        graph.add_node(own, work(own))
    graph.add_node("merge", work("merge"), action_mode="all")
    for line in range(lines):
        names = [f"line{line}_{step}" for step in range(length)]
        for own in names:
            graph.add_node(own, work(own))
        for source, target in zip(["begin", *names], [*names, "merge"]):
            graph.add_edge(source, target)
    graph.add_edge("merge", "turn")
    graph.add_condition_edge("turn", turn, ["begin", "close"])
    graph.add_edge("close", END)
    graph.set_entry_point("begin")
    return graph.build(max_turn=10**9, **build)
'''

_WATCH = """() => {
  const seen = window.evonbLoad = {gaps: [], tasks: []};
  let last = performance.now();
  const frame = () => {
    const now = performance.now();
    seen.gaps.push(now - last);
    last = now;
    seen.handle = requestAnimationFrame(frame);
  };
  seen.handle = requestAnimationFrame(frame);
  seen.observer = new PerformanceObserver(list => seen.tasks.push(...list.getEntries().map(one => one.duration)));
  seen.observer.observe({type: 'longtask'});
}"""
_LEAVE = """() => {
  const {gaps, tasks, handle, observer} = window.evonbLoad;
  cancelAnimationFrame(handle);
  observer.disconnect();
  return {gaps, tasks};
}"""


@dataclass(frozen=True)
class Load:
    """What a page's main thread did over some time.

    Attributes:
        seconds: How long.
        busy_ms: Processor time in tasks of any kind: messages, scripts, style, layout, paint.
        frames: Animation frames.
        gap_ms: The longest time between two of them.
        long_ms: The longest task above 50 ms; 0 for none.
    """

    seconds: float
    busy_ms: float
    frames: int
    gap_ms: float
    long_ms: float

    @property
    def fps(self) -> float:
        return self.frames / self.seconds


class Watch:
    """Measures the main thread from outside: the views hold nothing for it."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._cdp = page.context.new_cdp_session(page)
        # Processor time: what other programs take of a shared machine doesn't count.
        self._cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._busy_s = self._began = 0.0

    def begin(self) -> None:
        self._page.evaluate(_WATCH)
        self._busy_s, self._began = self._busy(), time.monotonic()

    def end(self) -> Load:
        busy_s, seconds = self._busy() - self._busy_s, time.monotonic() - self._began
        seen = self._page.evaluate(_LEAVE)
        return Load(seconds, busy_s * 1000, len(seen["gaps"]), max(seen["gaps"]), max(seen["tasks"], default=0.0))

    def _busy(self) -> float:
        metrics = self._cdp.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


_ARM = """(root, word) => {
  const chip = root.querySelector('.tools .chip');
  const before = chip.textContent;
  let pressed = null;
  const note = event => { pressed ??= event.timeStamp; };
  addEventListener('pointerdown', note, {capture: true});
  addEventListener('keydown', note, {capture: true});
  window.evonbEffect = new Promise(resolve => {
    const look = () => {
      if (pressed === null || chip.textContent === before || !chip.textContent.startsWith(word)) return;
      observer.disconnect();
      removeEventListener('pointerdown', note, {capture: true});
      removeEventListener('keydown', note, {capture: true});
      requestAnimationFrame(now => resolve(now - pressed));
    };
    const observer = new MutationObserver(look);
    observer.observe(chip, {subtree: true, childList: true, characterData: true});
  });
}"""


def effect_ms(panel: Panel, press: Callable[[], None], word: str) -> float:
    """Milliseconds from a press, as the browser dates it, to the frame whose chip says another thing, and begins so."""
    panel.root.evaluate(_ARM, word)
    press()
    return float(panel.page.evaluate("window.evonbEffect"))
