"""One record with all its tables, and which tensor each of their rows stands for. Knows the reader; knows no HTTP."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tb_layerflow._reader.statistics import Place, rows_of
from tb_layerflow.log import decode
from tb_layerflow.log.records import COLUMNS, WEIGHT_KINDS, Record
from tb_layerflow.plugin.answers import NotFound
from tb_layerflow.reader import Graph, Source, Stream

Rows = dict[tuple[int, int], Place]


def record_at(source: Source, stream: Stream, step: int) -> Record:
    """The record in force at a step, with all its tables. NotFound where there is none; LogError where it is damaged."""
    columns = stream.records
    places = np.flatnonzero(columns.step == step)
    if not len(places):
        raise NotFound(f"Stream {stream.name!r} of run {stream.run!r} has no record at step {step}.")
    session = int(columns.session[places[0]])
    heads = [head for one in stream.sessions if one.number == session for head in one.heads if head.record.step == step]
    for stored in source.tensors(heads[0].run, heads[0].tag) if heads else ():
        if stored.step == step:
            return decode.statistics(stored.payload)[1]
    raise NotFound(f"TensorBoard no longer keeps the record of stream {stream.name!r} at step {step}.")


def rows_by_kind(graph: Graph, record: Record) -> dict[str, Rows]:
    """For each kind that the record holds, the row of each tensor.

    Kinds are `output`, `input` (only those that are no other call's output), `error` (the record's own), then the errors of each
    backward pass, then weights.
    """
    passes = sorted(kind for kind in record.tables if kind.startswith("error#"))
    found = {}
    for kind in ("output", "input", "error", *passes, *WEIGHT_KINDS):
        rows = rows_of(graph, kind, record.tables)
        if kind == "input":
            rows = {port: place for port, place in rows.items() if place[0] == "input"}
        if rows:
            found[kind] = rows
    return found


def columns_of(record: Record, rows: Rows) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """float32 [rows, columns], and float64 [rows, 2]: the elements of the part, and the stride."""
    columns = np.empty((len(rows), len(COLUMNS)), np.float32)
    part = np.empty((len(rows), 2), np.float64)
    for index, (kind, row) in enumerate(rows.values()):
        table = record.tables[kind]
        columns[index] = [table.columns[name][row] for name in COLUMNS]
        part[index] = table.part[row], table.stride[row]
    return columns, part
