"""A comm that records, so that widgets can be tested without a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import comm
import pytest
from comm.base_comm import BaseComm

from evonb.widgets import debug_commands


class RecordingComm(BaseComm):
    opened: list[RecordingComm] = []  # noqa: RUF012 - cleared by the fixture

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.sent: list[tuple[str, Any]] = []
        super().__init__(*args, **kwargs)
        self.opened.append(self)

    def publish_msg(self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **_: Any) -> None:
        self.sent.append((msg_type, data))

    @property
    def is_open(self) -> bool:
        return self.sent[-1][0] != "comm_close"


@pytest.fixture
def comms(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[RecordingComm]]:
    """All comms that were opened in the test, in order."""
    RecordingComm.opened.clear()
    monkeypatch.setattr(comm, "create_comm", RecordingComm)
    yield RecordingComm.opened
    RecordingComm.opened.clear()


@pytest.fixture(autouse=True)
def _commands_are_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A panel's command is answered by how it ended, however busy the machine is."""
    monkeypatch.setattr(debug_commands, "SOON_S", 10.0)
