"""What findings are made from: one stream's graph and numbers as arrays, and a finding's form. numpy only; knows no files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log.records import COLUMNS, LOGITS, Call, Graph, LedgerEntry, Weight

Floats = NDArray[np.float64]
Figures = NDArray[np.float32]


class Statistics(Protocol):
    """As the reader gives them: `values` float64 [steps, ports, COLUMNS], `part` float64 [steps, ports]."""

    @property
    def ports(self) -> Sequence[tuple[str, int]]: ...

    @property
    def values(self) -> Floats: ...

    @property
    def part(self) -> Floats: ...


class LossRow(Protocol):
    """One layer loss, as the reader gives it."""

    @property
    def step(self) -> int: ...

    @property
    def path(self) -> str: ...

    @property
    def form(self) -> str: ...

    @property
    def loss(self) -> float: ...

    @property
    def accuracy(self) -> float: ...

    @property
    def output(self) -> str: ...

    @property
    def baseline(self) -> float: ...


@dataclass(frozen=True)
class Finding:
    """A diagnosis. `level` is `failure` or `warning`; `path` a call's (a layer's where it is about weights), `.` the model's.

    `step` is the first record that shows it. `evidence` holds the numbers that the rule compared, and the limits it used.
    """

    rule: str
    path: str
    step: int
    message: str
    evidence: dict[str, Any] = field(default_factory=dict)
    level: str = "warning"


@dataclass(frozen=True)
class _Cut:
    """Statistics of some of the steps."""

    ports: Sequence[tuple[str, int]]
    values: Floats
    part: Floats


@dataclass(frozen=True)
class Observed:
    """One stream's records.

    `statistics` holds those of the kinds `output`, `error`, `weight`, `weight_gradient` and `update` that were recorded, all over
    the same `steps`; `losses` the model's own, NaN where a record lacks them; `layer_losses` are rows.
    `channels`, of a call's path and output port, gives the per-channel figures of some of the records that hold exact values:
    (step, float32 [5, channels]: mean, std, min, max, share of zeros). `is_cut` says that there is no later record to judge by:
    the next holds numbers that are none.
    """

    graph: Graph
    steps: NDArray[np.int64]
    statistics: Mapping[str, Statistics]
    losses: Mapping[str, Floats] = field(default_factory=dict)
    skipped: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    batch_size: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    layer_losses: Sequence[LossRow] = ()
    ledger: Sequence[LedgerEntry] = ()
    channels: Callable[[str, int], Sequence[tuple[int, Figures]]] = lambda path, port: ()
    is_cut: bool = False

    def before(self, step: int) -> Observed:
        """The same without the records from a step on, as what ends there."""
        return replace(self.kept(self.steps < step), is_cut=True)

    def kept(self, kept: NDArray[np.bool_]) -> Observed:
        """Some of the records: bool [records]."""
        steps = set(self.steps[kept].tolist())
        return Observed(
            graph=self.graph,
            steps=self.steps[kept],
            statistics={kind: _Cut(one.ports, one.values[kept], one.part[kept]) for kind, one in self.statistics.items()},
            losses={name: values[kept] for name, values in self.losses.items()},
            skipped=self.skipped_steps[kept],
            batch_size=self.batch_size[kept] if len(self.batch_size) == len(kept) else self.batch_size,
            layer_losses=[row for row in self.layer_losses if row.step in steps],
            ledger=self.ledger,
            channels=lambda path, port: [one for one in self.channels(path, port) if one[0] in steps],
            is_cut=self.is_cut,
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each call, by its path."""
        return {call.path: number for number, call in enumerate(self.graph.calls)}

    @cached_property
    def groups(self) -> set[int]:
        """Calls that contain calls other than inputs. A layer that runs a cell in a loop is none: nothing inside it is recorded,
        so it stands for itself.
        """
        inner: dict[int, list[Call]] = {}
        for call in self.graph.calls:
            if call.parent is not None and call.kind != "input":
                inner.setdefault(call.parent, []).append(call)
        return {number for number, calls in inner.items() if not all(call.is_in_loop for call in calls)}

    def silent(self, number: int, place: int, scale: float = 0.0) -> bool:
        """Whether a call's outputs are one number each at a record, to within float32 of their own or this scale: nothing of what
        it gets is in them.
        """
        path, ports = self.graph.calls[number].path, range(len(self.graph.calls[number].outputs))
        ends = [tuple(self.series("output", path, port, name) for name in ("min", "max")) for port in ports]
        known = [(float(low[place]), float(high[place])) for low, high in ends if low is not None and high is not None]
        return bool(known) and all(high - low <= 1e-7 * max(abs(low), abs(high), scale) for low, high in known)

    def fed_nothing(self, number: int, place: int, scale: float = 0.0) -> bool:
        """Whether all calls that a call gets its inputs from are silent at a record."""
        sources = self.sources(number)
        return bool(sources) and all(self.silent(source, place, scale) for source in sources)

    @cached_property
    def skipped_steps(self) -> NDArray[np.bool_]:
        """Per record, whether the loss scaler skipped the update."""
        return self.skipped if len(self.skipped) == len(self.steps) else np.zeros(len(self.steps), np.bool_)

    def leaf_outputs(self) -> Iterator[tuple[int, Call, int]]:
        """(call's number, call, port) of each output of a call that is no group and no input, logits left out, in order."""
        for number, call in enumerate(self.graph.calls):
            if number not in self.groups and call.kind != "input":
                for port, tensor in enumerate(call.outputs):
                    if tensor.kind != LOGITS:
                        yield number, call, port

    def series(self, kind: str, path: str, port: int, column: str) -> Floats | None:
        """One figure over all steps, float64 [steps]; None where it was not recorded."""
        place = self._places.get(kind, {}).get((path, port))
        return None if place is None else self.statistics[kind].values[:, place, COLUMNS.index(column)]

    def share(self, kind: str, path: str, port: int, column: str) -> Floats | None:
        """A count as a share of the elements that it was taken from, float64 [steps]."""
        place = self._places.get(kind, {}).get((path, port))
        if place is None:
            return None
        found = self.statistics[kind]
        with np.errstate(invalid="ignore", divide="ignore"):
            shares: Floats = found.values[:, place, COLUMNS.index(column)] / found.part[:, place]
        return shares

    def rms(self, kind: str, path: str, port: int) -> Floats | None:
        """The root mean square over all steps, float64 [steps]."""
        l2, count = self.series(kind, path, port, "l2"), self.series(kind, path, port, "count")
        if l2 is None or count is None:
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = l2 / np.sqrt(count)
        return found

    def origin(self, number: int, port: int) -> tuple[int, int]:
        """Where an input of a call comes from: the leaf output that made it, through groups that pass it on; the input itself
        (as (-1, -1)) where nobody knows.
        """
        return self._made(self.graph.calls[number].inputs[port].source)

    def _made(self, source: tuple[int, int] | None) -> tuple[int, int]:
        seen = set()
        while source is not None and source not in seen:
            seen.add(source)
            further = self.graph.calls[source[0]].outputs[source[1]].source
            if further is None:
                return source
            source = further
        return (-1, -1)

    def sources(self, number: int, *, derived: bool = False) -> list[int]:
        """The calls whose outputs a call gets; with `derived`, those too from which plain operations computed what it gets."""
        found = [self.origin(number, port)[0] for port in range(len(self.graph.calls[number].inputs))]
        if derived:
            found += [self._made(source)[0] for port in self.graph.calls[number].inputs for source in port.derived]
        return list(dict.fromkeys(one for one in found if one >= 0))

    @cached_property
    def behind(self) -> list[int]:
        """Of each call, the calls that depend on it, through plain operations too: bit n stands for call n."""
        found = [0] * len(self.graph.calls)
        for number in reversed(range(len(found))):
            for source in self.sources(number, derived=True):
                found[source] |= 1 << number | found[number]
        return found

    def calls_of(self, path: str) -> list[int]:
        """The calls that a finding's path stands for: the call itself, or all of a layer's; a cell's in a loop are its parent."""
        found = [self.numbers[path]] if path in self.numbers else []
        found += [
            number
            for number, call in enumerate(self.graph.calls)
            if call.layer is not None and self.graph.layers[call.layer].path == path
        ]
        parents = [(number, self.graph.calls[number].parent) for number in found]
        return list(dict.fromkeys(
            number if parent is None or not self.graph.calls[number].is_in_loop else parent for number, parent in parents
        ))  # fmt: skip

    def before_output(self, key: str) -> set[int]:
        """The leaf calls that the root's output of this key path depends on, as far as edges are known."""
        waiting = []
        for number, call in enumerate(self.graph.calls):
            if call.parent is None and call.kind != "input":
                if number not in self.groups:
                    waiting.append(number)
                for port in call.outputs:
                    source = port.source if port.key in (key, "") or len(call.outputs) == 1 else None
                    while source is not None:
                        waiting.append(source[0])
                        source = self.graph.calls[source[0]].outputs[source[1]].source
        found: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting += self.sources(number) if number not in self.groups else []
        return found

    def activation(self, call: Call) -> str:
        """The name of the activation that the call's layer applies last, as its configuration says, or of what the call is."""
        layer = None if call.layer is None else self.graph.layers[call.layer]
        if layer is None:
            return call.type.lower()
        try:
            configured = json.loads(layer.config or "{}").get("activation")
        except (ValueError, AttributeError):
            configured = None
        if isinstance(configured, dict):
            configured = configured.get("config") if isinstance(configured.get("config"), str) else configured.get("class_name")
        return str(configured or layer.type).lower()

    @cached_property
    def _places(self) -> dict[str, dict[tuple[str, int], int]]:
        return {
            kind: {(path, port): place for place, (path, port) in enumerate(found.ports)}
            for kind, found in self.statistics.items()
        }


def is_kernel(weight: Weight) -> bool:
    """Whether a weight is one that inputs are multiplied by: trainable, of two axes or more, and none of the biases (a GRU's have
    two axes).
    """
    return weight.trainable and len(weight.shape) > 1 and "bias" not in weight.name


def usual_l2(weight: Weight, layer_type: str) -> float:
    """The l2 of a kernel as it usually starts, by its shape: of variance 2 / (inputs + outputs) (Glorot and Bengio 2010), an
    embedding's rows of length one.
    """
    *before, inputs, outputs = weight.shape
    if layer_type.endswith("Embedding"):
        return float(np.sqrt(np.prod(before) * inputs))
    return float(np.sqrt(2.0 * inputs * outputs / (inputs + outputs)))
