"""What differs between the two families of Keras, Keras 3 and `tf_keras`. The only file that imports either of them."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any


class NotKeras(TypeError):
    """The object is not a Keras model that LayerFlow can record."""


@dataclass
class Family:
    """The classes and version of one family. `operation` is None where functional graphs hold nothing but layers."""

    name: str
    module: ModuleType
    layer: type
    model: type
    operation: type | None
    version: str

    def is_symbolic(self, tensor: object) -> bool:
        """Whether `tensor` stands for a tensor while a functional model is being built."""
        return isinstance(tensor, self.symbolic_tensor)

    @cached_property
    def symbolic_tensor(self) -> type:
        if self.name == "keras":
            return self.module.KerasTensor
        return importlib.import_module(f"{self.module.__name__}.src.engine.keras_tensor").KerasTensor


_families: dict[str, Family] = {}


def _keras() -> Family:
    import keras

    if keras.backend.backend() != "tensorflow":
        raise NotKeras(
            "LayerFlow records Keras models that run on TensorFlow; set KERAS_BACKEND=tensorflow before Keras is imported. "
            f"Received: a model on the {keras.backend.backend()!r} backend."
        )
    if int(keras.__version__.split(".")[0]) < 3:
        return Family("tf_keras", keras, keras.layers.Layer, keras.Model, None, keras.__version__)
    return Family("keras", keras, keras.layers.Layer, keras.Model, keras.Operation, keras.__version__)


def _tf_keras() -> Family:
    import tf_keras

    return Family("tf_keras", tf_keras, tf_keras.layers.Layer, tf_keras.Model, None, tf_keras.__version__)


def loaded() -> list[Family]:
    """The families that this process has imported."""
    found = []
    for name, make in (("keras", _keras), ("tf_keras", _tf_keras)):
        if name in _families:
            found.append(_families[name])
        elif name in sys.modules:
            try:
                _families[name] = make()
            except NotKeras:
                continue
            found.append(_families[name])
    return found


def of(model: object) -> Family:
    """The family of a layer or model, taken from its class.

    Raises:
        NotKeras: it is neither a Keras 3 nor a `tf_keras` layer, or its backend is not TensorFlow.
    """
    roots = {base.__module__.split(".")[0] for base in type(model).__mro__}
    if "keras" in roots and "keras" in sys.modules and "keras" not in _families:
        _families["keras"] = _keras()
    for family in loaded():
        if isinstance(model, family.layer):
            return family
    if "keras" in roots:
        return _keras()
    raise NotKeras(
        "LayerFlow records Keras models (keras.Model or tf_keras.Model). "
        f"Received: {_described(model)}. For plain TensorFlow code use layerflow.summary.tap or layerflow.summary.outputs."
    )


def iterations_of(optimizer: Any) -> Any:
    """How many steps an optimizer has taken, a scalar variable (or tensor); None where it does not count.

    Keras 3.3 gives a LossScaleOptimizer a counter of its own, which stays 0: the one that counts is the inner optimizer's.
    """
    return getattr(getattr(optimizer, "inner_optimizer", optimizer), "iterations", None)


def is_layer(candidate: object) -> bool:
    """Whether the object is a layer (or model) of a family that this process has imported."""
    return any(isinstance(candidate, family.layer) for family in loaded())


def symbolic_types() -> tuple[type, ...]:
    """The classes that stand for tensors while functional models are built."""
    return tuple(family.symbolic_tensor for family in loaded())


def _described(candidate: Any) -> str:
    text = repr(candidate)
    return f"{text[:80]} (of type {type(candidate).__name__})"
