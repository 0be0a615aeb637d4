"""Rows: loops with more than one gradient tape or more than one model, recorded by `Recorder`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from keras import layers

from .custom_loops import LOOP, in_step, recorder
from .functional import WIDTH
from .regression import batch, forward, two_layers
from .row import FUSED, Hand, Row, left_by, mse, normal, seeded
from .subclassed import dense

FOLDED = {
    "left_within": 1e-6,
    "limits": "TensorFlow folds the constant after an output in steps that are not recorded: equal to rounding",
}


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
    return tf.reduce_mean(tf.square(seen_fake - 1.0)), tf.reduce_mean(tf.square(seen_real - 1.0)) + tf.reduce_mean(
        tf.square(seen_fake)
    )


_FOLDED_NOTES = [(f"{call}/judged", "output", -1, FUSED) for call in ("discriminator", "discriminator#1")]


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

            step = in_step(one, train_step) if eagerly else one.function(train_step)
            losses = [step(*_noise_and_real()) for _ in range(2)]
        return left_by(make, *left_by(judge), *losses[-1])

    def by_hand(hand: Hand) -> dict[str, Any]:
        losses = _gan_losses(*_gan_models(), *_noise_and_real(), _noted(hand))
        return {"error:generator": losses[0], "error:discriminator": losses[1], "error#0": losses[0], "error": losses[1]}

    ledger = [] if eagerly else _FOLDED_NOTES
    return Row(LOOP, f"a GAN, two tapes in one {'eager step' if eagerly else 'function'}", run, by_hand, ledger=ledger, **FOLDED)


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
                optimizers[0].apply_gradients(
                    zip(tape.gradient(loss, make.trainable_variables), make.trainable_variables, strict=True)
                )
                return loss

            @one.function
            def discriminate(real: Any) -> Any:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(judge(real) - 1.0))
                optimizers[1].apply_gradients(
                    zip(tape.gradient(loss, judge.trainable_variables), judge.trainable_variables, strict=True)
                )
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

    return Row(LOOP, "a GAN, two functions in one step", run, by_hand, ledger=_FOLDED_NOTES, **FOLDED)


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

            losses = [step(*batch(number)) for number in range(2)]
        return left_by(model, *losses)

    def by_hand(hand: Hand) -> dict[str, Any]:
        model = seeded(two_layers)
        x, y = batch()
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

            losses = [step(*batch(number)) for number in range(2)]
        return left_by(model, *losses[-1])

    def by_hand(hand: Hand) -> dict[str, Any]:
        x, y = batch()
        output = forward(hand, seeded(two_layers), x)
        first, second = mse(y, output), tf.reduce_mean(tf.abs(output))
        return {"error#0": first, "error#1": second, "error": second}

    return Row(LOOP, "a persistent tape", run, by_hand)


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


def rows() -> list[Row]:
    """The rows of this file."""
    return [_gan(False), _gan(True), _gan_of_two_functions(), _gradient_penalty(), _persistent(), _only_models()]
