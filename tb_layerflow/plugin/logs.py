"""The logs that are open, one per experiment, each brought up to date when it is asked for. Knows no HTTP and no records."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from tb_layerflow.reader import LogDir, Source

MOST_OPEN = 4
"""Experiments held at once: their names come from addresses, and TensorBoard has one where it was given a logdir."""

FRESH_SECONDS = 0.5
"""For how long a log counts as up to date: the requests of one view see the same, and TensorBoard's loaders look every 5 s."""


class Logs:
    """At most MOST_OPEN logs, least recently used first to go. Safe to use from many threads."""

    def __init__(self, fresh_seconds: float = FRESH_SECONDS) -> None:
        self._fresh_seconds = fresh_seconds
        self._open: OrderedDict[str, tuple[LogDir, float]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, experiment: str, source: Callable[[], Source]) -> LogDir:
        """The experiment's log, with what was added to it until half a second ago. `source()` makes its source the first time."""
        with self._lock:
            log, at = self._open.pop(experiment, (None, 0.0))
            now = time.monotonic()
            if log is None:
                log, at = LogDir(source=source()), now
            elif now - at > self._fresh_seconds:
                log.refresh()
                at = now
            self._open[experiment] = (log, at)
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
            return log
