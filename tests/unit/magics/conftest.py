"""A real IPython shell with the extension loaded, as a kernel would have it; comms and outputs are recorded."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import comm
import pytest
from comm.base_comm import BaseComm
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from traitlets.config import Config


class SilentComm(BaseComm):
    def publish_msg(self, *args: Any, **kwargs: Any) -> None:
        pass


class RecordingPublisher(DisplayPublisher):
    def __init__(self) -> None:
        super().__init__()
        self.bundles: list[dict[str, Any]] = []

    def publish(self, data: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        self.bundles.append({**data, "_update": kwargs.get("update", False), "_transient": kwargs.get("transient")})


class Notebook:
    """Runs cells and tells what they showed."""

    def __init__(self, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
        self.shell, self._capsys = shell, capsys
        self.published = RecordingPublisher()
        shell.display_pub = self.published
        self.printed = ""

    def __getitem__(self, name: str) -> Any:
        return self.shell.user_ns[name]

    def run(self, cell: str, cell_id: str | None = None) -> ExecutionResult:
        """Run one cell; what it prints replaces what was printed before."""
        self._capsys.readouterr()
        result = self.shell.run_cell(cell, store_history=True, cell_id=cell_id)
        self.printed = self._capsys.readouterr().out
        return result

    def ok(self, cell: str, cell_id: str | None = None) -> Any:
        """Run a cell that must succeed; its value."""
        result = self.run(cell, cell_id)
        assert result.success, self.printed
        return result.result

    def fails(self, cell: str) -> BaseException:
        """Run a cell that must fail; its error."""
        result = self.run(cell)
        error = result.error_before_exec or result.error_in_exec
        assert error is not None
        return error

    def cards(self) -> list[str]:
        return [bundle["text/html"] for bundle in self.published.bundles if "evo-card" in bundle.get("text/html", "")]

    def views(self) -> list[dict[str, Any]]:
        return [bundle for bundle in self.published.bundles if "application/vnd.jupyter.widget-view+json" in bundle]

    def stills(self, *, update: bool = False) -> list[dict[str, Any]]:
        return [b for b in self.published.bundles if "image/svg+xml" in b and b["_update"] is update]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    monkeypatch.setattr(comm, "create_comm", SilentComm)
    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config)
    shell.kernel = SimpleNamespace()
    shell.colors = "nocolor"
    book = Notebook(shell, capsys)
    shell.extension_manager.load_extension("evonb")
    yield book
    shell.extension_manager.unload_extension("evonb")
    InteractiveShell.clear_instance()
