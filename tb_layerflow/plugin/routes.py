"""Every route: its path, its parameters, and what answers it. A route is a function from the log and its parameters to an answer,
and a row of ROUTES; http_api.md says the same in words. Knows no HTTP."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log.errors import LogError
from tb_layerflow.log.records import COLUMNS, PART_COUNTS, SCHEMA, WEIGHT_KINDS
from tb_layerflow.log.tags import session_text
from tb_layerflow.plugin import describe, lineage_route, values_route, windows_route
from tb_layerflow.plugin.answers import Answer, Binary, Json
from tb_layerflow.plugin.parameters import BadRequest
from tb_layerflow.plugin.record import columns_of, record_at, rows_by_kind
from tb_layerflow.reader import LogDir, Stream

MOST_NUMBERS = 32 << 20
"""Numbers in one answer of /series: 128 MB."""

MOST_ENTRIES = 20_000
"""Entries in one answer of /ledger."""

AT_ONCE = 16
"""Streams that are read side by side: TensorBoard's data server takes long to answer, however many wait."""

_pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="layerflow-streams")

NOTHING_RECORDED = "Nothing that LayerFlow recorded is in this folder yet."


def streams(log: LogDir) -> Answer:
    """Every run and stream; the streams are read side by side."""
    found = [(run, run.streams) for run in map(log.run, log.runs)]
    described = _pool.map(describe.stream, [run.stream(name) for run, names in found for name in names])
    runs = [{"run": run.name, "streams": [next(described) for _ in names]} for run, names in found]
    return Json({"runs": runs, "logdir": _logdir(log), "schema": SCHEMA, "problem": "" if runs else NOTHING_RECORDED})


def _logdir(log: LogDir) -> str:
    """The folder that TensorBoard was started on, for the Python text that people copy; empty where it has none."""
    try:
        return os.path.abspath(log.source.folder(""))
    except LogError:
        return ""


def graph(log: LogDir, run: str, stream: str, step: int | None = None) -> Answer:
    """The calls of the trace in force at a step, by default the newest."""
    found = _stream(log, run, stream)
    steps = found.steps
    calls = found.graph if step is None else found.graph_at(step)
    at = steps if step is None else steps[steps <= step]
    kinds = rows_by_kind(calls, record_at(log.source, found, int(at[-1]))) if len(at) else {}
    return Json(describe.graph(calls, found.execution(step), [kind for kind in kinds if kind.startswith("error")]))


def steps(log: LogDir, run: str, stream: str) -> Answer:
    """One row per record."""
    found = _stream(log, run, stream)
    records = found.records
    numbers, session = np.unique(records.session, return_inverse=True)
    floats = ("step", "iterations", "epoch", "wall_time", "seconds", "step_seconds", "batch_size")
    arrays = {name: getattr(records, name).astype(np.float64) for name in floats}
    arrays |= {"trace": records.trace, "session": session.astype(np.int32), "skipped": records.skipped.astype(np.uint8)}
    arrays |= {f"loss:{name}": values for name, values in records.losses.items()}
    return Binary({"run": run, "stream": stream, "sessions": [session_text(int(number)) for number in numbers]}, arrays)


def series(log: LogDir, run: str, stream: str, kind: str, column: str, step: int | None = None) -> Answer:
    """One column of one kind for all ports of the graph in force at a step, over all steps."""
    found = _stream(log, run, stream)
    calls = found.graph if step is None else found.graph_at(step)
    statistics = found.statistics(kind)
    numbers = {path: number for number, path in enumerate(calls.layer_paths if kind in WEIGHT_KINDS else calls.paths)}
    places = [place for place, port in enumerate(statistics.ports) if port.path in numbers]
    if len(places) * len(statistics.steps) > MOST_NUMBERS:
        raise BadRequest(
            f"{len(places):,} tensors × {len(statistics.steps):,} records are more than the {MOST_NUMBERS:,} numbers that one "
            "answer may hold. Record fewer steps (every=) or layers (layers=), or read them in Python: layerflow.reader.LogDir."
        )
    values = statistics.values[:, places, COLUMNS.index(column)].T.astype(np.float32)
    ports = [[numbers[statistics.ports[place].path], statistics.ports[place].port] for place in places]
    arrays = {"step": statistics.steps.astype(float), "values": values}
    if column in PART_COUNTS:
        arrays["part"] = statistics.part[:, places].T
    return Binary({"kind": kind, "column": column, "ports": ports}, arrays)


def record(log: LogDir, run: str, stream: str, step: int) -> Answer:
    """Every column of every kind at one step."""
    found = _stream(log, run, stream)
    one = record_at(log.source, found, step)
    kinds = rows_by_kind(found.graph_at(step), one)
    arrays: dict[str, NDArray[Any]] = {}
    for kind, rows in kinds.items():
        arrays[f"{kind}:columns"], arrays[f"{kind}:part"] = columns_of(one, rows)
    seconds = found.seconds(step)
    if seconds:
        arrays["seconds"] = np.array([seconds.get(path, (0.0, 0.0)) for path in found.graph_at(step).paths])
    header = {
        "step": one.step,
        "kinds": {kind: {"ports": [list(port) for port in rows]} for kind, rows in kinds.items()},
        "columns": COLUMNS,
        "losses": one.losses,
        "phase": one.phase,
        "batch_size": one.batch_size,
        "loss_scale": one.loss_scale,
        "skipped": one.skipped,
    }
    return Binary(header, arrays)


def histogram(log: LogDir, run: str, stream: str, step: int, path: str, kind: str, port: int = 0) -> Answer:
    """One histogram."""
    return Json(describe.histogram(_stream(log, run, stream).histogram(path, kind, port, step)))


def ledger(log: LogDir, run: str, stream: str) -> Answer:
    """What was recorded, skipped, truncated or sampled."""
    entries = _stream(log, run, stream).ledger()
    return Json({"entries": [asdict(entry) for entry in entries[:MOST_ENTRIES]], "total": len(entries)})


def losses(log: LogDir, run: str, stream: str, step: int | None = None) -> Answer:
    """The layer losses as series: one row per call of the graph in force, port, form and output, over all steps."""
    found = _stream(log, run, stream)
    calls = found.graph if step is None else found.graph_at(step)
    numbers = {path: number for number, path in enumerate(calls.paths)}
    records = found.records  # once: the log may grow between two questions
    places = {int(at): place for place, at in enumerate(records.step)}
    rows = [row for row in records.layer_losses if row.path in numbers]
    keys = {(numbers[row.path], row.port, row.form, row.task, row.output): None for row in rows}
    series = {key: place for place, key in enumerate(sorted(keys))}
    if len(series) * len(places) > MOST_NUMBERS // 2:
        raise BadRequest(f"{len(series):,} layer losses × {len(places):,} records are more than one answer may hold.")
    values = np.full((2, len(series), len(places)), np.nan, np.float32)
    for row in rows:
        place = series[numbers[row.path], row.port, row.form, row.task, row.output]
        values[:, place, places[row.step]] = row.loss, row.accuracy
    described = [dict(zip(("call", "port", "form", "task", "output"), key, strict=True)) for key in series]
    arrays = {"step": records.step.astype(np.float64), "loss": values[0], "accuracy": values[1]}
    return Binary({"run": run, "stream": stream, "rows": described}, arrays)


def findings(log: LogDir, run: str, stream: str) -> Answer:
    """What is wrong with the training, worst first."""
    found = _stream(log, run, stream)
    rows = found.findings()
    numbers = {path: number for number, path in enumerate(found.graph.paths)} if rows else {}
    listed = [asdict(row) | {"call": numbers.get(row.path)} for row in rows[:MOST_ENTRIES]]
    return Json({"findings": listed, "total": len(rows)})


@dataclass(frozen=True)
class Route:
    """`handle(log, **parameters)` answers `path`; `parameters` names them, with a `?` after those that may be left out."""

    path: str
    handle: Callable[..., Answer]
    parameters: str


ROUTES = (
    Route("/streams", streams, ""),
    Route("/graph", graph, "run stream step?"),
    Route("/steps", steps, "run stream"),
    Route("/series", series, "run stream kind column step?"),
    Route("/record", record, "run stream step"),
    Route("/histogram", histogram, "run stream step path kind port?"),
    Route("/ledger", ledger, "run stream"),
    Route("/losses", losses, "run stream step?"),
    Route("/ops", lineage_route.ops, "run stream step? path? bucket? search? offset?"),
    Route("/chain", lineage_route.chain, "run stream step? path"),
    Route("/sources", lineage_route.sources, "run stream step? place?"),
    Route("/findings", findings, "run stream"),
    Route("/values", values_route.values, "run stream step?"),
    Route("/value", values_route.value, "run stream step path kind=value_kind port? sample? channels? slices?"),
    Route("/explain", values_route.explain, "run stream step path index port?"),
    Route("/windows", windows_route.windows, "run stream step path index port?"),
)


def _stream(log: LogDir, run: str, stream: str) -> Stream:
    return log.run(run).stream(stream)
