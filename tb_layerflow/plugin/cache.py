"""A bounded memory of answers, least recently used first to go. Knows nothing of what it holds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class BoundedCache(Generic[Entry]):
    """At most `limit` bytes, as told by whoever puts an entry in. Safe to use from many threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._entries: OrderedDict[Hashable, tuple[Entry, int]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def held(self) -> int:
        """Bytes held now."""
        return self._held

    def get(self, key: Hashable) -> Entry | None:
        """The entry, or None."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: Hashable, entry: Entry, size: int) -> None:
        """Hold the entry of `size` bytes in place of an older one; an entry beyond the limit by itself is not held."""
        with self._lock:
            _, older = self._entries.pop(key, (None, 0))
            self._held -= older
            if size > self._limit:
                return
            self._entries[key] = (entry, size)
            self._held += size
            while self._held > self._limit:
                _, (_, freed) = self._entries.popitem(last=False)
                self._held -= freed
