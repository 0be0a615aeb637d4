"""Rows: subclassed models and custom layers, wherever they keep their layers and whatever they return."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import keras
import tensorflow as tf
from keras import layers, ops

from .functional import numbers
from .row import TYPE, Hand, Row, fitted, mse

GROUP = "Subclassed models and custom layers"
WIDTH = 3
Pair = namedtuple("Pair", ["left", "right"])


class Model(keras.Model):
    """A model made of `make(self)`, which sets its layers, and `run(self, inputs)`."""

    def __init__(self, make: Any, run: Any) -> None:
        super().__init__(name="model")
        make(self)
        self._run = run

    def call(self, inputs: Any, training: Any = None) -> Any:
        return self._run(self, inputs)


def dense(width: int = 1, name: str = "last", **options: Any) -> Any:
    return layers.Dense(width, name=name, **options)


def _attributes(self: Any) -> None:
    self.first = dense(4, "first", activation="tanh")
    self.last = dense()


def _attributes_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    return hand(".", hand("last", model.last(hand("first", model.first(x)))))


def _collections(self: Any) -> None:
    self.listed = [dense(3, "one"), dense(3, "two")]
    self.named = {"end": dense()}


def _collections_run(self: Any, x: Any) -> Any:
    for layer in self.listed:
        x = layer(x)
    return self.named["end"](x)


def _collections_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    return hand(".", hand("last", model.named["end"](hand("two", model.listed[1](hand("one", model.listed[0](x)))))))


class Block(layers.Layer):
    """A custom layer with two layers inside, and operations between them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.inner = dense(WIDTH, "inner")
        self.normal = layers.BatchNormalization(name="normal")

    def call(self, inputs: Any, training: bool = False) -> Any:
        return ops.tanh(self.normal(self.inner(inputs), training=training)) + inputs


def _blocks(self: Any) -> None:
    self.first, self.second, self.last = Block(name="first"), Block(name="second"), dense()


def _blocks_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    for name in ("first", "second"):
        block = getattr(model, name)
        inner = hand(f"{name}/normal", block.normal(hand(f"{name}/inner", block.inner(x)), training=True))
        x = hand(name, tf.tanh(inner) + x)
    return hand(".", hand("last", model.last(x)))


class Hidden:
    """A plain Python object that holds a layer; Keras does not track it."""

    def __init__(self) -> None:
        self.layer = dense(WIDTH, "secret")


def _plain_object(self: Any) -> None:
    object.__setattr__(self, "hidden", Hidden())
    self.last = dense()


def _plain_object_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    return hand(".", hand("last", model.last(hand("secret", model.hidden.layer(x)))))


def _same_names(self: Any) -> None:
    self.one, self.two, self.last = dense(3, "same"), dense(3, "same"), dense()


def _same_names_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    return hand(".", hand("last", model.last(hand("same~1", model.two(hand("same", model.one(x)))))))


class Returns(layers.Layer):
    """Returns a nest that `make` builds of its input."""

    def __init__(self, make: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.make = make

    def call(self, inputs: Any) -> Any:
        return self.make(inputs)


def _returning(make: Any, read: Any) -> Any:
    def layers_of(self: Any) -> None:
        self.nest, self.last = Returns(make, name="nest"), dense()

    return lambda: Model(layers_of, lambda self, x: self.last(read(self.nest(x))))


def _returning_by_hand(parts: Any, read: Any) -> Any:
    def forward(hand: Hand, model: Any, x: Any) -> Any:
        noted = [None if part is None else hand("nest", part, port) for port, part in enumerate(parts(x))]
        return hand(".", hand("last", model.last(read(noted))))

    return forward


def _perceptual() -> Any:
    judge = keras.Sequential([layers.Input((2,)), dense(3, "seen", activation="tanh")], name="judge")
    judge.trainable = False
    model = Model(lambda self: setattr(self, "last", dense(2)), lambda self, x: self.last(x))
    judged = [judge]
    model.compile(keras.optimizers.SGD(0.05), lambda y, y_pred: ops.mean(ops.square(judged[0](y) - judged[0](y_pred)), -1))
    model.judge = judged
    return model


def _perceptual_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    return hand("model", hand("model/last", model.last(x)))


def _perceptual_loss(hand: Hand, model: Any, x: Any, y: Any) -> Any:
    seen = model.judge[0].layers[0]
    one, two = (hand(f"judge{mark}", hand(f"judge{mark}/seen", seen(side))) for mark, side in (("", y), ("#1", x)))
    return mse(one, two)


class Recomputes(layers.Layer):
    """Runs its two layers again in the backward pass, as `tf.recompute_grad` does."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.one, self.two = dense(3, "one", activation="tanh"), dense(WIDTH, "two")

    def build(self, shape: Any) -> None:
        self.one.build(shape)
        self.two.build((None, 3))
        self.built = True

    def call(self, inputs: Any) -> Any:
        return tf.recompute_grad(lambda x: self.two(self.one(x)))(inputs)


def _recomputing(self: Any) -> None:
    self.saves, self.last = Recomputes(name="saves"), dense()


def _recomputing_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    saves = model.saves
    inner = hand("saves/two", saves.two(hand("saves/one", saves.one(x))))
    return hand(".", hand("last", model.last(hand("saves", inner))))


def _in_turn(*names: str) -> Any:
    def run(self: Any, x: Any) -> Any:
        for name in names:
            x = getattr(self, name)(x)
        return x

    return run


class Counts(layers.Layer):
    """Passes on its input, and counts in a variable how often it ran; gives whole numbers, truths and complex ones as well."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.count = self.add_weight(name="count", shape=(), dtype="int32", initializer="zeros", trainable=False)

    def call(self, inputs: Any) -> Any:
        self.count.assign_add(1)
        return {"complex": tf.complex(inputs, inputs), "empty": inputs[:0], "kept": inputs * 1.0, "scalar": tf.reduce_mean(inputs),
                "text": tf.constant(["a", "b"]), "truth": inputs > 0, "whole": tf.cast(inputs * 4, tf.int32)}  # fmt: skip


def _kinds(self: Any) -> None:
    self.kinds, self.last = Counts(name="kinds"), dense()


def _kinds_run(self: Any, x: Any) -> Any:
    found = self.kinds(x)
    return self.last(found["kept"] + found["scalar"])


def _kinds_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    hand("kinds", x[:0], 1)
    kept, scalar = hand("kinds", x * 1.0, 2), hand("kinds", tf.reduce_mean(x), 3)
    hand("kinds", tf.cast(x > 0, tf.int32), 5)
    hand("kinds", tf.cast(x * 4, tf.int32), 6)
    return hand(".", hand("last", model.last(kept + scalar)))


KINDS_LEDGER = [
    ("kinds", "output", 0, "complex"), ("kinds", "error", 0, "integer"), ("kinds", "error", 1, "not connected"),
    ("kinds", "output", 4, "string"), ("kinds", "error", 4, "integer"), ("kinds", "error", 5, "integer"),
    ("kinds", "error", 6, "integer"),
]  # fmt: skip


def _row(what: str, make: Any, run: Any, forward: Any, **options: Any) -> Row:
    return fitted(GROUP, what, lambda: Model(make, run), numbers(), forward, **options)


def rows() -> list[Row]:
    """The rows of this file."""
    twice = _returning(lambda x: {"a": x * 2.0, "b": x}, lambda found: found["a"] + found["b"])
    pair = _returning(lambda x: Pair(x * 2.0, None), lambda found: found.left)
    listed = _returning(lambda x: [x * 2.0, [x * 3.0]], lambda found: found[0] + found[1][0])
    itself = _returning(lambda x: x, lambda found: found)
    perceptual = fitted(GROUP, "a model used inside the loss", _perceptual, numbers(out=2), _perceptual_by_hand,
                        compiled={"loss": "compiled"})  # fmt: skip
    return [
        _row("layers in attributes", _attributes, _in_turn("first", "last"), _attributes_by_hand),
        _row("layers in lists and dictionaries", _collections, _collections_run, _collections_by_hand),
        _row("layers inside custom layers, `keras.ops` in `call`", _blocks, _in_turn("first", "second", "last"), _blocks_by_hand),
        _row("a layer held by a plain Python object", _plain_object, lambda self, x: self.last(self.hidden.layer(x)), _plain_object_by_hand),
        _row("two layers of one name", _same_names, _in_turn("one", "two", "last"), _same_names_by_hand),
        fitted(GROUP, "a layer that returns a dictionary", twice, numbers(),
               _returning_by_hand(lambda x: [x * 2.0, x], lambda found: found[0] + found[1])),
        fitted(GROUP, "a layer that returns a namedtuple with None", pair, numbers(),
               _returning_by_hand(lambda x: [x * 2.0, None], lambda found: found[0]),
               ledger=[("nest", "output", 1, "None"), ("nest", "error", 1, "None")]),
        fitted(GROUP, "a layer that returns nested lists", listed, numbers(),
               _returning_by_hand(lambda x: [x * 2.0, x * 3.0], lambda found: found[0] + found[1])),
        fitted(GROUP, "a layer that returns its own input", itself, numbers(), _returning_by_hand(lambda x: [x], lambda found: found[0])),
        _with_loss_by_hand(perceptual, _perceptual, _perceptual_loss),
        _row("`tf.recompute_grad`", _recomputing, _in_turn("saves", "last"), _recomputing_by_hand),
        _row("integer, boolean, complex, string, scalar and empty tensors", _kinds, _kinds_run, _kinds_by_hand,
             ledger=KINDS_LEDGER, structural={"kinds": TYPE}),
    ]  # fmt: skip


def _with_loss_by_hand(row: Row, build: Any, loss: Any) -> Row:
    """The row with a loss that runs layers itself, which are noted too."""
    from dataclasses import replace

    from .row import seeded

    def by_hand(hand: Hand) -> dict[str, Any]:
        model = seeded(build)
        x, y = (tf.constant(array[:4]) for array in numbers(out=2)())
        model(x)
        return {"error": loss(hand, model, _perceptual_by_hand(hand, model, x), y)}

    return replace(row, by_hand=by_hand)

