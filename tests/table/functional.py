"""Rows: Sequential and functional models, nested, shared, with operators, with structured inputs and outputs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

from .row import Hand, Row, fitted, mse, normal

GROUP = "Sequential and functional models"
WIDTH = 3


def numbers(width: int = WIDTH, out: int = 1) -> Any:
    """x and y of a regression, three batches of four."""
    return lambda: (normal(12, width), normal(12, out, seed=1))


def _sequential() -> Any:
    return keras.Sequential([layers.Input((WIDTH,), name="numbers"), layers.Dense(4, activation="tanh", name="first"),
                             layers.Dense(1, name="last")])  # fmt: skip


def _through_two(hand: Hand, model: Any, x: Any) -> Any:
    first, last = model.layers
    return hand(".", hand("last", last(hand("first", first(x)))))


def _lazy() -> Any:
    return keras.Sequential([layers.Dense(4, activation="tanh", name="first"), layers.Dense(1, name="last")])


def _reloaded() -> Any:
    model = keras.Sequential([layers.Input((6, 6, 1)), layers.Conv2D(2, 3, name="first_conv"), layers.Conv2D(2, 2, name="second_conv"),
                              layers.Flatten(name="flat"), layers.Dense(1, name="last")])  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "saved.keras")
        return keras.saving.load_model(Path(folder) / "saved.keras")


def chain(hand: Hand, model: Any, x: Any, **options: Any) -> Any:
    """All layers of a flat model in their order."""
    for layer in model.layers:
        if not isinstance(layer, layers.InputLayer):
            x = hand(layer.name, layer(x, **options) if layer._call_has_training_arg else layer(x))
    return hand(".", x)


def _skip() -> Any:
    symbol = keras.Input((WIDTH,), name="numbers")
    hidden = layers.Dense(WIDTH, activation="tanh", name="inner")(symbol)
    return keras.Model(symbol, layers.Dense(1, name="last")(hidden + symbol * 2.0))


def _skip_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    inner = hand("inner", model.get_layer("inner")(x))
    product, total = (next(one for one in model.operations if type(one).__name__ == kind).name for kind in ("Multiply", "Add"))
    added = hand(total, inner + hand(product, x * 2.0))
    return hand(".", hand("last", model.get_layer("last")(added)))


def _operations() -> Any:
    symbol = keras.Input((5, WIDTH), name="numbers")
    some = layers.Dense(4, name="inner")(symbol)[:, 1:4]
    return keras.Model(symbol, layers.Dense(1, name="last")(ops.tanh(ops.mean(some, axis=1))))


def _operations_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    names = {type(one).__name__: one.name for one in model.operations}
    part = hand(names["GetItem"], hand("inner", model.get_layer("inner")(x))[:, 1:4])
    squashed = hand(names["Tanh"], tf.tanh(hand(names["Mean"], tf.reduce_mean(part, 1))))
    return hand(".", hand("last", model.get_layer("last")(squashed)))


def _siamese() -> Any:
    encoder = keras.Sequential([layers.Input((WIDTH,)), layers.Dense(4, activation="tanh", name="first_dense"),
                                layers.Dense(2, name="second_dense")], name="encoder")  # fmt: skip
    left, right = keras.Input((WIDTH,), name="left"), keras.Input((WIDTH,), name="right")
    distance = layers.Subtract(name="distance")([encoder(left), encoder(right)])
    return keras.Model([left, right], layers.Dense(1, name="verdict")(distance))


def _siamese_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    first, second = model.get_layer("encoder").layers
    codes = []
    for number, side in enumerate(x):
        encoder = "encoder" + (f"#{number}" if number else "")
        inner = hand(f"{encoder}/second_dense", second(hand(f"{encoder}/first_dense", first(side))))
        codes.append(hand(encoder, inner))
    return hand(".", hand("verdict", model.get_layer("verdict")(hand("distance", codes[0] - codes[1]))))


def _three_deep() -> Any:
    inner_input = keras.Input((WIDTH,))
    inner = keras.Model(inner_input, layers.Dense(WIDTH, activation="tanh", name="dense")(inner_input), name="inner")
    middle_input = keras.Input((WIDTH,))
    middle = keras.Model(middle_input, inner(inner(middle_input)), name="middle")
    outer = keras.Input((WIDTH,), name="numbers")
    return keras.Model(outer, layers.Dense(1, name="head")(middle(middle(outer))))


def _three_deep_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    dense = model.get_layer("middle").get_layer("inner").get_layer("dense")
    for middle in ("middle", "middle#1"):
        for inner in ("inner", "inner#1"):
            x = hand(f"{middle}/{inner}", hand(f"{middle}/{inner}/dense", dense(x)))
        x = hand(middle, x)
    return hand(".", hand("head", model.get_layer("head")(x)))


def _same_layer_in_a_chain() -> Any:
    dense = layers.Dense(WIDTH, activation="tanh", name="again")
    symbol = hidden = keras.Input((WIDTH,), name="numbers")
    for _ in range(5):
        hidden = dense(hidden)
    return keras.Model(symbol, hidden)


def _same_layer_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    dense = model.get_layer("again")
    for number in range(5):
        x = hand("again" + (f"#{number}" if number else ""), dense(x))
    return hand(".", x)


def _dictionaries() -> Any:
    inputs = {"a": keras.Input((WIDTH,), name="a"), "b": keras.Input((2,), name="b")}
    hidden = layers.Concatenate(name="both")([inputs["a"], inputs["b"]])
    outputs = {"large": layers.Dense(2, name="large")(hidden), "small": layers.Dense(1, name="small")(hidden)}
    return keras.Model(inputs, outputs)


def _dictionaries_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    hidden = hand("both", tf.concat([x["a"], x["b"]], 1))
    large, small = (hand(name, model.get_layer(name)(hidden)) for name in ("large", "small"))
    return {"large": hand(".", large, 0), "small": hand(".", small, 1)}


def _one_dictionary_output() -> Any:
    symbol = keras.Input((WIDTH,), name="numbers")
    return keras.Model(symbol, {"dt": layers.Dense(1, name="dt")(symbol)})


class MergesNested(layers.Layer):
    """Adds up a nest of tensors."""

    def call(self, nest: Any) -> Any:
        return sum(tf.nest.flatten(nest)) ** 2


def _three_inputs() -> Any:
    inputs = [keras.Input((WIDTH,), name=name) for name in "abc"]
    return keras.Model(inputs, layers.Dense(1, name="last")(MergesNested(name="merged")([inputs[:2], inputs[2:]])))


def _nested_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    merged = hand("merged", sum(tf.nest.flatten(x)) ** 2)
    return hand(".", hand("last", model.get_layer("last")(merged)))


def _frozen() -> Any:
    backbone = keras.Sequential([layers.Input((8, 8, 1)), layers.Conv2D(2, 3, activation="relu", name="conv"),
                                 layers.BatchNormalization(name="normal"), layers.GlobalAveragePooling2D(name="pool")],
                                name="backbone")  # fmt: skip
    backbone.trainable = False
    return keras.Sequential([layers.Input((8, 8, 1)), backbone, layers.Dense(1, name="last")])


def _frozen_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    for layer in model.layers[0].layers:
        x = hand(f"backbone/{layer.name}", layer(x))
    return hand(".", hand("last", model.layers[1](hand("backbone", x))))


def _uncalled() -> Any:
    model = Uncalled()
    model(np.zeros((1, WIDTH), np.float32))
    return model


class Uncalled(keras.Model):
    """Holds a layer that it never calls."""

    def __init__(self) -> None:
        super().__init__()
        self.used = layers.Dense(1, name="used")
        self.spare = layers.Dense(1, name="spare")

    def call(self, inputs: Any) -> Any:
        return self.used(inputs)


def _uncalled_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    return hand(".", hand("used", model.used(x)))


def _unknown_dimensions() -> Any:
    symbol = keras.Input((None, None, 1), name="picture")
    hidden = layers.GlobalMaxPooling2D(name="largest")(layers.Conv2D(2, 2, name="conv")(symbol))
    return keras.Model(symbol, layers.Dense(1, name="last")(hidden))


def sum_of_mse(y: Any, y_pred: Any) -> Any:
    pairs = zip(tf.nest.flatten(y), tf.nest.flatten(y_pred), strict=True)
    return tf.add_n([mse(*pair) for pair in pairs])


def _row(what: str, build: Any, data: Any, forward: Any, **options: Any) -> Row:
    return fitted(GROUP, what, build, data, forward, **options)


def rows() -> list[Row]:
    """The rows of this file."""
    return [
        _row("Sequential with declared input", _sequential, numbers(), _through_two),
        _row("Sequential built by its first batch", _lazy, numbers(), _through_two),
        _row("Sequential reloaded from a `.keras` file", _reloaded, lambda: (normal(12, 6, 6, 1), normal(12, 1)), chain),
        _row("`+` and `*` between functional tensors", _skip, numbers(), _skip_by_hand),
        _row(
            "`keras.ops` and slices in a functional graph",
            _operations,
            lambda: (normal(12, 5, WIDTH), normal(12, 1)),
            _operations_by_hand,
        ),
        _row(
            "a shared encoder (siamese)",
            _siamese,
            lambda: ((normal(12, WIDTH), normal(12, WIDTH, seed=3)), normal(12, 1)),
            _siamese_by_hand,
        ),
        _row("a model in a model in a model", _three_deep, numbers(), _three_deep_by_hand),
        _row("one layer five times in a chain", _same_layer_in_a_chain, numbers(out=WIDTH), _same_layer_by_hand),
        _row(
            "dictionaries of inputs and outputs",
            _dictionaries,
            lambda: ({"a": normal(12, WIDTH), "b": normal(12, 2)}, {"large": normal(12, 2), "small": normal(12, 1)}),
            _dictionaries_by_hand,
            loss=sum_of_mse,
            compiled={"loss": {"large": "mse", "small": "mse"}},
        ),
        _row(
            "a dictionary of one output",
            _one_dictionary_output,
            lambda: (normal(12, WIDTH), {"dt": normal(12, 1)}),
            lambda hand, model, x: {"dt": hand(".", hand("dt", model.get_layer("dt")(x)))},
            loss=sum_of_mse,
            compiled={"loss": {"dt": "mse"}},
        ),
        _row(
            "nested lists of inputs, merged by one layer",
            _three_inputs,
            lambda: (tuple(normal(12, WIDTH, seed=seed) for seed in range(3)), normal(12, 1)),
            _nested_by_hand,
        ),
        _row("a frozen backbone: errors flow through", _frozen, lambda: (normal(12, 8, 8, 1), normal(12, 1)), _frozen_by_hand),
        _row(
            "a layer that is never called",
            _uncalled,
            numbers(),
            _uncalled_by_hand,
            ledger=[("spare", "", -1, "never called in this step")],
        ),
        _row("unknown dimensions", _unknown_dimensions, lambda: (normal(12, 5, 6, 1), normal(12, 1)), chain),
    ]
