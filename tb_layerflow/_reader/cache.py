"""A cache that forgets what was used longest ago once it holds too many bytes. Knows nothing of what it keeps."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


class BoundedCache(Generic[Kept]):
    """At most `most_bytes` in all; what is larger by itself is not kept. Safe to use from many threads."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[Hashable, tuple[Kept, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Kept | None:
        """What is kept under the key, or None."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: Hashable, kept: Kept, size: int) -> Kept:
        """Keep it, counted as `size` bytes, and hand it back."""
        with self._lock:
            self._bytes -= self._kept.pop(key, (None, 0))[1]
            if size <= self._most:
                self._kept[key] = (kept, size)
                self._bytes += size
            while self._bytes > self._most:
                self._bytes -= self._kept.popitem(last=False)[1][1]
        return kept
