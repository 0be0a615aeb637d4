"""Nested structures of tensors: flat lists in `tf.nest` order, with the key path of each leaf. Knows no layers and no graphs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

BATCH_PARTS = ("x", "y", "sample_weight")


def flatten(structure: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """The leaves of a nest with their key paths (`head/box`, `0`, or empty for a single leaf), in `tf.nest` order."""
    items = _items(structure)
    if items is None:
        return [(prefix, structure)]
    return [leaf for key, item in items for leaf in flatten(item, f"{prefix}/{key}" if prefix else str(key))]


def _items(structure: Any) -> list[tuple[Any, Any]] | None:
    """What a container holds, with keys, field names or positions, in `tf.nest` order; None for a leaf."""
    if isinstance(structure, Mapping):
        return [(key, structure[key]) for key in _sorted_keys(structure)]
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return [(field, getattr(structure, field)) for field in structure._fields]
    return list(enumerate(structure)) if isinstance(structure, (list, tuple)) else None


def batch_parts(batch: Any) -> dict[str, Any]:
    """The parts of what a step is given, by name, as Keras tells them: all of it is `x`, or it is a tuple of up to three."""
    parts = batch if isinstance(batch, tuple) and 1 <= len(batch) <= 3 else (batch,)
    return dict(zip(BATCH_PARTS, parts, strict=False))


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


def why_fixed(structure: Any, why: str = "") -> list[str]:
    """For each leaf why `refilled` cannot put another in its place, empty where it can."""
    items = _items(structure)
    if items is None:
        return [why]
    if not why and not _can_be_refilled(structure, [item for _, item in items]):
        why = f"in a container of type {type(structure).__name__}, which cannot be given other tensors"
    return [reason for _, item in items for reason in why_fixed(item, why)]


def refilled(structure: Any, leaves: Iterator[Any]) -> Any:
    """A nest of the same types and attributes with the next `leaves` in it.

    Lists and dicts are changed in place, so that whoever else keeps the same object goes on seeing what is in it; tuples are
    made anew past their `__new__`. None of the user's own methods is called.
    """
    items = _items(structure)
    if items is None:
        return next(leaves)
    olds = [item for _, item in items]
    if not _can_be_refilled(structure, olds):
        for _ in flatten(structure):
            next(leaves)
        return structure
    news = [refilled(item, leaves) for item in olds]
    changed = {id(old): new for old, new in zip(olds, news, strict=True) if new is not old}
    if not changed:
        return structure
    attributes = getattr(structure, "__dict__", {})
    attributes = attributes | {name: changed[id(value)] for name, value in attributes.items() if id(value) in changed}
    if isinstance(structure, tuple):
        structure = tuple.__new__(type(structure), news)
    else:
        base = list if isinstance(structure, list) else dict
        for (key, old), new in zip(items, news, strict=True):
            if new is not old:
                base.__setitem__(structure, key, new)
    if attributes:
        structure.__dict__.update(attributes)
    return structure


def _can_be_refilled(structure: Any, items: list[Any]) -> bool:
    """Whether a container keeps its items where Python's own tuple, list or dict keeps them, and nowhere else.

    What TensorFlow wraps to track it (the list that a `tf.Module` keeps) does not, and a changed one could not be saved.
    """
    base = next((base for base in (tuple, list, dict) if issubclass(type(structure), base)), None)
    if base is None or isinstance(structure, tf.__internal__.tracking.Trackable):
        return False
    try:
        kept = tuple.__new__(type(structure), structure) if base is tuple else structure
        keys = _sorted_keys(structure) if base is dict else range(base.__len__(kept))
        return len(keys) == len(items) and all(base.__getitem__(kept, key) is item for key, item in zip(keys, items, strict=True))
    except (TypeError, LookupError):
        return False


def arguments(call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    """The tensors that a call receives, with key paths: the first argument's own paths, the others' below their names.

    Boolean masks are left out: they say which elements count, and are not what flows through a layer.
    """
    try:
        bound = inspect.signature(call).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):
        bound = {str(index): value for index, value in enumerate(args)} | kwargs
    named: list[tuple[str, Any]] = []
    for position, (name, value) in enumerate(bound.items()):
        if position == 0:
            named += _seen(name, flatten(value))
        elif isinstance(value, Mapping) and name == "kwargs":
            named += [leaf for key in _sorted_keys(value) for leaf in _seen(key, flatten(value[key], key))]
        else:
            named += _seen(name, flatten(value, name))
    return [(key, leaf) for key, leaf in named if is_tensor(leaf)]


def _seen(name: str, leaves: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    if name == "training":
        return []
    masks = name == "mask" or name.endswith("_mask")
    return [(key, leaf) for key, leaf in leaves if not (masks and is_tensor(leaf) and leaf.dtype == tf.bool)]


def is_tensor(leaf: Any) -> bool:
    """Whether a leaf is a tensor of TensorFlow's, composite ones included."""
    return isinstance(leaf, (tf.Tensor, tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices, tf.Variable))
