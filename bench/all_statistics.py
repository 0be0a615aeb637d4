"""How fast the reader gives the statistics of a long training of a large model."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from tb_layerflow import reader
from tb_layerflow.log.records import COLUMNS, COUNT_COLUMNS, Call, Graph, Layer, Port, Record, Table
from tb_layerflow.log.writer import StreamWriter

from .figure import Figure, spread

CALLS = 300
RECORDS = 1000
REPEATS = 5


def measure() -> list[Figure]:
    """All statistics of all outputs, the files opened anew and then asked for again."""
    cold, warm = [], []
    with tempfile.TemporaryDirectory(prefix="layerflow-bench-") as log_dir:
        _write(Path(log_dir))
        for _ in range(REPEATS):
            stream = reader.LogDir(log_dir).run(".").stream("train")
            cold.append(_milliseconds(stream))
            warm.append(_milliseconds(stream))
    what = f"all statistics, {CALLS} calls × {RECORDS:,} records, processor time"
    return [
        Figure(f"{what}, cold", median(cold), 500, "ms", spread(cold)),
        Figure(f"{what}, warm", median(warm), 50, "ms", spread(warm)),
    ]


def _milliseconds(stream: reader.Stream) -> float:
    started = time.process_time()
    values = stream.statistics("output").values
    seconds = time.process_time() - started
    assert values.shape == (RECORDS, CALLS, len(COLUMNS)), values.shape
    return 1000 * seconds


def _write(log_dir: Path) -> None:
    """A chain of calls, each with random statistics."""
    draw = np.random.default_rng(0)
    port = Port(shape=(-1, 64), dtype="float32")
    calls = [Call(".", "chain", "Sequential", layer=0)]
    calls += [Call(f"dense_{k}", f"dense_{k}", "Dense", layer=k + 1, parent=0, outputs=[port]) for k in range(CALLS)]
    layers = [Layer(".", "chain", "Sequential"), *(Layer(f"dense_{k}", f"dense_{k}", "Dense") for k in range(CALLS))]
    rows = np.arange(1, CALLS + 1, dtype=np.uint32)
    writer = StreamWriter(log_dir, "train")
    writer.write_graph(Graph("chain", calls, layers))
    for step in range(RECORDS):
        columns = {name: draw.normal(size=CALLS).astype(np.float32) for name in COLUMNS}
        columns.update({name: draw.integers(1 << 20, size=CALLS).astype(np.uint64) for name in COUNT_COLUMNS})
        columns["finite"] = np.ones(CALLS, bool)
        part, stride = np.full(CALLS, 32768, np.uint64), np.ones(CALLS, np.uint64)
        table = Table(calls=rows, ports=np.zeros_like(rows), columns=columns, part=part, stride=stride)
        writer.write_record(Record(step, 0, tables={"output": table}))
    writer.close()
