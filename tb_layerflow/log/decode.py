"""Bytes as records: the mirror of `encode`. Never trusts what it reads: whatever is wrong with the bytes is one LogError, and
nothing inflates or allocates beyond the bounds below. Knows no files."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from . import counts, decode_table, wire
from . import layerflow_pb2 as pb
from . import stamp as stamps
from .decode_graph import ledger_entry, to_graph
from .decode_ops import Ops
from .errors import LogError
from .histogram import BINS
from .records import Graph, HistogramTable, LayerLoss, Manifest, Record, Table, Value
from .stamp import Stamp

MAX_RECORD_BYTES = 64 << 20
MAX_GRAPH_BYTES = 256 << 20
MAX_INFLATED_BYTES = 64 << 20
MAX_TABLES = 256
MAX_DENSE_ROWS = 100_000

_TABLES = pb.Statistics.DESCRIPTOR.fields_by_name["tables"].number
_Message = TypeVar("_Message")


@dataclass(frozen=True)
class SparseHistograms:
    """One kind's histograms as stored: row r has the bins `bins[begins[r]:begins[r + 1]]`, counted in `counts` alike."""

    calls: NDArray[np.uint32]
    ports: NDArray[np.uint32]
    begins: NDArray[np.int64]
    bins: NDArray[np.int64]
    counts: NDArray[np.uint64]
    part: NDArray[np.uint64]
    total: NDArray[np.uint64]

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return sum(array.nbytes for array in vars(self).values())

    def row(self, index: int) -> NDArray[np.uint64]:
        """All bins of one row: uint64 [BINS]."""
        dense = np.zeros(BINS, np.uint64)
        span = slice(self.begins[index], self.begins[index + 1])
        dense[self.bins[span]] = self.counts[span]
        return dense

    def dense(self) -> HistogramTable:
        """All bins of all rows. LogError beyond MAX_DENSE_ROWS rows (4 kB each)."""
        rows = len(self.calls)
        if rows > MAX_DENSE_ROWS:
            raise LogError(f"A histogram record has {rows:,} rows; at most {MAX_DENSE_ROWS:,} are read at once.")
        dense = np.zeros((rows, BINS), np.uint64)
        dense[np.repeat(np.arange(rows), np.diff(self.begins)), self.bins] = self.counts
        return HistogramTable(self.calls, self.ports, dense, self.part, self.total)


def structure_blobs(first: bytes) -> int:
    """How many of a graph's blobs, from the first on, hold its structure. At least 1."""
    message = _parse(pb.Graph, first, "graph", MAX_RECORD_BYTES)
    stamps.from_proto(message.stamp)
    return max(1, int(message.structure_blobs))


def graph_stamp(first: bytes) -> Stamp:
    """The stamp of a graph, from its first blob."""
    return stamps.from_proto(_parse(pb.Graph, first, "graph", MAX_RECORD_BYTES).stamp)


def graph(blobs: Iterable[bytes]) -> tuple[Stamp, Graph]:
    """The graph that the blobs make together: all of them, or only the structure's (then without ops, stacks and source)."""
    message = _parse(pb.Graph, b"".join(blobs), "graph", MAX_GRAPH_BYTES)
    return stamps.from_proto(message.stamp), to_graph(message)


def ops(blobs: Iterable[bytes], calls: int) -> Ops:
    """The operations of the graph of so many calls that all the blobs make together, each made only when it is asked for."""
    message = _parse(pb.Graph, b"".join(blobs), "graph", MAX_GRAPH_BYTES)
    stamps.from_proto(message.stamp)
    return Ops(message, calls)


def statistics(raw: bytes, wanted: Callable[[str], bool] | None = None) -> tuple[Stamp, Record]:
    """The record without its histograms; with only the tables whose kind is wanted (`nothing`: none, and quickly)."""
    rest, tables = _split_tables(raw)
    message = _parse(pb.Statistics, rest, "statistics", MAX_RECORD_BYTES)
    stamp = stamps.from_proto(message.stamp)
    record = Record(
        step=message.step,
        trace=stamp.trace,
        tables=_tables(tables, wanted),
        iterations=message.iterations,
        epoch=message.epoch,
        phase=message.phase,
        batch_size=message.batch_size,
        losses={loss.name: loss.value for loss in message.losses},
        loss_scale=message.loss_scale,
        skipped=message.skipped,
        layer_losses=[LayerLoss(**_named(LayerLoss, loss)) for loss in message.layer_losses],
        ledger=[ledger_entry(entry) for entry in message.ledger],
        timings={timing.call: (timing.forward, timing.backward) for timing in message.timings},
        seconds=message.seconds,
        step_seconds=message.step_seconds,
    )
    return stamp, record


def sparse_histograms(raw: bytes) -> tuple[Stamp, int, dict[str, SparseHistograms]]:
    """Stamp, step, and the histograms of each kind as they are stored."""
    message = _parse(pb.Histograms, raw, "histograms", MAX_RECORD_BYTES)
    stamp = stamps.from_proto(message.stamp)
    inflated = _inflate(message.deflated)
    if wire.count_fields(inflated, MAX_TABLES + 1) > MAX_TABLES:
        raise LogError(f"A histogram record has more than {MAX_TABLES} tables: it is damaged.")
    tables = _parse(pb.HistogramTables, inflated, "histograms", MAX_INFLATED_BYTES).tables
    return stamp, message.step, _by_kind((table.kind, _sparse(table)) for table in tables)


def histograms(raw: bytes) -> tuple[Stamp, int, dict[str, HistogramTable]]:
    """Stamp, step, and the histograms of each kind with all their bins."""
    stamp, step, tables = sparse_histograms(raw)
    return stamp, step, {kind: table.dense() for kind, table in tables.items()}


def manifest(raw: bytes) -> tuple[Stamp, Manifest]:
    """What a record's value file holds. The names in it are text from a log: check them before they touch a file system."""
    message = _parse(pb.Values, raw, "values", MAX_RECORD_BYTES)
    stamp = stamps.from_proto(message.stamp)
    values = [Value(**{**_named(Value, value), "shape": counts.dimensions(value.shape)}) for value in message.values]
    if any(size < 0 for value in values for size in value.shape):
        raise LogError("A values record holds a negative size: it is damaged.")
    cut = [ledger_entry(entry) for entry in message.cut]
    return stamp, Manifest(message.step, stamp.trace, message.file, values, cut, message.samples, message.bytes)


def nothing(kind: str) -> bool:
    """For `statistics`: no tables are wanted."""
    return False


def _split_tables(raw: bytes) -> tuple[bytes, list[bytes]]:
    """A Statistics message without its tables, and their bytes, none parsed yet."""
    if len(raw) > MAX_RECORD_BYTES:
        raise LogError(f"A statistics record has {len(raw):,} bytes; at most {MAX_RECORD_BYTES:,} are read.")
    tables, rest, kept = [], [], 0
    try:
        for place, (begin, number, kind, content, end) in enumerate(wire.spans(raw)):
            if place >= counts.MOST_FIELDS:
                raise LogError(f"A statistics record has more than {counts.MOST_FIELDS:,} fields: it is damaged.")
            if number == _TABLES and kind == 2:
                rest.append(raw[kept:begin])
                tables.append(raw[content:end])
                kept = end
            if len(tables) > MAX_TABLES:
                raise LogError(f"A statistics record has more than {MAX_TABLES} tables: it is damaged.")
    except wire.NotEnough as error:
        raise LogError(f"A statistics record is damaged: its {len(raw):,} bytes are no Statistics message.") from error
    return b"".join([*rest, raw[kept:]]), tables


def _tables(raw: list[bytes], wanted: Callable[[str], bool] | None) -> dict[str, Table]:
    if wanted is nothing:
        return {}
    kinds = [decode_table.kind_of(table) for table in raw]
    chosen = [(kind, table) for kind, table in zip(kinds, raw, strict=True) if wanted is None or wanted(kind)]
    return _by_kind((kind, decode_table.table(table)) for kind, table in chosen)


def _parse(message: type[_Message], raw: bytes, what: str, bound: int) -> Any:
    if len(raw) > bound:
        raise LogError(f"A {what} record has {len(raw):,} bytes; at most {bound:,} are read.")
    most = counts.MOST_GRAPH_FIELDS if what == "graph" else counts.MOST_FIELDS
    if len(raw) > 2 * most and wire.count_fields(raw, most + 1) > most:  # a field has two bytes or more
        raise LogError(f"A {what} record has more than {most:,} fields: it is damaged.")
    try:
        parsed = message.FromString(raw)  # type: ignore[attr-defined]
    except (DecodeError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise LogError(f"A {what} record is damaged: its {len(raw):,} bytes are no {message.__name__} message.") from error
    counts.check(parsed, what)
    return parsed


def _named(kind: type[Any], message: Any) -> dict[str, Any]:
    return {field.name: getattr(message, field.name) for field in fields(kind)}


def _by_kind(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for kind, table in pairs:
        if kind in tables:
            raise LogError(f"A record has two tables of the kind {kind[:80]!r}: it is damaged.")
        tables[kind] = table
    return tables


def _array(numbers: Sequence[int], dtype: type[Any], rows: int | None, name: str) -> NDArray[Any]:
    if rows is not None and len(numbers) != rows:
        raise LogError(f"A table has {rows:,} rows, but {len(numbers):,} numbers in {name}: it is damaged.")
    return np.fromiter(numbers, dtype, len(numbers))


def _sparse(table: pb.HistogramTable) -> SparseHistograms:
    rows = len(table.call)
    per_row = _array(table.bins, np.int64, rows, "bins")
    if len(per_row) and per_row.max() > BINS:
        raise LogError(f"A histogram has {int(per_row.max()):,} bins; there are {BINS}: it is damaged.")
    begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(per_row)])
    steps = _array(table.bin, np.int64, int(begins[-1]), "bin")
    counts = _array(table.counts, np.uint64, int(begins[-1]), "counts")
    running = np.cumsum(steps)
    before = np.concatenate([np.zeros(1, np.int64), running])[begins[:-1]]
    bins = running - np.repeat(before, per_row)
    if len(bins) and (bins.max() >= BINS or (np.delete(steps, begins[:-1][per_row > 0]) < 1).any()):
        raise LogError("A histogram's bins do not rise, or lie outside the bins that there are: it is damaged.")
    return SparseHistograms(
        calls=_array(table.call, np.uint32, None, "call"),
        ports=_array(table.port, np.uint32, rows, "port"),
        begins=begins,
        bins=bins,
        counts=counts,
        part=_array(table.part, np.uint64, rows, "part"),
        total=_array(table.total, np.uint64, rows, "total"),
    )


def _inflate(deflated: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        inflated = inflater.decompress(deflated, MAX_INFLATED_BYTES)
    except zlib.error as error:
        raise LogError(f"A histogram record is damaged: {error}.") from error
    if not inflater.eof:
        if len(inflated) >= MAX_INFLATED_BYTES:
            raise LogError(f"A histogram record inflates to more than {MAX_INFLATED_BYTES:,} bytes; it is not read.")
        raise LogError("A histogram record is damaged: its compressed bytes are cut off.")
    return inflated
