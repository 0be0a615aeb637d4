"""What a training did, seen without LayerFlow: the weights before each step, and what Keras and NumPy compute from them."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from bench.case import BATCH

from .material import taken


class Witness(keras.callbacks.Callback):
    """Keeps all variables as they are before each step, and each step's loss. Every call of a planted fault is proved from these."""

    def __init__(self, x: Any, y: Any) -> None:
        super().__init__()
        self.x, self.y = x, y
        self.before: list[list[np.ndarray]] = []
        self.losses: list[float] = []
        self._sum = 0.0

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.before.append([variable.numpy() for variable in self.model.variables])

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        total = logs["loss"] * (batch + 1)
        self.losses.append(total - self._sum)
        self._sum = total

    def on_train_end(self, logs: Any = None) -> None:
        self.before.append([variable.numpy() for variable in self.model.variables])

    def batch(self, step: int) -> tuple[Any, Any]:
        rows = np.arange(step * BATCH, (step + 1) * BATCH)
        return taken(self.x, rows), taken(self.y, rows)

    def weights(self, name: str, step: int) -> list[np.ndarray]:
        """A layer's trainable weights before a step."""
        numbers = {id(variable): index for index, variable in enumerate(self.model.variables)}
        return [self.before[step][numbers[id(weight)]].astype(np.float64) for weight in self.layer(name).trainable_weights]

    def layer(self, name: str) -> Any:
        found: Any = self.model
        for part in name.split("/"):
            found = found.get_layer(part)
        return found

    def ratio(self, name: str, step: int) -> float:
        """||update|| / ||weight|| of a layer's largest weight."""
        old, new = max(zip(self.weights(name, step), self.weights(name, step + 1), strict=True), key=lambda pair: pair[0].size)
        return float(np.linalg.norm(new - old) / np.linalg.norm(old))

    def moved(self, name: str, step: int, which: int = 0) -> bool:
        return not np.array_equal(self.weights(name, step)[which], self.weights(name, step + 1)[which])

    def at(self, step: int) -> None:
        """Give the model the weights that it had before a step."""
        for variable, value in zip(self.model.variables, self.before[step], strict=True):
            variable.assign(value)

    def flow(self, step: int, *names: str, x: Any = None) -> list[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """(input, output, error) of each named layer for the batch of a step; the error None where the loss does not depend on it."""
        self.at(step)
        batch, labels = self.batch(step)
        batch = batch if x is None else x
        layers = [self.layer(name) for name in names]
        tensors = [
            tensor for layer in layers for tensor in (keras.tree.flatten(layer.input)[0], keras.tree.flatten(layer.output)[0])
        ]
        inside = keras.Model(self.model.input, [*tensors, *keras.tree.flatten(self.model.output)])
        with tf.GradientTape() as tape:
            values = inside(batch, training=True)
            if not isinstance(values, list):
                values = [values]
            seen, predicted = values[: len(tensors)], values[len(tensors) :]
            floats = [value for value in seen if value.dtype.is_floating]
            answer = predicted[0] if len(predicted) == 1 else keras.tree.pack_sequence_as(self.model.output, predicted)
            loss = self.model.compute_loss(batch, labels, answer)
        known = dict(zip([id(value) for value in floats], tape.gradient(loss, floats), strict=True))
        errors = [None if known.get(id(value)) is None else known[id(value)].numpy() for value in seen]
        arrays = [value.numpy() for value in seen]
        return [(arrays[2 * i], arrays[2 * i + 1], errors[2 * i + 1]) for i in range(len(names))]

    def into(self, step: int, name: str) -> tuple[float, float]:
        """(l2 of the error at a layer's input, at its output) in a step."""
        layer = self.layer(name)
        self.at(step)
        batch, labels = self.batch(step)
        tensors = [keras.tree.flatten(layer.input)[0], keras.tree.flatten(layer.output)[0]]
        inside = keras.Model(self.model.input, [*tensors, self.model.output])
        with tf.GradientTape() as tape:
            put_in, put_out, answer = inside(batch, training=True)
            loss = self.model.compute_loss(batch, labels, answer)
        ends = tape.gradient(loss, [put_in, put_out], unconnected_gradients="zero")
        return tuple(float(np.linalg.norm(end.numpy().astype(np.float64))) for end in ends)

    def output(self, step: int, name: str) -> np.ndarray:
        """A layer's output for the batch of a step; of a shared sub-model's layer, at the model's first input."""
        if "/" not in name:
            return self.flow(step, name)[0][1]
        outer, inner = name.split("/")
        self.at(step)
        sub = self.layer(outer)
        first = next(iter(self.batch(step)[0].values()))
        return keras.Model(sub.inputs, sub.get_layer(inner).output)(first).numpy()


def readable(features: np.ndarray, labels: np.ndarray) -> float:
    """The share of labels that scikit-learn's logistic regression gets right from these features, by halves."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    flat = features.reshape(len(features), -1, features.shape[-1]).mean(1)
    return float(cross_val_score(make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)), flat, labels, cv=2).mean())
