"""Rows: `record`, `tap`, and tensors that one already has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import tb_layerflow as layerflow

from .custom_loops import LOOP, plain_step, recorder
from .functional import WIDTH
from .regression import batch, compiled, forward, two_layers
from .row import Hand, Row, left_by, mse, normal, seeded

RECORD = "`record`, `tap` and tensors one already has"


class Plain(tf.Module):
    """Plain TensorFlow code, tapped."""

    def __init__(self) -> None:
        super().__init__(name="plain")
        self.weight = tf.Variable(normal(WIDTH, 2, seed=6))

    def __call__(self, x: Any) -> Any:
        hidden = layerflow.summary.tap("hidden", tf.tanh(x @ self.weight))
        return layerflow.summary.tap("sums", {"rows": tf.reduce_sum(hidden, 1), "whole": tf.reduce_sum(hidden)})


def _tapped() -> Row:
    def run(folder: Path | None) -> list[Any]:
        module, optimizer = Plain(), keras.optimizers.SGD(0.05)
        with recorder(folder) as one:

            @one.function
            def step(x: Any) -> Any:
                with tf.GradientTape() as tape:
                    found = module(x)
                    loss = tf.reduce_mean(tf.square(found["rows"])) + found["whole"]
                gradient = tape.gradient(loss, [module.weight])
                module.weight.assign_sub(0.05 * gradient[0])
                return loss

            losses = [step(batch(number)[0]) for number in range(2)]
        del optimizer
        return [np.asarray(module.weight), *map(np.asarray, losses)]

    def by_hand(hand: Hand) -> dict[str, Any]:
        module = Plain()
        hidden = hand("hidden", tf.tanh(batch()[0] @ module.weight))
        rows, whole = hand("sums", tf.reduce_sum(hidden, 1), 0), hand("sums", tf.reduce_sum(hidden), 1)
        return {"error": tf.reduce_mean(tf.square(rows)) + whole}

    return Row(LOOP, "`tap` in a `tf.Module` that is trained", run, by_hand)


def _recorded(what: str, made: Callable[[], Any], by_hand: Callable[[Hand], dict[str, Any]], **options: Any) -> Row:
    def run(folder: Path | None) -> list[Any]:
        target = made()
        before = left_by(target) if hasattr(target, "variables") else []
        if folder is not None:
            settings = {"what": ("outputs", "errors"), "statistics": "exact", **{key: value() for key, value in options.items()}}
            layerflow.record(target, folder, **settings)
        return [*before, *(left_by(target) if hasattr(target, "variables") else []), np.zeros(1)]

    return Row(RECORD, what, run, by_hand, stream="record", has_errors="y" in options, limits="nothing is changed")


def _given() -> Row:
    def run(folder: Path | None) -> list[Any]:
        if folder is not None:
            layerflow.summary.outputs("encoder/conv", normal(4, 3), step=0, writer=folder)
            layerflow.summary.errors("encoder/conv", normal(4, 3, seed=1), step=0, writer=folder)
            layerflow.summary.flush()
        return [np.zeros(1)]

    def by_hand(hand: Hand) -> dict[str, Any]:
        output = hand("encoder/conv", tf.constant(normal(4, 3)))
        return {"error": tf.reduce_sum(output * normal(4, 3, seed=1))}

    return Row(RECORD, "`outputs` and `errors` of tensors one already has", run, by_hand, stream="manual", trains=False)


def _weights() -> Row:
    """`weights` in a loop of one's own, before each step: of the model as it is left by two of them."""

    def trained(steps: int, folder: Path | None) -> Any:
        model = seeded(two_layers)
        optimizer = keras.optimizers.SGD(0.05)
        optimizer.build(model.trainable_variables)
        step = tf.function(plain_step(model, optimizer))
        for number in range(steps):
            if folder is not None:
                layerflow.summary.weights(model, step=number, writer=folder)
            step(*batch(number))
        layerflow.summary.flush()
        return model

    def by_hand(hand: Hand) -> dict[str, Any]:
        model = trained(2, None)
        named = {
            (layer.name, number): np.asarray(weight) for layer in model.layers for number, weight in enumerate(layer.weights)
        }
        hand.errors["weight"] = named
        return {}

    return Row(RECORD, "`weights` in a custom loop", lambda folder: left_by(trained(3, folder)), by_hand, stream="manual", step=2,
               kept="weights", has_errors=False)  # fmt: skip


def _record_by_hand(hand: Hand) -> dict[str, Any]:
    x, y = batch()
    return {"error": mse(y, forward(hand, compiled(), x))}


def _function() -> Any:
    model = seeded(two_layers)

    @tf.function
    def scored(x: Any) -> Any:
        return layerflow.summary.tap("doubled", 2.0 * model(x))

    scored.kept = model
    return scored


def _function_by_hand(hand: Hand) -> dict[str, Any]:
    output = forward(hand, seeded(two_layers), batch()[0], root="sequential")
    hand(".", hand("doubled", 2.0 * output))
    return {}


def _module_by_hand(hand: Hand) -> dict[str, Any]:
    hidden = hand("hidden", tf.tanh(batch()[0] @ Plain().weight))
    rows, whole = hand("sums", tf.reduce_sum(hidden, 1), 0), hand("sums", tf.reduce_sum(hidden), 1)
    hand(".", rows, 0), hand(".", whole, 1)
    return {}


def rows() -> list[Row]:
    """The rows of this file."""
    return [
        _tapped(),
        _recorded("`record` of a Keras model, with labels", compiled, _record_by_hand, x=lambda: batch()[0], y=lambda: batch()[1]),
        _recorded("`record` of a `tf.function`", _function, _function_by_hand, x=lambda: batch()[0]),
        _recorded("`record` of a `tf.Module`", Plain, _module_by_hand, x=lambda: batch()[0]),
        _given(), _weights(),
    ]  # fmt: skip
