"""A Table message's bytes as arrays, read off the wire without a Python integer per number. Knows no files; `decode` calls it.

Nearly all bytes of a log are tables, and from one record to the next most of their columns are the same bytes (calls, ports,
counts), so that decoding each distinct column once is most of the work saved.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from . import layerflow_pb2 as pb
from . import wire
from .errors import LogError
from .records import COLUMNS, COUNT_COLUMNS, FLOAT_COLUMNS, Table

_FIELDS = pb.Table.DESCRIPTOR.fields_by_name
_NUMBER = {name: field.number for name, field in _FIELDS.items()}
_KIND = _NUMBER["kind"]


def kind_of(raw: bytes) -> str:
    """The table's kind, which comes first in what `encode` writes. LogError where the bytes are no Table message."""
    try:
        for number, wire_type, begin, end in wire.fields(raw, 0, len(raw)):
            if end > len(raw):
                raise wire.NotEnough
            if number == _KIND and wire_type == 2:
                return raw[begin:end].decode("utf-8")
    except (UnicodeDecodeError, wire.NotEnough) as error:
        raise LogError(_no_table(raw)) from error
    return ""


def table(raw: bytes) -> Table:
    """The bytes as a table; its arrays cannot be written to. LogError where it has not one number per row and column."""
    try:
        columns = _columns(raw)
        if columns is None:  # legal, though nobody writes it so: a column in pieces
            columns = _columns(pb.Table.FromString(raw).SerializeToString()) or {}
    except (DecodeError, wire.NotEnough) as error:
        raise LogError(_no_table(raw)) from error

    def numbers(name: str, rows: int | None, most: int = 2**64 - 1) -> NDArray[np.uint64]:
        found = _numbers(columns.get(_NUMBER[name], b""))
        if rows is not None and len(found) != rows:
            raise LogError(f"A table has {rows:,} rows, but {len(found):,} numbers in {name}: it is damaged.")
        if most < 2**64 - 1 and len(found) and found.max() > most:
            raise LogError(f"A table has the number {int(found.max()):,} in {name}: it is damaged.")
        return found

    calls = numbers("call", None, 2**32 - 1).astype(np.uint32)
    rows = len(calls)
    arrays: dict[str, NDArray[Any]] = {name: numbers(name, rows) for name in COUNT_COLUMNS}
    for name in (*FLOAT_COLUMNS, "finite"):
        raw, dtype = columns.get(_NUMBER[name], b""), np.dtype("u1" if name == "finite" else "<f4")
        if len(raw) != rows * dtype.itemsize:
            raise LogError(f"A table has {rows:,} rows, but {len(raw):,} bytes in {name}: it is damaged.")
        column = np.frombuffer(raw, dtype)
        arrays[name] = column != 0 if name == "finite" else column
    return Table(
        calls=calls,
        ports=numbers("port", rows, 2**32 - 1).astype(np.uint32),
        columns={name: arrays[name] for name in COLUMNS},
        part=numbers("part", rows),
        stride=numbers("stride", rows),
    )


def _no_table(raw: bytes) -> str:
    return f"A table is damaged: its {len(raw):,} bytes are no Table message."


def _columns(raw: bytes) -> dict[int, bytes] | None:
    """The bytes of each field, all of which are length-delimited; None where one comes in pieces or is not packed."""
    columns: dict[int, bytes] = {}
    for number, kind, begin, end in wire.fields(raw, 0, len(raw)):
        if end > len(raw):
            raise wire.NotEnough
        if number in columns or (kind != 2 and number in _NUMBER.values()):
            return None
        columns[number] = raw[begin:end]
    return columns


@lru_cache(maxsize=256)
def _numbers(raw: bytes) -> NDArray[np.uint64]:
    """Packed varints as uint64. LogError where they do not end, or are longer than 10 bytes."""
    flat = np.frombuffer(raw, np.uint8)
    ends = (flat < 0x80).nonzero()[0]
    if len(flat) and (not len(ends) or ends[-1] != len(flat) - 1):
        raise LogError("A table's column ends in the middle of a number: it is damaged.")
    if len(ends) == len(flat):
        found = flat.astype(np.uint64)
    else:
        begins = np.zeros(len(ends), np.int64)
        begins[1:] = ends[:-1] + 1
        lengths = ends - begins + 1
        if lengths.max() > 10:
            raise LogError("A table's column holds a number of more than 64 bits: it is damaged.")
        shifts = (7 * (np.arange(len(flat)) - begins.repeat(lengths))).astype(np.uint64)
        found = np.bitwise_or.reduceat((flat & 0x7F).astype(np.uint64) << shifts, begins)
    found.flags.writeable = False
    return found
