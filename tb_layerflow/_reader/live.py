"""Records as `on_record` sees them while training runs: the newest one, and findings over the latest. Knows no files."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis.causes import rules_of
from tb_layerflow.analysis.findings import KINDS, Finding, Limits, Observed, findings
from tb_layerflow.log import paths, records

from .graph import Graph
from .history import LayerLossRow
from .statistics import Statistics, stack
from .values import widened

KEPT = 200
"""How many records stay in memory for findings: the latest."""
SHOWN = 6
"""How many exact numbers `printer` prints of a tensor: the first sample's first."""


@dataclass
class LiveRecord:
    """A record that has just been written, of the stream named `stream`; `graph` has its calls, `losses` the model's own.

    `statistics(kind)` and `findings()` are as the reader's, over this record and the latest before it; `value` has this record's
    exact tensors.
    """

    stream: str
    step: int
    graph: Graph
    losses: dict[str, float]
    _history: list[tuple[Graph, records.Record]] = field(repr=False)
    _exact: records.Exact = field(default_factory=records.Exact, repr=False)

    def statistics(self, kind: str = "output") -> Statistics:
        """The statistics of one kind at this step: `values` is float64 [1, ports, columns]."""
        return stack(kind, [self.step], [self._history[-1]])

    def value(self, path: str, kind: str = "output", port: int = 0) -> NDArray[np.generic] | None:
        """An exact tensor, batch axis first: the samples that this record keeps. None where it keeps none (`values=`)."""
        number = self.graph.paths.index(self.graph.call(path).path)
        wanted = {(kind, number, port)}
        if kind == "input" and (source := self.graph.calls[number].inputs[port].source) is not None:
            wanted.add(("output", *source))
        found = (one for one in self._exact.arrays if wanted & set(one.rows))
        return next((widened(one.array, one.dtype) for one in found), None)

    def findings(self, limits: Limits | None = None) -> list[Finding]:
        """All findings of the latest records, this one included."""
        steps = [record.step for _, record in self._history]
        names = list(dict.fromkeys(name for _, record in self._history for name in record.losses))
        observed = Observed(
            graph=self.graph.record,
            steps=np.array(steps, np.int64),
            statistics={kind: stack(kind, steps, self._history) for kind in KINDS},
            losses={name: np.array([record.losses.get(name, np.nan) for _, record in self._history]) for name in names},
            skipped=np.array([record.skipped for _, record in self._history], np.bool_),
            batch_size=np.array([record.batch_size for _, record in self._history], np.int64),
            layer_losses=[row for graph, record in self._history for row in _rows(graph, record)],
            ledger=self.graph.record.ledger,
        )
        return findings(observed, limits)


def _rows(graph: Graph, record: records.Record) -> list[LayerLossRow]:
    return [LayerLossRow.of(record.step, graph, one) for one in record.layer_losses]


OnRecord = Callable[[LiveRecord], object]


class Observer:
    """Calls `on_record` with each finished record of one stream, in the thread that writes. Remembers whether it said stop."""

    def __init__(self, on_record: OnRecord) -> None:
        self._on_record = on_record
        self._history: dict[str, deque[tuple[Graph, records.Record]]] = {}
        self._graphs: dict[int, Graph] = {}
        self.stop = False

    def __call__(self, stream: str, graph: records.Graph, record: records.Record) -> None:
        """A record has been written. Whatever `on_record` raises goes through."""
        wrapped = self._graphs.get(id(graph))
        if wrapped is None or wrapped.record is not graph:
            if len(self._graphs) > KEPT:
                self._graphs.clear()
            wrapped = self._graphs[id(graph)] = Graph(graph)
        history = self._history.setdefault(stream, deque(maxlen=KEPT))
        history.append((wrapped, replace(record, histograms={}, exact=None)))  # the latest record's tensors alone stay in memory
        exact = record.exact or records.Exact()
        live = LiveRecord(stream, record.step, wrapped, dict(record.losses), list(history), exact)
        if self._on_record(live) is True:
            self.stop = True


def stop_on(*rules: str) -> OnRecord:
    """An `on_record` that stops training at the first finding of one of these rules, or that explains one, and says which.

    Args:
        rules: names of rules, `non_finite`, `exploding_errors`, …

    Raises:
        ValueError: there is no rule of that name, or none was given.
    """
    for rule in rules or ("",):
        if rule not in RULE_NAMES:
            raise ValueError(f"stop_on takes names of rules: {', '.join(RULE_NAMES)}. Received: {rule!r}.")

    said: list[Finding] = []

    def on_record(record: LiveRecord) -> bool:
        for finding in record.findings():
            if rules_of(finding) & set(rules):
                if said:
                    return True
                said.append(finding)
                sys.stderr.write(f"LayerFlow: training stops, by what step {record.step} shows: {finding.message}\n")
                return True
        return False

    return on_record


RULE_NAMES = (
    "non_finite", "loss_scaler_skips", "exploding_errors", "vanishing_errors", "disconnected", "dead_units", "saturated",
    "constant", "poor_initialisation", "unchanged_weights", "update_too_large", "update_too_small", "worse_readout",
    "loss_does_not_fall",
)  # fmt: skip


def printer(*layers: str, write: Callable[[str], object] | None = None) -> OnRecord:
    """An `on_record` that prints what flowed through the chosen calls at each record: shapes, statistics and, in records
    that hold exact values (`values=`), the first SHOWN numbers of the first sample.

    Args:
        layers: names, paths or globs of calls, as `layers=` takes them.
        write: takes the text; None: standard output.
    """
    if not layers:
        raise ValueError('printer needs the layers to print, such as "**/first_dense". Received: none.')

    def on_record(record: LiveRecord) -> None:
        text = "\n".join(_lines(record, layers))
        (write or sys.stdout.write)(text + "\n")

    return on_record


def _lines(record: LiveRecord, layers: tuple[str, ...]) -> list[str]:
    everywhere = record.graph.paths
    chosen = sorted({number for pattern in layers for number in paths.find(everywhere, pattern)})
    losses = "".join(f" · {name} {value:.6g}" for name, value in record.losses.items())
    lines = [f"{record.stream} · step {record.step}{losses}"]
    if not chosen:
        lines.append(f"  no call matches {', '.join(map(repr, layers))}")
    tables = {kind: record.statistics(kind) for kind in ("input", "output", "error")}
    for number in chosen:
        call = record.graph.calls[number]
        lines.append(f"  {call.path} ({call.type})")
        for kind, table in tables.items():
            ports = call.inputs if kind == "input" else call.outputs
            for (path, port), row in zip(table.ports, table.values[0], strict=True):
                if path == call.path and not np.isnan(row[0]):
                    shape = "?" if ports[port].shape is None else str(tuple(ports[port].shape or ()))
                    figures = dict(zip(table.columns, row.tolist(), strict=True))
                    shown = " ".join(f"{name} {figures[name]:.5g}" for name in ("mean", "std", "min", "max", "l2"))
                    bad = sum(figures[name] for name in ("nan", "pos_inf", "neg_inf"))
                    lines.append(f"    {kind:6} {shape} {shown}" + (f" not finite {bad:.0f}" if bad else ""))
                    value = record.value(path, kind, port)
                    if value is not None and value.ndim and len(value):
                        numbers = value[0].reshape(-1)
                        more = " …" if len(numbers) > SHOWN else ""
                        lines.append("           " + " ".join(f"{number:.9g}" for number in numbers[:SHOWN].tolist()) + more)
    return lines
