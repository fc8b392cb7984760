"""What a store has written or still has to write, in memory: a run outlives its file.

Rows are kept encoded and blobs once each, up to a limit that clean rows make room for; what isn't in the file yet
is never dropped.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from evonb.graph.ports import RunHeader, StoredStep
from evonb.persistence.rows import Row, header_values

__all__ = ["Change", "RunCopy"]


@dataclass(slots=True)
class Change:
    """What is to be written of one run. Writing it twice is the same as once.

    Attributes:
        steps: New rows by number.
        dropped: Numbers of rows to take out; that comes before the new ones.
        documents: Texts by name; None deletes.
        blobs: Large bodies by digest.
    """

    steps: dict[int, Row] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    documents: dict[str, str | None] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)

    @property
    def size_bytes(self) -> int:
        """Roughly what it takes in memory."""
        rows = sum(row.size_bytes for row in self.steps.values())
        return rows + sum(map(len, self.blobs.values()))

    def add(self, other: Change) -> None:
        """What comes after it."""
        for number in other.dropped:
            self.steps.pop(number, None)
        self.dropped |= other.dropped
        self.steps.update(other.steps)
        self.documents.update(other.documents)
        self.blobs.update(other.blobs)


@dataclass(slots=True)
class RunCopy:
    """One run, as far as this store knows it.

    Attributes:
        header: What `begin` was given, or the file.
        saved: What is in the file.
        pending: What isn't yet; None if there is nothing.
        is_new: Whether it wasn't in the file yet.
        is_whole: Whether both together are the whole run.
        row_id: Its id in the open file, None if it has to be looked up (again).
        is_claimed: Whether this store has written it to the open file, and so owns it.
        is_ours: Whether this store has written it to this or an earlier file.
        is_taken: Whether another process goes on with it: it isn't written any more.
        is_unsure: Whether some of `pending` may be in the file already: a commit failed half-way.
        live: Steps with values that couldn't be stored, as they are.
        told: Keys of which it was said that a value couldn't be stored.
        changed_at: When something was last taken in.
        size_bytes: Roughly what `saved` takes in memory.
    """

    header: RunHeader
    saved: Change = field(default_factory=Change)
    pending: Change | None = None
    is_new: bool = True
    is_whole: bool = True
    row_id: int | None = None
    is_claimed: bool = False
    is_ours: bool = False
    is_taken: bool = False
    is_unsure: bool = False
    live: dict[int, StoredStep] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    changed_at: float = 0.0
    size_bytes: int = 0

    @property
    def where(self) -> str:
        """How errors name the run."""
        name = f" ({self.header.name})" if self.header.name else ""
        return f"run {self.header.run_id!r}{name} of graph {self.header.graph_name!r}"

    def change(self, change: Change) -> None:
        """Take in what is to be written. Bodies that the file has already aren't written again."""
        if change.blobs:
            change.blobs = {digest: body for digest, body in change.blobs.items() if digest not in self.saved.blobs}
        for number in change.dropped:
            self.live.pop(number, None)
        self.changed_at = time.time()
        if self.pending is None:
            self.pending = change
        else:
            self.pending.add(change)

    def rows(self) -> dict[int, Row]:
        """All rows that are known here, in no order."""
        if self.pending is None:
            return self.saved.steps
        kept = {number: row for number, row in self.saved.steps.items() if number not in self.pending.dropped}
        return {**kept, **self.pending.steps}

    def is_dropped(self, number: int) -> bool:
        """Whether it still has to be taken out of the file."""
        return self.pending is not None and number in self.pending.dropped and number not in self.pending.steps

    def row(self, number: int) -> Row | None:
        """A row that is known here."""
        if self.pending is not None:
            if (row := self.pending.steps.get(number)) is not None:
                return row
            if number in self.pending.dropped:
                return None
        return self.saved.steps.get(number)

    def has_document(self, name: str) -> bool:
        """Whether a document, or that there is none, is known here."""
        pending = self.pending is not None and name in self.pending.documents
        return self.is_whole or pending or name in self.saved.documents

    def document(self, name: str) -> str | None:
        """A document's text."""
        if self.pending is not None and name in self.pending.documents:
            return self.pending.documents[name]
        return self.saved.documents.get(name)

    def blob(self, digest: str) -> bytes | None:
        """A body that is known here."""
        body = self.pending.blobs.get(digest) if self.pending is not None else None
        return self.saved.blobs.get(digest) if body is None else body

    def was_saved(self) -> int:
        """All that was pending is in the file. Gives by how much `saved` has grown."""
        assert self.pending is not None
        grown = self.pending.size_bytes
        self.size_bytes += grown
        self.saved.add(self.pending)
        self.saved.dropped.clear()
        self.pending = None
        self.is_claimed, self.is_ours = True, True
        self.is_new, self.is_unsure = False, False
        return grown

    def was_lost(self) -> None:
        """The file is gone: everything is to be written again, to another one."""
        if self.pending is not None:
            self.saved.add(self.pending)
        self.pending, self.saved = self.saved, Change()
        self.pending.dropped.clear()
        if not self.is_whole:
            # Its inputs came from the file that is gone; their large bodies go along.
            self.pending.blobs.update(header_values(self.header)[1])
        self.row_id = None
        self.is_claimed = False
        self.is_new, self.is_unsure = True, True
        self.size_bytes = 0

    def forget(self) -> None:
        """Drop what is in the file, to make room in memory."""
        self.saved = Change()
        self.is_whole = False
        self.size_bytes = 0


def known_where(copies: Mapping[str, RunCopy]) -> str:
    """How errors name several runs."""
    names = [copy.where for copy in copies.values()]
    return "; ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
