"""What is recorded, as Python objects: the meeting point of capture, reader and plugin. Knows nothing of files or protos."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

SCHEMA = 1

COLUMNS = ("count", "mean", "l2", "min", "max", "finite", "std", "zero", "nan", "pos_inf", "neg_inf")
FLOAT_COLUMNS = ("mean", "l2", "min", "max", "std")
PART_COUNTS = ("zero", "nan", "pos_inf", "neg_inf")
COUNT_COLUMNS = ("count", *PART_COUNTS)

WEIGHT_KINDS = ("weight", "weight_gradient", "update")

PICTURE, LABEL = "picture", "label"
"""Kinds of exact arrays beside tensors: the samples as people see them; what is right for an output of the model."""

BUCKETS = ("loss", "metrics", "optimizer", "input", "other")
"""What operations belong to that no call made."""

LOGITS = "logits"
"""The kind of an output port that is what an activation at the end of a call was given. Its key path is that of the activation's
output, then `logits`; a kind of its own, as users call their outputs that as well."""

TRACE = "trace"
"""The kind of a ledger entry that says why a function was traced anew."""

TIMING = "timing"
"""The kind of a ledger entry that says why a record has no time of its calls; also the kind of `what` that asks for it."""


@dataclass(frozen=True)
class Weight:
    """One variable of a layer."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    trainable: bool = True


@dataclass
class Layer:
    """A Keras layer or model, found once."""

    path: str
    name: str
    type: str
    weights: list[Weight] = field(default_factory=list)
    called: bool = True
    trainable: bool = True
    access: str = ""
    config: str = ""
    module: str = ""
    dtype_policy: str = ""


@dataclass
class Port:
    """One tensor among a call's inputs or outputs.

    `shape` is None where the rank is unknown; a dimension is -1 where it is unknown. `source` is (call, output port): for an
    input the output that it is, for an output of a group the inner output that it passes on. `derived` holds, for an input
    without a source, the outputs from which plain operations computed it (where the step was traced).
    """

    key: str = ""
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    kind: str = ""
    source: tuple[int, int] | None = None
    status: str = ""
    error: str = ""
    op: str = ""
    selected: bool = True
    derived: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Call:
    """One execution of a layer within one step. `layer` and `parent` are indices, or None."""

    path: str
    name: str
    type: str
    kind: str = "layer"
    layer: int | None = None
    parent: int | None = None
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    status: str = ""
    repeats: int = 0
    failed: bool = False
    training: bool = False
    flops: float = 0.0
    output_bytes: int = 0
    traced_inside: bool = False

    @property
    def is_in_loop(self) -> bool:
        """Whether it runs in the body of a loop, which its tensors cannot leave."""
        return bool(self.outputs) and all(port.error == "inside a loop" for port in self.outputs)


@dataclass(frozen=True)
class LedgerEntry:
    """What was recorded, skipped, truncated or sampled, and why."""

    path: str
    kind: str
    port: int
    status: str
    reason: str
    step: int = -1


@dataclass
class Execution:
    """How the recorded function executes."""

    mode: str = ""
    run_eagerly: bool = False
    jit_compile: bool = False
    steps_per_execution: int = 1
    strategy: str = ""
    replicas: int = 1
    devices: list[str] = field(default_factory=list)
    dtype_policy: str = ""
    family: str = ""
    keras_version: str = ""
    tensorflow_version: str = ""
    optimizer: str = ""
    trace_seconds: float = 0.0
    traces: int = 0
    retraces: list[str] = field(default_factory=list)
    function: str = ""
    loss: str = ""


@dataclass(frozen=True)
class Frame:
    """One line of Python; `origin` is `user`, `keras`, `tensorflow`, `layerflow` or `library`."""

    file: str
    line: int
    function: str
    origin: str


@dataclass(frozen=True)
class Stack:
    """The frames that made an op, outermost first; `user_frame` is the place of the innermost user line, or -1."""

    frames: tuple[Frame, ...]
    user_frame: int = -1


@dataclass(slots=True)
class Op:
    """One operation of the graph. `call`, `forward_op`, `stack` and `inputs` are indices."""

    name: str
    type: str
    call: int | None = None
    bucket: str = ""
    backward: bool = False
    forward_op: int | None = None
    variable: str = ""
    stack: int | None = None
    fate: str = ""
    inputs: list[int] = field(default_factory=list)
    body: str = ""


@dataclass
class Graph:
    """The calls of one trace (or of one eager step), and what is known about them."""

    model: str
    calls: list[Call]
    layers: list[Layer]
    ledger: list[LedgerEntry] = field(default_factory=list)
    execution: Execution = field(default_factory=Execution)
    class_names: list[str] = field(default_factory=list)
    backward_names: list[str] = field(default_factory=list)
    error_pass: str = ""
    ops: list[Op] = field(default_factory=list)
    stacks: list[Stack] = field(default_factory=list)
    source: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def leaf_count(self) -> int:
        """How many calls there are that are no inputs and hold no other calls: the number that people are told."""
        groups = {call.parent for call in self.calls if call.kind != "input"}
        return sum(call.kind != "input" and number not in groups for number, call in enumerate(self.calls))


@dataclass
class Table:
    """Statistics of one kind of tensor, a row per (call, port); for weights per (layer, weight).

    `columns` maps every name of COLUMNS to an array of the rows' length: float32 for FLOAT_COLUMNS, uint64 for COUNT_COLUMNS,
    bool for `finite`. `part` counts the elements that `std`, `zero`, `nan`, `pos_inf` and `neg_inf` were taken from; `stride` is
    1 where the part is whole samples from the first on, k where it is every k-th position of the first sample.
    """

    calls: NDArray[np.uint32]
    ports: NDArray[np.uint32]
    columns: dict[str, NDArray[np.generic]]
    part: NDArray[np.uint64]
    stride: NDArray[np.uint64]


@dataclass
class HistogramTable:
    """Histograms of one kind of tensor: `counts` is uint64 [rows, BINS] over the bins of `log.histogram`."""

    calls: NDArray[np.uint32]
    ports: NDArray[np.uint32]
    counts: NDArray[np.uint64]
    part: NDArray[np.uint64]
    total: NDArray[np.uint64]


@dataclass(frozen=True)
class LayerLoss:
    """How well the labels can be read from one output.

    `call` is an index into the trace's calls; `baseline` the loss, on the same samples, of a readout whose scores are the mean of
    the fitted labels (0: no readout).
    """

    call: int
    port: int
    form: str
    loss: float
    accuracy: float = float("nan")
    task: str = ""
    output: str = ""
    seed: int = 0
    ridge: float = 0.0
    dimensions: int = 0
    baseline: float = 0.0


@dataclass
class ExactArray:
    """One exact tensor on its way into its record's value file.

    `rows` are the (kind, call, port) that it is, several where it is the same tensor in several places; for weights (kind,
    layer, weight). `array` is as `log.value_files` stores it, `dtype` the tensor's own by name. `slot` is the tensor's number in
    capture's plan, None where it has none.
    """

    rows: list[tuple[str, int, int]]
    array: NDArray[np.generic]
    dtype: str
    slot: int | None = None


@dataclass
class Exact:
    """What of a record goes into its value file: tensors, per-channel figures, and what was cut before it got here.

    `cut` holds (row, bytes). A figure's array is float32 [5, channels]: mean, std, min, max, share of zeros.
    """

    arrays: list[ExactArray] = field(default_factory=list)
    figures: list[ExactArray] = field(default_factory=list)
    cut: list[tuple[tuple[str, int, int], int]] = field(default_factory=list)
    samples: int = 0


@dataclass
class Record:
    """All numbers of one stream at one step. `epoch` and `iterations` are -1 where there are none.

    `exact` is for the value file alone; a record that was read has none.
    """

    step: int
    trace: int
    tables: dict[str, Table] = field(default_factory=dict)
    histograms: dict[str, HistogramTable] = field(default_factory=dict)
    iterations: int = -1
    epoch: float = -1.0
    phase: str = "training"
    batch_size: int = 0
    losses: dict[str, float] = field(default_factory=dict)
    loss_scale: float = 0.0
    skipped: bool = False
    layer_losses: list[LayerLoss] = field(default_factory=list)
    ledger: list[LedgerEntry] = field(default_factory=list)
    timings: dict[int, tuple[float, float]] = field(default_factory=dict)
    seconds: float = 0.0
    step_seconds: float = 0.0
    exact: Exact | None = None


@dataclass(frozen=True)
class Value:
    """One array of a record's value file. `kind` is a table's kind, `channels:<kind>`, PICTURE or LABEL."""

    kind: str
    call: int
    port: int
    member: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int


@dataclass
class Manifest:
    """What a record's value file holds, and what was cut from it."""

    step: int
    trace: int
    file: str
    values: list[Value] = field(default_factory=list)
    cut: list[LedgerEntry] = field(default_factory=list)
    samples: int = 0
    bytes: int = 0

    def __repr__(self) -> str:
        samples = "1 sample" if self.samples == 1 else f"{self.samples} samples"
        arrays = f"{len(self.values)} arrays of {samples}, {self.bytes:,} bytes"
        return f"<Manifest of step {self.step}: {arrays}, {len(self.cut)} cut>"
