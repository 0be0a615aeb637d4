"""How a fault gets into a model of this suite: a plan of changes, and the layers and callbacks that plans use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from bench.case import BATCH, Training

from .material import in_order

STEPS = 60


@dataclass(frozen=True)
class Plan:
    """What is changed in a model: arguments of named layers, layers put behind them, the optimizer, the rows, callbacks."""

    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    behind: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    instead: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    optimizer: Callable[[], Any] | None = None
    rows: Callable[[Any, Any], None] | None = None
    callbacks: Callable[[], Iterable[Any]] = tuple
    model: Any = keras.Model
    options: Mapping[str, Any] = field(default_factory=dict)

    def put(self, x: Any, kind: Any, *args: Any, **kwargs: Any) -> Any:
        """One layer and what stands behind it, applied to `x`."""
        name = kwargs["name"]
        layer = self.instead[name]() if name in self.instead else kind(*args, **{**kwargs, **self.arguments.get(name, {})})
        x = layer(x)
        return self.behind[name]()(x) if name in self.behind else x

    def finished(
        self, inputs: Any, outputs: Any, x: Any, y: Any, loss: Any, optimizer: Any, seed: int, steps: int = STEPS
    ) -> Training:
        x, y = in_order(x, y, steps * BATCH, seed)
        if self.rows is not None:
            self.rows(x, y)
        model = self.model(inputs, outputs)
        model.compile(self.optimizer() if self.optimizer else optimizer, loss, **self.options)
        return Training(model, x, y, tuple(self.callbacks()))


def from_step(step: int, change: Callable[[Any], None]) -> Callable[[], list[Any]]:
    """A callback that changes the model just before a step."""

    class Changes(keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            if batch == step:
                change(self.model)

    return lambda: [Changes()]


def frozen(value: float) -> Any:
    return {"initializer": keras.initializers.Constant(value), "trainable": False}


class Gate(keras.layers.Layer):  # type: ignore[misc]
    """x, times `forward` on the way there and times `backward` on the way back."""

    def __init__(self, forward: float = 1.0, backward: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.forward = self.add_weight(shape=(), name="forward", **frozen(forward))
        self.backward = self.add_weight(shape=(), name="backward", **frozen(backward))

    def call(self, x: Any) -> Any:
        return self.forward * (self.backward * x + ops.stop_gradient((1 - self.backward) * x))


class Turns(keras.layers.Layer):  # type: ignore[misc]
    """Gradient reversal (Ganin and Lempitsky 2015): x, and the error times -strength."""

    def __init__(self, strength: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.strength = strength

    def call(self, x: Any) -> Any:
        @tf.custom_gradient
        def turned(value: Any) -> Any:
            return tf.identity(value), lambda error: -self.strength * error

        return turned(x)


class Pulled(keras.layers.Dense):  # type: ignore[misc]
    """A dense layer whose weights get their gradient times `pull`."""

    def __init__(self, units: int, pull: float, **kwargs: Any) -> None:
        super().__init__(units, **kwargs)
        self.start = pull

    def build(self, shape: Any) -> None:
        self.pull = self.add_weight(shape=(), name="pull", **frozen(self.start))
        super().build(shape)

    def call(self, x: Any) -> Any:
        kernel, bias = (self.pull * w + ops.stop_gradient((1 - self.pull) * w) for w in (self._kernel, self.bias))
        return self.activation(ops.matmul(x, kernel) + bias)


class Shown(keras.layers.Layer):  # type: ignore[misc]
    """A layer made of one function."""

    def __init__(self, function: Callable[[Any], Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.function = function

    def call(self, x: Any) -> Any:
        return self.function(x)


def drawn(shape: Any, dtype: Any = None) -> Any:
    """The same random kernel at every call: an initializer."""
    return ops.cast(np.random.default_rng(4).normal(0, 0.15, tuple(shape)), dtype or "float32")


class Holds(keras.constraints.Constraint):  # type: ignore[misc]
    """A constraint that lets a kernel be nothing but `drawn`."""

    def __call__(self, weight: Any) -> Any:
        return drawn(weight.shape, weight.dtype)


def forgets(name: str) -> type:
    """A model whose own train_step applies the gradients of every layer but one."""

    class Forgets(keras.Model):  # type: ignore[misc]
        def train_step(self, batch: Any) -> Any:
            x, y = batch
            left_out = {id(weight) for weight in self.get_layer(name).trainable_weights}
            chosen = [weight for weight in self.trainable_variables if id(weight) not in left_out]
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x, y, self(x, training=True))
            self.optimizer.apply_gradients(zip(tape.gradient(loss, chosen), chosen, strict=True))
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(loss)
            return {metric.name: metric.result() for metric in self.metrics}

    return Forgets
