"""A journal of receipts that knows which run, and which message of the model, a call belongs to."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

from evonb.graph.toolwatch import ToolWatch, current_tool_watch
from evonb.tools import ReceiptJournal, ToolReceipt
from evonb.tools.journal import same_arguments

__all__ = ["JournalOfRuns", "journal_place"]

_place: ContextVar[str | None] = ContextVar("evonb_journal_place", default=None)
_KEPT = 256


@contextmanager
def journal_place(run_id: str | None, message_id: str | None) -> Iterator[None]:
    """Calls made inside belong to this message of this run; without both, nothing is kept or found."""
    token = _place.set(f"{run_id}/{message_id}" if run_id and message_id else None)
    try:
        yield
    finally:
        _place.reset(token)


class JournalOfRuns(ReceiptJournal):
    """Answers a call again only for the same message of the same run: a retry, or a step back and over.

    Some servers give every call the same id, so the id alone would take one call for another. The latest 256 messages
    are remembered. In a debugging session the receipts are kept with it, so they also answer after a restart.
    """

    def __init__(self) -> None:
        super().__init__()
        self._journals: OrderedDict[str, ReceiptJournal] = OrderedDict()
        self._journals_lock = threading.Lock()

    def to_saved(self) -> dict[str, Any]:
        """Nothing: receipts belong to runs, and a saved graph begins without any."""
        return {}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """An empty journal."""
        return cls()

    def __len__(self) -> int:
        with self._journals_lock:
            return sum(map(len, self._journals.values()))

    def keep(self, receipt: ToolReceipt, arguments: Any) -> None:
        """Keep a completed receipt of a call that belongs to a run."""
        place = _place.get()
        if place is None:
            return
        with self._journals_lock:
            journal = self._journals.setdefault(place, ReceiptJournal())
            self._journals.move_to_end(place)
            if len(self._journals) > _KEPT:
                self._journals.popitem(last=False)
        journal.keep(receipt, arguments)
        watch = current_tool_watch()
        if watch is not None and receipt.ok and not receipt.replayed and receipt.call_id and receipt.effect == "write":
            record = {"place": _key(place, receipt, arguments), "receipt": receipt.model_dump(mode="json")}
            watch.keep(receipt.call_id, record)

    def find(self, call_id: str | None, tool_id: str, arguments: Any) -> ToolReceipt | None:
        """The receipt of the same call on the same message of the same run; None if calls are to be made again."""
        place, watch = _place.get(), current_tool_watch()
        if place is None or (watch is not None and watch.rerun):
            return None
        with self._journals_lock:
            journal = self._journals.get(place)
        found = None if journal is None else journal.find(call_id, tool_id, arguments)
        if found is not None or watch is None or call_id is None:
            return found
        return _recorded(watch, call_id, f"{place}/{tool_id}/{same_arguments(arguments)}")


def _recorded(watch: ToolWatch, call_id: str, place: str) -> ToolReceipt | None:
    for record in watch.records(call_id):
        if record.get("place") == place:
            return ToolReceipt.model_validate(record["receipt"])
    return None


def _key(place: str, receipt: ToolReceipt, arguments: Any) -> str:
    return f"{place}/{receipt.tool_id}/{same_arguments(arguments)}"
