"""`make demo`: what it prints and leaves behind. Here on the real local model, with replies of a few tokens."""

from __future__ import annotations

from pathlib import Path

import demo
import nbformat
import pytest


def test_the_demo_streams_real_tokens_from_the_local_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["--model", "local", "--tokens", "5", "--out", str(tmp_path)]) == 0

    printed = capsys.readouterr().out
    assert "Streamed while it ran: 5 pieces from draft" in printed
    assert "outcome    'answered'" in printed
    notebook = nbformat.read(tmp_path / "01_first_graph.ipynb", as_version=4)
    assert any("model = LocalModel(max_tokens=5)" in cell.source for cell in notebook.cells)
    assert "<svg" in (tmp_path / "01_first_graph.html").read_text(encoding="utf-8")
