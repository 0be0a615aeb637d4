"""Planted: layers that put out nothing of use, weights that move wrongly, and trainings that learn nothing."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import Case

from . import bodies
from .planting import Gate, Holds, Plan, Pulled, Shown, drawn, forgets, from_step
from .witness import Witness, readable

ALL = ("*",)


def constant_of(value: float) -> Any:
    return keras.initializers.Constant(value)


def normal(stddev: float) -> Any:
    return keras.initializers.RandomNormal(stddev=stddev, seed=5)


def _zero_share(witness: Witness, name: str, step: int) -> float:
    return float(np.mean(witness.output(step, name) == 0))


def _at_bounds(witness: Witness, name: str, step: int, low: float = -1) -> float:
    output = witness.output(step, name)
    return float(np.mean((output > 0.9999) | (output < low + 0.0001)))


def dead_units() -> list[Case]:
    low = Plan(arguments={"conv2": {"bias_initializer": constant_of(-40)}})
    nothing = {
        "unchanged_weights": ("conv1", "conv2"), "update_too_small": ("conv1", "conv2"), "vanishing_errors": ("conv1", "conv2"),
        "constant": ("conv2", "pool", "mix", "scores"), "loss_does_not_fall": (".",), "poor_initialisation": ("conv2",),
        "worse_readout": ("conv2",), "dead_units": ("mix",),
    }  # fmt: skip
    late = Plan(
        callbacks=from_step(14, lambda model: model.get_layer("encoder").get_layer("wide").bias.assign(np.full(48, -1e3)))
    )
    after = {
        "unchanged_weights": ("encoder/wide",), "update_too_small": ("encoder/wide", "encoder/code"), "constant": ALL,
        "vanishing_errors": ("encoder/wide", "encoder#1/wide", "encoder", "encoder#1", "encoder/code", "encoder#1/code"),
        "worse_readout": ("encoder/wide", "encoder#1/wide", "encoder", "encoder#1", "encoder/code", "encoder#1/code"),
        "loss_does_not_fall": (".",),
    }  # fmt: skip
    negative = keras.initializers.RandomUniform(-1, -0.5, seed=6)
    below = Plan(arguments={"d1": {"activation": "sigmoid"}, "d2": {"activation": "relu", "kernel_initializer": negative}})
    tail = {
        "unchanged_weights": ("d1", "d2"), "update_too_small": ("d1", "d2"), "vanishing_errors": ("d1", "d2"), "constant": ("d2", "d3", "target"),
        "loss_does_not_fall": (".",), "poor_initialisation": ("d2",),
    }  # fmt: skip
    most = np.full(24, -200, np.float32)
    most[7] = 0
    few = Plan(arguments={"a_wide": {"bias_initializer": lambda shape, dtype=None: most}})
    wide = ("encoder/wide", "encoder#1/wide")
    return [
        Case("dead convolution", lambda: bodies.photo_cnn(low, 301), lambda w: _zero_share(w, "conv2", 0) == 1, "dead_units", ("conv2",), 0, nothing),
        Case("dead from a step on", lambda: bodies.siamese(late, 302),
                lambda w: _zero_share(w, "encoder/wide", 13) < 0.9 and _zero_share(w, "encoder/wide", 14) == 1, "dead_units", wide, 14, after),
        Case("negative kernel", lambda: bodies.diabetes(below, 303), lambda w: _zero_share(w, "d2", 0) == 1, "dead_units", ("d2",), 0, tail),
        Case("one unit of 24 alive", lambda: bodies.residual(few, 304), lambda w: _zero_share(w, "a_wide", 0) > 0.95, "dead_units", ("a_wide",), 0),
    ]  # fmt: skip


def saturated() -> list[Case]:
    wild = Plan(arguments={"conv1": {"activation": "sigmoid", "kernel_initializer": normal(300)}})
    late = Plan(callbacks=from_step(18, lambda model: model.get_layer("mix").kernel.assign(model.get_layer("mix").kernel * 1e5)))
    cut = {"vanishing_errors": ("words", "memory", "mix"), "unchanged_weights": ("words", "memory", "mix"), "update_too_small": ("mix",),
           "loss_does_not_fall": (".",)}  # fmt: skip
    return [
        Case("table in its own units", bodies.wild_table, lambda w: _at_bounds(w, "first", 0) > 0.9, "saturated", ("first",), 0,
                {"poor_initialisation": ("first",), "worse_readout": ("first",)}),
        Case("sigmoid filters too strong", lambda: bodies.photo_cnn(wild, 306), lambda w: _at_bounds(w, "conv1", 0, 0) > 0.9, "saturated",
                ("conv1",), 0, {"poor_initialisation": ("conv1",), "update_too_small": ("conv1",)}),
        Case("saturated from a step on", lambda: bodies.text_lstm(late, 307),
                lambda w: _at_bounds(w, "mix", 18) > 0.99 and _at_bounds(w, "mix", 17) < 0.3, "saturated", ("mix",), 18, cut),
    ]  # fmt: skip


def constant() -> list[Case]:
    single = Plan(instead={"scores": lambda: layers.Dense(1, activation="softmax", name="scores")})
    below = ("conv1", "conv2", "pool", "mix", "scores")
    nothing = {
        "vanishing_errors": below, "unchanged_weights": below, "update_too_small": below, "loss_does_not_fall": (".",), "worse_readout": ("scores",),
    }  # fmt: skip
    of_one = Plan(behind={"target": lambda: layers.LayerNormalization(name="normed")})
    still = ("d1", "d2", "d3", "target")
    mean = {"vanishing_errors": still, "unchanged_weights": still, "update_too_small": still, "loss_does_not_fall": (".",)}
    full = Plan(arguments={"code": {"activation": "relu6", "bias_initializer": constant_of(60)}})
    code = {
        "vanishing_errors": ("enc", "code"), "unchanged_weights": ("enc", "code"), "update_too_small": ("enc", "code"),
        "poor_initialisation": ("code",),
    }  # fmt: skip
    late = Plan(
        behind={"far": lambda: Gate(name="gate")},
        callbacks=from_step(16, lambda model: model.get_layer("gate").forward.assign(0)),
    )
    nil = {
        "vanishing_errors": ("near", "far", "gate"), "unchanged_weights": ("near", "far", "mix"), "constant": ("flat",),
        "worse_readout": ("gate",), "update_too_small": ("near", "far"), "loss_does_not_fall": (".",),
    }  # fmt: skip
    return [
        Case("softmax of one score", lambda: bodies.photo_cnn(single, 308), lambda w: np.ptp(w.output(0, "scores")) == 0, "constant",
                ("scores",), 0, nothing),
        Case("normalised over one number", lambda: bodies.diabetes(of_one, 309), lambda w: np.ptp(w.output(5, "normed")) < 1e-5, "constant",
                ("normed",), 0, mean),
        Case("relu6 at six", lambda: bodies.photo_code(full, 310), lambda w: bool((w.output(0, "code") == 6).all()), "constant", ("code",), 0, code),
        Case("nothing from a step on", lambda: bodies.rows(late, 311),
                lambda w: np.ptp(w.output(15, "gate")) > 0.1 and np.ptp(w.output(16, "gate")) == 0, "constant", ("gate",), 16, nil),
    ]  # fmt: skip


def poor_initialisation() -> list[Case]:
    huge = Plan(arguments={"enc": {"kernel_initializer": normal(8)}})
    alike = Plan(arguments={"conv2": {"kernel_initializer": constant_of(0.05)}})
    small = Plan(arguments={"mix": {"kernel_initializer": normal(1e-5)}})
    fainter = {"vanishing_errors": ("words", "memory", "mix"), "constant": ("mix", "modules"), "update_too_large": ("mix",)}
    return [
        Case("huge kernel", lambda: bodies.photo_code(huge, 312), lambda w: _gain(w, "enc") > 30, "poor_initialisation", ("enc",), 0),
        Case("equal filters", lambda: bodies.photo_cnn(alike, 313), lambda w: np.ptp(w.output(0, "conv2"), axis=-1).max() < 1e-5,
                "poor_initialisation", ("conv2",), 0, {"worse_readout": ("conv2",)}),
        Case("tiny kernel", lambda: bodies.text_lstm(small, 314), lambda w: _gain(w, "mix") < 1e-3, "poor_initialisation", ("mix",), 0, fainter),
    ]  # fmt: skip


def _gain(witness: Witness, name: str) -> float:
    put_in, put_out, _ = witness.flow(0, name)[0]
    return float(put_out.std() / put_in.std())


def unchanged_weights() -> list[Case]:
    forgotten = Plan(model=forgets("conv1"))
    held = Plan(
        arguments={"code": {"kernel_initializer": lambda shape, dtype=None: drawn(shape, dtype), "kernel_constraint": Holds()}}
    )
    stops = Plan(
        instead={"wide": lambda: Pulled(32, 1.0, activation="gelu", name="wide")}, optimizer=lambda: optimizers.SGD(0.3),
        callbacks=from_step(13, lambda model: model.get_layer("wide").pull.assign(0)),
    )  # fmt: skip
    return [
        Case("forgotten by train_step", lambda: bodies.photo_cnn(forgotten, 315),
                lambda w: not any(w.moved("conv1", at) for at in range(50)) and w.moved("conv2", 5), "unchanged_weights", ("conv1",), 0),
        Case("held by a constraint", lambda: bodies.siamese(held, 316),
                lambda w: not any(w.moved("encoder/code", at) for at in range(50)) and w.moved("encoder/wide", 5), "unchanged_weights",
                ("encoder/code",), 0),
        Case("stops moving", lambda: bodies.text_attention(stops, 317), lambda w: w.moved("wide", 12) and not w.moved("wide", 13),
                "unchanged_weights", ("wide",), 13),
    ]  # fmt: skip


def update_ratio() -> list[Case]:
    pulled = Plan(
        instead={"b_wide": lambda: Pulled(24, 1.0, activation="relu", name="b_wide")}, optimizer=lambda: optimizers.SGD(0.05),
        behind={"b_thin": lambda: layers.LayerNormalization(name="tamed")},
        callbacks=from_step(12, lambda model: model.get_layer("b_wide").pull.assign(1e5)),
    )  # fmt: skip
    fast = Plan(optimizer=lambda: optimizers.Adam(1.0))
    jump = Plan(optimizer=lambda: optimizers.Adam(1e-3), callbacks=from_step(20, lambda model: _rate(model, 0.5)))
    slow = Plan(optimizer=lambda: optimizers.Adam(1e-8))
    stall = Plan(optimizer=lambda: optimizers.Adam(2e-3), callbacks=from_step(15, lambda model: _rate(model, 2e-8)))
    gentle = Plan(instead={"d2": lambda: Pulled(32, 3e-5, activation="tanh", name="d2")})
    wild = {"saturated": ("gru", "letter"), "loss_does_not_fall": (".",), "vanishing_errors": ALL, "exploding_errors": ALL}
    dense, every = ("enc", "code", "dec", "picture"), ("encoder/wide", "encoder/code", "same")
    jumped = {"exploding_errors": ALL, "loss_does_not_fall": (".",)}
    pushed = {"dead_units": ("b_wide",), "exploding_errors": ALL, "vanishing_errors": ALL, "unchanged_weights": ("b_wide",)}
    return [
        Case("one layer pulled", lambda: bodies.residual(pulled, 318), lambda w: w.ratio("b_wide", 12) > 1 and w.ratio("b_wide", 11) < 0.1,
                "update_too_large", ("b_wide",), 12, pushed),
        Case("rate of one", lambda: bodies.next_letter(fast, 319), lambda w: min(w.ratio(name, 0) for name in ("gru", "next")) > 1,
                "update_too_large", ("letter", "gru/gru_cell", "next"), 0, wild),
        Case("rate jumps", lambda: bodies.photo_code(jump, 320), lambda w: w.ratio("enc", 20) > 1 and w.ratio("enc", 19) < 0.1,
                "update_too_large", dense, 20, jumped),
        Case("rate of almost nothing", lambda: bodies.photo_cnn(slow, 321), lambda w: w.ratio("conv2", 9) < 1e-6, "update_too_small",
                ("conv1", "conv2", "mix", "scores"), 0, {"loss_does_not_fall": (".",)}),
        Case("rate falls to nothing", lambda: bodies.siamese(stall, 322),
                lambda w: w.ratio("encoder/wide", 16) < 1e-6 and w.ratio("encoder/wide", 14) > 1e-4, "update_too_small", every, 15, {"loss_does_not_fall": (".",)}),
        Case("one layer barely moves", lambda: bodies.diabetes(gentle, 323), lambda w: w.ratio("d2", 9) < 1e-6 and w.ratio("d1", 9) > 1e-4,
                "update_too_small", ("d2",), 0),
    ]  # fmt: skip


def _rate(model: Any, rate: float) -> None:
    model.optimizer.learning_rate = rate


def worse_readout() -> list[Case]:
    first = Plan(behind={"words": lambda: Shown(lambda x: x[:, :1], name="first_word")})
    rolled = Plan(behind={"last_norm": lambda: Shown(lambda x: ops.roll(x, 1, 0), name="rolled")})
    mixed = Plan(behind={"mix": lambda: Shown(lambda x: ops.reshape(ops.transpose(x), ops.shape(x)), name="scrambled")})
    narrow = Plan(behind={"pool": lambda: layers.Dense(1, name="narrow")})
    lost = {"loss_does_not_fall": (".",)}
    return [
        Case("first word only", lambda: bodies.text_lstm(first, 324), lambda w: _loses(w, "first_word", 0.15), "worse_readout", ("first_word",), None,
                {**lost, "unchanged_weights": ("memory/lstm_cell",)}),
        Case("rows of the batch rolled", lambda: bodies.residual(rolled, 325), lambda w: _loses(w, "rolled", 0.3), "worse_readout", ("rolled",), None, lost),
        Case("rows and features mixed", lambda: bodies.rows(mixed, 326), lambda w: _loses(w, "scrambled", 0.3), "worse_readout",
                ("scrambled",), None, lost),
        Case("one number for eight classes", lambda: bodies.text_attention(narrow, 327, 200), lambda w: _loses(w, "narrow", 0.1), "worse_readout",
                ("narrow",), None),
    ]  # fmt: skip


def _loses(witness: Witness, name: str, drop: float) -> bool:
    """Logistic regression reads the labels worse from a layer's output than from its input, over the training's last ten batches."""
    last = len(witness.losses)
    parts = [(*witness.flow(step, name)[0][:2], witness.batch(step)[1]) for step in range(last - 10, last)]
    put_in, put_out, labels = (np.concatenate(part) for part in zip(*parts, strict=True))
    return readable(put_in, labels) - readable(put_out, labels) > drop


def loss_does_not_fall() -> list[Case]:
    def mixed(x: Any, y: Any) -> None:
        y[:] = y[np.random.default_rng(8).permutation(len(y))]

    shuffled, uphill = Plan(rows=mixed), Plan(optimizer=lambda: optimizers.SGD(-0.001))
    bodies_of = {"pairs": bodies.siamese, "table": bodies.diabetes, "passages": bodies.text_lstm}
    cases = [
        Case(f"labels of other {name}", lambda body=body, seed=seed: body(shuffled, seed), _stays, "loss_does_not_fall", (".",))  # type: ignore[misc]
        for seed, (name, body) in enumerate(bodies_of.items(), 328)
    ]
    return [*cases, Case("uphill", lambda: bodies.photo_cnn(uphill, 331), _stays, "loss_does_not_fall", (".",))]


def _stays(witness: Witness) -> bool:
    return bool(np.mean(witness.losses[-15:]) > 0.93 * np.mean(witness.losses[:15]))
