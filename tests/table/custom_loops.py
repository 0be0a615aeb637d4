"""Rows: loops that the user wrote, recorded by `Recorder`, and what stands in for one where nothing is recorded."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

import tb_layerflow as layerflow

from .functional import WIDTH
from .regression import batch, compiled, forward, two_layers
from .row import Hand, Row, left_by, mse, seeded

LOOP = "Custom loops: `Recorder`"


def recorder(folder: Path | None, **options: Any) -> Any:
    """A Recorder of outputs and errors, of everything; without a folder a stand-in that records nothing."""
    if folder is None:
        return Unrecorded()
    return layerflow.Recorder(
        folder, **{"every": 1, "what": ("outputs", "errors"), "statistics": "exact", "values": "all", **options}
    )


class Unrecorded:
    """What a loop uses where it would use a Recorder."""

    def __enter__(self) -> Unrecorded:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def function(self, function: Any = None, **options: Any) -> Any:
        return tf.function(function, **options) if function is not None else lambda one: tf.function(one, **options)

    def step(self) -> Any:
        return nullcontext()

    def watch(self, model: Any) -> None:
        pass

    def backward(self, name: str) -> Any:
        return nullcontext()


def plain_step(model: Any, optimizer: Any) -> Callable[[Any, Any], Any]:
    """The training step of a regression."""

    def train_step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = mse(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True))
        return loss

    return train_step


def _loop(what: str, wrap: Callable[[Any, Callable[..., Any]], Callable[..., Any]], **row: Any) -> Row:
    """A row whose step is a function of x and y, put into the recorder by `wrap`."""

    def run(folder: Path | None) -> list[Any]:
        model = seeded(two_layers)
        optimizer = keras.optimizers.Adam(0.01)
        optimizer.build(model.trainable_variables)
        with recorder(folder) as one:
            step = wrap(one, plain_step(model, optimizer))
            losses = [step(*batch(number)) for number in range(3)]
        return left_by(model, *losses)

    return Row(LOOP, what, run, loop_by_hand, **row)


def loop_by_hand(hand: Hand) -> dict[str, Any]:
    x, y = batch()
    return {"error": mse(y, forward(hand, seeded(two_layers), x))}


def in_step(one: Any, step: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, y: Any) -> Any:
        with one.step():
            return step(x, y)

    return run


def _method(one: Any, step: Callable[..., Any]) -> Callable[..., Any]:
    class Trainer:
        @one.function
        def train(self, x: Any, y: Any) -> Any:
            return step(x, y)

    trainer = Trainer()
    _method.kept = trainer  # type: ignore[attr-defined]
    return trainer.train


def _autograph(one: Any, step: Callable[..., Any]) -> Callable[..., Any]:
    @one.function
    def train(x: Any, y: Any) -> Any:
        loss = step(x, y)
        if tf.reduce_sum(x) > 1e6:  # AutoGraph makes a conditional of it
            loss = loss * 2.0
        for _ in tf.range(2):
            loss = loss + 0.0
        return loss

    return train


SIGNATURE = [tf.TensorSpec((None, WIDTH)), tf.TensorSpec((None, 1))]


def _watched(method: str, stream: str) -> Row:
    def run(folder: Path | None) -> list[Any]:
        model = compiled()
        with recorder(folder) as one:
            one.watch(model)
            x, y = batch()
            for _ in range(2):
                given = (x,) if method == "predict" else (x, y)
                found = getattr(model, method)(*given, **({} if method == "train_on_batch" else {"verbose": 0}))
        return left_by(model, found)

    def by_hand(hand: Hand) -> dict[str, Any]:
        x, y = batch()
        output = forward(hand, compiled(), x)
        return {"error": mse(y, output)} if method == "train_on_batch" else {}

    return Row(LOOP, f"`watch`: `{method}`", run, by_hand, stream=stream, has_errors=method == "train_on_batch")


def rows() -> list[Row]:
    """The rows of this file."""
    return [
        _loop("`recorder.function`, bare", lambda one, step: one.function(step)),
        _loop("`recorder.function(jit_compile=True)`", lambda one, step: one.function(jit_compile=True)(step), left_within=1e-5),
        _loop("`recorder.function(input_signature=…)`", lambda one, step: one.function(input_signature=SIGNATURE)(step)),
        _loop("`recorder.function` on a method", _method),
        _loop("`recorder.function` with AutoGraph's `if` and `for`", _autograph),
        _loop("`recorder.step()` around an eager body", in_step),
        _watched("train_on_batch", "train"), _watched("evaluate", "evaluate"), _watched("predict", "predict"),
    ]  # fmt: skip
