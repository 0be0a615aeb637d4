"""Graphs and records made with numpy, for all tests. Knows no TensorFlow."""

from __future__ import annotations

import numpy as np

from tb_layerflow.log import histogram
from tb_layerflow.log.records import (
    COUNT_COLUMNS,
    FLOAT_COLUMNS,
    Call,
    Frame,
    Graph,
    HistogramTable,
    Layer,
    LedgerEntry,
    Op,
    Port,
    Record,
    Stack,
    Table,
    Weight,
)


def siamese() -> Graph:
    """Two inputs through one shared `encoder` of two layers, then a difference: the root, 2 inputs, 6 calls, 1 operation."""
    dense = Weight("kernel", (8, 4), "float32")
    layers = [
        Layer(".", "siamese", "Functional"),
        Layer("encoder", "encoder", "Sequential"),
        Layer("encoder/flatten", "flatten", "Flatten"),
        Layer("encoder/first_dense", "first_dense", "Dense", [dense, Weight("bias", (4,), "float32")]),
    ]
    calls = [Call(".", "siamese", "Functional", layer=0, outputs=[Port(shape=(-1, 4), dtype="float32", source=(9, 0))])]
    sides = {side: [Port(side, (-1, 2, 4), "float32")] for side in ("left", "right")}
    calls += [Call(side, side, "Input", "input", parent=0, outputs=ports) for side, ports in sides.items()]
    for k, source in enumerate((1, 2)):
        group = "encoder" + (f"#{k}" if k else "")
        outer = len(calls)
        calls += [
            Call(group, "encoder", "Sequential", layer=1, parent=0,
                 inputs=[Port(shape=(-1, 2, 4), dtype="float32", source=(source, 0))],
                 outputs=[Port(shape=(-1, 4), dtype="float32", source=(outer + 2, 0))]),
            Call(f"{group}/flatten", "flatten", "Flatten", layer=2, parent=outer,
                 inputs=[Port(shape=(-1, 2, 4), dtype="float32", source=(source, 0))],
                 outputs=[Port(shape=(-1, 8), dtype="float32")]),
            Call(f"{group}/first_dense", "first_dense", "Dense", layer=3, parent=outer,
                 inputs=[Port(shape=(-1, 8), dtype="float32", source=(outer + 1, 0))],
                 outputs=[Port(shape=(-1, 4), dtype="float32")]),
        ]  # fmt: skip
    ends = [Port(shape=(-1, 4), dtype="float32", source=(5, 0)), Port(shape=(-1, 4), dtype="float32", source=(8, 0))]
    calls.append(Call("subtract", "subtract", "Subtract", "operation", parent=0, inputs=ends,
                      outputs=[Port(shape=(-1, 4), dtype="float32")]))  # fmt: skip
    graph = Graph("siamese", calls, layers, [LedgerEntry("left", "error", 0, "skipped", "not connected")])
    graph.stacks = [Stack((Frame("model.py", 42, "build", "user"), Frame("keras/dense.py", 7, "call", "keras")), 0)]
    backward = Op("gradients/MatMul", "MatMul", backward=True, forward_op=0, inputs=[0])
    graph.ops = [Op("MatMul", "MatMul", call=5, stack=0), backward]
    graph.source = {("model.py", 42): "x = encoder(x)"}
    return graph


def own_rows(graph: Graph) -> list[tuple[int, int]]:
    """The (call, output port) pairs that have a row of their own: those that pass on no inner output."""
    return [
        (number, port)
        for number, call in enumerate(graph.calls)
        for port, tensor in enumerate(call.outputs)
        if tensor.source is None
    ]


def tensors(rows: list[tuple[int, int]], seed: int, size: int = 24) -> list[np.ndarray]:
    """One float32 array per row, each of another scale, some with zeros."""
    rng = np.random.default_rng(seed)
    scales = [10.0 ** (row % 5 - 2) for row in range(len(rows))]
    return [(rng.normal(size=size) * scale * (rng.random(size) > 0.2)).astype(np.float32) for scale in scales]


def table(rows: list[tuple[int, int]], arrays: list[np.ndarray]) -> Table:
    """The statistics of arrays, one per (call, port), by numpy."""
    flat = [np.asarray(array, np.float32).ravel() for array in arrays]
    with np.errstate(invalid="ignore", over="ignore"):
        numbers = {
            "count": [array.size for array in flat],
            "mean": [array.mean() for array in flat],
            "l2": [np.sqrt(np.square(array).sum()) for array in flat],
            "min": [array.min() for array in flat],
            "max": [array.max() for array in flat],
            "finite": [np.isfinite(array).all() for array in flat],
            "std": [array.std() for array in flat],
            "zero": [(array == 0).sum() for array in flat],
            "nan": [np.isnan(array).sum() for array in flat],
            "pos_inf": [np.isposinf(array).sum() for array in flat],
            "neg_inf": [np.isneginf(array).sum() for array in flat],
        }
    kinds = {**dict.fromkeys(FLOAT_COLUMNS, np.float32), **dict.fromkeys(COUNT_COLUMNS, np.uint64), "finite": bool}
    return Table(
        calls=np.array([call for call, _ in rows], np.uint32),
        ports=np.array([port for _, port in rows], np.uint32),
        columns={name: np.array(numbers[name], kinds[name]) for name in numbers},
        part=np.array([array.size for array in flat], np.uint64),
        stride=np.ones(len(rows), np.uint64),
    )


def histogram_table(rows: list[tuple[int, int]], arrays: list[np.ndarray]) -> HistogramTable:
    """The histograms of arrays, one per (call, port)."""
    sizes = np.array([array.size for array in arrays], np.uint64)
    return HistogramTable(
        calls=np.array([call for call, _ in rows], np.uint32),
        ports=np.array([port for _, port in rows], np.uint32),
        counts=np.stack([histogram.counts(array) for array in arrays]),
        part=sizes,
        total=sizes,
    )


def record(graph: Graph, step: int, trace: int = 0, seed: int | None = None, **fields: object) -> Record:
    """A record of a graph's outputs and errors, of the tensors that `tensors(own_rows(graph), seed)` gives (errors: seed + 1)."""
    rows = own_rows(graph)
    seed = step if seed is None else seed
    outputs, errors = tensors(rows, seed), tensors(rows, seed + 1)
    return Record(
        step=step,
        trace=trace,
        tables={"output": table(rows, outputs), "error": table(rows, errors)},
        histograms={"output": histogram_table(rows, outputs), "error": histogram_table(rows, errors)},
        **{"iterations": step, "epoch": step / 10, "batch_size": 8, "losses": {"loss": 1 / (1 + step)}, **fields},  # type: ignore[arg-type]
    )
