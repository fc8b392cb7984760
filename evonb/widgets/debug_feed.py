"""One debugger's session as a stream of whole panel states, shared by all its views.

Knows nothing of Jupyter but whether a cell runs. A state goes out at each pause and a few times a second while
something runs; it is made on the loop of the views.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evonb.graph import asking
from evonb.graph import events as ev
from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.debugging.holding import LogLine, lines_since
from evonb.graph.debugging.points import SessionError
from evonb.logger import get_logger
from evonb.protocol.debugging import DebugMessage, DebugState
from evonb.protocol.snapshot import Snapshot
from evonb.widgets.cell_watch import CELL_HOLDS_BUTTONS, watch_cells
from evonb.widgets.debug_inside import line_shown
from evonb.widgets.debug_log import SessionLog
from evonb.widgets.debug_picture import Pictures, warned_as
from evonb.widgets.debug_schema import Keys
from evonb.widgets.debug_state import Session, make_state
from evonb.widgets.feed import Feed, feed_of
from evonb.widgets.node_output import Stream, listen_to_output
from evonb.widgets.pace import Pace

__all__ = ["DebugFeed", "debug_feed_of", "look_back", "move_debug_feed"]

PERIOD_S = 0.2
LOAD = 5
"""While something runs, states take a fifth of the time at most: a long history costs more to show."""
MAX_WATCHES = 20

_log = get_logger(__name__)


class DebugFeed:
    """What the panels of one debugger show.

    Attributes:
        debugger: The debugger.
        feed: The feed of its picture.
        log: What its nodes have printed.
        keys: Its state keys.
        reason: What a command has to say that ended after its reply, "" for nothing.
    """

    def __init__(self, debugger: GraphEngineDebugger, *, clock: Callable[[], float] = time.monotonic) -> None:
        # First, so that the picture has heard of an event before the panel does.
        self.feed: Feed = feed_of(debugger)
        self.log = SessionLog()
        self._receivers: list[Callable[[DebugMessage], None]] = []
        self._leave: list[Callable[[], object]] = []
        self._stop_listening: Callable[[], None] | None = None
        self._pace = Pace(self.flush, PERIOD_S, clock)
        self._logged: LogLine | None = None
        self._rebase = self._held = False
        self._last_step = 0
        self._clock, self._made_at, self._cost_s = clock, float("-inf"), 0.0
        self._take(debugger)
        self._cell_runs, leave_cells = watch_cells(self._changed)
        self._cells = leave_cells
        self.message = self._make()

    def _take(self, debugger: GraphEngineDebugger) -> None:
        self.debugger = debugger
        self._run_id: ev.RunId | None = None
        self.keys = Keys.of(debugger.state_schema)
        former: Session | None = getattr(self, "_session", None)
        self._session = Session(debugger, self.keys, self.log, former.watches if former else [])
        self._session.seq = former.seq if former else 0
        self._pictures = Pictures()
        listening = (debugger.watch(self._changed), debugger.attach(self._hear, live=True))
        self._leave = [*listening, self._watch_questions()]

    @property
    def state(self) -> DebugState:
        """The state that was published last."""
        return self.message["state"]

    @property
    def watches(self) -> list[str]:
        """The watch expressions; at most twenty are kept."""
        return self._session.watches

    def keys_at(self, node: str) -> Keys:
        """The state keys that a node works with, by its id in the picture."""
        return self._session.keys_at(node)

    @property
    def is_watched(self) -> bool:
        """Whether any panel is there to show the log."""
        return bool(self._receivers)

    def subscribe(self, receive: Callable[[DebugMessage], None]) -> ev.Detach:
        """Call `receive` with every state from now on. Returns the undo."""
        self._receivers.append(receive)
        return lambda: self._receivers.remove(receive) if receive in self._receivers else None

    def say(self, reason: str) -> None:
        """Show a sentence beside the status until the next command."""
        if reason[:1000] != self._session.reason:
            self._session.reason = reason[:1000]
            self._changed()

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """However much changes within, one state is made of it, at the end."""
        self._held = True
        try:
            yield
        except BaseException:
            self._held = False
            self._changed()
            raise
        self._held = False
        self.flush(force=True)

    def replace(self, debugger: GraphEngineDebugger) -> None:
        """Show another debugger from now on; its picture's feed was moved already."""
        self._detach()
        self._take(debugger)
        self.log.clear()
        self._changed()

    def look_back(self) -> None:
        """Before running on: the live picture stands where the session does, also at an earlier step."""
        if self.debugger.looking_at is not None:
            self.feed.rebase(self._picture())

    def flush(self, *, force: bool = False) -> None:
        """Publish the state if it has changed. On the loop of the views, or, while that is blocked, from elsewhere."""
        began = self._clock()
        if not force and began - self._made_at < LOAD * self._cost_s and self.debugger.status in ("running", "pausing"):
            self._pace.flushed(again=True)
            return
        try:
            message = self._make()
        except Exception:
            # A value of the user's, or the session changed while another thread looked: the next state is right again.
            _log.exception("The panel's state couldn't be made")
            self._pace.flushed(again=False)
            return
        self._made_at = self._clock()
        self._cost_s = self._made_at - began
        is_new = {**message["state"], "seq": 0} != {**self.message["state"], "seq": 0}
        self._pace.flushed(again=False)
        if not (is_new or force):
            self._session.seq = self.message["state"]["seq"]
            return
        self.message = message
        for receive in list(self._receivers):
            try:
                receive(message)
            except Exception:
                _log.exception("A panel failed to take a state and was dropped")
                self._receivers.remove(receive)

    def close(self) -> None:
        """Leave the debugger. The last state stays readable."""
        self._detach()
        self._cells()
        self._pace.stop()

    # --- making a state ------------------------------------------------------------------------------

    def _make(self) -> DebugMessage:
        session, debugger = self._session, self.debugger
        self._take_log_points()
        state = make_state(session)
        if state["status"] not in ("running", "pausing"):
            self._leave_output()
        if state["status"] in ("running", "pausing") and self._cell_runs():
            state["reason"] = state["reason"] or CELL_HOLDS_BUTTONS
            for command in ("pause", "stop", "answer"):
                state["allowed"][command] = CELL_HOLDS_BUTTONS
        self._keep_picture(state)
        picture = self._picture() if debugger.looking_at is not None else None
        return {"type": "debug", "state": state, "picture": picture}

    def _picture(self) -> Snapshot:
        debugger = self.debugger
        steps = line_shown(debugger).until_shown()
        waiting = debugger.waiting()
        is_over = not any(each.can_run for each in waiting)
        live = self.feed.snapshot()
        picture = self._pictures.of(live, debugger.topology(), steps, waiting, finished=is_over)
        return warned_as(picture, live) if live["run"]["run_id"] == debugger.run_id else picture

    def _keep_picture(self, state: DebugState) -> None:
        """The live picture follows where events alone don't tell: a step taken back, a branch, a stored run."""
        debugger = self.debugger
        if state["status"] in ("running", "pausing", "idle") or state["looking"] is not None:
            return
        run = self.feed.snapshot()["run"]
        # The run's end by a failure is final for a picture alone; here what waits beside the failed node goes on.
        has_failed = state["status"] == "failed" and run["status"] == "failed" and state["step"] != self._last_step
        is_other = run["run_id"] != debugger.run_id
        if is_other or has_failed or self._rebase or state["step"] < self._last_step:
            self._rebase = False
            picture = self._picture()
            self.feed.rebase({**picture, "run": {**picture["run"], "run_id": debugger.run_id}})
        self._last_step = state["step"]

    def _take_log_points(self) -> None:
        lines = self.debugger.log_lines()
        for line in lines_since(lines, self._logged):
            self.log.add(line.node, "log", line.text, step=line.step)
        self._logged = lines[-1] if lines else None

    # --- listening -----------------------------------------------------------------------------------

    def _changed(self) -> None:
        """The debugger is to be looked at anew; any thread."""
        if self._held:
            return
        self._pace.ask(urgent=self.debugger.status not in ("running", "pausing"))

    def _hear(self, event: ev.Event) -> None:
        """The engine's listener; any thread. A plain `run` of the debugger isn't its session's."""
        if isinstance(event, ev.Chunk):
            return
        if event.run_id != self._run_id:
            if event.run_id != self.debugger.run_id:
                return
            self._run_id = event.run_id
        match event:
            case ev.RunStarted(path=()):
                self._begin()
                self._rebase = self._has_steps()  # a stored run goes on, and its start has emptied the picture
                return  # it has no steps yet; the debugger says when there is something to see
            case ev.NodeStarted():
                self._listen(event.run_id)
            case ev.NodeFinished(path=()):
                self.log.ended(event.node, event.task_id)
            case ev.NodeFailed(path=()):
                self.log.add(event.node, "error", f"{event.error.kind}: {event.error.what}")
                self.log.ended(event.node, event.task_id)
            case ev.ForkMade():
                self._rebase = True
        # Something runs, so this can wait its turn; the debugger itself says when it stands still.
        self._pace.ask()

    def _watch_questions(self) -> Callable[[], object]:
        """Every question of the process is told to whoever listens: that mustn't keep the feed, and its run, alive."""
        here = weakref.ref(self)

        def tell(question: asking.Question, change: asking.Change) -> None:
            if (feed := here()) is not None:
                feed._asked(question, change)

        return weakref.finalize(self, asking.watch_questions(tell))

    def _asked(self, question: asking.Question, _change: asking.Change) -> None:
        """A node asks a person, or asks no longer; any thread. A form comes and goes at once, whatever states cost."""
        if question.run_id == self.debugger.run_id:
            self._made_at = float("-inf")
            self._pace.ask(urgent=True)

    def _has_steps(self) -> bool:
        try:
            return bool(self.debugger.history())
        except SessionError:  # it is only just beginning
            return False

    def _begin(self) -> None:
        self._leave_output()  # of the run before
        self.log.clear()
        self._session.came_with.clear()
        self._session.reason = ""
        self._logged, self._last_step = None, 0

    def _listen(self, run_id: ev.RunId) -> None:
        """Only while something runs does anything stand before the standard streams."""
        if self._stop_listening is None:
            self._stop_listening = listen_to_output(run_id, self._receive_output)

    def _leave_output(self) -> None:
        if self._stop_listening is not None:
            self._stop_listening()
            self._stop_listening = None

    def _receive_output(self, node: str, stream: Stream, text: str) -> bool:
        self.log.write(node, stream, text)
        self._changed()
        # Nobody to show the log to: the cell shows it, as ever.
        return self.is_watched

    def _detach(self) -> None:
        self._leave_output()
        for leave in self._leave:
            leave()
        self._leave = []


_feeds: weakref.WeakValueDictionary[int, DebugFeed] = weakref.WeakValueDictionary()
# As with the feed of the picture: the debugger keeps it alive by its listeners.


def debug_feed_of(debugger: GraphEngineDebugger) -> DebugFeed:
    """The one feed of this debugger; made on first use."""
    feed = _feeds.get(id(debugger))
    if feed is None:
        feed = DebugFeed(debugger)
        _feeds[id(debugger)] = feed
    return feed


def look_back(debugger: GraphEngineDebugger) -> None:
    """As `DebugFeed.look_back`, if the debugger has panels."""
    if (feed := _feeds.get(id(debugger))) is not None:
        feed.look_back()


def move_debug_feed(old: GraphEngineDebugger, new: GraphEngineDebugger) -> None:
    """Let the panels of `old`, if it has any, show `new` from now on."""
    feed = _feeds.pop(id(old), None)
    if feed is not None:
        _feeds[id(new)] = feed
        feed.replace(new)
