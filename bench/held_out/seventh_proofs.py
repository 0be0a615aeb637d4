"""How the faults of the seventh suite are planted where `planting` has no tool for it, and proofs that earlier suites have not."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from .fourth_proofs import finite
from .witness import Witness


class Spikes(keras.layers.Layer):  # type: ignore[misc]
    """1 where x is above 0, or else 0; on the way back a straight line of this slope is taken for the step (a surrogate gradient)."""

    def __init__(self, slope: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.slope = slope

    def call(self, x: Any) -> Any:
        @tf.custom_gradient
        def spikes(value: Any) -> Any:
            return tf.cast(value > 0, value.dtype), lambda error: self.slope * error

        return spikes(x)


def safe_log(x: Any) -> Any:
    """The logarithm where there is one, 0 elsewhere: on the way there."""
    return ops.where(x > 0, ops.log(x), 0.0)


def mixed_up(x: Any) -> Any:
    """Time and batch changed places, and the shape was put right with a reshape."""
    return ops.reshape(ops.transpose(x, (1, 0, *range(2, len(x.shape)))), ops.shape(x))


def broken_variable(witness: Witness, step: int) -> bool:
    """In a step one variable, and none before it, is not finite, and so is the loss for the first time."""
    bad = sum(not finite(each) for each in witness.before[step])
    earlier = all(finite(*each) for each in witness.before[:step])
    return earlier and bad == 1 and finite(*witness.losses[:step]) and not finite(witness.losses[step])


def alike(witness: Witness, name: str) -> bool:
    """All channels of a layer put out the same in the first step, for inputs that differ."""
    put_in, put_out, _ = witness.flow(0, name)[0]
    return float(np.ptp(put_out, axis=-1).max()) < 1e-4 and float(np.ptp(put_in)) > 0.1
