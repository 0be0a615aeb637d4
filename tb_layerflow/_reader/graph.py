"""The graph as people ask for it: calls with their paths, edges between ports, and finding. Knows no files."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tb_layerflow.log import paths, records

from .arguments import checked

Source = tuple[int, int]
"""A call's number and that of its output."""


class PortPath(NamedTuple):
    """One tensor: a call's path (a layer's, for weights) and the number of its port."""

    path: str
    port: int


class Edge(NamedTuple):
    """A tensor's way: (call, output port) → (call, input port)."""

    source: PortPath
    target: PortPath

    @property
    def derived(self) -> bool:
        """Whether the tensor went through plain operations on its way: the input was computed from the output."""
        return isinstance(self, DerivedEdge)


class DerivedEdge(Edge):
    """An edge that is `derived`."""

    __slots__ = ()


@dataclass(frozen=True)
class Call:
    """One execution of a layer within one step.

    `layer` is the path of the layer (of its first call, without suffixes), None where there is no layer; `index` the k of its
    `#k`; `parent` the path of the call around it, None for a root; `weights` those of the layer; `number` the place among the
    graph's calls. `flops` are the floating-point operations of its forward pass with all calls inside it, 0 where lineage was not
    recorded (of one sample, where its outputs have no batch size); `output_bytes` what its outputs take in memory.
    """

    path: str
    name: str
    type: str
    kind: str
    index: int
    layer: str | None
    parent: str | None
    inputs: list[records.Port]
    outputs: list[records.Port]
    weights: list[records.Weight]
    status: str
    repeats: int
    failed: bool
    number: int
    flops: float
    output_bytes: int


class Graph:
    """The calls of one trace, and how they are connected. `record` is the whole of it, without ops, as it was written.

    `trace` is its number over all sessions of the stream, `session` the one that wrote it, `own_trace` its number there.
    """

    def __init__(self, record: records.Graph, session: int = 0, trace: int = 0, own_trace: int = 0) -> None:
        self.record = record
        self.session = session
        self.trace = trace
        self.own_trace = own_trace

    def __repr__(self) -> str:
        return f"<Graph of {self.record.model!r}: {len(self.record.calls)} calls, {len(self.record.layers)} layers>"

    @cached_property
    def paths(self) -> list[str]:
        """The paths of the calls, in their order."""
        return [call.path for call in self.record.calls]

    @cached_property
    def layer_paths(self) -> list[str]:
        """The paths of the layers, in their order."""
        return [layer.path for layer in self.record.layers]

    @cached_property
    def logits(self) -> list[PortPath]:
        """The output ports that are what a call's last activation was given."""
        ports = ((call.path, place, port) for call in self.record.calls for place, port in enumerate(call.outputs))
        return [PortPath(path, place) for path, place, port in ports if port.kind == records.LOGITS]

    @cached_property
    def calls(self) -> list[Call]:
        """All calls, in the order in which they began."""
        return [self._call(number, call) for number, call in enumerate(self.record.calls)]

    @cached_property
    def edges(self) -> list[Edge]:
        """All edges, ordered by the calls that they lead into; `.derived` where plain operations lie between output and input."""
        found = []
        for call in self.record.calls:
            for port, tensor in enumerate(call.inputs):
                if tensor.source is not None:
                    source = PortPath(self.paths[tensor.source[0]], tensor.source[1])
                    found.append(Edge(source, PortPath(call.path, port)))
                for number, output in tensor.derived:
                    found.append(DerivedEdge(PortPath(self.paths[number], output), PortPath(call.path, port)))
        return found

    @checked
    def find(self, pattern: str) -> list[Call]:
        """The calls that a name, a path or a glob means: `first_dense`, `encoder#1/*`, `**/first_dense`. None: an empty list."""
        return [self.calls[index] for index in paths.find(self.paths, pattern)]

    @checked
    def call(self, path: str) -> Call:
        """The one call at a path, or at the unique ending of one. PathError (a KeyError) where there is none or several."""
        return self.calls[paths.resolve(self.paths, path)]

    def _call(self, number: int, call: records.Call) -> Call:
        layer = None if call.layer is None else self.record.layers[call.layer]
        return Call(
            path=call.path,
            name=call.name,
            type=call.type,
            kind=call.kind,
            index=0 if call.path == paths.ROOT else paths.split(call.path)[1],
            layer=None if layer is None else layer.path,
            parent=None if call.parent is None else self.paths[call.parent],
            inputs=call.inputs,
            outputs=call.outputs,
            weights=[] if layer is None else layer.weights,
            status=call.status,
            repeats=call.repeats,
            failed=call.failed,
            number=number,
            flops=call.flops,
            output_bytes=call.output_bytes,
        )


def error_kind(graph: records.Graph, kind: str, present: frozenset[str]) -> str:
    """Which of a record's tables a kind of error means: `error` is the record's own, `error:name` the pass of that name."""
    if kind in present:
        return kind
    if kind.startswith("error:") and kind[6:] and kind[6:] in graph.backward_names:
        kind = f"error#{graph.backward_names.index(kind[6:])}"
    passes = sorted(name for name in present if name == "error" or name.startswith(("error#", "error:")))
    if kind == "error" and (graph.error_pass or len(passes) == 1):
        kind = graph.error_pass or passes[0]
    elif kind == (graph.error_pass or "error#0") and "error" in present:
        kind = "error"
    return kind


def nearest_output(
    graph: records.Graph, source: Source | None, among: Container[Source], known: dict[Source, Source | None]
) -> Source | None:
    """The first output among those of interest on the way that references lead from `source`: what an input or a group's output
    stands for. None where they lead nowhere, or in a circle. `known` remembers ways that were walked, for the next walk.
    """
    walked: dict[Source, None] = {}
    while source is not None and source not in among and source not in known and source not in walked:
        walked[source] = None
        source = graph.calls[source[0]].outputs[source[1]].source
    found = source if source is None or source in among else known.get(source)
    known.update(dict.fromkeys(walked, found))
    return found
