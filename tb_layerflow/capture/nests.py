"""Nested structures of tensors: flat lists in `tf.nest` order, with the key path of each leaf. Knows no layers and no graphs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

UNSEEN_ARGUMENTS = frozenset({"training", "mask"})
"""Arguments of a layer's `call` that are not what flows through it."""


def flatten(structure: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """The leaves of a nest with their key paths (`head/box`, `0`, or empty for a single leaf), in `tf.nest` order."""
    if isinstance(structure, Mapping):
        items = [(str(key), structure[key]) for key in _sorted_keys(structure)]
    elif isinstance(structure, tuple) and hasattr(structure, "_fields"):
        items = [(field, getattr(structure, field)) for field in structure._fields]
    elif isinstance(structure, (list, tuple)):
        items = [(str(index), item) for index, item in enumerate(structure)]
    else:
        return [(prefix, structure)]
    return [leaf for key, item in items for leaf in flatten(item, f"{prefix}/{key}" if prefix else key)]


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def map_leaves(transform: Callable[[int, Any], Any], structure: Any) -> Any:
    """The same nest with each leaf replaced by `transform(port, leaf)`; the very same object where no leaf changed."""
    leaves = [leaf for _, leaf in flatten(structure)]
    mapped = [transform(port, leaf) for port, leaf in enumerate(leaves)]
    if all(new is old for new, old in zip(mapped, leaves, strict=True)):
        return structure
    if len(leaves) == 1 and leaves[0] is structure:
        return mapped[0]
    return _packed(structure, iter(mapped))


def packed(structure: Any, leaves: list[Any]) -> Any:
    """The same nest with other leaves, as many as it has."""
    return _packed(structure, iter(leaves))


def _packed(structure: Any, leaves: Any) -> Any:
    if isinstance(structure, Mapping):
        packed = {key: _packed(structure[key], leaves) for key in _sorted_keys(structure)}
        ordered = {key: packed[key] for key in structure}
        return ordered if type(structure) is dict else _rebuilt(structure, ordered)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*[_packed(item, leaves) for item in structure])
    if isinstance(structure, (list, tuple)):
        items = [_packed(item, leaves) for item in structure]
        return tuple(items) if isinstance(structure, tuple) else items
    return next(leaves)


def _rebuilt(mapping: Any, items: dict[Any, Any]) -> Any:
    try:
        return type(mapping)(items)
    except TypeError:
        return items


def arguments(call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    """The tensors that a call receives, with key paths: the first argument's own paths, the others' below their names."""
    try:
        bound = inspect.signature(call).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):
        bound = {str(index): value for index, value in enumerate(args)} | kwargs
    named: list[tuple[str, Any]] = []
    for position, (name, value) in enumerate(bound.items()):
        if name in UNSEEN_ARGUMENTS or name.endswith("_mask"):
            continue
        if position == 0:
            named += flatten(value)
        elif isinstance(value, Mapping) and name == "kwargs":
            named += flatten({key: item for key, item in value.items() if key not in UNSEEN_ARGUMENTS})
        else:
            named += flatten(value, name)
    return [(key, leaf) for key, leaf in named if is_tensor(leaf)]


def is_tensor(leaf: Any) -> bool:
    """Whether a leaf is a tensor of TensorFlow's, composite ones included."""
    return isinstance(leaf, (tf.Tensor, tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices, tf.Variable))
