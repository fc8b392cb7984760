"""One connection to one MCP server, from its beginning to its end, owned by one task.

The SDK's connections have to be opened and closed by the same task, while calls come from anywhere. So a task of its
own holds the connection, and everybody else asks it. A connection that has ended is never used again.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from typing import IO, Any, TypeVar

from evonb.errors import EvonbError
from evonb.logger import get_logger
from evonb.tools.mcp_link import McpError, explain, is_lost, open_client
from evonb.typing import McpServerLink, StdioLink

__all__ = ["McpConnection"]

_log = get_logger(__name__)
T = TypeVar("T")
_TAIL_CHARS = 400


class _Owner(asyncio.Task[None]):
    """A task that can be cancelled once, and then closes in peace.

    The SDK takes a few seconds to end a server and to kill one that doesn't go. A second cancellation in the midst of
    that, such as the one at the end of `asyncio.run`, would leave the server alive and its reader waiting for ever.
    """

    is_closing = False

    def cancel(self, msg: Any | None = None) -> bool:
        if msg is not None:  # a scope of the SDK's own; those carry a message
            return super().cancel(msg)
        if self.is_closing:
            return False
        self.is_closing = True
        return super().cancel()


class McpConnection:
    """Begins to connect when it is made, in the running loop.

    Attributes:
        client: The SDK's connected client; None before and after.
        loop: The loop that the connection lives in.
    """

    def __init__(self, link: McpServerLink, server_name: str) -> None:
        self.client: Any = None
        self.loop = asyncio.get_running_loop()
        self._link = link
        self._name = server_name
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[None] = self.loop.create_future()
        self._ready.add_done_callback(lambda done: done.cancelled() or done.exception())  # perhaps nobody waits
        self._failure: BaseException | None = None
        self._errors: IO[str] | None = None
        self._last_words = ""
        self._owner = _Owner(self._own(), loop=self.loop, name=f"evonb mcp {server_name}")

    @property
    def is_usable(self) -> bool:
        """Whether it is connected, or still connecting, in a loop that still runs."""
        return not (self._owner.done() or self._stop.is_set() or self.loop.is_closed())

    @property
    def is_open(self) -> bool:
        """Whether it is connected now."""
        return self.client is not None and self.is_usable

    async def opened(self, limit_s: float) -> None:
        """Wait until it is connected.

        Raises:
            McpError: It can't be, or not in time; it is closed then.
        """
        try:
            await asyncio.wait_for(asyncio.shield(self._ready), limit_s)
        except TimeoutError as error:
            self._owner.cancel()
            raise self._explained(error, "connecting") from error

    async def close(self) -> None:
        """End it and wait until that is done. Only in its own loop."""
        self._stop.set()
        if not self._ready.done():
            self._owner.cancel()
        await asyncio.wait({self._owner})

    async def call(self, operation: Callable[[Any], Awaitable[T]], doing: str) -> T:
        """Run `operation` with the client. Only in its own loop.

        Raises:
            McpError: The server refused, or it went away meanwhile.
        """
        client = self.client
        if client is None:
            raise self._lost(doing)

        async def run() -> T:
            return await operation(client)

        call = asyncio.create_task(run(), name=f"evonb mcp {self._name}: {doing}")
        either: set[asyncio.Future[Any]] = {call, self._owner}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not call.done():
                raise self._lost(doing)
            return call.result()
        except EvonbError:
            raise
        except Exception as error:
            if is_lost(error):
                self._stop.set()
                raise self._lost(doing) from error
            raise self._explained(error, doing) from error
        finally:
            call.cancel()

    async def _own(self) -> None:
        # A real file: a notebook's sys.stderr has no descriptor that a child process could write to. Appending, since
        # the child shares our position in it, which reading moves.
        with tempfile.TemporaryFile("a+", encoding="utf-8", errors="replace") as errors:
            self._errors = errors
            try:
                async with open_client(self._link, errlog=errors, on_end=self._stop.set) as client:
                    self.client = client
                    self._ready.set_result(None)
                    await self._stop.wait()
                    self._owner.is_closing = True
                    self.client = None  # before closing, which may take seconds
            except asyncio.CancelledError:
                self._ready.cancel()
                raise
            except BaseException as error:
                self._note_failure(error)
            finally:
                self.client = None
                self._last_words = self._said()
                self._errors = None

    def _note_failure(self, error: BaseException) -> None:
        self._failure = error
        if self._ready.done():
            _log.info("The connection to MCP server '%s' ended with %r", self._name, error)
        else:
            told = error if isinstance(error, EvonbError) else self._explained(error, "connecting")
            self._ready.set_exception(told)

    def _lost(self, doing: str) -> McpError:
        return explain(
            self._failure or ConnectionError("the connection is closed"), self._name, self._link,
            doing=doing, said=self._said(), lost=True,
        )  # fmt: skip

    def _explained(self, error: BaseException, doing: str) -> McpError:
        return explain(error, self._name, self._link, doing=doing, said=self._said())

    def _said(self) -> str:
        if not isinstance(self._link, StdioLink) or self._errors is None:
            return self._last_words
        self._errors.seek(0)
        return " ".join(self._errors.read()[-_TAIL_CHARS:].split())
