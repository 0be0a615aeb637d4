"""The microscope over a record: joins the arithmetic of `analysis` with recorded inputs, weights and outputs. Knows no files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis.explain import checked_index, explain
from tb_layerflow.analysis.explanation import Explanation, Unexplained
from tb_layerflow.analysis.layer_description import LayerDescription
from tb_layerflow.log.records import Record

from .graph import Graph

Reading = Callable[[str, int, int], "NDArray[np.generic] | None"]
"""(kind, call or layer, port) → the recorded array, None where it was not recorded."""


def explained(
    graph: Graph, record: Record, call: int, port: int, index: Sequence[int], shape: Sequence[int], recorded: float | None,
    read: Reading,
) -> Explanation | Unexplained:  # fmt: skip
    """How one number of a recorded output came about.

    `shape` is the recorded output's, `recorded` its number at `index`. What is missing in the record is said in the reason.
    IndexError where the index is outside of what was kept.
    """
    one = graph.record.calls[call]
    place = checked_index(index, shape)
    if port:
        return Unexplained(one.type, f"The microscope explains the first output of a call; this is output {port}.", recorded)
    if any(other.parent == call and not other.is_in_loop for other in graph.record.calls):
        return Unexplained(one.type, f"{one.name} is a group of calls: look at the call inside that made this output.", recorded)
    inputs = [read("input", call, number) for number in range(len(one.inputs))]
    missing = [number for number, array in enumerate(inputs) if array is None]
    if missing:
        what = "input" if len(inputs) == 1 else f"input {missing[0]}"
        return Unexplained(one.type, f"The {what} of this {one.type} was not recorded, or was cut.", recorded)
    layer, lacking = _described(graph, record, call, read)
    if lacking:
        return Unexplained(one.type, f"The weight {lacking!r} of this {one.type} was not recorded, or was cut.", recorded)
    found = explain(layer, [array for array in inputs if array is not None], place, recorded=recorded, output_shape=shape)
    return replace(found, recorded=recorded)


def _described(graph: Graph, record: Record, call: int, read: Reading) -> tuple[LayerDescription, str]:
    """The layer as this call ran it, and the name of the first weight that is missing (empty: none is)."""
    one = graph.record.calls[call]
    common = {"kind": one.kind, "training": one.training, "batch_size": record.batch_size or None}
    family = graph.record.execution.family or "keras"
    if one.layer is None:
        return LayerDescription(one.type, family=family, **common), ""  # type: ignore[arg-type]
    layer = graph.record.layers[one.layer]
    weights: dict[str, NDArray[np.generic]] = {}
    for number, weight in enumerate(layer.weights):
        array = read("weight", one.layer, number)
        if array is None:
            return LayerDescription(one.type), weight.name
        weights[weight.name if weight.name not in weights else f"{number}/{weight.name}"] = array
    return (
        LayerDescription(
            layer.type,
            _settings(layer.config),
            weights,
            trainable=layer.trainable,
            dtype_policy=layer.dtype_policy or "float32",
            family=family,
            module=layer.module,
            **common,  # type: ignore[arg-type]
        ),
        "",
    )


def _settings(config: str) -> dict[str, object]:
    try:
        found = json.loads(config) if config else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
