"""Reading never trusts a log: whatever bytes it is given, it answers with records or with one LogError, within bounds."""

from __future__ import annotations

import random
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from tb_layerflow.log import counts, decode, encode
from tb_layerflow.log import layerflow_pb2 as pb
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.records import Manifest, Value
from tb_layerflow.log.stamp import Stamp
from tests import make

STAMP = Stamp("train", 1)
GRAPH = make.siamese()
VALUE = Value("output", 1, 0, "m", (2, 3), "float32", 24)
GOOD: dict[str, tuple[bytes, Callable[[bytes], object]]] = {
    "graph": (b"".join(encode.graph(GRAPH, STAMP)), lambda raw: decode.graph([raw])),
    "structure": (encode.graph(GRAPH, STAMP)[0], decode.structure_blobs),
    "statistics": (encode.statistics(make.record(GRAPH, 3), STAMP), decode.statistics),
    "histograms": (encode.histograms(make.record(GRAPH, 3), STAMP), decode.histograms),
    "manifest": (encode.manifest(Manifest(3, 0, "a.npz", [VALUE]), STAMP), decode.manifest),
}


@pytest.mark.parametrize("what", GOOD)
def test_bytes_that_were_changed_are_read_or_refused(what: str) -> None:
    raw, read = GOOD[what]
    draw = random.Random(7)
    refused = 0
    for _ in range(600):
        damaged = bytearray(raw)
        for _ in range(draw.choice((1, 1, 4))):
            damaged[draw.randrange(len(raw))] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
        refused += is_refused(read, bytes(damaged))
    assert refused > 20


@pytest.mark.parametrize("what", ["graph", "statistics", "histograms", "manifest"])
def test_bytes_that_were_cut_are_read_or_refused(what: str) -> None:
    raw, read = GOOD[what]
    sizes = range(0, len(raw), max(1, len(raw) // 200))
    assert sum(is_refused(read, raw[:size]) for size in sizes) > 20


def is_refused(read: Callable[[bytes], object], raw: bytes) -> bool:
    try:
        read(raw)
    except LogError:
        return True
    return False


def test_a_deflate_bomb_is_not_inflated() -> None:
    deflater = zlib.compressobj(9)
    bomb = b"".join(deflater.compress(bytes(1 << 20)) for _ in range(1024)) + deflater.flush()
    raw = pb.Histograms(stamp=pb.Stamp(schema=1), deflated=bomb).SerializeToString()
    assert len(raw) < 2 << 20
    tracemalloc.start()
    with pytest.raises(LogError, match="inflates to more than 67,108,864 bytes; it is not read"):
        decode.histograms(raw)
    assert tracemalloc.get_traced_memory()[1] < 256 << 20
    tracemalloc.stop()


def test_very_many_tables_are_refused_before_they_are_made() -> None:
    empty = pb.HistogramTables(tables=[pb.HistogramTable()]).SerializeToString() * 1_000_000
    raw = pb.Histograms(stamp=pb.Stamp(schema=1), deflated=zlib.compress(empty)).SerializeToString()
    with pytest.raises(LogError, match="more than 256 tables"):
        decode.sparse_histograms(raw)
    with pytest.raises(LogError, match="more than 256 tables"):
        decode.statistics(pb.Statistics(tables=[pb.Table()]).SerializeToString() * 1000)


@pytest.mark.parametrize(
    ("read", "head", "field", "number", "sentence"),
    [
        (decode.graph, pb.Graph(), b"\x2a\x00", 100_001, "graph record has 100,001 calls; at most 100,000 are read"),
        (decode.graph, pb.Graph(), b"\x22\x00", 100_001, "graph record has 100,001 layers; at most"),
        (decode.graph, pb.Graph(), b"\x32\x00", 300_001, "graph record has 300,001 ledger; at most"),
        (decode.statistics, pb.Statistics(), b"\x5a\x00", 300_001, "statistics record has 300,001 layer losses; at most"),
        (decode.statistics, pb.Statistics(), b"\x6a\x00", 300_001, "statistics record has 300,001 timings; at most"),
        (decode.statistics, pb.Statistics(), b"\x5a\x00", 400_001, "statistics record has more than 400,000 fields"),
        (decode.manifest, pb.Values(), b"\x22\x00", 300_001, "values record has 300,001 values; at most"),
        (decode.manifest, pb.Values(), b"\x22\x00", 400_001, "values record has more than 400,000 fields"),
    ],
)
def test_more_things_than_anybody_records_are_counted_before_they_are_made(
    read: Callable[[Any], object], head: Any, field: bytes, number: int, sentence: str
) -> None:
    head.stamp.schema = 1
    raw = head.SerializeToString() + field * number
    with pytest.raises(LogError, match=sentence):
        read([raw] if read is decode.graph else raw)


def test_a_graph_of_very_many_fields_is_not_even_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "MOST_GRAPH_FIELDS", 1000)
    with pytest.raises(LogError, match="graph record has more than 1,000 fields"):
        decode.graph([pb.Graph(stamp=pb.Stamp(schema=1)).SerializeToString() + b"\x2a\x00" * 1000])


def test_very_many_ports_and_dimensions_are_a_sentence() -> None:
    call = pb.Call().SerializeToString() + b"\x3a\x00" * 1_000_001
    raw = pb.Graph(stamp=pb.Stamp(schema=1), calls=[pb.Call.FromString(call)]).SerializeToString()
    with pytest.raises(LogError, match="graph record has 1,000,001 ports; at most 1,000,000"):
        decode.graph([raw])
    wide = pb.Graph(stamp=pb.Stamp(schema=1), calls=[pb.Call(outputs=[pb.Port(shape=pb.Shape(dims=[1] * 256))])])
    with pytest.raises(LogError, match="256 dimensions of one tensor"):
        decode.graph([wide.SerializeToString()])


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (pb.Graph(calls=[pb.Call(layer=1)]), "refers to layer 0, but has 0"),
        (pb.Graph(calls=[pb.Call(layer=-1)]), "refers to layer -2, but has 0"),
        (pb.Graph(calls=[pb.Call(parent=1)]), "call 0 inside call 0, which began later"),
        (pb.Graph(calls=[pb.Call(inputs=[pb.Port(source=pb.Source(call=9))])]), "port 0 of call 9, but has 1 calls"),
        (pb.Graph(calls=[pb.Call(inputs=[pb.Port(source=pb.Source(call=0))])]), "an output 0 that call 0 lacks"),
        (pb.Graph(strings=["a"], ops=[pb.Op(name=0, type=3)]), "a string or a frame that it lacks"),
        (pb.Graph(strings=["a"], ops=[pb.Op(inputs=[2])]), "refers to op 1, but has 1"),
        (pb.Graph(strings=["a"], ops=[pb.Op(inputs=[0])]), "an input that is no op"),
        (pb.Graph(stacks=[pb.Stack(frames=[0])]), "a string or a frame that it lacks"),
        (pb.Graph(stacks=[pb.Stack(user_frame=-2)]), "a string or a frame that it lacks"),
    ],
)
def test_an_index_that_points_nowhere_is_a_sentence(message: pb.Graph, sentence: str) -> None:
    message.stamp.schema = 1
    with pytest.raises(LogError, match=sentence):
        decode.graph([message.SerializeToString()])


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"bins": [1], "bin": [516], "counts": [1]}, "outside the bins"),
        ({"bins": [2], "bin": [5, 0], "counts": [1, 1]}, "do not rise"),
        ({"bins": [2], "bin": [5, 2**32 - 1], "counts": [1, 1]}, "outside the bins"),
        ({"bins": [517]}, "has 517 bins; there are 516"),
        ({"bins": [2], "bin": [5], "counts": [1]}, "2 rows, but 1 numbers in bin"),
        ({"bins": [0], "port": []}, "1 rows, but 0 numbers in port"),
    ],
)
def test_a_histogram_that_does_not_add_up_is_a_sentence(columns: dict[str, list[int]], sentence: str) -> None:
    table = pb.HistogramTable(**{"call": [1], "port": [0], "part": [1], "total": [1], **columns})
    raw = zlib.compress(pb.HistogramTables(tables=[table]).SerializeToString())
    with pytest.raises(LogError, match=sentence):
        decode.histograms(pb.Histograms(stamp=pb.Stamp(schema=1), deflated=raw).SerializeToString())


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pb.Table(call=[1]), "1 rows, but 0 numbers in count"),
        (pb.Table(mean=b"abc"), "0 rows, but 3 bytes in mean"),
    ],
)
def test_a_table_whose_columns_differ_in_length_is_a_sentence(table: pb.Table, sentence: str) -> None:
    with pytest.raises(LogError, match=sentence):
        decode.statistics(pb.Statistics(stamp=pb.Stamp(schema=1), tables=[table]).SerializeToString())


def test_a_newer_schema_is_a_sentence_that_names_its_writer() -> None:
    raw = pb.Statistics(stamp=pb.Stamp(schema=2, version="9.1")).SerializeToString()
    with pytest.raises(LogError, match=r"This log has schema 2, written by LayerFlow 9\.1; .* Update it: pip install"):
        decode.statistics(raw)


def test_fields_that_a_later_version_added_are_ignored() -> None:
    raw, _ = GOOD["statistics"]
    unknown = b"\xfa\x3f\x03new" + b"\xc0\x3e\x05"  # field 1023, three bytes; field 1000, the number 5
    assert decode.statistics(raw + unknown)[1].step == 3


def test_no_stamp_is_a_sentence() -> None:
    with pytest.raises(LogError, match="carries no schema version"):
        decode.statistics(b"")
