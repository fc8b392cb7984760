"""The declaration of all messages: what the kernel tells, what the browser asks, and the replies.

A snapshot travels as a widget trait, a change as a custom message; both carry `seq`, so a view can tell that it
missed something and ask for `resync`. `python -m evonb.protocol.typescript` writes the TypeScript twin of this file
and of what it is made of: `snapshot` and `events`.

`seq` here counts what one *view source* has published (across runs), unlike `Event.seq`, which counts in one run.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from evonb.protocol.events import WireEvent
from evonb.protocol.snapshot import Snapshot

# -- kernel to browser ------------------------------------------------------------------------------------------


class EventsMessage(TypedDict):
    """A batch. Apply it when `first_seq` is the snapshot's `seq` + 1; its new `seq` is `last_seq`.

    Older batches (`last_seq` not above the snapshot's `seq`) are ignored; a gap asks for `resync`.
    `last_seq - first_seq + 1` counts the source events before merging, so it may exceed `len(events)`.
    """

    type: Literal["events"]
    first_seq: int
    last_seq: int
    events: list[WireEvent]


class SnapshotMessage(TypedDict):
    """A new whole: sent when the graph itself was replaced."""

    type: Literal["snapshot"]
    snapshot: Snapshot


class ReplyError(TypedDict):
    what: str
    where: str
    fix: str


class ToolCallDetails(TypedDict):
    """What a call of a tool, found by its `id` in `NodeState.tools`, was given and gave, in a line each."""

    id: str
    arguments: str
    result: str


class NodeDetails(TypedDict):
    """Answer to `inspect_node`: what its last visit was given, wrote, streamed and called.

    Texts have at most 20,000 characters; `last_input` and `last_delta` have one for each state key. `stream` keeps what
    it streamed also after its end, but for what its model thought before it answered: that is `reasoning`.
    """

    node: str
    doc: str
    source: str
    location: str
    last_input: dict[str, str] | None
    last_delta: dict[str, str] | None
    stream: str
    reasoning: str
    calls: list[ToolCallDetails]


class OkReply(TypedDict):
    type: Literal["reply"]
    request_id: str
    ok: Literal[True]
    result: Snapshot | NodeDetails | None


class ErrorReply(TypedDict):
    type: Literal["reply"]
    request_id: str
    ok: Literal[False]
    error: ReplyError


KernelMessage = EventsMessage | SnapshotMessage | OkReply | ErrorReply


# -- browser to kernel ------------------------------------------------------------------------------------------


class ResyncCommand(TypedDict):
    type: Literal["resync"]
    request_id: str


class InspectNodeCommand(TypedDict):
    type: Literal["inspect_node"]
    request_id: str
    node: str


Command = ResyncCommand | InspectNodeCommand
