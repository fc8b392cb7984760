"""What a picture says beside the run that it shows: how to begin one, and that others go on unseen."""

from __future__ import annotations

from evonb.graph import events as ev
from evonb.protocol.snapshot import RunState

__all__ = ["RunMessage"]


class RunMessage:
    """Knows the variable of a graph and its runs that aren't shown; writes the message of a run that has none itself.

    Attributes:
        unsaid: Whether the message may be another one than what was written last.
    """

    def __init__(self) -> None:
        self.unsaid = False
        self._hint = ""
        self._unseen: set[ev.RunId] = set()

    def called(self, name: str, verb: str) -> None:
        """The graph stands in this variable, "" for none; "run" or "debug" begins it."""
        self._hint = f"{verb.capitalize()} it with await {name}.{verb}({{…}})" if name else "Not run yet"
        self.unsaid = True

    def leave(self, run_id: ev.RunId) -> None:
        """The picture turns away from a run that goes on."""
        self._unseen.add(run_id)
        self.unsaid = True

    def note(self, event: ev.Event) -> None:
        """An event of a run that isn't shown."""
        if event.path:
            return
        if isinstance(event, ev.RunStarted):
            self.leave(event.run_id)
        elif isinstance(event, ev.RunFinished | ev.RunFailed) and event.run_id in self._unseen:
            self._unseen.discard(event.run_id)
            self.unsaid = True

    def turned(self) -> None:
        """The shown run began or ended, or the graph is another one: its message starts empty."""
        self.unsaid = self.unsaid or bool(self._hint or self._unseen)

    def written(self, run: RunState) -> RunState:
        """The run with its message; the same object if it stands already. A run that failed or was cut off has one."""
        message = self._message(run)
        return run if message is None or message == run["message"] else {**run, "message": message}

    def _message(self, run: RunState) -> str | None:
        count = len(self._unseen)
        if run["status"] == "idle":
            earlier = "an earlier run goes on" if count == 1 else f"{count} earlier runs go on" if count else ""
            return " · ".join(filter(None, (self._hint, earlier)))
        if run["status"] == "running" or run["reason"] == "completed":
            return f"+{count} more run{'s' if count > 1 else ''}" if count else ""
        return None
