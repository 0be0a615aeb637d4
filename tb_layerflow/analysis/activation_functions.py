"""Keras's activation functions in float64, by the name that a layer's config gives them. Knows numbers only.

Definitions are those of `keras.activations` (and of `tf_keras`, where it differs: `hard_sigmoid`, and `alpha` for slopes).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tb_layerflow.analysis.explanation import Array, CannotExplain

Function = Callable[[Array], Array]

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@dataclass(frozen=True)
class Activation:
    """`apply` takes numbers of any shape; where `over_vector`, it works along the last axis and needs all of it."""

    name: str
    apply: Function
    over_vector: bool = False

    @property
    def linear(self) -> bool:
        """Whether it changes nothing."""
        return self.name == "linear"


def relu(x: Array, negative_slope: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Array:
    """Keras's ReLU: x above the threshold, cut at `max_value`; slope × (x − threshold) below it."""
    above = np.where(x > threshold, x, 0.0)
    if max_value is not None:
        above = np.clip(above, 0.0, max_value)
    return above - negative_slope * np.maximum(threshold - x, 0.0) if negative_slope else above


def elu(x: Array, alpha: float = 1.0) -> Array:
    """x above zero, alpha·(eˣ − 1) below."""
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0.0)))


def sigmoid(x: Array) -> Array:
    """1 / (1 + e⁻ˣ), without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def softplus(x: Array) -> Array:
    """log(1 + eˣ)."""
    return np.logaddexp(x, 0.0)


def gelu(x: Array, approximate: bool = False) -> Array:
    """x·Φ(x), or its tanh approximation."""
    if approximate:
        return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))
    erf = np.vectorize(math.erf, otypes=[np.float64])
    return np.asarray(0.5 * x * (1.0 + erf(x / math.sqrt(2.0))), np.float64)


def softmax(x: Array) -> Array:
    """eˣ over its sum along the last axis."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), np.float64)


def log_softmax(x: Array) -> Array:
    """The logarithm of the softmax along the last axis."""
    shifted = x - x.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)), np.float64)


FUNCTIONS: dict[str, Function] = {
    "linear": lambda x: x,
    "relu": relu,
    "relu6": lambda x: relu(x, max_value=6.0),
    "leaky_relu": lambda x: relu(x, negative_slope=0.2),
    "elu": elu,
    "selu": lambda x: _SELU_SCALE * elu(x, _SELU_ALPHA),
    "celu": elu,
    "sigmoid": sigmoid,
    "log_sigmoid": lambda x: -softplus(-x),
    "hard_sigmoid": lambda x: np.clip(x / 6.0 + 0.5, 0.0, 1.0),
    "sparse_sigmoid": lambda x: np.clip(0.5 * (x + 1.0), 0.0, 1.0),
    "tanh": np.tanh,
    "hard_tanh": lambda x: np.clip(x, -1.0, 1.0),
    "tanh_shrink": lambda x: x - np.tanh(x),
    "hard_shrink": lambda x: np.where(np.abs(x) > 0.5, x, 0.0),
    "soft_shrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0.0),
    "silu": lambda x: x * sigmoid(x),
    "hard_silu": lambda x: x * np.clip(x / 6.0 + 0.5, 0.0, 1.0),
    "gelu": gelu,
    "mish": lambda x: x * np.tanh(softplus(x)),
    "softplus": softplus,
    "sparse_plus": lambda x: np.where(x <= -1, 0.0, np.where(x < 1, 0.25 * (x + 1.0) ** 2, x)),
    "squareplus": lambda x: 0.5 * (x + np.sqrt(x * x + 4.0)),
    "softsign": lambda x: x / (1.0 + np.abs(x)),
    "exponential": np.exp,
}
VECTOR_FUNCTIONS: dict[str, Function] = {"softmax": softmax, "log_softmax": log_softmax}
OVER_VECTOR = {*VECTOR_FUNCTIONS, "sparsemax"}
"""Activations that look at the whole last axis. Keras's sparsemax has no formula here: it is not the published one."""
OTHER_NAMES = {
    "swish": "silu",
    "hard_swish": "hard_silu",
    "exp": "exponential",
    "identity": "linear",
    "LeakyRelu": "leaky_relu",
    "LogSoftmax": "log_softmax",
    "LogSigmoid": "log_sigmoid",
    "HardSigmoid": "hard_sigmoid",
    "HardSilu": "hard_silu",
}


def activation_named(setting: object, family: str = "keras") -> Activation:
    """The activation that a layer's config names: None, a name, or an object's `{"class_name", "config"}`."""
    if setting is None:
        return Activation("linear", FUNCTIONS["linear"])
    if isinstance(setting, Mapping):
        config = setting.get("config")
        if isinstance(config, Mapping):
            return activation_layer(str(setting.get("class_name")), config, family)
        setting = config
    name = OTHER_NAMES.get(str(setting), str(setting))
    if name == "hard_sigmoid" and family == "tf_keras":
        return Activation(name, lambda x: np.clip(0.2 * x + 0.5, 0.0, 1.0))
    if name in VECTOR_FUNCTIONS:
        return Activation(name, VECTOR_FUNCTIONS[name], over_vector=True)
    if name in FUNCTIONS:
        return Activation(name, FUNCTIONS[name])
    raise CannotExplain(f"The activation {name!r} is not one that the microscope knows.")


def activation_layer(layer_type: str, config: Mapping[str, object], family: str = "keras") -> Activation:
    """The function of a layer that is nothing but an activation, with its settings (softmax along the last axis)."""

    def setting(key: str, default: float) -> float:
        value = config.get(key)
        if value is None:
            return default
        if not isinstance(value, (int, float)):
            raise CannotExplain(f"The setting {key} of this {layer_type} is not one number: {value!r:.60}.")
        return float(value)

    if layer_type == "Activation":
        return activation_named(config.get("activation"), family)
    if layer_type == "ReLU":
        top = None if config.get("max_value") is None else setting("max_value", 0.0)
        slope, threshold = setting("negative_slope", 0.0), setting("threshold", 0.0)
        return Activation("relu", lambda x: relu(x, slope, top, threshold))
    if layer_type == "LeakyReLU":
        slope = setting("negative_slope", setting("alpha", 0.3))
        return Activation("leaky_relu", lambda x: relu(x, slope))
    if layer_type == "ELU":
        alpha = setting("alpha", 1.0)
        return Activation("elu", lambda x: elu(x, alpha))
    if layer_type == "ThresholdedReLU":
        theta = setting("theta", 1.0)
        return Activation("thresholded relu", lambda x: np.where(x > theta, x, 0.0))
    if layer_type == "Softmax":
        return Activation("softmax", softmax, over_vector=True)
    raise CannotExplain(f"The activation {layer_type!r} is not one that the microscope knows.")
