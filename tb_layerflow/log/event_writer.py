"""One event file per folder and process, shared by all that write there. Knows events, tags and files, but no records.

Two live files in one folder lose data under TensorBoard's Python loader, so a folder that already holds another writer's event
file is not written to: its sub-folder `layerflow` is.
"""

from __future__ import annotations

import errno
import itertools
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
from tensorboard.summary.writer.record_writer import RecordWriter

from . import tags

SUFFIX = ".layerflow"
SUBFOLDER = "layerflow"


class Records(Protocol):
    """What frames and stores records: TensorBoard's RecordWriter, or TensorFlow's TFRecordWriter."""

    def write(self, record: bytes) -> object:
        """Append one record."""

    def flush(self) -> object:
        """Make what was written visible to readers."""

    def close(self) -> object:
        """Flush and close."""


class Events(Protocol):
    """What events are written to: a file of our own (`EventWriter`), or somebody else's writer."""

    pid: int

    def write(self, tag: tags.Tag, step: int, payload: Sequence[bytes]) -> None:
        """Append one event: a blob sequence, or a tensor of one string, as the tag's kind demands."""

    def flush(self) -> None:
        """Make what was written visible to readers."""


OpenRecords = Callable[[str], Records]


def open_records(path: str) -> Records:
    """TensorBoard's own record writer; without a buffer, so that a fork never writes the same bytes twice."""
    writer: Records = RecordWriter(open(path, "ab", buffering=0))  # noqa: SIM115 (`close` closes it)
    return writer


def choose_folder(log_dir: str) -> tuple[str, str]:
    """Where to write for this log_dir, and the sentence that says so where it is not log_dir itself."""
    folder = os.path.abspath(log_dir)
    if not os.path.isdir(folder) or _key(folder) in _open_files:
        return folder, ""
    foreign = sorted(name for name in os.listdir(folder) if "tfevents" in name and not name.endswith(SUFFIX))
    if not foreign:
        return folder, ""
    moved = os.path.join(folder, SUBFOLDER)
    return moved, (
        f"LayerFlow writes to {moved}, because {folder} already holds the event file of another writer ({foreign[0]}), and "
        "TensorBoard may follow only one live file per folder."
    )


class EventWriter:
    """The event file of one folder and process. Get it by `attach`, give it back by `detach`. Safe to use from many threads."""

    def __init__(self, folder: str, records: OpenRecords) -> None:
        """Make the folder and the file. OSError where that fails."""
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
        self.pid = os.getpid()
        self.path = os.path.join(folder, _file_name())
        self.streams: set[str] = set()
        self._lock = threading.Lock()
        self._failed: OSError | None = None
        self._records = records(self.path)
        first = event_pb2.Event(wall_time=time.time(), file_version="brain.Event:2")
        self._guarded(lambda: self._records.write(first.SerializeToString()))
        self.flush()

    def write(self, tag: tags.Tag, step: int, payload: Sequence[bytes]) -> None:
        """Append one event: a blob sequence, or a tensor of one string, as the tag's kind demands. OSError where that fails."""
        blobs = tag.kind in tags.BLOB_KINDS
        shape = tensor_shape_pb2.TensorShapeProto()
        if blobs:
            shape.dim.add(size=len(payload))
        tensor = tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, tensor_shape=shape, string_val=payload)
        self.write_summaries([summary_pb2.Summary.Value(tag=str(tag), metadata=tags.metadata(tag.kind), tensor=tensor)], step)

    def write_summaries(self, values: Sequence[summary_pb2.Summary.Value], step: int) -> None:
        """Append one event with these summaries. OSError where that fails."""
        event = event_pb2.Event(wall_time=time.time(), step=step, summary=summary_pb2.Summary(value=values))
        serialised = event.SerializeToString()
        self._guarded(lambda: self._records.write(serialised))

    def flush(self) -> None:
        """Make what was written visible to readers."""
        self._guarded(self._flush)

    def _flush(self) -> None:
        self._records.flush()
        if not os.path.exists(self.path):
            raise FileNotFoundError(errno.ENOENT, "it was removed while it was being written", self.path)

    def close(self) -> None:
        """Flush and close. Only `detach` calls this."""
        with self._lock:
            self._records.close()

    def _guarded(self, action: Callable[[], object]) -> None:
        """Run one action on the file at a time; none after one has failed, because the file may end in half a record."""
        with self._lock:
            if self._failed is not None:
                raise OSError(self._failed.errno, f"an earlier write failed ({self._failed.strerror})", self.path)
            try:
                action()
            except OSError as error:
                self._failed = error
                raise


def attach(folder: str, stream: str, records: OpenRecords | None = None) -> EventWriter:
    """The event writer of this folder, held for one stream until `detach`. ValueError where the stream is attached already."""
    with _lock:
        writer = _open_files.get(_key(folder))
        if writer is None or not os.path.exists(writer.path):
            writer = EventWriter(folder, records or open_records)
            _open_files[_key(folder)] = writer
        if stream in writer.streams:
            raise ValueError(
                f"Another recorder is writing stream {stream!r} to {folder}. Close it first, or give this one another "
                f'log_dir or stream name. Received: stream="{stream}".'
            )
        writer.streams.add(stream)
        return writer


def detach(writer: EventWriter, stream: str) -> None:
    """Give the writer back; the last one to do so closes the file."""
    with _lock:
        writer.streams.discard(stream)
        if not writer.streams:
            if _open_files.get(_key(writer.folder)) is writer:
                del _open_files[_key(writer.folder)]
            writer.close()


_lock = threading.Lock()
_open_files: dict[str, EventWriter] = {}
_inherited: list[EventWriter] = []
_counter = itertools.count()


def _key(folder: str) -> str:
    return os.path.realpath(folder)


def _file_name() -> str:
    """Rises with time in the order of names, in which TensorBoard's Python loader reads the files of a folder."""
    host = socket.gethostname().replace("/", "_") or "localhost"
    return f"events.out.tfevents.{int(time.time()):010d}.{host}.{os.getpid()}.{next(_counter):06d}{SUFFIX}"


def _after_fork() -> None:
    """A forked process makes files of its own. Its parent's stay referenced, so that nothing flushes or closes them here."""
    global _lock
    _lock = threading.Lock()
    _inherited.extend(_open_files.values())
    _open_files.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
