"""Golden streams, the Python side: each file ends where Python's `reduce` ends. js/tests has the other side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from evonb.protocol.events import WireEvent
from evonb.protocol.reduce import apply_batch

FILES = sorted((Path(__file__).parent / "streams").glob("*.json"))


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stream_ends_in_the_recorded_snapshot(path: Path) -> None:
    stream = load(path)
    snapshot = stream["start"]
    for message in stream["messages"]:
        snapshot = apply_batch(snapshot, message["first_seq"], message["last_seq"], message["events"])
        assert snapshot is not None
    assert snapshot == stream["end"]


def test_the_streams_hold_every_sort_of_event() -> None:
    seen = {event["type"] for path in FILES for message in load(path)["messages"] for event in message["events"]}
    assert seen == {get_args(get_type_hints(event)["type"])[0] for event in get_args(WireEvent)}
