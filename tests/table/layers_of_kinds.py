"""Rows: recurrence, loops and functions inside layers, ragged and sparse tensors, quantised layers."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from .row import BRANCH, FUNCTION, LOOP, Hand, Row, fitted, normal, whole
from .subclassed import Model, dense

GROUP = "Recurrence, loops, unusual tensors"
WIDTH, TIMES = 3, 3


def words() -> Any:
    return normal(12, TIMES, WIDTH), normal(12, 1)


def _recurrent(layer: Any) -> Any:
    return lambda: keras.Sequential([layers.Input((TIMES, WIDTH)), layer(), dense()])


def _whole_layer(hand: Hand, model: Any, x: Any) -> Any:
    """The recurrent layer as Keras runs it by itself; nothing is noted inside."""
    memory, last = model.layers
    return hand(".", hand("last", last(hand("memory", memory(x)))))


class Adds(layers.Layer):
    """A cell that the user wrote: a dense layer of input and state."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.state_size = self.output_size = 2
        self.dense = dense(2, "mix", activation="tanh")

    def build(self, shape: Any) -> None:
        self.dense.build((None, WIDTH + 2))
        self.built = True

    def call(self, inputs: Any, states: Any) -> Any:
        output = self.dense(tf.concat([inputs, states[0]], 1))
        return output, [output]


def _unrolled_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    memory, last = model.layers
    state = tf.zeros((4, 2))
    for time in range(TIMES):
        cell = "memory/cell" + (f"#{time}" if time else "")
        mixed = hand(f"{cell}/mix", memory.cell.dense(tf.concat([x[:, time], state], 1)))
        output = hand(cell, mixed, 0)
        state = hand(cell, output, 1)
        if time == TIMES - 1:
            return hand(".", hand("last", last(hand("memory", output))))
    raise AssertionError


def _bidirectional_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    both, last = model.layers
    forward = hand(f"both/{both.forward_layer.name}", both.forward_layer(x))
    backward = hand(f"both/{both.backward_layer.name}", both.backward_layer(x))
    return hand(".", hand("last", last(hand("both", tf.concat([forward, backward], 1)))))


def _masked() -> Any:
    return keras.Sequential([layers.Input((TIMES,), dtype="int32"), layers.Embedding(7, WIDTH, mask_zero=True, name="words"),
                             layers.LSTM(2, name="memory"), dense()])  # fmt: skip


def _masked_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    embedding, memory, last = model.layers
    embedded = hand("words", tf.gather(tf.convert_to_tensor(embedding.embeddings), x))
    return hand(".", hand("last", last(hand("memory", memory(embedded, mask=tf.not_equal(x, 0))))))


def _convolutional() -> Any:
    return keras.Sequential(
        [layers.Input((TIMES, 4, 1)), layers.ConvLSTM1D(2, 2, name="memory"), layers.Flatten(name="flat"), dense()]
    )


def _convolutional_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    memory, flat, last = model.layers
    return hand(".", hand("last", last(hand("flat", flat(hand("memory", memory(x)))))))


class Loops(layers.Layer):
    """Calls a layer in a loop of TensorFlow's: `while`, `map` or `vectorized`; or in a function, or in a branch."""

    def __init__(self, how: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.how = how
        self.inner = dense(WIDTH, "inner", activation="tanh")

    def build(self, shape: Any) -> None:
        self.inner.build(shape)
        self.built = True

    def call(self, inputs: Any) -> Any:
        if self.how == "while":

            def body(n: Any, x: Any) -> Any:
                return n + 1, tf.ensure_shape(self.inner(x), inputs.shape)

            return tf.while_loop(lambda n, x: n < 2, body, (0, inputs), maximum_iterations=2)[1]
        if self.how == "map":
            return tf.map_fn(lambda row: self.inner(row[None])[0], inputs)
        if self.how == "vectorized":
            return tf.vectorized_map(lambda row: self.inner(row[None])[0], inputs)
        if self.how == "cond":
            return tf.cond(tf.reduce_sum(inputs) > 1e9, lambda: inputs, lambda: self.inner(inputs))
        return tf.function(lambda x: self.inner(x))(inputs)


class IsFunction(layers.Layer):
    """Its `call` is a `tf.function`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.inner = dense(WIDTH, "inner", activation="tanh")

    def build(self, shape: Any) -> None:
        self.inner.build(shape)
        self.built = True

    @tf.function
    def call(self, inputs: Any) -> Any:
        return self.inner(inputs)


def _looping(how: str) -> Any:
    def make(self: Any) -> None:
        self.loops, self.last = IsFunction(name="loops") if how == "call" else Loops(how, name="loops"), dense()

    return lambda: Model(make, lambda self, x: self.last(self.loops(x)))


def _looping_by_hand(times: int) -> Any:
    def forward(hand: Hand, model: Any, x: Any) -> Any:
        hidden = x
        for _ in range(times):
            hidden = model.loops.inner(hidden)
        return hand(".", hand("last", model.last(hand("loops", hidden))))

    return forward


class Pools(layers.Layer):
    """From ragged or sparse to dense, through a ragged or sparse tensor of its own kind."""

    def call(self, inputs: Any) -> Any:
        return inputs.with_values(inputs.values * 2.0) if isinstance(inputs, tf.RaggedTensor) else inputs * tf.constant(2.0)


class ToDense(layers.Layer):
    """Sums of a ragged or sparse tensor's rows, [batch, 1]."""

    def call(self, inputs: Any) -> Any:
        if isinstance(inputs, tf.RaggedTensor):
            return tf.reduce_sum(inputs, 1)[:, None]
        return tf.sparse.reduce_sum(inputs, 1, keepdims=True) if not isinstance(inputs, tf.SparseTensor) else _row_sums(inputs)


def _row_sums(sparse: Any) -> Any:
    return tf.math.unsorted_segment_sum(sparse.values, sparse.indices[:, 0], 4)[:, None]


RAGGED = [[1.0, 2.0], [3.0], [], [4.0, -5.0, 6.0]]


def _ragged() -> Any:
    return tf.ragged.constant(RAGGED * 3), normal(12, 1)


def _sparse() -> Any:
    return tf.sparse.from_dense(np.round(normal(12, 4)) * (np.arange(48).reshape(12, 4) % 3 > 0)), normal(12, 1)


def _unusual(self: Any) -> None:
    self.pools, self.dense, self.last = Pools(name="pools"), ToDense(name="dense"), dense()


def _unusual_model() -> Any:
    model = Model(_unusual, lambda self, x: self.last(self.dense(self.pools(x))))
    model.last.build((None, 1))
    return model


def _unusual_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    if isinstance(x, tf.RaggedTensor):
        values = hand("pools", x.values * 2.0)
        dense = tf.reduce_sum(x.with_values(values), 1)[:, None]
    else:
        values = hand("pools", x.values * 2.0)
        dense = _row_sums(tf.SparseTensor(x.indices, values, x.dense_shape))
    return hand(".", hand("last", model.last(hand("dense", dense))))


def _row(what: str, how: str, reason: str, status: str, times: int = 1, **options: Any) -> Row:
    return fitted(
        GROUP, what, _looping(how), lambda: (normal(12, WIDTH), normal(12, 1)), _looping_by_hand(times),
        structural={"loops/inner": reason}, ledger=[("loops/inner", "", -1, status)], **options,
    )  # fmt: skip


def _looped(probes: int, *names: str) -> dict[str, Any]:
    """What a row says whose cells run in a loop; Keras ran some once more, before it, to learn their shapes."""
    probe = f"{probes} calls that nothing in the step depends on (shape probes and the like) are not part of it"
    ledger = [("", "", -1, probe), *((name, "", -1, "inside a loop") for name in names)]
    return {"structural": dict.fromkeys(names, LOOP), "ledger": ledger}


def rows() -> list[Row]:
    """The rows of this file."""

    def looped(what: str, layer: Any, *names: str) -> Row:
        return fitted(GROUP, what, _recurrent(layer), words, _whole_layer, **_looped(len(names), *names))

    return [
        looped("LSTM", lambda: layers.LSTM(2, name="memory"), "memory/lstm_cell"),
        looped("GRU", lambda: layers.GRU(2, name="memory"), "memory/gru_cell"),
        looped("RNN with the user's own cell", lambda: layers.RNN(Adds(name="cell"), name="memory"), "memory/cell", "memory/cell/mix"),
        fitted(
               GROUP, "RNN with the user's own cell, unrolled", _recurrent(lambda: layers.RNN(Adds(name="cell"), unroll=True, name="memory")),
               words, _unrolled_by_hand, ledger=[("memory/cell", "error", 0, "not connected"), ("memory/cell#1", "error", 0, "not connected"),
                                                 ("memory/cell#2", "error", 1, "not connected")]),
        fitted(GROUP, "Bidirectional LSTM", _recurrent(lambda: layers.Bidirectional(layers.LSTM(2, name="memory"), name="both")),
               words, _bidirectional_by_hand, **_looped(2, "both/backward_memory/lstm_cell", "both/forward_memory/lstm_cell")),
        fitted(GROUP, "LSTM over masked words", _masked, lambda: (whole(6, 12, TIMES) + (np.arange(TIMES) == 0).astype(np.int32), normal(12, 1)),
               _masked_by_hand, **_looped(1, "memory/lstm_cell")),
        fitted(GROUP, "ConvLSTM", _convolutional, lambda: (normal(12, TIMES, 4, 1), normal(12, 1)), _convolutional_by_hand,
               **_looped(1, "memory/conv_lstm_cell")),
        _row("`tf.while_loop` inside a layer", "while", LOOP, "inside a loop", times=2),
        _row("`tf.map_fn` inside a layer", "map", LOOP, "inside a loop"),
        _row("`tf.vectorized_map` inside a layer", "vectorized", LOOP, "inside a loop"),
        _row("a branch of `tf.cond` inside a layer", "cond", BRANCH, "inside a conditional"),
        _row("a `tf.function` called by a layer", "function", FUNCTION, "inside a tf.function"),
        _row("a layer whose `call` is a `tf.function`", "call", FUNCTION, "inside a tf.function"),
        fitted(GROUP, "ragged tensors", _unusual_model, _ragged, _unusual_by_hand),
        fitted(GROUP, "sparse tensors", _unusual_model, _sparse, _unusual_by_hand),
    ]  # fmt: skip
