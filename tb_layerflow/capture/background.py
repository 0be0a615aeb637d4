"""The thread that turns what left a step into records on disk, so that training waits for neither numpy nor the disk."""

from __future__ import annotations

import atexit
import queue
import threading
import time
import weakref
from collections.abc import Callable

from .warn import BACKGROUND_THREAD

QUEUE_LENGTH = 8
"""Records under way. When so many wait, training waits: nothing recorded is dropped."""
FLUSH_SECONDS = 1.0
IDLE_SECONDS = 5.0
"""After so long without a job the thread ends, and with it what it held alive: the log, the layers, the model."""


class Background:
    """Runs jobs one after another in a daemon thread that starts with the first job.

    A job that raises is given to `failed`; later jobs still run, so that what can be written is. `flush` is called after jobs, at
    most once a second, and when the queue runs empty.
    """

    def __init__(self, flush: Callable[[], None], failed: Callable[[BaseException], None]) -> None:
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue(QUEUE_LENGTH)
        self._flush = flush
        self._failed = failed
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._drains_at_exit = False
        self._flushed = 0.0

    def submit(self, job: Callable[[], None], *, is_large: bool = False) -> None:
        """Run `job` after all submitted before it. A large one waits for those here: each holds much memory."""
        if is_large:
            self._wait()
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name=BACKGROUND_THREAD, daemon=True)
                self._thread.start()
            self._jobs.put(job)
        if not self._drains_at_exit:
            self._drains_at_exit = True
            atexit.register(_drain, weakref.ref(self))

    def drain(self) -> None:
        """Wait until all submitted jobs have run and what they wrote is flushed."""
        self._wait()
        self._do(self._flush)

    def close(self) -> None:
        """Drain, and end the thread."""
        self.drain()
        with self._starting:
            thread, self._thread = self._thread, None
            if thread is None or not thread.is_alive() or threading.current_thread() is thread:
                return
            self._jobs.put(None)
        thread.join()

    def _wait(self) -> None:
        if self._thread is not None and self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._jobs.join()

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._starting:
                    if self._jobs.empty():
                        if self._thread is threading.current_thread():
                            self._thread = None
                        return
                continue
            try:
                if job is None:
                    return
                self._do(job)
                if self._jobs.empty() or time.monotonic() - self._flushed > FLUSH_SECONDS:
                    self._do(self._flush)
                    self._flushed = time.monotonic()
            finally:
                job = None  # what it holds would else wait with this thread for the next one
                self._jobs.task_done()

    def _do(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:
            self._failed(error)


def _drain(reference: weakref.ref[Background]) -> None:
    background = reference()
    if background is not None:
        background.drain()
