"""Reading event files without TensorFlow: where the LayerFlow events of a file are, and what they carry. Knows no records.

A file is a sequence of `uint64 length | uint32 masked CRC of the length | the event | uint32 masked CRC of the event`. The
length's CRC is checked always; the event's is not (TensorBoard's own CRC is a Python loop, 85 ms per MB): damage inside an event
shows when its record is decoded. LayerFlow writes one value per event, and only such events are looked for.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO

from google.protobuf.message import DecodeError
from tensorboard.compat.proto import event_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

from . import wire
from .errors import LogError
from .tags import PREFIX

_HEADER = 12
_FOOTER = 4
_PEEK = 192
_CHUNK = 16 << 10
_TAG_BYTES = 128
_WALL_TIME, _STEP, _SUMMARY = 1, 2, 5
_VALUE, _TAG = 1, 1

_crc_of_length = lru_cache(maxsize=4096)(masked_crc32c)


@dataclass(frozen=True)
class Entry:
    """One LayerFlow event of a file: `length` bytes from `position` on."""

    tag: str
    step: int
    wall_time: float
    position: int
    length: int


class EventFile:
    """One event file, read on from where the last reading stopped. Holds no open file between calls.

    `problem` is a sentence where the file cannot be read to its end, else empty. A record that is not whole yet is tried again;
    behind a damaged length nothing can be found, so reading stops there for good.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.problem = ""
        self._position = 0
        self._dead = False

    def read_on(self) -> list[Entry]:
        """The entries that were added since the last call, in the order of the file. OSErrors become the `problem`."""
        if self._dead:
            return []
        try:
            if os.path.getsize(self.path) == self._position:
                self.problem = "" if self._position else f"{self._name} is empty."
                return []
            with open(self.path, "rb") as file:
                return list(self._entries(file))
        except OSError as error:
            self.problem = f"{self._name} cannot be read: {error.strerror or error}."
            return []

    def strings(self, entries: Iterable[Entry]) -> Iterator[list[bytes]]:
        """What each of the entries carries: its tensor's strings. LogError where an event is damaged or gone."""
        try:
            with open(self.path, "rb") as file:
                for entry in entries:
                    file.seek(entry.position)
                    yield self._strings(file.read(entry.length), entry)
        except OSError as error:
            raise LogError(f"{self._name} cannot be read: {error.strerror or error}.") from error

    @property
    def _name(self) -> str:
        return f"The event file {os.path.basename(self.path)}"

    def _entries(self, file: BinaryIO) -> Iterator[Entry]:
        size = os.fstat(file.fileno()).st_size
        self.problem = ""
        if size < self._position:
            self._stop(f"{self._name} became shorter while it was read; it was cut or replaced. Open the log again.")
            return
        chunk, base = b"", 0
        while self._position < size:
            if self._position + _HEADER + _PEEK > base + len(chunk):
                base = self._position
                file.seek(base)
                chunk = file.read(_CHUNK)
            head = chunk[self._position - base : self._position - base + _HEADER + _PEEK]
            length = self._length(head)
            if length is None:
                return
            begin = self._position + _HEADER
            if len(head) < _HEADER or begin + length + _FOOTER > size:
                self.problem = (
                    f"{self._name} ends in the middle of a record, at byte {self._position:,}: it was cut, or is still being "
                    "written. Everything before that is read."
                )
                return
            entry = _peek(head[_HEADER : _HEADER + length], begin, length)
            if entry is not None:
                yield entry
            self._position = begin + length + _FOOTER

    def _length(self, head: bytes) -> int | None:
        """The length that a record's header states, 0 for a header that is cut; None, and the end of all reading, if damaged."""
        if len(head) < _HEADER:
            return 0
        length, crc = struct.unpack_from("<QI", head)
        if _crc_of_length(head[:8]) != crc:
            self._stop(f"{self._name} is damaged at byte {self._position:,}. Everything before that is read, nothing behind it.")
            return None
        return int(length)

    def _stop(self, problem: str) -> None:
        self._dead, self.problem = True, problem

    def _strings(self, raw: bytes, entry: Entry) -> list[bytes]:
        try:
            event = event_pb2.Event.FromString(raw)
            return list(event.summary.value[0].tensor.string_val)
        except (DecodeError, UnicodeDecodeError, ValueError, IndexError) as error:
            raise LogError(f"{self._name} is damaged: the event of step {entry.step} at byte {entry.position:,}.") from error


def _peek(head: bytes, position: int, length: int) -> Entry | None:
    """The entry that an event's first bytes announce, or None where the event is not LayerFlow's."""
    if PREFIX.encode() not in head:
        return None
    wall_time, step, tag = 0.0, 0, None
    try:
        for number, kind, begin, end in wire.fields(head, 0, length):
            if number == _WALL_TIME and kind == 1:
                (wall_time,) = struct.unpack_from("<d", head, begin)
            elif number == _STEP and kind == 0:
                step = wire.varint(head, begin)[0]
            elif number == _SUMMARY and kind == 2:
                tag = _first_tag(head, begin, end)
    except (wire.NotEnough, struct.error):
        pass
    if tag is None:
        return None
    signed = (step & (1 << 64) - 1) - (1 << 64 if step >> 63 & 1 else 0)
    return Entry(tag, signed, wall_time, position, length)


def _first_tag(head: bytes, begin: int, end: int) -> str | None:
    for number, kind, value_begin, value_end in wire.fields(head, begin, end):
        if number != _VALUE or kind != 2:
            return None
        for inner, inner_kind, tag_begin, tag_end in wire.fields(head, value_begin, value_end):
            if inner == _TAG and inner_kind == 2 and tag_end - tag_begin <= _TAG_BYTES and tag_end <= len(head):
                tag = head[tag_begin:tag_end].decode("utf-8", "replace")
                return tag if tag.startswith(PREFIX) else None
        return None
    return None
