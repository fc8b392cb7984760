"""`DebuggerView`: the panel of a debugger as a widget: the picture, and all it takes to stop, look, fix and go on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, ClassVar

import traitlets

from evonb.export.drawing import Density
from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.events import Detach
from evonb.logger import get_logger
from evonb.protocol.debugging import DebugMessage
from evonb.widgets.debug_commands import DebugCommands, error_of
from evonb.widgets.debug_feed import DebugFeed, debug_feed_of
from evonb.widgets.graph_view import GraphView

__all__ = ["DebuggerView"]

_STATIC = Path(__file__).parent / "static"
_log = get_logger(__name__)


class DebuggerView(GraphView):
    """The panel of a debugger; all views of one debugger show the same session.

    The traits hold the whole as of the last pause, so a reloaded page and a reopened notebook show that; messages bring
    what came since. Buttons act while a session is live: begun by `debugger.start(inputs)`, `%evo debug`, or the panel.

    Args:
        debugger: As `GraphBuilder.build(graph_mode="debug")` gives it.
    """

    _esm = _STATIC / "debugger.js"
    _css = _STATIC / "debugger.css"

    _evo_density: ClassVar[Density] = "compact"

    debug = traitlets.Dict().tag(sync=True)
    picture = traitlets.Dict().tag(sync=True)

    def __init__(self, debugger: GraphEngineDebugger, **kwargs: Any) -> None:
        self._evo_debug: DebugFeed = debug_feed_of(debugger)
        self._evo_commands = DebugCommands(self._evo_debug)
        self._evo_tasks: set[asyncio.Task[None]] = set()
        message = self._evo_debug.message
        super().__init__(debugger, debug=message["state"], **kwargs)
        self.picture = self._evo_past(message)
        leave: Detach = self._evo_debug.subscribe(self._evo_show)
        self._evo_undo.append(leave)

    @property
    def debugger(self) -> GraphEngineDebugger:
        """The debugger that is shown; another one after the graph's cell was run again."""
        return self._evo_debug.debugger

    def _evo_show(self, message: DebugMessage) -> None:
        picture = self._evo_past(message)
        self.send({**message, "picture": picture or None})
        state = message["state"]
        # A page that is loaded while nothing moves for a question must find the question.
        asks = state["questions"] != self.debug.get("questions")
        if asks or state["status"] not in ("running", "pausing"):
            with self.hold_sync():
                self.debug, self.picture = state, picture

    def _evo_past(self, message: DebugMessage) -> Any:
        return self._evo_drawn(message["picture"]) if message["picture"] is not None else {}

    def _evo_answer(self, content: Any) -> None:
        """On the loop: one task for each command, one reply from each."""
        kind = content.get("type") if isinstance(content, dict) else None
        if not self._evo_commands.knows(kind):
            super()._evo_answer(content)
            return
        try:
            task = asyncio.get_running_loop().create_task(self._evo_carry_out(content))
        except RuntimeError:
            # No loop runs here, as in a plain script: nothing could be run, but everything can be looked at.
            asyncio.run(self._evo_carry_out(content))
            return
        self._evo_tasks.add(task)
        task.add_done_callback(self._evo_tasks.discard)

    async def _evo_carry_out(self, command: dict[str, Any]) -> None:
        request_id = str(command.get("request_id", ""))[:100]
        try:
            result = await self._evo_commands.answer(command)
            reply: dict[str, Any] = {"type": "reply", "request_id": request_id, "ok": True, "result": result}
        except Exception as error:
            reply = {"type": "reply", "request_id": request_id, "ok": False, "error": error_of(error)}
        try:
            self.send(reply)
        except Exception:
            _log.exception("A command of a panel couldn't be answered")
