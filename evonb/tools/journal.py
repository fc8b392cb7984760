"""Receipts kept so that a node that runs again doesn't act again. Which runs may share one is the caller's decision."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from typing import Any, Self

from pydantic import TypeAdapter

from evonb.tools.receipts import ToolReceipt
from evonb.tools.text import jsonable

__all__ = ["ReceiptJournal", "same_arguments"]

_RECEIPTS: TypeAdapter[dict[str, ToolReceipt]] = TypeAdapter(dict[str, ToolReceipt])


class ReceiptJournal:
    """The completed calls of one run, found again by the model's call id, the tool and the arguments.

    A call without a `call_id` is never kept: two equal calls of a loop would be taken for one. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._receipts: dict[str, ToolReceipt] = {}

    def to_saved(self) -> dict[str, Any]:
        """Nothing: receipts belong to a run, and a saved graph begins without any. `dumps` keeps them."""
        return {}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """An empty journal."""
        return cls()

    def __len__(self) -> int:
        return len(self._receipts)

    def keep(self, receipt: ToolReceipt, arguments: Any) -> None:
        """Keep a completed receipt that has a call id; anything else is ignored."""
        if receipt.call_id is None or not receipt.ok or receipt.replayed:
            return
        with self._lock:
            self._receipts[_key(receipt.call_id, receipt.tool_id, arguments)] = receipt

    def find(self, call_id: str | None, tool_id: str, arguments: Any) -> ToolReceipt | None:
        """The receipt of the same call, if it completed before."""
        if call_id is None:
            return None
        with self._lock:
            return self._receipts.get(_key(call_id, tool_id, arguments))

    def dumps(self) -> str:
        """Everything kept, as a JSON text."""
        with self._lock:
            return _RECEIPTS.dump_json(self._receipts).decode()

    @classmethod
    def loads(cls, text: str) -> ReceiptJournal:
        """A journal out of what `dumps` wrote; outputs come back as JSON's types."""
        journal = cls()
        journal._receipts = _RECEIPTS.validate_json(text)
        return journal


def same_arguments(arguments: Any) -> str:
    """A short text that is equal for equal arguments, whatever the order of their names."""
    canonical = json.dumps(jsonable(arguments), sort_keys=True, ensure_ascii=False, default=repr)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _key(call_id: str, tool_id: str, arguments: Any) -> str:
    return f"{tool_id}/{call_id}/{same_arguments(arguments)}"
