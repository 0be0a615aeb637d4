"""Where layers are held: every layer that can be reached from a model, with the Python text that reaches it. Calls no layer."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tb_layerflow.log import paths

from . import families

_PLAIN_DEPTH = 3
"""How many plain Python objects in a row are looked into."""

_SKIPPED = ("tensorflow", "keras", "tf_keras", "numpy", "builtins", "threading", "weakref", "collections")


@dataclass(frozen=True)
class Reached:
    """A layer held by a model. `path` is made of names along the way, `access` is Python that reaches it from `model`."""

    layer: Any
    path: str
    access: str

    @property
    def is_input(self) -> bool:
        return type(self.layer).__name__ == "InputLayer"


def reachable(model: Any, text: str = "model") -> list[Reached]:
    """Every layer held by `model`, itself first (path `.`), each once, by its shortest way."""
    if not families.is_layer(model):
        return []
    found = [Reached(model, paths.ROOT, text)]
    seen = {id(model)}
    waiting = deque(found)
    while waiting:
        holder = waiting.popleft()
        for layer, reaching in _held(holder.layer, holder.access):
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            reached = Reached(layer, paths.child(holder.path, layer.name), reaching)
            found.append(reached)
            waiting.append(reached)
    return found


def find(model: Any, pattern: str) -> list[Reached]:
    """The layers whose path a name, a path or a glob matches, in the order in which they are held.

    Raises:
        LookupError: nothing matches; the sentence names the nearest.
    """
    found = reachable(model)
    everywhere = [reached.path for reached in found]
    matches = paths.find(everywhere, pattern)
    if not matches:
        nearest = paths.nearest(everywhere, pattern)
        hint = f" Nearest: {', '.join(nearest)}." if nearest else ""
        raise LookupError(f"No layer of {model.name!r} matches. Received: {pattern!r}.{hint}")
    return [found[index] for index in matches]


def _held(layer: Any, text: str) -> Iterator[tuple[Any, str]]:
    if _is_graph_model(layer):
        yield from _by_name(layer, text)
        return
    yield from _in_attributes(vars(layer), text, 0)
    if hasattr(layer, "get_layer"):
        yield from _by_name(layer, text)
    for position, below in enumerate(layer._flatten_layers(include_self=False, recursive=False)):
        yield below, f"list({text}._flatten_layers(include_self=False, recursive=False))[{position}]"


def _is_graph_model(layer: Any) -> bool:
    return hasattr(layer, "_run_through_graph") or hasattr(layer, "_functional") or getattr(layer, "_is_graph_network", False)


def _by_name(model: Any, text: str) -> Iterator[tuple[Any, str]]:
    layers = list(model.layers)
    names = [layer.name for layer in layers]
    for position, layer in enumerate(layers):
        yield layer, f"{text}.get_layer({layer.name!r})" if names.count(layer.name) == 1 else f"{text}.layers[{position}]"


def _in_attributes(attributes: Mapping[str, Any], text: str, depth: int) -> Iterator[tuple[Any, str]]:
    for name, value in attributes.items():
        if name.isidentifier() and not name.startswith(("_self_", "_tf_", "_tracker", "_layers", "_obj_", "__")):
            yield from _in_value(value, f"{text}.{name}", depth)


def _in_value(value: Any, text: str, depth: int) -> Iterator[tuple[Any, str]]:
    if families.is_layer(value):
        yield value, text
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            if families.is_layer(item) or isinstance(item, (list, tuple, Mapping)):
                yield from _in_value(item, f"{text}[{position}]", depth)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(key, (str, int)) and (families.is_layer(item) or isinstance(item, (list, tuple, Mapping))):
                yield from _in_value(item, f"{text}[{key!r}]", depth)
    elif depth < _PLAIN_DEPTH and hasattr(value, "__dict__") and _is_plain(value):
        yield from _in_attributes(vars(value), text, depth + 1)


def _is_plain(value: Any) -> bool:
    if isinstance(value, type) or callable(value):
        return False
    return type(value).__module__.split(".")[0] not in _SKIPPED
