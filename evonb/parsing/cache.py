"""A small cache of results that hands out copies."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock

from evonb.parsing.schema import ParseResult

_MAX_ENTRIES = 128


class ResultCache:
    """The latest results by key. Safe to use from several threads; nobody can change what others get."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, ParseResult] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> ParseResult | None:
        """A copy of what was kept under `key`, or None."""
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
        return copy.deepcopy(found)

    def put(self, key: Hashable, result: ParseResult) -> None:
        """Keep a copy; the entry that wasn't asked for longest makes room. What can't be copied isn't kept."""
        try:
            kept = copy.deepcopy(result)
        except Exception:  # an instance of the caller's own class may refuse
            return
        with self._lock:
            self._entries[key] = kept
            self._entries.move_to_end(key)
            while len(self._entries) > _MAX_ENTRIES:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
