"""Encoding and decoding are mirrors: whatever records hold comes back as it was."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tb_layerflow.log import decode, encode
from tb_layerflow.log.histogram import BINS
from tb_layerflow.log.records import (
    COUNT_COLUMNS,
    FLOAT_COLUMNS,
    Call,
    Execution,
    Frame,
    Graph,
    HistogramTable,
    Layer,
    LayerLoss,
    LedgerEntry,
    Manifest,
    Op,
    Port,
    Record,
    Stack,
    Table,
    Value,
    Weight,
)
from tb_layerflow.log.stamp import Stamp
from tests import make

TEXT = st.text(max_size=8) | st.sampled_from(["", "a/b#1%2F", "<script>", "\x00", "../..", "模型", "🙂"])
U32, U64, I64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1)
I32 = st.integers(-(2**31), 2**31 - 1)
SHAPE = st.lists(st.integers(-1, 2**40), max_size=4).map(tuple)
LEDGER = st.builds(LedgerEntry, TEXT, TEXT, I32, TEXT, TEXT, I64)
STAMP = st.builds(Stamp, TEXT, U32, I64, U64, U32, TEXT, st.just(1))
FLOATS = st.floats()


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    layers = draw(
        st.lists(
            st.builds(Layer, TEXT, TEXT, TEXT, st.lists(st.builds(Weight, TEXT, SHAPE, TEXT, st.booleans()), max_size=2),
                      st.booleans(), st.booleans(), TEXT, TEXT, TEXT, TEXT),
            max_size=3,
        )
    )  # fmt: skip
    outputs = draw(st.lists(st.integers(0, 2), max_size=4))
    places = [(call, port) for call, count in enumerate(outputs) for port in range(count)]
    source = st.none() | st.sampled_from(places) if places else st.none()
    port = st.builds(Port, TEXT, st.none() | SHAPE, TEXT, TEXT, source, TEXT, TEXT, TEXT, st.booleans())
    kinds = st.sampled_from(["layer", "operation", "input", "tap", "function"])
    calls = []
    for number, count in enumerate(outputs):
        layer = st.none() | st.integers(0, len(layers) - 1) if layers else st.none()
        parent = st.none() | st.integers(0, number - 1) if number else st.none()
        ports = st.lists(port, min_size=count, max_size=count)
        calls.append(draw(st.builds(Call, TEXT, TEXT, TEXT, kinds, layer, parent, st.lists(port, max_size=2), ports, TEXT, U32,
                                    st.booleans(), st.booleans(), st.floats(allow_nan=False), I64, st.booleans())))  # fmt: skip
    frames = st.lists(st.builds(Frame, TEXT, U32, TEXT, TEXT), max_size=3).map(tuple)
    stacks = draw(st.lists(frames.flatmap(lambda own: st.builds(Stack, st.just(own), st.integers(-1, len(own) - 1))), max_size=3))
    count = draw(st.integers(0, 4))

    def index(size: int) -> st.SearchStrategy[int | None]:
        return st.none() | st.integers(0, size - 1) if size else st.none()

    inputs = st.lists(st.integers(0, count - 1), max_size=2) if count else st.just([])
    op = st.builds(Op, TEXT, TEXT, index(len(calls)), TEXT, st.booleans(), index(count), TEXT, index(len(stacks)), TEXT, inputs,
                   TEXT)  # fmt: skip
    names = st.lists(TEXT, max_size=3)
    execution = st.builds(Execution, TEXT, st.booleans(), st.booleans(), U32, TEXT, U32, names, trace_seconds=st.floats(0, 9))
    return Graph(draw(TEXT), calls, layers, draw(st.lists(LEDGER, max_size=2)), draw(execution), draw(names), draw(names),
                 draw(TEXT), draw(st.lists(op, min_size=count, max_size=count)), stacks,
                 draw(st.dictionaries(st.tuples(TEXT, U32), TEXT, max_size=3)))  # fmt: skip


@given(graphs(), STAMP, st.integers(1, 400))
@settings(max_examples=40)
def test_a_graph_comes_back_whatever_the_size_of_its_blobs(graph: Graph, stamp: Stamp, blob_bytes: int) -> None:
    blobs = encode.graph(graph, stamp, blob_bytes)
    assert decode.graph(blobs) == (stamp, graph)


@given(graphs(), STAMP)
@settings(max_examples=15)
def test_the_first_blobs_hold_the_whole_structure(graph: Graph, stamp: Stamp) -> None:
    blobs = encode.graph(graph, stamp, 64)
    _, structure = decode.graph(blobs[: decode.structure_blobs(blobs[0])])
    assert (structure.calls, structure.layers, structure.ledger) == (graph.calls, graph.layers, graph.ledger)
    assert not structure.ops
    assert not structure.stacks
    assert decode.graph_stamp(blobs[0]) == stamp


def test_blobs_stay_below_4_megabytes() -> None:
    graph = make.siamese()
    graph.ops = [Op(f"model/block_{number}/" + "x" * 90, "Conv2D", variable="v" * 50) for number in range(60_000)]
    blobs = encode.graph(graph, Stamp("train", 1))
    assert len(blobs) > 2
    assert max(map(len, blobs)) <= 4 << 20
    assert decode.graph(blobs)[1] == graph


@st.composite
def tables(draw: st.DrawFn) -> Table:
    rows = draw(st.integers(0, 5))

    def column(dtype: Any) -> np.ndarray:
        return draw(arrays.arrays(dtype, rows))

    columns = {**{name: column(np.float32) for name in FLOAT_COLUMNS}, **{name: column(np.uint64) for name in COUNT_COLUMNS}}
    return Table(column(np.uint32), column(np.uint32), {**columns, "finite": column(bool)}, column(np.uint64), column(np.uint64))


LAYER_LOSS = st.builds(LayerLoss, U32, U32, TEXT, FLOATS, FLOATS, TEXT, TEXT, U64, FLOATS, U32)
RECORD = st.builds(
    Record, I64, U32, st.dictionaries(TEXT, tables(), max_size=2), st.just({}), I64, FLOATS, TEXT, I64,
    st.dictionaries(TEXT, FLOATS, max_size=3), FLOATS, st.booleans(), st.lists(LAYER_LOSS, max_size=2),
    st.lists(LEDGER, max_size=2), st.dictionaries(U32, st.tuples(FLOATS, FLOATS), max_size=2), FLOATS, FLOATS,
)  # fmt: skip


@given(RECORD, STAMP)
@settings(max_examples=40)
def test_a_record_comes_back_to_the_last_bit(record: Record, stamp: Stamp) -> None:
    stamp = Stamp(stamp.stream, stamp.session, stamp.session_start, stamp.index, record.trace, stamp.version)
    back_stamp, back = decode.statistics(encode.statistics(record, stamp))
    assert back_stamp == stamp
    assert same(back, record)


@given(RECORD, STAMP)
@settings(max_examples=20)
def test_only_the_wanted_tables_are_decoded(record: Record, stamp: Stamp) -> None:
    raw = encode.statistics(record, stamp)
    wanted = set(list(record.tables)[:1])
    assert set(decode.statistics(raw, wanted.__contains__)[1].tables) == wanted
    assert decode.statistics(raw, decode.nothing)[1].tables == {}


@given(st.dictionaries(TEXT, st.integers(0, 3), max_size=3), st.data(), STAMP)
@settings(max_examples=30)
def test_histograms_come_back_bin_by_bin(rows_of: dict[str, int], data: st.DataObject, stamp: Stamp) -> None:
    tables = {}
    for kind, rows in rows_of.items():
        counts = np.zeros((rows, BINS), np.uint64)
        for row in range(rows):
            for bin_, count in data.draw(st.dictionaries(st.integers(0, BINS - 1), U64, max_size=5)).items():
                counts[row, bin_] = count
        numbers = arrays.arrays(np.uint64, rows)
        calls = arrays.arrays(np.uint32, rows)
        tables[kind] = HistogramTable(*(data.draw(one) for one in (calls, calls)), counts, data.draw(numbers), data.draw(numbers))
    back_stamp, step, back = decode.histograms(encode.histograms(Record(-7, 0, histograms=tables), stamp))
    assert (back_stamp, step) == (stamp, -7)
    assert same(back, tables)


SIZES = st.lists(st.integers(0, 2**40), max_size=3).map(tuple)
VALUES = st.lists(st.builds(Value, TEXT, U32, U32, TEXT, SIZES, TEXT, U64), max_size=3)


@given(VALUES, st.lists(LEDGER, max_size=2), U32, U64, I64, TEXT)
def test_a_manifest_comes_back(
    values: list[Value], cut: list[LedgerEntry], samples: int, size: int, step: int, file: str
) -> None:
    manifest = Manifest(step, 4, file, values, cut, samples, size)
    assert decode.manifest(encode.manifest(manifest, Stamp("a", 1, trace=4)))[1] == manifest


def test_lone_surrogates_are_written_as_question_marks() -> None:
    graph = Graph("a\ud800b", [Call("x", "x\udfff", "T")], [])
    _, back = decode.graph(encode.graph(graph, Stamp("train", 1)))
    assert (back.model, back.calls[0].name) == ("a?b", "x?")


def test_a_column_of_the_wrong_length_is_refused() -> None:
    table = make.table([(0, 0), (1, 0)], [np.ones(3), np.ones(3)])
    table.columns["mean"] = table.columns["mean"][:1]
    with pytest.raises(ValueError, match=r"mean must have shape \(2,\), one number per row. Received shape: \(1,\)"):
        encode.statistics(Record(0, 0, {"output": table}), Stamp("train", 1))


def test_a_record_needs_fewer_than_400_bytes_per_call() -> None:
    graph = make.siamese()
    record, stamp = make.record(graph, 3), Stamp("train", 1)
    size = len(encode.statistics(record, stamp)) + len(encode.histograms(record, stamp))
    assert size / len(graph.calls) < 400


def same(left: Any, right: Any) -> bool:
    """Equal, NaN to NaN and bit by bit in arrays."""
    if isinstance(right, np.ndarray):
        return left.dtype == right.dtype and left.shape == right.shape and bits(left) == bits(right)
    if isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in right)
    if isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    if hasattr(right, "__dataclass_fields__"):
        return same(vars(left), vars(right))
    return bool(left == right)


def bits(array: np.ndarray) -> bytes:
    """The bytes, every NaN the same."""
    return (np.where(np.isnan(array), np.float32(np.nan), array) if array.dtype.kind == "f" else array).tobytes()
