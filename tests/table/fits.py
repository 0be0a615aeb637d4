"""Rows: `fit` and its options, several fits, interrupted and resumed ones."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from .functional import WIDTH, numbers
from .regression import batch, compiled, first_batch_by_hand, forward, two_layers
from .row import Hand, Row, callback, fitted, left_by, mse
from .subclassed import dense

FIT = "`fit`"


def _fitted(what: str, **options: Any) -> Row:
    return fitted(FIT, what, two_layers, numbers(), forward, **options)


class OwnStep(keras.Model):
    """A functional model whose `train_step` the user wrote: two tapes, halved gradients."""

    def train_step(self, batch: Any) -> Any:
        x, y = batch
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(y - self(x, training=True)))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip([gradient / 2.0 for gradient in gradients], self.trainable_variables, strict=True))
        return {"loss": loss}


def _own_step() -> Any:
    symbol = keras.Input((WIDTH,), name="numbers")
    return OwnStep(symbol, dense()(dense(4, "first", activation="tanh")(symbol)))


def _unknown_length() -> Row:
    def data() -> Any:
        x, y = numbers()()
        return tf.data.Dataset.from_tensor_slices((x, y)).batch(4).filter(lambda x, y: True)

    def run(folder: Path | None) -> list[Any]:
        model = compiled()
        return left_by(model, *model.fit(data(), epochs=2, verbose=0, callbacks=callback(folder)).history.values())

    return Row(FIT, "a dataset of unknown length", run, first_batch_by_hand)


def _fit(model: Any, *callbacks: Any, **options: Any) -> Any:
    x, y = numbers()()
    return model.fit(x, y, **{"batch_size": 4, "shuffle": False, "verbose": 0, "callbacks": list(callbacks), **options}).history


def _several_fits() -> Row:
    def run(folder: Path | None) -> list[Any]:
        model, listeners = compiled(), callback(folder)
        histories = [_fit(model, *listeners) for _ in range(3)]
        return left_by(model, *(values for history in histories for values in history.values()))

    return Row(FIT, "several `fit` calls with one callback", run, _after_batches(0, 1, 2, 0, 1, 2, then=0), step=6)


def _after_batches(*numbers: int, then: int) -> Callable[[Hand], dict[str, Any]]:
    """The pass over batch `then`, after training on the batches before it."""

    def by_hand(hand: Hand) -> dict[str, Any]:
        with hand.aside():
            model = compiled()
            for number in numbers:
                model.train_on_batch(*batch(number))
        x, y = batch(then)
        return {"error": mse(y, forward(hand, model, x))}

    return by_hand


def _several_callbacks() -> Row:
    def run(folder: Path | None) -> list[Any]:
        model = compiled()
        listeners = callback(folder) + callback(folder, stream="second", every=2, layers="first")
        return left_by(model, *_fit(model, *listeners).values())

    return Row(FIT, "several callbacks", run, first_batch_by_hand)


def _resumed() -> Row:
    def run(folder: Path | None) -> list[Any]:
        model = compiled()
        _fit(model, *callback(folder))
        again = compiled()
        again.optimizer.build(again.trainable_variables)
        for new, old in zip(
            [*again.variables, *again.optimizer.variables], [*model.variables, *model.optimizer.variables], strict=True
        ):
            new.assign(old)
        return left_by(again, *_fit(again, *callback(folder)).values())

    return Row(FIT, "resumed from a checkpoint into the same folder", run, _after_batches(0, 1, 2, then=0), step=3)


def _after_interrupt() -> Row:
    class Interrupts(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 1:
                raise KeyboardInterrupt

    def run(folder: Path | None) -> list[Any]:
        model = compiled()
        with suppress(KeyboardInterrupt):
            _fit(model, *callback(folder), Interrupts())
        return left_by(model, *_fit(model, *callback(folder)).values())

    return Row(FIT, "interrupted, then fitted again by a new callback in the same folder", run,
               _after_batches(0, 1, then=0), step=2)  # fmt: skip


def rows() -> list[Row]:
    """The rows of this file."""
    adam = {"optimizer": lambda: keras.optimizers.Adam(0.01)}
    accumulating = {"optimizer": lambda: keras.optimizers.Adam(0.01, gradient_accumulation_steps=2)}
    return [
        _fitted("traced, Adam", compiled=adam),
        _fitted("run eagerly", compiled={"run_eagerly": True, **adam}),
        _fitted("`jit_compile=True`", compiled={"jit_compile": True, **adam}, left_within=1e-5),
        replace(_fitted("`steps_per_execution=2`", compiled={"steps_per_execution": 2, **adam}), by_hand=_after_batches(0, then=1), step=1),
        _fitted("gradient accumulation", compiled=accumulating),
        fitted(FIT, "an overridden `train_step`", _own_step, numbers(), forward, loss=lambda y, found: tf.reduce_mean(tf.abs(y - found))),
        _unknown_length(), _several_fits(), _several_callbacks(), _resumed(), _after_interrupt(),
    ]  # fmt: skip
