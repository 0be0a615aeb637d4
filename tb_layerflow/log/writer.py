"""Writing one stream: graphs, records and manifests as events of one session. Knows no TensorFlow and no models."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from importlib import metadata

from tensorboard.compat.proto import summary_pb2

from . import encode, event_writer, tags
from .event_writer import Events, OpenRecords
from .records import Graph, Manifest, Record
from .stamp import Stamp

__all__ = ["OpenRecords", "StreamWriter"]


class StreamWriter:
    """One session of one stream. Safe to use from many threads.

    `folder` is where it really writes, and `notes` says why where that is not `log_dir`; `session` is its 32-bit number;
    `last_step` the step of the newest record, None before the first. After a fork the child goes on as a session of its own, in a
    file of its own, with the graphs written again.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        stream: str,
        *,
        open_records: OpenRecords | None = None,
        events: Events | None = None,
    ) -> None:
        """Make the folder and the event file, or join the one that this process has open there.

        Args:
          log_dir: The run's folder.
          stream: Its name, `[a-z0-9_]{1,32}`.
          open_records: Makes a path into an object with write(bytes), flush() and close(); default: TensorBoard's record writer.
          events: Somebody else's writer of events, to write through in place of a file of our own; log_dir says where that is.

        Raises:
          ValueError: The stream's name is none, or it is being written there already.
          OSError: The folder or the file cannot be made.
        """
        self.stream = tags.check_stream(stream)
        self.notes: list[str] = []
        self._open_records = open_records
        self._events = events
        self._lock = threading.RLock()
        self._closed = False
        self._graphs: list[Graph] = []
        self.last_step: int | None = None
        self._last_manifest: int | None = None
        self.folder, note = (os.fspath(log_dir), "") if events is not None else event_writer.choose_folder(os.fspath(log_dir))
        if note:
            self.notes.append(note)
        self._begin_session()

    def write_graph(self, graph: Graph) -> int:
        """Write a trace's graph, and return its number in this session, from 0, which its records carry as `trace`."""
        with self._lock:
            self._ready()
            trace = len(self._graphs)
            self._emit_graph(graph, trace)
            self._graphs.append(graph)
            return trace

    def write_record(self, record: Record) -> None:
        """Write a record's statistics and histograms. ValueError: its step is not after the last one, or its trace is unknown."""
        with self._lock:
            self._ready()
            if self.last_step is not None and record.step <= self.last_step:
                raise ValueError(
                    f"step must rise from record to record of a stream: after {self.last_step} at least {self.last_step + 1}. "
                    f"Received: {record.step}."
                )
            if not 0 <= record.trace < len(self._graphs):
                raise ValueError(f"trace must be a number that write_graph returned. Received: {record.trace}.")
            stamp = self._stamp(self._records, record.trace)
            statistics = encode.statistics(record, stamp)
            if record.histograms:
                self._file.write(self._tag("histograms"), record.step, [encode.histograms(record, stamp)])
            self._file.write(self._tag("statistics", self._records), record.step, [statistics])
            self._records += 1
            self.last_step = record.step

    def write_manifest(self, manifest: Manifest) -> None:
        """Write what a record's value file holds. ValueError where its step is not after the last manifest's."""
        with self._lock:
            self._ready()
            if self._last_manifest is not None and manifest.step <= self._last_manifest:
                raise ValueError(f"A manifest's step must be after {self._last_manifest}. Received: {manifest.step}.")
            raw = encode.manifest(manifest, self._stamp(self._manifests, manifest.trace))
            self._file.write(self._tag("values", self._manifests), manifest.step, [raw])
            self._manifests += 1
            self._last_manifest = manifest.step

    def write_summaries(self, values: Sequence[summary_pb2.Summary.Value], step: int) -> None:
        """Write summaries for TensorBoard's own tabs into the same event file, at any step; never into a user's own writer."""
        with self._lock:
            self._ready()
            if isinstance(self._file, event_writer.EventWriter):
                self._file.write_summaries(values, step)

    def value_path(self, step: int) -> str:
        """Where the value file of a step belongs: `<folder>/plugins/layerflow/<stream>-<session>-<step>.npz`."""
        name = f"{self.stream}-{tags.session_text(self.session)}-{step}.npz"
        return os.path.join(self.folder, "plugins", "layerflow", name)

    def flush(self) -> None:
        """Make what was written visible to readers."""
        with self._lock:
            if not self._closed and self._file.pid == os.getpid():
                self._file.flush()

    def close(self) -> None:
        """Flush, and let go of the file; the last writer of the folder closes it. Closing twice is allowed."""
        with self._lock:
            if not self._closed:
                self._closed = True
                if self._events is not None:
                    self._events.flush()
                elif isinstance(self._file, event_writer.EventWriter) and self._file.pid == os.getpid():
                    event_writer.detach(self._file, self.stream)

    def _begin_session(self) -> None:
        self._file: Events = self._events or event_writer.attach(self.folder, self.stream, self._open_records)
        self.session = int.from_bytes(os.urandom(4), "little") or 1
        self.last_step = None
        self._start = time.time_ns() // 1000
        self._records = 0
        self._manifests = 0
        self._last_manifest = None

    def _ready(self) -> None:
        """Raise when closed; after a fork, begin again as the child's own session."""
        if self._closed:
            raise ValueError(f"The writer of stream {self.stream!r} is closed: make a new one.")
        if self._file.pid != os.getpid():
            self._begin_session()
            for trace, graph in enumerate(self._graphs):
                self._emit_graph(graph, trace)

    def _emit_graph(self, graph: Graph, trace: int) -> None:
        self._file.write(self._tag("graph"), trace, encode.graph(graph, self._stamp(trace, trace)))

    def _tag(self, kind: str, index: int | None = None) -> tags.Tag:
        block = None if index is None else index // tags.RECORDS_PER_BLOCK
        return tags.Tag(self.stream, self.session, kind, block)

    def _stamp(self, index: int, trace: int) -> Stamp:
        return Stamp(self.stream, self.session, self._start, index, trace, _version())


def _version() -> str:
    try:
        return metadata.version("tb-layerflow")
    except metadata.PackageNotFoundError:
        return ""
