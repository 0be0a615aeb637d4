"""What variables are worth as a step's forward pass uses them. Changes nothing that the step computes or that its tapes see."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record

from . import access, families, graphs
from .layer_table import own_weights
from .recording import Recording, identity_of


class KnownWeights:
    """The values of the variables of some models, read before the step runs, by `identity_of`.

    Those of layers that are built in the step, or that are out of the models' reach, are added when they are first called.
    """

    def __init__(self, models: list[Any], recording: Recording) -> None:
        self.values: dict[int, Any] = {}
        self._recording = recording
        self._met: dict[int, Any] = {}
        for model in models:
            for reached in access.reachable(model):
                self._add(reached.layer)
        recording.on_call.append(self._meet)

    def _meet(self, layer: Any) -> None:
        """A call of a layer (or of an operation, which has no weights) begins.

        Inside another graph (a loop's body, a function) nothing can be read for this one.
        """
        if id(layer) not in self._met and families.is_layer(layer) and graphs.current() is self._recording.graph:
            self._met[id(layer)] = layer  # held, so that no other layer gets this number
            self._add(layer)

    def _add(self, layer: Any) -> None:
        for variable in own_weights(layer):
            if identity_of(variable) not in self.values and is_numeric(variable):
                with record.stop_recording():  # a tape that watches what is read would find a variable that the step leaves alone
                    self.values[identity_of(variable)] = tf.identity(tf.convert_to_tensor(_uncast(variable)))


def is_numeric(variable: Any) -> bool:
    """Whether its values are numbers that have statistics."""
    dtype = tf.as_dtype(variable.dtype)
    return bool(dtype.is_floating or dtype.is_integer or dtype.is_bool)


def _uncast(variable: Any) -> Any:
    """TensorFlow's own variable: Keras's, read inside a layer's call, is cast to what the layer computes in."""
    for name in ("_value", "_variable"):  # Keras 3, and tf_keras's AutoCastVariable
        inner = getattr(variable, name, None)
        if isinstance(inner, tf.Variable):
            return inner
    return variable
