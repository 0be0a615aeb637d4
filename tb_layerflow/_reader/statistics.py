"""Statistics of one kind over all steps of a stream, as one array. Pure: from decoded records and their graphs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log import paths, records
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.records import COLUMNS, WEIGHT_KINDS

from .arguments import checked
from .graph import Graph, PortPath, Source, error_kind, nearest_output

_COLUMN_SET = frozenset(COLUMNS)
_EXTRA = ("part", "stride")

MOST_BYTES = 1 << 30
"""Of the statistics of one kind at all steps: 10,000 tensors at 1,000 steps. What claims to be more is not put together."""

Place = tuple[str, int]
"""A row of a record: the kind of its table, and its number there."""


class Rows(Protocol):
    """What numbers its rows by call and port: a table, or histograms."""

    @property
    def calls(self) -> NDArray[np.uint32]: ...

    @property
    def ports(self) -> NDArray[np.uint32]: ...


@dataclass(frozen=True)
class Statistics:
    """The statistics of one kind of tensor.

    Attributes:
      kind: As it was asked for.
      steps: int64 [steps].
      ports: The (path, port) of each column of the arrays; the newest graph's first, in the order of its calls.
      columns: The names of the last axis: count, mean, l2, min, max, finite, std, zero, nan, pos_inf, neg_inf.
      values: float64 [steps, ports, columns]; NaN where the call was absent at the step.
      part: float64 [steps, ports], how many elements std and the four counts were taken from.
      logits: Those of `ports` that are what a last activation was given; their call's error is known there, not at its output.
      stride: float64 [steps, ports], 1 where the part is whole samples, k where it is every k-th position of the first.
    """

    kind: str
    steps: NDArray[np.int64]
    ports: list[PortPath]
    columns: tuple[str, ...]
    values: NDArray[np.float64] = field(repr=False)
    part: NDArray[np.float64] = field(repr=False)
    stride: NDArray[np.float64] = field(repr=False)
    logits: frozenset[PortPath] = field(default=frozenset(), repr=False)

    def __repr__(self) -> str:
        calls = len({path for path, _ in self.ports})
        return f"<Statistics of {self.kind}: {calls} paths, {len(self.ports)} tensors × {len(self.steps)} steps>"

    @checked
    def series(self, path: str, column: str, port: int = 0) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """One figure of one tensor over the steps.

        Args:
          path: A call's path (a layer's, for weights), or the unique ending of one.
          column: One of `columns`.
          port: Which of the call's tensors.

        Returns:
          (steps, values), int64 and float64; NaN where the call was absent at the step.

        Raises:
          PathError: (a KeyError) No such path, or no such port.
          ValueError: No such column.
        """
        if column not in self.columns:
            raise ValueError(f"column must be one of {', '.join(self.columns)}. Received: {column!r}.")
        return self.steps, self.values[:, self.index(path, port), self.columns.index(column)]

    @checked
    def index(self, path: str, port: int = 0) -> int:
        """The place of a tensor in `ports`. PathError (a KeyError) where there is none."""
        names = list(self._ports_of)
        found = names[paths.resolve(names, path)]
        if port not in self._ports_of[found]:
            there = [
                f"port={one}{' (the logits)' if PortPath(found, one) in self.logits else ''}" for one in self._ports_of[found]
            ]
            raise paths.PathError(f"{found!r} has no {self.kind} {port!r} with statistics; it has: {', '.join(there)}.")
        return self._ports_of[found][port]

    @cached_property
    def _ports_of(self) -> dict[str, dict[int, int]]:
        found: dict[str, dict[int, int]] = {}
        for index, (path, port) in enumerate(self.ports):
            found.setdefault(path, {})[port] = index
        return found

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return self.values.nbytes + self.part.nbytes + self.stride.nbytes


def rows_of(graph: Graph, kind: str, tables: Mapping[str, Rows]) -> dict[tuple[int, int], Place]:
    """Which row of which table stands for each tensor of the kind: {(call, port): place}, in the order of the calls.

    A tensor without a row of its own has that of the output that it refers to. Rows that the graph does not know are left out.
    """
    own = error_kind(graph.record, kind, frozenset(tables)) if kind.startswith("error") else kind
    rows = {name: _row_numbers(tables[name]) for name in {own, "output"} if name in tables}
    own_rows = rows.get(own, {})
    found: dict[tuple[int, int], Place] = {}
    if kind in WEIGHT_KINDS:
        for (layer, weight), row in sorted(own_rows.items()):
            if layer < len(graph.record.layers) and weight < len(graph.record.layers[layer].weights):
                found[layer, weight] = (own, row)
        return found
    is_input = kind == "input"
    referred = rows.get("output", {}) if is_input else own_rows
    known: dict[Source, Source | None] = {}
    for number, call in enumerate(graph.record.calls):
        for port, tensor in enumerate(call.inputs if is_input else call.outputs):
            if (number, port) in own_rows:
                found[number, port] = (own, own_rows[number, port])
                continue
            source = nearest_output(graph.record, tensor.source, referred, known)
            if source is not None:
                found[number, port] = ("output" if is_input else own, referred[source])
    return found


def stack(kind: str, steps: Sequence[int], decoded: Sequence[tuple[Graph | None, records.Record | None]]) -> Statistics:
    """The statistics of a kind: one (graph, record) per step, None where one cannot be read.

    Records of one graph whose tables have the same rows are put together at once. LogError beyond MOST_BYTES.
    """
    groups: dict[object, list[tuple[int, Graph, records.Record]]] = defaultdict(list)
    for position, (graph, record) in enumerate(decoded):
        if graph is not None and record is not None:
            layout = tuple((name, table.calls.tobytes(), table.ports.tobytes()) for name, table in record.tables.items())
            groups[id(graph), layout].append((position, graph, record))
    newest_first = sorted(groups.values(), key=lambda group: -group[-1][0])
    ports: dict[PortPath, int] = {}
    plans = [_plan(kind, *group[0][1:], ports) for group in newest_first]
    shape = (len(COLUMNS) + len(_EXTRA), len(steps), len(ports))
    if 8 * math.prod(shape) > MOST_BYTES:
        raise LogError(
            f"The {kind} statistics of {len(ports):,} tensors at {len(steps):,} steps have {8 * math.prod(shape):,} bytes; at "
            f"most {MOST_BYTES:,} are read. Record fewer steps (every=) or layers (layers=)."
        )
    filled = np.full(shape, np.nan)
    for group, plan in zip(newest_first, plans, strict=True):
        positions = np.array([position for position, _, _ in group])
        for table, (targets, sources) in plan.items():
            tables = [record.tables[table] for _, _, record in group]
            in_order = sources == list(range(len(tables[0].calls)))
            for number, name in enumerate((*COLUMNS, *_EXTRA)):
                stacked = np.stack([one.columns[name] if name in _COLUMN_SET else getattr(one, name) for one in tables])
                with np.errstate(invalid="ignore"):  # a damaged log may hold any number
                    filled[number][np.ix_(positions, np.array(targets))] = stacked if in_order else stacked[:, sources]
    graphs = {id(group[0][1]): group[0][1] for group in newest_first}.values()
    is_weight = kind in WEIGHT_KINDS
    return Statistics(
        kind=kind,
        logits=frozenset(() if is_weight else (one for graph in graphs for one in graph.logits)),
        steps=np.array(steps, np.int64),
        ports=list(ports),
        columns=COLUMNS,
        values=np.moveaxis(filled[: len(COLUMNS)], 0, 2),
        part=filled[len(COLUMNS)],
        stride=filled[len(COLUMNS) + 1],
    )


def _plan(kind: str, graph: Graph, record: records.Record, ports: dict[PortPath, int]) -> dict[str, tuple[list[int], list[int]]]:
    """Which rows of each table go to which places of the result; `ports` grows by the tensors that it did not have."""
    plan: dict[str, tuple[list[int], list[int]]] = {}
    names = graph.layer_paths if kind in WEIGHT_KINDS else graph.paths
    for (number, port), (table, row) in rows_of(graph, kind, record.tables).items():
        targets, sources = plan.setdefault(table, ([], []))
        targets.append(ports.setdefault(PortPath(names[number], port), len(ports)))
        sources.append(row)
    return plan


def _row_numbers(table: Rows) -> dict[tuple[int, int], int]:
    keys = zip(table.calls.tolist(), table.ports.tolist(), strict=True)
    return {key: row for row, key in enumerate(keys)}
