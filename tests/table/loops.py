"""Rows: the ways of training and running a model, from `fit` and its options to loops that the user wrote."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import tb_layerflow as layerflow

from .functional import numbers
from .row import Hand, Row, callback, fitted, left_by, mse, normal, seeded
from .subclassed import dense

FIT = "`fit`"
LOOP = "Custom loops: `Recorder`"
RECORD = "`record`, `tap` and tensors one already has"
WIDTH = 3


def two_layers() -> Any:
    return keras.Sequential([layers.Input((WIDTH,), name="numbers"), dense(4, "first", activation="tanh"), dense()])


def forward(hand: Hand, model: Any, x: Any, root: str = ".") -> Any:
    below = "" if root == "." else f"{root}/"
    first, last = model.layers[-2:]
    return hand(root, hand(f"{below}last", last(hand(f"{below}first", first(x)))))


def _fitted(what: str, **options: Any) -> Row:
    return fitted(FIT, what, two_layers, numbers(), forward, **options)


# ----------------------------------------------------------------------------------------------------------------- fit


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
        model = _compiled()
        return left_by(model, *model.fit(data(), epochs=2, verbose=0, callbacks=callback(folder)).history.values())

    return Row(FIT, "a dataset of unknown length", run, _first_batch_by_hand)


def _compiled(**options: Any) -> Any:
    model = seeded(two_layers)
    model.compile(**{"optimizer": keras.optimizers.Adam(0.01), "loss": "mse", **options})
    return model


def _batch(number: int = 0) -> Any:
    return tuple(tf.constant(array[4 * number : 4 * number + 4]) for array in numbers()())


def _first_batch_by_hand(hand: Hand) -> dict[str, Any]:
    x, y = _batch()
    return {"error": mse(y, forward(hand, _compiled(), x))}


def _fit(model: Any, *callbacks: Any, **options: Any) -> Any:
    x, y = numbers()()
    return model.fit(x, y, **{"batch_size": 4, "shuffle": False, "verbose": 0, "callbacks": list(callbacks), **options}).history


def _several_fits() -> Row:
    def run(folder: Path | None) -> list[Any]:
        model, listeners = _compiled(), callback(folder)
        histories = [_fit(model, *listeners) for _ in range(3)]
        return left_by(model, *(values for history in histories for values in history.values()))

    return Row(FIT, "several `fit` calls with one callback", run, _after_batches(0, 1, 2, 0, 1, 2, then=0), step=6)


def _after_batches(*numbers: int, then: int) -> Callable[[Hand], dict[str, Any]]:
    """The pass over batch `then`, after training on the batches before it."""

    def by_hand(hand: Hand) -> dict[str, Any]:
        with hand.aside():
            model = _compiled()
            for number in numbers:
                model.train_on_batch(*_batch(number))
        x, y = _batch(then)
        return {"error": mse(y, forward(hand, model, x))}

    return by_hand


def _several_callbacks() -> Row:
    def run(folder: Path | None) -> list[Any]:
        model = _compiled()
        listeners = callback(folder) + callback(folder, stream="second", every=2, layers="first")
        return left_by(model, *_fit(model, *listeners).values())

    return Row(FIT, "several callbacks", run, _first_batch_by_hand)


def _resumed() -> Row:
    def run(folder: Path | None) -> list[Any]:
        model = _compiled()
        _fit(model, *callback(folder))
        again = _compiled()
        again.optimizer.build(again.trainable_variables)
        for new, old in zip([*again.variables, *again.optimizer.variables], [*model.variables, *model.optimizer.variables], strict=True):
            new.assign(old)
        return left_by(again, *_fit(again, *callback(folder)).values())

    return Row(FIT, "resumed from a checkpoint into the same folder", run, _after_batches(0, 1, 2, then=0), step=3)


def _after_interrupt() -> Row:
    class Interrupts(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 1:
                raise KeyboardInterrupt

    def run(folder: Path | None) -> list[Any]:
        model = _compiled()
        with suppress(KeyboardInterrupt):
            _fit(model, *callback(folder), Interrupts())
        return left_by(model, *_fit(model, *callback(folder)).values())

    return Row(FIT, "interrupted, then fitted again by a new callback in the same folder", run,
               _after_batches(0, 1, then=0), step=2)  # fmt: skip


# --------------------------------------------------------------------------------------------------------- custom loops


def recorder(folder: Path | None, **options: Any) -> Any:
    """A Recorder of outputs and errors, of everything; without a folder a stand-in that records nothing."""
    if folder is None:
        return Unrecorded()
    return layerflow.Recorder(folder, **{"every": 1, "what": ("outputs", "errors"), "statistics": "exact", "values": "all", **options})


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


def _step(model: Any, optimizer: Any) -> Callable[[Any, Any], Any]:
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
            step = wrap(one, _step(model, optimizer))
            losses = [step(*_batch(number)) for number in range(3)]
        return left_by(model, *losses)

    return Row(LOOP, what, run, _loop_by_hand, **row)


def _loop_by_hand(hand: Hand) -> dict[str, Any]:
    x, y = _batch()
    return {"error": mse(y, forward(hand, seeded(two_layers), x))}


def _in_step(one: Any, step: Callable[..., Any]) -> Callable[..., Any]:
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


FOLDED = {"left_within": 1e-6, "limits": "TensorFlow folds the constant after an output in steps that are not recorded: equal to rounding"}


def _gan_models() -> tuple[Any, Any]:
    def both() -> Any:
        make = keras.Sequential([layers.Input((2,)), dense(WIDTH, "made")], name="generator")
        judge = keras.Sequential([layers.Input((WIDTH,)), dense(1, "judged")], name="discriminator")
        return make, judge

    return seeded(both)


def _gan_losses(make: Any, judge: Any, noise: Any, real: Any, call: Any = None) -> tuple[Any, Any]:
    """(generator's, discriminator's) of one forward pass."""
    call = call or (lambda model, name, x: model(x))
    fake = call(make, "generator", noise)
    seen_real, seen_fake = call(judge, "discriminator", real), call(judge, "discriminator#1", fake)
    return tf.reduce_mean(tf.square(seen_fake - 1.0)), tf.reduce_mean(tf.square(seen_real - 1.0)) + tf.reduce_mean(tf.square(seen_fake))


def _noise_and_real() -> tuple[Any, Any]:
    return tf.constant(normal(4, 2, seed=8)), tf.constant(normal(4, WIDTH, seed=9))


def _noted(hand: Hand) -> Any:
    """Calls a one-layer model as the hand-written pass does."""
    return lambda model, name, x: hand(name, hand(f"{name}/{model.layers[-1].name}", model.layers[-1](x)))


def _gan(eagerly: bool) -> Row:
    def run(folder: Path | None) -> list[Any]:
        make, judge = _gan_models()
        optimizers = [keras.optimizers.Adam(0.01) for _ in range(2)]
        for optimizer, model in zip(optimizers, (make, judge), strict=True):
            optimizer.build(model.trainable_variables)
        with recorder(folder) as one:

            def train_step(noise: Any, real: Any) -> Any:
                with tf.GradientTape() as first, tf.GradientTape() as second:
                    losses = _gan_losses(make, judge, noise, real)
                with one.backward("generator"):
                    of_make = first.gradient(losses[0], make.trainable_variables)
                with one.backward("discriminator"):
                    of_judge = second.gradient(losses[1], judge.trainable_variables)
                optimizers[0].apply_gradients(zip(of_make, make.trainable_variables, strict=True))
                optimizers[1].apply_gradients(zip(of_judge, judge.trainable_variables, strict=True))
                return losses

            step = _in_step(one, train_step) if eagerly else one.function(train_step)
            losses = [step(*_noise_and_real()) for _ in range(2)]
        return left_by(make, *left_by(judge), *losses[-1])

    def by_hand(hand: Hand) -> dict[str, Any]:
        losses = _gan_losses(*_gan_models(), *_noise_and_real(), _noted(hand))
        return {"error:generator": losses[0], "error:discriminator": losses[1], "error#0": losses[0], "error": losses[1]}

    return Row(LOOP, f"a GAN, two tapes in one {'eager step' if eagerly else 'function'}", run, by_hand, **FOLDED)


def _gan_of_two_functions() -> Row:
    """The discriminator's step does not touch the generator's tape: two functions, one step."""

    def run(folder: Path | None) -> list[Any]:
        make, judge = _gan_models()
        optimizers = [keras.optimizers.Adam(0.01) for _ in range(2)]
        for optimizer, model in zip(optimizers, (make, judge), strict=True):
            optimizer.build(model.trainable_variables)
        with recorder(folder) as one:

            @one.function
            def generate(noise: Any) -> Any:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(judge(make(noise)) - 1.0))
                optimizers[0].apply_gradients(zip(tape.gradient(loss, make.trainable_variables), make.trainable_variables, strict=True))
                return loss

            @one.function
            def discriminate(real: Any) -> Any:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(judge(real) - 1.0))
                optimizers[1].apply_gradients(zip(tape.gradient(loss, judge.trainable_variables), judge.trainable_variables, strict=True))
                return loss

            noise, real = _noise_and_real()
            for _ in range(2):
                losses = generate(noise), discriminate(real)
        return left_by(make, *left_by(judge), *losses)

    def by_hand(hand: Hand) -> dict[str, Any]:
        make, judge = _gan_models()
        noise, real = _noise_and_real()
        note = _noted(hand)
        first = tf.reduce_mean(tf.square(note(judge, "discriminator", note(make, "generator", noise)) - 1.0))
        second = tf.reduce_mean(tf.square(note(judge, "discriminator#1", real) - 1.0))
        return {"error#0": first, "error#1": second, "error": second}

    return Row(LOOP, "a GAN, two functions in one step", run, by_hand, **FOLDED)


def _penalty(model: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """The loss with the gradient penalty, of a tape within a tape; and the inner gradient."""
    with tf.GradientTape() as inner:
        inner.watch(x)
        output = model(x)
    slope = inner.gradient(output, x)
    return mse(y, output) + tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0)), slope


def _gradient_penalty() -> Row:
    def run(folder: Path | None) -> list[Any]:
        model = seeded(two_layers)
        optimizer = keras.optimizers.SGD(0.05)
        optimizer.build(model.trainable_variables)
        with recorder(folder) as one:

            @one.function
            def step(x: Any, y: Any) -> Any:
                with tf.GradientTape() as tape:
                    loss, _ = _penalty(model, x, y)
                with one.backward("penalised"):
                    gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
                return loss

            losses = [step(*_batch(number)) for number in range(2)]
        return left_by(model, *losses)

    def by_hand(hand: Hand) -> dict[str, Any]:
        model = seeded(two_layers)
        x, y = _batch()
        with tf.GradientTape() as inner:
            inner.watch(x)
            output = forward(hand, model, x)
        slope = inner.gradient(output, x)
        loss = mse(y, output) + tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0))
        return {"error:penalised": loss, "error": loss, "error#0": tf.reduce_sum(output)}

    return Row(LOOP, "a gradient penalty, a tape within a tape", run, by_hand)


def _persistent() -> Row:
    def run(folder: Path | None) -> list[Any]:
        model = seeded(two_layers)
        optimizer = keras.optimizers.SGD(0.05)
        optimizer.build(model.trainable_variables)
        with recorder(folder) as one:

            @one.function
            def step(x: Any, y: Any) -> Any:
                with tf.GradientTape(persistent=True) as tape:
                    output = model(x)
                    losses = mse(y, output), tf.reduce_mean(tf.abs(output))
                pairs = [tape.gradient(loss, model.trainable_variables) for loss in losses]
                gradients = [one + two for one, two in zip(*pairs, strict=True)]
                optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
                return losses

            losses = [step(*_batch(number)) for number in range(2)]
        return left_by(model, *losses[-1])

    def by_hand(hand: Hand) -> dict[str, Any]:
        x, y = _batch()
        output = forward(hand, seeded(two_layers), x)
        first, second = mse(y, output), tf.reduce_mean(tf.abs(output))
        return {"error#0": first, "error#1": second, "error": second}

    return Row(LOOP, "a persistent tape", run, by_hand)


def _watched(method: str, stream: str) -> Row:
    def run(folder: Path | None) -> list[Any]:
        model = _compiled()
        with recorder(folder) as one:
            one.watch(model)
            x, y = _batch()
            for _ in range(2):
                given = (x,) if method == "predict" else (x, y)
                found = getattr(model, method)(*given, **({} if method == "train_on_batch" else {"verbose": 0}))
        return left_by(model, found)

    def by_hand(hand: Hand) -> dict[str, Any]:
        x, y = _batch()
        output = forward(hand, _compiled(), x)
        return {"error": mse(y, output)} if method == "train_on_batch" else {}

    return Row(LOOP, f"`watch`: `{method}`", run, by_hand, stream=stream, has_errors=method == "train_on_batch")


def _only_models() -> Row:
    def run(folder: Path | None) -> list[Any]:
        make, judge = _gan_models()
        with recorder(folder, **({"models": [judge]} if folder is not None else {})) as one:
            step = one.function(lambda noise: tf.reduce_mean(judge(make(noise))))
            found = step(_noise_and_real()[0])
        return left_by(make, *left_by(judge), found)

    def by_hand(hand: Hand) -> dict[str, Any]:
        make, judge = _gan_models()
        _noted(hand)(judge, "discriminator", make(_noise_and_real()[0]))
        return {}

    chosen = [(path, "error", 0, "not connected") for path in ("discriminator", "discriminator/judged")]
    others = [(path, kind, 0, "not selected") for path in ("generator", "generator/made") for kind in ("output", "error")]
    others.append(("generator/input", "output", 0, "not selected"))
    return Row(LOOP, "`models=`: only one of two", run, by_hand, ledger=chosen + others, has_errors=False)


# ---------------------------------------------------------------------------------------------- record, tap, own tensors


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

            losses = [step(_batch(number)[0]) for number in range(2)]
        del optimizer
        return [np.asarray(module.weight), *map(np.asarray, losses)]

    def by_hand(hand: Hand) -> dict[str, Any]:
        module = Plain()
        hidden = hand("hidden", tf.tanh(_batch()[0] @ module.weight))
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


def _record_by_hand(hand: Hand) -> dict[str, Any]:
    x, y = _batch()
    return {"error": mse(y, forward(hand, _compiled(), x))}


def _function() -> Any:
    model = seeded(two_layers)

    @tf.function
    def scored(x: Any) -> Any:
        return layerflow.summary.tap("doubled", 2.0 * model(x))

    scored.kept = model
    return scored


def _function_by_hand(hand: Hand) -> dict[str, Any]:
    output = forward(hand, seeded(two_layers), _batch()[0], root="sequential")
    hand(".", hand("doubled", 2.0 * output))
    return {}


def _module_by_hand(hand: Hand) -> dict[str, Any]:
    hidden = hand("hidden", tf.tanh(_batch()[0] @ Plain().weight))
    rows, whole = hand("sums", tf.reduce_sum(hidden, 1), 0), hand("sums", tf.reduce_sum(hidden), 1)
    hand(".", rows, 0), hand(".", whole, 1)
    return {}


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
        _loop("`recorder.function`, bare", lambda one, step: one.function(step)),
        _loop("`recorder.function(jit_compile=True)`", lambda one, step: one.function(jit_compile=True)(step), left_within=1e-5),
        _loop("`recorder.function(input_signature=…)`", lambda one, step: one.function(input_signature=SIGNATURE)(step)),
        _loop("`recorder.function` on a method", _method),
        _loop("`recorder.function` with AutoGraph's `if` and `for`", _autograph),
        _loop("`recorder.step()` around an eager body", _in_step),
        _gan(False), _gan(True), _gan_of_two_functions(), _gradient_penalty(), _persistent(),
        _watched("train_on_batch", "train"), _watched("evaluate", "evaluate"), _watched("predict", "predict"),
        _only_models(), _tapped(),
        _recorded("`record` of a Keras model, with labels", _compiled, _record_by_hand, x=lambda: _batch()[0], y=lambda: _batch()[1]),
        _recorded("`record` of a `tf.function`", _function, _function_by_hand, x=lambda: _batch()[0]),
        _recorded("`record` of a `tf.Module`", Plain, _module_by_hand, x=lambda: _batch()[0]),
        _given(),
    ]  # fmt: skip
