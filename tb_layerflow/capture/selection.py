"""Which calls to record: the forms of `layers`. Knows no TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tb_layerflow.log import paths, records

from . import access, families


class UnknownLayer(ValueError):
    """A name, path or pattern in `layers` matches no call."""


class Selection:
    """Decides for each call whether `layers` chose it.

    Args:
        layers: None for all; or names, paths, globs, layer objects, layer classes, a callable of the layer, or a list of those.

    Raises:
        TypeError: something in it is none of these.
    """

    def __init__(self, layers: Any = None) -> None:
        self.everything = layers is None
        self.patterns: list[str] = []
        self._objects: list[Any] = []
        self._classes: list[type] = []
        self._rules: list[Any] = []
        for item in [] if layers is None else listed(layers):
            if isinstance(item, str):
                self.patterns.append(item)
            elif isinstance(item, type):
                self._classes.append(item)
            elif families.is_layer(item):
                self._objects.append(item)
            elif callable(item):
                self._rules.append(item)
            else:
                raise TypeError(
                    "layers must hold names, paths, globs, layers, layer classes or callables. "
                    f"Received: {item!r} (of type {type(item).__name__})."
                )

    def __call__(self, call: records.Call, layer: Any) -> bool:
        """Whether the call is chosen; `layer` is its layer object, None for inputs and taps."""
        if self.everything:
            return True
        if any(paths.find([call.path], pattern) for pattern in self.patterns):
            return True
        if layer is None:
            return False
        if any(layer is chosen for chosen in self._objects) or isinstance(layer, tuple(self._classes)):
            return True
        return any(bool(rule(layer)) for rule in self._rules)

    def unmatched(self, graph: records.Graph) -> list[str]:
        """One sentence for each pattern that matches no call of the graph, with the nearest matches."""
        everywhere = [call.path for call in graph.calls]
        sentences = []
        for pattern in self.patterns:
            if not paths.find(everywhere, pattern):
                nearest = paths.nearest(everywhere, pattern)
                hint = f" Nearest: {', '.join(nearest)}." if nearest else ""
                sentences.append(f"layers: no call of {graph.model!r} matches {pattern!r}.{hint}")
        return sentences


class OfModels(Selection):
    """A selection narrowed to the calls of some models: those of others keep their structure, and have no numbers.

    `models` may grow; asked about the calls of a graph in their order.
    """

    def __init__(self, chosen: Selection, models: list[Any]) -> None:
        super().__init__()
        self.everything = False
        self._chosen = chosen
        self._models = models
        self._held: set[int] = set()
        self._answers: dict[str, bool] = {}

    def __call__(self, call: records.Call, layer: Any) -> bool:
        """Whether the call is of one of the models or inside such a call, and chosen. Taps always count, an input as its root."""
        if call.parent is None:
            self._answers.clear()
            self._held = {id(found.layer) for model in self._models for found in access.reachable(model)}
        parent = call.path.rpartition("/")[0] or paths.ROOT
        if layer is None:
            ours = call.kind != "input" or self._answers.get(parent, True)
        else:
            ours = id(layer) in self._held or self._answers.get(parent, False)
        self._answers[call.path] = ours
        return ours and self._chosen(call, layer)

    def unmatched(self, graph: records.Graph) -> list[str]:
        """As the selection says."""
        return self._chosen.unmatched(graph)


def listed(layers: Any) -> list[Any]:
    """What `layers` holds. TypeError where it is none of its forms."""
    if isinstance(layers, (str, type)) or families.is_layer(layers) or callable(layers):
        return [layers]
    if isinstance(layers, Iterable):
        return list(layers)
    raise TypeError(
        "layers must be None, a name, a path, a glob, a layer, a layer class, a callable, or a list of those. "
        f"Received: {layers!r} (of type {type(layers).__name__})."
    )
