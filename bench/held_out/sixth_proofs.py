"""How the faults of the sixth suite are planted where `planting` has no tool for it, and proofs that earlier suites have not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from . import fourth_proofs as proofs
from .fourth_proofs import finite, gradients
from .witness import Witness


def sinking(first: int, of: int, to: float) -> Callable[..., np.ndarray]:
    """An initializer of a bias: `to` for the first units, 0 for the others."""
    return lambda shape, dtype=None: np.where(np.arange(of) < first, to, 0).astype(np.float32)


def sinks(name: str, weight: str, first: int, to: float) -> Callable[[Any], None]:
    """A change that sets the first numbers of a layer's weight, and leaves the others."""

    def change(model: Any) -> None:
        variable = getattr(inner(model, name), weight)
        value = variable.numpy()
        value[:first] = to
        variable.assign(value)

    return change


def inner(model: Any, name: str) -> Any:
    """The layer at a path."""
    for part in name.split("/"):
        model = model.get_layer(part)
    return model


def louder(name: str, weight: str, by: float) -> Callable[[Any], None]:
    """A change that multiplies a layer's weight."""

    def change(model: Any) -> None:
        variable = getattr(inner(model, name), weight)
        variable.assign(variable * by)

    return change


def put(name: str, weight: str, value: Any) -> Callable[[Any], None]:
    """A change that gives all numbers of a layer's weight one value."""

    def change(model: Any) -> None:
        variable = getattr(inner(model, name), weight)
        variable.assign(ops.full(variable.shape, value))

    return change


class Outside(keras.layers.Layer):  # type: ignore[misc]
    """The sine of x as NumPy computes it: TensorFlow knows no way back."""

    def call(self, x: Any) -> Any:
        answer = tf.numpy_function(np.sin, [x], x.dtype)
        answer.set_shape(x.shape)
        return answer

    def compute_output_spec(self, x: Any) -> Any:
        return keras.KerasTensor(x.shape, x.dtype)


def broken_inside(witness: Witness, name: str, step: int) -> bool:
    """In a step one layer's kernel, and no other layer's, is for the first time not finite, and so is its loss."""
    kernel = witness.weights(name, step)[0]
    bad = sum(not finite(each) for each in witness.before[step])
    earlier = all(finite(*each) for each in witness.before[:step])
    return earlier and bad == 1 and not finite(kernel) and finite(*witness.losses[:step]) and not finite(witness.losses[step])


def gradient_size(witness: Witness, step: int, name: str) -> float:
    """The l2 of the loss's gradient with respect to a layer's trainable weights in a step."""
    found = gradients(witness, step, name)
    return float(np.sqrt(sum(np.sum(np.asarray(each, np.float64) ** 2) for each in found)))


def jumps(witness: Witness, name: str, step: int) -> float:
    """By how much the gradient of a layer's weights is larger in a step than in the one before."""
    return gradient_size(witness, step, name) / gradient_size(witness, step - 1, name)


def turns_at(witness: Witness, measure: Callable[[int], float], step: int, above: float, below: float) -> bool:
    """A measure is below one bound in all of the five steps before this one, and above the other in it and in the last."""
    earlier = max(measure(at) for at in range(max(step - 5, 0), step)) if step else below - 1
    return earlier < below and min(measure(step), measure(len(witness.losses) - 1)) > above


def dies_at(witness: Witness, name: str, step: int, share: float = 0.85, before: float = 0.4) -> bool:
    """The share of a layer's units that are silent for a whole batch jumps in a step, and stays."""
    return turns_at(witness, lambda at: proofs.dead(witness, name, at), step, share - 1e-6, before)


def small_from(witness: Witness, step: int, *names: str) -> bool:
    """In the ten steps from this one, no layer's largest weight moves by a hundred thousandth of itself, and each moves."""
    found = [witness.ratio(name, at) for name in names for at in range(step, step + 10)]
    return min(found) > 0 and max(found) < 1e-5


def flat_output(witness: Witness, name: str, step: int) -> bool:
    """A layer puts out one number, but for rounding, for an input of many."""
    put_in, put_out, _ = witness.flow(step, name)[0]
    return float(np.ptp(put_out)) < 1e-5 and float(np.ptp(put_in)) > 1


def alike_in_batch(witness: Witness, name: str) -> bool:
    """In the first and the last step a layer puts out the same for every sample of the batch."""
    outputs = [witness.output(step, name) for step in (0, len(witness.losses) - 1)]
    return all(float(np.ptp(output, axis=0).max()) < 1e-5 for output in outputs)


def silent_turns(witness: Witness, step: int) -> float:
    """The share of the units of `tied`'s layer that put out nothing but 0 in the first two of its three calls in a step."""
    witness.at(step)
    model = witness.model
    first = model.lift(witness.batch(step)[0])
    turned = model.turn(first)
    outputs = np.concatenate([turned.numpy(), model.turn(first + turned).numpy()])
    return float(np.mean((outputs == 0).all(0)))
