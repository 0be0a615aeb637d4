"""A step that the flight recorder kept, ready to be run again: its batch as the model takes it, its weights in the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from tb_layerflow.log.kept_files import KeptStep

from . import nests


def batch_of(kept: KeptStep) -> tuple[Any, ...]:
    """The batch as `train_step` takes it: one to three parts, each an array, or a list or dict of them by its key paths."""
    parts = []
    for part in nests.BATCH_PARTS:
        found = {name.removeprefix(part).lstrip("/"): array for name, array in kept.batch.items() if name.split("/")[0] == part}
        if not found:
            break
        parts.append(_nest(found))
    return tuple(parts)


def _nest(leaves: dict[str, Any]) -> Any:
    if list(leaves) == [""]:
        return leaves[""]
    inner: dict[str, dict[str, Any]] = {}
    for key, leaf in leaves.items():
        first, _, rest = key.partition("/")
        inner.setdefault(first, {})[rest] = leaf
    if all(key.isdecimal() for key in inner):
        return [_nest(inner[key]) for key in sorted(inner, key=int)]
    return {key: _nest(below) for key, below in inner.items()}


def restore(kept: KeptStep, model: Any, others: Iterable[Any]) -> None:
    """Put the weights before the step's update into the model, which may be another one of the same layers.

    `others` are all variables, those of metrics and the optimizer too: what was not kept and is not finite becomes zero.

    Raises:
        ValueError: the model's variables are not those that were kept.
    """
    variables = list(model.variables)
    shapes = [tuple(variable.shape) for variable in variables]
    kept_shapes = [array.shape for _, array in kept.weights]
    common = min(len(shapes), len(kept_shapes))
    if shapes[:common] != kept_shapes[:common] or common < len(model.weights):
        raise ValueError(
            f"The model must have the variables of the kept step {kept.step}. Received: variables of shapes {shapes}; kept were "
            f"{[(name, array.shape) for name, array in kept.weights]}. Build the model as it was when it was recorded."
        )
    for variable, (_, array) in zip(variables, kept.weights, strict=False):  # metrics may not have been made yet
        variable.assign(np.asarray(array))
    restored = {id(variable) for variable in variables[:common]}
    for variable in others:
        if id(variable) in restored:
            continue
        value = tf.convert_to_tensor(variable)
        if value.dtype.is_floating and not bool(tf.reduce_all(tf.math.is_finite(value))):
            variable.assign(tf.zeros_like(value))
