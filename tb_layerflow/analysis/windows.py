"""The receptive window of one output in every earlier map of a graph. Knows calls, ports and shapes, never values.

The walk goes backwards from the chosen output, port by port; where several paths meet (a residual sum), the window is the
smallest one that contains them all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Protocol

from tb_layerflow.analysis.geometry import Shape, outside
from tb_layerflow.analysis.layer_description import LayerDescription
from tb_layerflow.analysis.regions import Region, everything, one, union, unknown
from tb_layerflow.analysis.window_rules import input_regions
from tb_layerflow.log.records import LOGITS

Place = tuple[int, int]
"""A call's index in the graph and the number of one of its output ports."""


class Port(Protocol):
    """What the walk reads of a port (`log.records.Port` has it)."""

    @property
    def kind(self) -> str: ...
    @property
    def shape(self) -> Shape | None: ...
    @property
    def source(self) -> Place | None: ...


class Call(Protocol):
    """What the walk reads of a call (`log.records.Call` has it)."""

    @property
    def type(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def layer(self) -> int | None: ...
    @property
    def training(self) -> bool: ...
    @property
    def inputs(self) -> Sequence[Port]: ...
    @property
    def outputs(self) -> Sequence[Port]: ...


class Layer(Protocol):
    """What the walk reads of a layer (`log.records.Layer` has it)."""

    @property
    def config(self) -> str: ...
    @property
    def trainable(self) -> bool: ...
    @property
    def dtype_policy(self) -> str: ...
    @property
    def module(self) -> str: ...


class Execution(Protocol):
    """What the walk reads of how the model ran."""

    @property
    def family(self) -> str: ...


class Graph(Protocol):
    """What the walk reads of a graph (`log.records.Graph` has it)."""

    @property
    def calls(self) -> Sequence[Call]: ...
    @property
    def layers(self) -> Sequence[Layer]: ...
    @property
    def execution(self) -> Execution: ...


def described(graph: Graph, call: Call, batch_size: int | None = None) -> LayerDescription:
    """What windows and formulas need to know of a call's layer, without its weights."""
    layer = None if call.layer is None else graph.layers[call.layer]
    try:
        config = json.loads(layer.config) if layer is not None and layer.config else {}
    except (ValueError, RecursionError):
        config = {}
    return LayerDescription(
        type=call.type,
        config=config if isinstance(config, dict) else {},
        kind="operation" if call.kind == "operation" else "layer",
        training=call.training,
        trainable=layer.trainable if layer is not None else True,
        batch_size=batch_size,
        dtype_policy=layer.dtype_policy if layer is not None else "",
        family=graph.execution.family or "keras",
        module=layer.module if layer is not None else "",
    )


def receptive_window(graph: Graph, call: int, index: Sequence[int], *, port: int = 0, batch_size: int | None = None,
                     shapes: Mapping[Place, Shape] | None = None) -> dict[Place, Region]:  # fmt: skip
    """The window of one number of an output in every map that it came from, by (call, output port), its own included.

    `index` has the batch axis first. A map behind a layer that is not known is taken whole, and its `reason` says so. `.box` is
    the slices, `.unclipped` the same with what lies in paddings, both None where nothing of the map is seen. `shapes` gives the
    shape of an output whose size the graph does not know (the recorded array's); `batch_size` that of the step's batch, which
    BatchNormalization in training depends on. IndexError where the index does not fit.
    """
    known = dict(shapes or {})
    _check(graph, call, port, index, known)
    regions: dict[Place, Region] = {(call, port): one(index)}
    for place in _towards_inputs(graph, (call, port)):
        region = regions[place]
        for source, part in _sources(graph, place, region, known, batch_size):
            regions[source] = union(regions[source], part) if source in regions else part
    for number, group in enumerate(graph.calls):
        for out, passed in enumerate(group.outputs):
            if passed.source in regions and (number, out) not in regions:
                regions[(number, out)] = regions[passed.source]
    return regions


def _check(graph: Graph, call: int, port: int, index: Sequence[int], known: Mapping[Place, Shape]) -> None:
    if not (0 <= call < len(graph.calls) and 0 <= port < len(graph.calls[call].outputs)):
        raise IndexError(f"call and port must name an output of this graph. Received: call {call}, port {port}.")
    shape = known.get((call, port), graph.calls[call].outputs[port].shape)
    if shape is None:
        return
    fits = len(shape) == len(index) and all(0 <= at < size or size < 0 <= at for at, size in zip(index, shape, strict=True))
    if not fits:
        raise IndexError(outside(index, shape))


def _depends_on(graph: Graph, place: Place) -> list[Place]:
    """The outputs that one output is made from: the inner output that a group passes on, or those that are the call's inputs."""
    call = graph.calls[place[0]]
    passed = call.outputs[place[1]].source
    sources = [passed] if passed is not None else [port.source for port in call.inputs]
    return [source for source in sources if source is not None and source != place]


def _towards_inputs(graph: Graph, start: Place) -> list[Place]:
    """All outputs that lead to `start`, each before those that it is made from."""
    finished: list[Place] = []
    seen = {start}
    stack = [(start, iter(_depends_on(graph, start)))]
    while stack:
        place, sources = stack[-1]
        following = next((source for source in sources if source not in seen), None)
        if following is None:
            finished.append(place)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(_depends_on(graph, following))))
    return finished[::-1]


def _sources(graph: Graph, place: Place, region: Region, known: Mapping[Place, Shape],
             batch_size: int | None) -> list[tuple[Place, Region]]:  # fmt: skip
    """The part of each output that `region` of one output is made from."""
    call = graph.calls[place[0]]
    passed = call.outputs[place[1]].source
    if passed is not None:
        return [] if passed == place else [(passed, region)]
    ports = [(port.source, known.get(port.source or (-1, -1), port.shape)) for port in call.inputs]
    parts = _parts(graph, call, [shape for _, shape in ports], region, batch_size)
    return [(source, part) for (source, _), part in zip(ports, parts, strict=True) if source is not None]


def _parts(graph: Graph, call: Call, shapes: Sequence[Shape | None], region: Region, batch_size: int | None) -> list[Region]:
    """The part of each input of a call that `region` of its output depends on."""
    if not shapes or region.unknown:
        return [region] * len(shapes)
    sizes = [shape for shape in shapes if shape is not None]
    if len(sizes) < len(shapes):
        return [unknown(f"The shape of an input of this {call.type} is not known.")] * len(shapes)
    if _several_outputs(call):
        reason = f"{call.type} has several outputs, and which part of its input each is made from is not known."
        return [everything(size, region.axes[:1], reason) for size in sizes]
    return input_regions(described(graph, call, batch_size), sizes, region)


def _several_outputs(call: Call) -> bool:
    return len([port for port in call.outputs if port.kind != LOGITS]) > 1
