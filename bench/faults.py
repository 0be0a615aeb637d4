"""Faulty trainings on which thresholds are set: small models on scikit-learn's real data, each with a single fault planted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn import datasets

from .case import BATCH, Case, Training

STEPS = 40
PLANTED = 12
"""The step at which faults that begin during training begin."""
ANYWHERE = ("*",)
WITHOUT_A_STEP = ("worse_readout", "loss_does_not_fall")
"""Rules that look at a training's end: they name no step at which the fault began."""


# ---------------------------------------------------------------------------------------------------------------- layers


class Amplifies(layers.Layer):
    """Passes on what it gets, and multiplies the error on its way back."""

    def __init__(self, factor: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, numbers: Any) -> Any:
        @tf.custom_gradient
        def scaled(given: Any) -> Any:
            return tf.identity(given), lambda error: error * self.factor

        return scaled(numbers)


class Poisons(layers.Layer):
    """Passes on what it gets, from step PLANTED on with one number that is none."""

    def __init__(self, value: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.value = value
        self.count = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False, name="count")

    def call(self, numbers: Any, training: bool = False) -> Any:
        add = tf.where(self.count >= PLANTED, self.value, 0.0) if training else 0.0
        if training:
            self.count.assign_add(1)
        return numbers + tf.cast(add, numbers.dtype)


class RootOfRectified(layers.Layer):
    """sqrt(relu(x)): finite forward, infinite backward where x is not positive."""

    def call(self, numbers: Any) -> Any:
        return tf.sqrt(tf.nn.relu(numbers))


class Flat(layers.Layer):
    """The same number everywhere."""

    def call(self, numbers: Any) -> Any:
        return numbers * 0.0 + 0.7


class Noise(layers.Layer):
    """Noise in place of what it gets."""

    def call(self, numbers: Any) -> Any:
        return tf.random.stateless_normal(tf.shape(numbers), [1, 2]) + 0.0 * tf.stop_gradient(numbers)


class Stops(layers.Layer):
    """Lets no error through."""

    def call(self, numbers: Any) -> Any:
        return tf.stop_gradient(numbers)


class Frozen(layers.Dense):
    """A dense layer whose gradients are zero though it is trainable."""

    def call(self, numbers: Any, **kwargs: Any) -> Any:
        kernel = tf.stop_gradient(self.kernel) + 0.0 * self.kernel
        bias = tf.stop_gradient(self.bias) + 0.0 * self.bias
        return self.activation(tf.matmul(numbers, kernel) + bias)


# --------------------------------------------------------------------------------------------------------- architectures


@dataclass
class Fault:
    """What is changed in an architecture: arguments of a layer, layers put behind one, the optimizer, the labels."""

    change: dict[str, dict[str, Any]] = field(default_factory=dict)
    behind: dict[str, Callable[[], layers.Layer]] = field(default_factory=dict)
    replace: dict[str, type[layers.Layer]] = field(default_factory=dict)
    optimizer: Callable[[], Any] | None = None
    labels: Callable[[np.ndarray], np.ndarray] | None = None
    policy: str = "float32"


def _dense(fault: Fault, x: Any, name: str, units: int, **kwargs: Any) -> Any:
    settings = {"activation": "relu", "kernel_initializer": "he_normal", **kwargs, **fault.change.get(name, {})}
    x = fault.replace.get(name, layers.Dense)(units, name=name, dtype=fault.policy, **settings)(x)
    return fault.behind[name]()(x) if name in fault.behind else x


def _finished(
    x: Any, fault: Fault, inputs: Any, classes: int, optimizer: Any, data: tuple[Any, Any]
) -> tuple[keras.Model, Any, Any]:
    features, labels = data
    head = layers.Dense(classes, name="head", dtype="float32")(x)
    model = keras.Model(inputs, head)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True) if classes > 1 else "mse"
    model.compile(fault.optimizer() if fault.optimizer else optimizer, loss)
    return model, features, fault.labels(labels) if fault.labels else labels


def digits_mlp(fault: Fault, seed: int = 0) -> tuple[keras.Model, Any, Any]:
    """Three rectified layers on digits, by momentum."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64,), name="pixels")
    x = _dense(fault, inputs, "h1", 32)
    x = _dense(fault, x, "h2", 32)
    x = _dense(fault, x, "h3", 24)
    return _finished(x, fault, inputs, 10, keras.optimizers.SGD(0.05, momentum=0.9), digits())


def cancer_mlp(fault: Fault, seed: int = 11) -> tuple[keras.Model, Any, Any]:
    """Five rectified layers on a table, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((30,), name="measures")
    x = _dense(fault, inputs, "h1", 24)
    for name in ("h2", "h3", "h4", "h5"):
        x = _dense(fault, x, name, 20)
    return _finished(x, fault, inputs, 2, keras.optimizers.Adam(2e-3), table(datasets.load_breast_cancer))


def digits_conv(fault: Fault, seed: int = 12) -> tuple[keras.Model, Any, Any]:
    """A convolution with batch normalisation before three rectified layers, by AdamW."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64,), name="pixels")
    x = layers.Reshape((8, 8, 1))(inputs)
    x = layers.Conv2D(8, 3, activation="relu", name="conv")(x)
    x = layers.BatchNormalization(name="normal")(x)
    x = layers.Flatten(name="flat")(x)
    for name, units in (("h1", 48), ("h2", 32), ("h3", 32)):
        x = _dense(fault, x, name, units)
    return _finished(x, fault, inputs, 10, keras.optimizers.AdamW(1e-3), digits())


def wine_residual(fault: Fault, seed: int = 13) -> tuple[keras.Model, Any, Any]:
    """Rectified layers with a residual branch, by RMSprop."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((13,), name="measures")
    x = _dense(fault, inputs, "h1", 32)
    x = _dense(fault, x, "h2", 32)
    x = layers.Add(name="add")([x, layers.Dense(32, activation="relu", name="side")(x)])
    x = _dense(fault, x, "h3", 16)
    return _finished(x, fault, inputs, 3, keras.optimizers.RMSprop(1e-3), table(datasets.load_wine))


ARCHITECTURES = {"digits mlp": digits_mlp, "cancer mlp": cancer_mlp, "digits conv": digits_conv, "wine residual": wine_residual}


def digits() -> tuple[np.ndarray, np.ndarray]:
    """1,797 handwritten digits: float32 [samples, 64] in 0 … 1, and their classes."""
    x, y = datasets.load_digits(return_X_y=True)
    return (x / 16.0).astype("float32"), y


def table(load: Any) -> tuple[np.ndarray, np.ndarray]:
    """A table of numbers, each column of mean 0 and deviation 1, and its labels."""
    x, y = load(return_X_y=True)
    return ((x - x.mean(0)) / x.std(0)).astype("float32"), y


# ----------------------------------------------------------------------------------------------------------------- faults

HIDDEN = ("h1", "h2", "h3", "h4", "h5")
STUCK = ("unchanged_weights", "vanishing_errors", "loss_does_not_fall", "update_too_small")
"""What follows where nothing gets through."""
WILD = ("exploding_errors", "vanishing_errors", "poor_initialisation", "saturated", "dead_units", "loss_does_not_fall",
        "update_too_small", "update_too_large", "constant", "worse_readout")  # fmt: skip
"""What follows where numbers are far out of scale."""


def _faults() -> Iterator[tuple[str, str, Fault, tuple[str, ...], int, tuple[str, ...]]]:
    """(name, rule, fault, where it may be named, from which step, what follows)."""
    nan, inf = float("nan"), float("inf")
    yield (
        "NaN forward",
        "non_finite",
        Fault(behind={"h2": lambda: Poisons(nan, name="bad")}),
        ("bad",),
        PLANTED,
        ("worse_readout",),
    )
    yield (
        "infinity forward",
        "non_finite",
        Fault(behind={"h3": lambda: Poisons(inf, name="bad")}),
        ("bad",),
        PLANTED,
        ("worse_readout",),
    )
    yield (
        "infinity backward",
        "non_finite",
        Fault(behind={"h2": lambda: RootOfRectified(name="root")}),
        ("h2",),
        0,
        ("worse_readout",),
    )
    scaling = Fault(optimizer=lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.01), initial_scale=2.0**60),
                    policy="mixed_float16")  # fmt: skip
    yield "scale too large", "loss_scaler_skips", scaling, (".",), 0, STUCK
    yield "amplified", "exploding_errors", Fault(behind={"h2": lambda: Amplifies(1e5, name="louder")}), ("louder",), 0, (
        *WILD, "non_finite", "update_too_large")  # fmt: skip
    yield "faded", "vanishing_errors", Fault(behind={"h2": lambda: Amplifies(1e-7, name="fainter")}), ("fainter",), 0, STUCK
    yield "dead", "dead_units", Fault(change={"h2": {"bias_initializer": keras.initializers.Constant(-80.0)}}), ("h2",), 0, (
        *STUCK, "constant", "poor_initialisation", "worse_readout")  # fmt: skip
    wide = keras.initializers.RandomNormal(0.0, 30.0, seed=3)
    yield "saturated", "saturated", Fault(change={"h2": {"activation": "tanh", "kernel_initializer": wide}}), ("h2",), 0, WILD
    yield "flat", "constant", Fault(behind={"h2": lambda: Flat(name="flattened")}), ("flattened",), 0, (*STUCK, "worse_readout")
    huge = keras.initializers.RandomNormal(0.0, 60.0, seed=3)
    yield "huge kernel", "poor_initialisation", Fault(change={"h2": {"kernel_initializer": huge}}), ("h2",), 0, WILD
    alike = keras.initializers.Constant(0.05)
    yield "equal units", "poor_initialisation", Fault(change={"h2": {"kernel_initializer": alike}}), ("h2",), 0, (
        "worse_readout", "loss_does_not_fall")  # fmt: skip
    yield "frozen", "unchanged_weights", Fault(replace={"h2": Frozen}), ("h2",), 0, ("loss_does_not_fall",)
    yield "rate too large", "update_too_large", Fault(optimizer=lambda: keras.optimizers.Adam(1.0)), HIDDEN, 0, (
        *WILD, "unchanged_weights", "non_finite")  # fmt: skip
    yield "rate too small", "update_too_small", Fault(optimizer=lambda: keras.optimizers.Adam(1e-10)), (
        "h1", "h2", "h3", "h4", "h5"), 0, ("loss_does_not_fall", "unchanged_weights")  # fmt: skip
    yield "noise", "worse_readout", Fault(behind={"h2": lambda: Noise(name="noise")}), ("noise",), 0, (
        *STUCK, "disconnected")  # fmt: skip
    yield (
        "random labels",
        "loss_does_not_fall",
        Fault(labels=_shuffled, optimizer=lambda: keras.optimizers.SGD(1e-4)),
        (".",),
        0,
        ("update_too_small",),  # of the digits through an MLP every update is below 1e-5 of its weight
    )
    yield "stopped", "disconnected", Fault(behind={"h2": lambda: Stops(name="stop")}), ("h1", "h2"), 0, (
        *STUCK, "worse_readout")  # fmt: skip


def _shuffled(labels: np.ndarray) -> np.ndarray:
    return np.random.default_rng(5).permutation(labels)


def arranged(model: keras.Model, x: Any, y: Any) -> Training:
    """The rows of STEPS batches, in a random order."""
    rows = np.resize(np.random.default_rng(1).permutation(len(x)), STEPS * BATCH)
    return Training(model, x[rows], {key: part[rows] for key, part in y.items()} if isinstance(y, dict) else y[rows])


def faulty() -> list[Case]:
    """Every fault in every architecture."""
    return [
        Case(
            f"{name} in {architecture}",
            lambda build=build, fault=fault: arranged(*build(fault)),
            rule=rule,
            paths=paths,
            step=None if rule in WITHOUT_A_STEP else step,
            also=dict.fromkeys((rule, *follows), ANYWHERE),
        )
        for architecture, build in ARCHITECTURES.items()
        for name, rule, fault, paths, step, follows in _faults()
    ]
