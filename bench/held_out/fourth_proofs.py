"""How the faults of the fourth suite are planted where `planting` has no tool for it, and the proofs by Keras and NumPy that they are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops, optimizers

from bench.case import Training

from .planting import STEPS
from .witness import Witness, readable


def since(step: int, change: Callable[[Any], None]) -> Callable[[], list[Any]]:
    """A callback that changes the model before a step and before every later one."""

    class Keeps(keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            if batch >= step:
                change(self.model)

    return lambda: [Keeps()]


def put_back() -> list[Any]:
    """A callback that gives the model its first weights before each step."""

    class PutsBack(keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_begin(self, logs: Any = None) -> None:
            self.first = self.model.get_weights()

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self.model.set_weights(self.first)

    return [PutsBack()]


def in_halves(make: Callable[[], Training]) -> Callable[[], Training]:
    """The same training in mixed_float16."""

    def made() -> Training:
        before = keras.config.dtype_policy()
        keras.config.set_dtype_policy("mixed_float16")
        try:
            return make()
        finally:
            keras.config.set_dtype_policy(before)

    return made


class OnlyFlat(optimizers.Adam):  # type: ignore[misc]
    """Adam that passes by all weights of four dimensions: the list of what must not decay, taken for the list of what must not change."""

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        if len(variable.shape) < 4:
            super().update_step(gradient, variable, learning_rate)


class Switched(optimizers.SGD):  # type: ignore[misc]
    """SGD with a switch for one layer's weights."""

    def __init__(self, rate: float, layer: str) -> None:
        super().__init__(rate)
        self.layer = layer
        self.switch = tf.Variable(1.0, trainable=False)

    def apply(self, grads: Any, trainable_variables: Any = None) -> Any:
        switch = [self.switch if self.layer in variable.path.split("/") else 1.0 for variable in trainable_variables]
        return super().apply([each * by for each, by in zip(grads, switch, strict=True)], trainable_variables)


class Noisy(layers.Layer):  # type: ignore[misc]
    """A hundredth of x under noise of deviation a half, in training and out of it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seeds = keras.random.SeedGenerator(5)

    def call(self, x: Any) -> Any:
        return 0.01 * x + keras.random.normal(ops.shape(x), stddev=0.5, seed=self.seeds)


def turned(x: Any) -> Any:
    """Rows and columns changed places, and the shape was put right with a reshape: each row holds numbers of other samples."""
    return ops.reshape(ops.transpose(x), ops.shape(x))


def finite(*arrays: Any) -> bool:
    return all(bool(np.isfinite(array).all()) for array in arrays)


def gradients(witness: Witness, step: int, *names: str) -> list[Any]:
    """The loss's gradients with respect to these layers' trainable weights in a step (None: none)."""
    witness.at(step)
    x, y = witness.batch(step)
    weights = [weight.value for name in names for weight in witness.layer(name).trainable_weights]
    with tf.GradientTape() as tape:
        loss = witness.model.compute_loss(x, y, witness.model(x, training=True))
    return list(tape.gradient(loss, weights))


def first_bad(witness: Witness, name: str, step: int) -> bool:
    """What a layer gets is finite in a step, what it puts out is not; before that step it was."""
    (before,), (put_in, put_out, _) = witness.flow(step - 1, name), witness.flow(step, name)[0]
    return finite(*witness.before[step], before[1], put_in) and not finite(put_out) and not finite(*witness.before[step + 1])


def first_bad_loss(witness: Witness, name: str, step: int) -> bool:
    """A layer's output and all weights are finite in a step, the loss is for the first time not."""
    return finite(*witness.before[step], witness.output(step, name), witness.losses[step - 1]) and not finite(
        witness.losses[step]
    )


def first_bad_gradient(witness: Witness, name: str, encoder: str, step: int) -> bool:
    """In a step a layer's output is finite and the gradients behind it, for the first time, are not."""
    earlier, now = gradients(witness, step - 1, encoder), gradients(witness, step, encoder)
    return finite(*witness.before[step], witness.output(step, name), *earlier) and not finite(*now)


def skipped(witness: Witness, step: int) -> bool:
    """No trainable weight changed in a step."""
    return not any(
        witness.moved(layer.name, step, which) for layer in witness.model.layers for which in range(len(layer.trainable_weights))
    )


def skipped_share(witness: Witness) -> float:
    return float(np.mean([skipped(witness, step) for step in range(STEPS)]))


def times(witness: Witness, name: str, step: int = 0) -> float:
    """By how much the error's l2 grows from a layer's output to its input."""
    put_in, put_out = witness.into(step, name)
    return put_in / put_out


def shrinks(witness: Witness, first: str, last: str) -> float:
    """The error's l2 at the output of `first` over that at the output of `last`, in the first step."""
    (_, _, deep), (_, _, late) = witness.flow(0, first, last)
    assert deep is not None and late is not None
    return float(np.linalg.norm(deep.astype(np.float64)) / np.linalg.norm(late.astype(np.float64)))


def cut(witness: Witness, *names: str) -> bool:
    """None of these layers gets a gradient, and none ever moves."""
    found = gradients(witness, 0, *names)
    return len(found) > 0 and all(gradient is None for gradient in found) and still(witness, *names)


def still(witness: Witness, *names: str, first: int = 0) -> bool:
    """The kernels (the first weights) of these layers are the same before and after every step from `first` on."""
    return not any(witness.moved(name, step) for name in names for step in range(first, STEPS))


def dead(witness: Witness, name: str, step: int) -> float:
    """The share of a layer's units (its last axis) that put out nothing but 0 in a step."""
    output = witness.output(step, name)
    return float(np.mean((output.reshape(-1, output.shape[-1]) == 0).all(0)))


def at_bounds(witness: Witness, name: str, step: int, low: float = -1) -> float:
    """The share of a layer's outputs within a hundredth of `low` or 1 in a step."""
    output = witness.output(step, name)
    return float(np.mean((output < low + 0.01) | (output > 0.99)))


def same(witness: Witness, name: str, step: int) -> bool:
    """All numbers that a layer puts out in a step are one number."""
    return float(np.ptp(witness.output(step, name))) == 0


def gain(witness: Witness, name: str) -> float:
    """The deviation of a layer's output in the first step over its input's root mean square."""
    put_in, put_out, _ = witness.flow(0, name)[0]
    return float(put_out.std() / np.sqrt(np.mean(put_in.astype(np.float64) ** 2)))


def ratios(witness: Witness, step: int, *names: str) -> tuple[float, float]:
    """The smallest and the largest of these layers' ||update|| / ||weight|| in a step."""
    found = [witness.ratio(name, step) for name in names]
    return min(found), max(found)


def stays(witness: Witness) -> bool:
    """The loss of the last ten steps is no lower than nine tenths of the first ten's."""
    return bool(np.mean(witness.losses[-10:]) > 0.9 * np.mean(witness.losses[:10]))


def loses(witness: Witness, name: str, by: float) -> bool:
    """Logistic regression reads the classes from what a layer gets, and so much worse from what it puts out, in the last twelve steps."""
    last = len(witness.losses)
    parts = [(*witness.flow(step, name)[0][:2], witness.batch(step)[1]) for step in range(last - 12, last)]
    put_in, put_out, labels = (np.concatenate(part) for part in zip(*parts, strict=True))
    return readable(put_in, labels) - readable(put_out, labels) > by
