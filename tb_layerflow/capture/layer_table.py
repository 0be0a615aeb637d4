"""The layers of a recording: those that were called, and those of the model that were not, with their weights and their
access.
"""

from __future__ import annotations

from typing import Any

from tb_layerflow.analysis.layer_description import wanted_config
from tb_layerflow.log import paths, records

from . import access
from .calls import Node


class LayerTable:
    """Collects layer objects in the order of their first call."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._reached = {id(found.layer): found for found in access.reachable(model)} if model is not None else {}
        self._objects: list[Any] = []
        self._index: dict[int, int] = {}
        self._paths: list[str] = []

    def index_of(self, node: Node) -> int | None:
        """The layer of a call; Keras operations have none."""
        if node.kind != "layer":
            return None
        layer = node.layer
        if id(layer) not in self._index:
            self._index[id(layer)] = len(self._objects)
            self._objects.append(layer)
            self._paths.append(paths.layer_path(node.path))
        return self._index[id(layer)]

    def finish(self) -> tuple[list[records.Layer], list[Any]]:
        """All layers, with the model's uncalled ones at the end; and the layer objects beside them."""
        described = [self._describe(layer, path, True) for layer, path in zip(self._objects, self._paths, strict=True)]
        objects = list(self._objects)
        for found in self._reached.values():
            if id(found.layer) not in self._index and not found.is_input:
                described.append(self._describe(found.layer, found.path, False))
                objects.append(found.layer)
        return described, objects

    def _describe(self, layer: Any, path: str, called: bool) -> records.Layer:
        found = self._reached.get(id(layer))
        return records.Layer(
            path=path,
            name=layer.name,
            type=type(layer).__name__,
            called=called,
            trainable=bool(layer.trainable),
            weights=[weight_of(variable) for variable in own_weights(layer)],
            access=found.access if found else "",
            config=config_of(layer),
            module=type(layer).__module__,
            dtype_policy=_dtype_policy(layer),
        )


def config_of(layer: Any) -> str:
    """The settings that the microscope reads, as JSON; empty where the layer cannot say them.

    Keras 3.3 leaves a transposed convolution's `output_padding` out of its config.
    """
    try:
        own = {"output_padding": layer.output_padding} if hasattr(layer, "output_padding") else {}
        return wanted_config({**own, **layer.get_config()})
    except Exception:  # a user's own layer may raise whatever it likes
        return ""


def own_weights(layer: Any) -> list[Any]:
    """The variables of a layer that no layer below it has, in the order of `layer.weights`."""
    below = {id(variable) for inner in layer._flatten_layers(include_self=False) for variable in inner.weights}
    return [variable for variable in layer.weights if id(variable) not in below]


def weight_of(variable: Any) -> records.Weight:
    """One variable as it is listed."""
    name = str(variable.name).rpartition("/")[2].partition(":")[0]
    shape = tuple(-1 if size is None else int(size) for size in variable.shape)
    dtype = variable.dtype if isinstance(variable.dtype, str) else variable.dtype.name
    return records.Weight(name, shape, dtype, bool(variable.trainable))


def _dtype_policy(layer: Any) -> str:
    policy = getattr(layer, "dtype_policy", None)
    return str(getattr(policy, "name", "") or "")
