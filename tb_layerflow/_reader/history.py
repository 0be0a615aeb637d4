"""What the records say about their steps, as columns: losses, epochs, phases. Pure; knows no tensors' statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log.records import LayerLoss

from .graph import Graph
from .sessions import Head


class LayerLossRow(NamedTuple):
    """How well the labels could be read from one output at one step.

    `form` is `added` (the layer's own losses), `direct` (the model's loss on this output) or `readout` (on what a linear readout
    of it says, held out); `accuracy` is NaN where there is none; `task` is `classification`, `multi-label` or `regression`;
    `output` the key path of the model's output whose labels they are; `baseline` the loss of a readout that knows nothing of the
    sample (NaN: no readout).
    """

    step: int
    path: str
    port: int
    form: str
    loss: float
    accuracy: float
    task: str = ""
    output: str = ""
    baseline: float = float("nan")

    @classmethod
    def of(cls, step: int, graph: Graph, one: LayerLoss) -> LayerLossRow:
        """A record's layer loss, with the path of its call."""
        baseline = one.baseline if one.form == "readout" else float("nan")
        return cls(step, graph.paths[one.call], one.port, one.form, one.loss, one.accuracy, one.task, one.output, baseline)


@dataclass(frozen=True)
class Records:
    """One entry per record, in the order of the steps. `iterations` and `epoch` are -1 and `loss_scale` is 0 where there is none.

    `wall_time` is in seconds since the epoch; `seconds` what recording cost the host, `step_seconds` what a plain step took;
    `session` numbers the processes, `trace` the graphs over all sessions; `losses` has a column per loss of the model's own, NaN
    where a record lacks it; `layer_losses` are rows.
    """

    step: NDArray[np.int64]
    iterations: NDArray[np.int64]
    epoch: NDArray[np.float64]
    phase: list[str]
    batch_size: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    session: NDArray[np.uint32]
    trace: NDArray[np.int32]
    skipped: NDArray[np.bool_]
    loss_scale: NDArray[np.float64]
    seconds: NDArray[np.float64]
    step_seconds: NDArray[np.float64]
    losses: dict[str, NDArray[np.float64]]
    layer_losses: list[LayerLossRow]

    def __repr__(self) -> str:
        between = f", {self.step[0]} to {self.step[-1]}" if len(self.step) else ""
        return f"<Records: {len(self)} steps{between}; losses: {', '.join(self.losses) or 'none'}>"

    def __len__(self) -> int:
        return len(self.step)


def collect(
    heads: Sequence[Head], trace_number: Callable[[int, int], int], graph_of: Callable[[int, int], Graph | None]
) -> Records:
    """The columns of these records. The functions give a trace's number over all sessions, and its graph."""
    records = [head.record for head in heads]
    numbers = {key: trace_number(*key) for key in {(head.session, head.trace) for head in heads}}
    names = list(dict.fromkeys(name for record in records for name in record.losses))
    return Records(
        step=np.array([record.step for record in records], np.int64),
        iterations=np.array([record.iterations for record in records], np.int64),
        epoch=np.array([record.epoch for record in records], np.float64),
        phase=[record.phase for record in records],
        batch_size=np.array([record.batch_size for record in records], np.int64),
        wall_time=np.array([head.wall_time for head in heads], np.float64),
        session=np.array([head.session for head in heads], np.uint32),
        trace=np.array([numbers[head.session, head.trace] for head in heads], np.int32),
        skipped=np.array([record.skipped for record in records], np.bool_),
        loss_scale=np.array([record.loss_scale for record in records], np.float64),
        seconds=np.array([record.seconds for record in records], np.float64),
        step_seconds=np.array([record.step_seconds for record in records], np.float64),
        losses={name: np.array([record.losses.get(name, np.nan) for record in records], np.float64) for name in names},
        layer_losses=[row for head in heads if head.record.layer_losses for row in _layer_losses(head, graph_of)],
    )


def _layer_losses(head: Head, graph_of: Callable[[int, int], Graph | None]) -> list[LayerLossRow]:
    graph = graph_of(head.session, head.trace)
    return [
        LayerLossRow.of(head.record.step, graph, one)
        for one in head.record.layer_losses
        if graph is not None and one.call < len(graph.paths)
    ]
