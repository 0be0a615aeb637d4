"""The sixth suite: 63 faults and 23 healthy trainings, written by one who had read neither the rules nor their thresholds.

Each fault is what comes first: what stands before it, in the step and in time, is as it should be. That it is there, and that each
healthy training's result is good, is proved without LayerFlow; nothing had been judged when the suite was finished. Recorded
statistics, but no findings, were read once before that, to complete what else a fault makes true. Dead channels are planted as dead
units are, in convolutions. Judged blind, once: precision 0.937, recall 0.937; then rules were mended for what it showed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import initializers, layers, ops, optimizers

from bench.case import BATCH, Case

from . import fifth_proofs
from . import fourth_proofs as proofs
from . import sixth_proofs as own
from .fourth_proofs import in_halves, since
from .planting import Gate, Plan, Shown, Turns, from_step
from .sixth_bodies import bigru, coder, crowd, iris, mixture, mobile, rank, siren, stack, tabular, temporal, tied, unet
from .sixth_healthy import healthy
from .sixth_later import AFTER_NAN, ALL, NOTHING_PASSES, PARTS, STUCK, WILD, later


def _below_zero(x: Any, y: Any) -> None:
    x += 0.05 - x.min()
    x[14 * BATCH + 6, 3, 4] = -0.01


def _only_padding(x: Any, y: Any) -> None:
    x[10 * BATCH + 4] = 0


def _other_unit(x: Any, y: Any) -> None:
    x["others"][20 * BATCH + 3] *= 1e5


def _silence(x: Any, y: Any) -> None:
    x[16 * BATCH + 9] = 0


def _millions(x: Any, y: Any) -> None:
    y *= 1e6


def _whole_numbers(x: Any, y: Any) -> None:
    x *= 32767


def _break(model: Any) -> None:
    kernel = own.inner(model, "tower/thin").kernel
    value = kernel.numpy()
    value[2, 4] = np.nan
    kernel.assign(value)


def _prune(model: Any) -> None:
    for weight in model.get_layer("low1").trainable_weights:
        weight.assign(weight * (np.arange(16) >= 14))


def _rescaled(model: Any) -> None:
    model.optimizer.dynamic_scale.assign(2.0**60)


def _spread(x: Any) -> Any:
    return ops.sqrt(ops.mean(ops.square(x - ops.mean(x, 1, keepdims=True)), 1))


def _scaled(optimizer: Any, **options: Any) -> Plan:
    return Plan(optimizer=lambda: optimizers.LossScaleOptimizer(optimizer(), **options))


def _numbers() -> list[Case]:
    root = Plan(rows=_below_zero, instead={"even": lambda: Shown(ops.sqrt, name="even")})
    unit = Plan(
        rows=_other_unit,
        arguments={
            "numbers": {"activation": "exponential", "kernel_initializer": initializers.RandomNormal(stddev=0.05, seed=26)}
        },
    )
    broken = Plan(callbacks=from_step(23, _break))
    flat = Plan(
        rows=_silence,
        instead={"mean": lambda: Shown(_spread, name="spread")},
        arguments={name: {"use_bias": False} for name in ("stem", "change1", "change2", "change4")},
    )
    large = _scaled(lambda: optimizers.Nadam(4e-3))
    again = Plan(optimizer=_scaled(lambda: optimizers.Adam(5e-3)).optimizer, callbacks=since(35, _rescaled))
    grows = _scaled(lambda: optimizers.RMSprop(2e-3), initial_scale=2.0**18, dynamic_growth_steps=1)
    endless = _scaled(lambda: optimizers.SGD(0.05, momentum=0.9), initial_scale=2.0**50)
    skips = {**AFTER_NAN, "update_too_small": ALL, "exploding_errors": ALL}
    return [
        Case("root of a negative pixel", lambda: unet(root, 921), lambda w: proofs.first_bad(w, "even", 14), "non_finite", ("even",), 14,
             {**NOTHING_PASSES, **AFTER_NAN}),
        Case("nothing but padding", lambda: crowd(Plan(rows=_only_padding), 922), lambda w: proofs.first_bad(w, "weights", 10), "non_finite", ("weights",), 10,
             {**NOTHING_PASSES, **AFTER_NAN}),
        Case("exponential of another unit", lambda: tabular(unit, 923), lambda w: proofs.first_bad(w, "numbers", 20), "non_finite", ("numbers",), 20,
             {**NOTHING_PASSES, **AFTER_NAN, "exploding_errors": ALL}),
        Case("one weight of the tower broken at 23", lambda: rank(broken, 924), lambda w: own.broken_inside(w, "tower/thin", 23), "non_finite",
             ("tower/thin", "tower#1/thin"), 23, {**NOTHING_PASSES, **AFTER_NAN, "saturated": ALL}),
        Case("deviation of silence", lambda: temporal(flat, 925), lambda w: proofs.first_bad_gradient(w, "spread", "change4", 16), "non_finite",
             ("spread", "sum4"), 16, {**NOTHING_PASSES, **AFTER_NAN, "exploding_errors": ALL}),
        Case("targets in millionths", in_halves(lambda: coder(Plan(rows=_millions, optimizer=large.optimizer), 926)), lambda w: fifth_proofs.skips_from(w, 0, 8),
             "loss_scaler_skips", (".",), 0, {**skips, "worse_readout": ALL}),
        Case("scale set each step from 35 on", in_halves(lambda: bigru(again, 927)), lambda w: fifth_proofs.skips_from(w, 35, 20), "loss_scaler_skips", (".",), 35, skips),
        Case("scale doubles each step", in_halves(lambda: tied(grows, 928)), lambda w: proofs.skipped_share(w) > 0.3, "loss_scaler_skips", (".",), None, skips),
        Case("scale of two to the fiftieth", in_halves(lambda: mobile(endless, 929)), lambda w: fifth_proofs.skips_from(w, 0, 15), "loss_scaler_skips", (".",), 0, skips),
    ]  # fmt: skip


def _gates(backward: float, count: int) -> Plan:
    return Plan(behind={f"s{each}": lambda each=each: Gate(backward=backward, name=f"way{each}") for each in range(count)})  # type: ignore[misc]


def _way(behind: str, path: str, step: int, backward: float) -> Plan:
    """A gate behind a layer whose way back changes at a step."""
    return Plan(behind={behind: lambda: Gate(name="way")}, callbacks=from_step(step, own.put(path, "backward", backward)))


def _errors() -> list[Case]:
    turned = Plan(behind={"both": lambda: Turns(1e7, name="turned")})
    steep, steeper, shut = _way("wide", "tower/way", 24, 1e6), _way("wide2", "way", 20, 1e7), _way("thin", "tower/way", 22, 1e-9)
    fast = Plan(instead={"sine2": lambda: Shown(lambda x: ops.sin(1e6 * x), name="sine2")})
    starved = Plan(behind={"up": lambda: Gate(backward=1e-9, name="way")})
    width = _way("width_mix", "way", 27, 1e-9)
    stopped = Plan(behind={"up": lambda: Shown(ops.stop_gradient, name="stopped")})
    rounded = Plan(behind={"radius_code": lambda: Shown(ops.round, name="rounded")}, optimizer=lambda: optimizers.Adam(4e-3))
    whole = Plan(
        behind={"code": lambda: Shown(lambda x: ops.cast(ops.cast(127 * x, "int32"), "float32") / 127, name="whole_code")}
    )
    outside = Plan(behind={"both": lambda: own.Outside(name="outside")})
    stages = (*(f"s{number}" for number in range(12)), *(f"way{number}" for number in range(12)))
    wide, thin = (("tower/" + name, "tower#1/" + name) for name in ("wide", "thin"))
    way, low = ("tower/way", "tower#1/way"), ("half", "low1", "low2", "up")
    tower = (*way, *thin, *wide)
    small = {
        key: dict.fromkeys(PARTS, paths)
        for key, paths in {
            "low": (*low, "way", "stopped"), "width": ("width_mix", "way"), "tower": tower, "radius": ("radius_code", "rounded"),
            "code": ("shrink", "flat", "code", "whole_code", "scaled"), "both": ("chars", "both", "both/*", "outside"),
        }.items()
    }  # fmt: skip
    return [
        Case("each way back of a convolution thirtyfold", lambda: stack(_gates(30, 6), 931, depth=6), lambda w: proofs.shrinks(w, "s0", "way5") > 1e6,
             "exploding_errors", stages, 0, WILD),
        Case("a reversal behind both directions", lambda: bigru(turned, 932), lambda w: proofs.times(w, "turned") > 1e6, "exploding_errors",
             ("both", "both/*", "turned"), 0, WILD),
        Case("way back in the tower steepens at 24", lambda: rank(steep, 933), lambda w: own.jumps(w, "tower/wide", 24) > 1e5 and own.jumps(w, "tower/wide", 23) < 10,
             "exploding_errors", (*wide, *way), 24, WILD),
        Case("sines a million times too fast", lambda: siren(fast, 934), lambda w: proofs.times(w, "sine2") > 1e5, "exploding_errors", ("second", "sine2"), 0, WILD),
        Case("way back of an expert steepens at 20", lambda: mixture(steeper, 935), lambda w: proofs.times(w, "way", 20) > 1e6 and proofs.times(w, "way", 19) < 2,
             "exploding_errors", ("wide2", "way"), 20, WILD),
        Case("twelve sigmoids along time", lambda: stack(seed=936, depth=12, activation="sigmoid"), lambda w: proofs.shrinks(w, "s0", "s11") < 1e-6,
             "vanishing_errors", stages, 0, {**NOTHING_PASSES, "poor_initialisation": ALL}),
        Case("way back of the lower half starved", lambda: unet(starved, 937), lambda w: proofs.times(w, "way") < 1e-8 and w.moved("whole", 3), "vanishing_errors",
             (*low, "way"), 0, small["low"]),
        Case("way back in the tower shut at 22", lambda: rank(shut, 938), lambda w: own.jumps(w, "tower/wide", 22) < 1e-7 and own.jumps(w, "tower/wide", 21) > 0.1,
             "vanishing_errors", tower, 22, {**STUCK, **small["tower"]}),
        Case("way back of one answer shut at 27", lambda: iris(width, 939), lambda w: proofs.times(w, "way", 27) < 1e-8 and proofs.times(w, "way", 26) > 0.9,
             "vanishing_errors", ("width_mix", "way"), 27, small["width"]),
        Case("lower half stopped", lambda: unet(stopped, 940), lambda w: proofs.cut(w, "low1", "low2", "up") and w.moved("whole", 3), "disconnected", low, 0, small["low"]),
        Case("rounded radius", lambda: tabular(rounded, 941), lambda w: proofs.cut(w, "radius_code") and w.moved("texture_code", 3), "disconnected", ("radius_code",), 0,
             small["radius"]),
        Case("code in whole numbers", lambda: coder(whole, 942), lambda w: proofs.cut(w, "shrink", "code") and w.moved("grow", 3), "disconnected",
             ("shrink", "flat", "code", "scaled"), 0, small["code"]),
        Case("through NumPy", lambda: bigru(outside, 943), lambda w: proofs.cut(w, "chars", "both") and w.moved("mix", 3), "disconnected",
             ("chars", "both", "both/*"), 0, small["both"]),
    ]  # fmt: skip


def _outputs() -> list[Case]:
    expert = Plan(callbacks=from_step(22, own.put("wide1", "bias", -50.0)))
    most = Plan(arguments={"mix": {"bias_initializer": own.sinking(28, 32, -40)}})
    tower = Plan(callbacks=from_step(26, own.sinks("tower/wide", "bias", 28, -40)))
    grow = Plan(callbacks=from_step(30, own.put("grow", "bias", -50.0)))
    shift = Plan(callbacks=from_step(20, own.sinks("norm", "beta", 21, -30)))
    turns = Plan(arguments={"turn": {"activation": "relu"}}, callbacks=from_step(24, own.put("turn", "bias", -50.0)))
    stem = Plan(arguments={"stem": {"bias_initializer": own.sinking(14, 16, -30)}})
    doors = Plan(callbacks=from_step(17, own.louder("excite", "kernel", 3000)))
    thin = Plan(callbacks=from_step(25, own.louder("tower/thin", "kernel", 1000)))
    change = Plan(callbacks=from_step(21, own.louder("change4", "kernel", 1000)))
    alone = Plan(instead={"even": lambda: layers.LayerNormalization(name="even")})
    bright = Plan(instead={"scaled": lambda: Shown(lambda x: ops.cast(x > 1.5, "float32"), name="scaled")})
    muted = Plan(behind={"thin": lambda: Gate(name="way")}, callbacks=from_step(28, own.put("tower/way", "forward", 0.0)))
    no_scale = Plan(callbacks=since(19, own.put("norm3", "scale", 0.0)))
    normal = initializers.RandomNormal
    huge = Plan(arguments={"low2": {"kernel_initializer": normal(stddev=40, seed=23)}})
    tiny = Plan(arguments={"mix": {"kernel_initializer": normal(stddev=1e-7, seed=24)}})
    alike = Plan(arguments={"s1": {"kernel_initializer": initializers.Constant(0.02)}})
    wild = Plan(arguments={"second": {"kernel_initializer": initializers.RandomUniform(-300, 300, seed=25)}})
    thrice = ("turn", "turn#1", "turn#2")
    wides, thins, ways = (("tower/" + name, "tower#1/" + name) for name in ("wide", "thin", "way"))
    ends = dict.fromkeys(PARTS, ("excite", "squeeze", "pool"))
    below = ("squeeze", "pool", "bent", "norm", "point", "depth", "stem")
    narrow = ("radius_code", "texture_code", "numbers", "beside", "mix")
    return [
        Case("an expert falls silent at 22", lambda: mixture(expert, 951), lambda w: own.dies_at(w, "wide1", 22), "dead_units", ("wide1",), 22,
             dict.fromkeys((*PARTS, "constant"), ("wide1", "thin1"))),
        Case("most units of the mix below", lambda: tabular(most, 952), lambda w: min(proofs.dead(w, "mix", at) for at in (0, 30, 59)) >= 0.875, "dead_units", ("mix",), 0,
             {**dict.fromkeys(PARTS, ("mix",)), "poor_initialisation": ("mix",)}),
        Case("most units of the tower silent at 26", lambda: rank(tower, 953), lambda w: own.dies_at(w, "tower/wide", 26), "dead_units", wides, 26,
             dict.fromkeys(PARTS, (*wides, *thins))),
        Case("all that grows falls silent at 30", lambda: coder(grow, 954), lambda w: own.dies_at(w, "grow", 30, 1), "dead_units", ("grow",), 30, NOTHING_PASSES),
        Case("layer called thrice falls silent at 24", lambda: tied(turns, 970), lambda w: own.silent_turns(w, 24) == 1 and own.silent_turns(w, 23) < 0.3, "dead_units",
             thrice, 24, dict.fromkeys((*PARTS, "constant"), thrice)),
        Case("most channels shifted below at 20", lambda: mobile(shift, 955), lambda w: own.dies_at(w, "bent", 20), "dead_units", ("bent",), 20,
             {**dict.fromkeys(("dead_units", "dead_channels"), ("bent", "weighed", "flat", "pool")), **dict.fromkeys(PARTS, ("norm", "bent", "weighed", "flat", "pool"))}),
        Case("most filters kept pruned from 18 on", lambda: unet(Plan(callbacks=since(18, _prune)), 956), lambda w: own.dies_at(w, "low1", 18), "dead_units", ("low1",), 18,
             {**dict.fromkeys(PARTS, ("low1",)), "dead_channels": ("low1",)}),
        Case("most filters of the stem below", lambda: temporal(stem, 957), lambda w: min(proofs.dead(w, "stem", at) for at in (0, 30, 59)) >= 0.875, "dead_units", ("stem",),
             0, {**dict.fromkeys(PARTS, ("stem",)), "dead_channels": ("stem",), "poor_initialisation": ("stem",)}),
        Case("waves in sixteen bits", lambda: stack(Plan(rows=_whole_numbers), 958), lambda w: proofs.at_bounds(w, "s0", 0) > 0.95, "saturated", ("s0",), 0,
             {**STUCK, **dict.fromkeys(PARTS, ("s0",)), "poor_initialisation": ("s0",)}),
        Case("channels weighed all or nothing from 17 on", lambda: mobile(doors, 959),
             lambda w: own.turns_at(w, lambda at: proofs.at_bounds(w, "excite", at, 0), 17, 0.9, 0.1), "saturated", ("excite",), 17,
             {**ends, "exploding_errors": below, "update_too_large": below, "worse_readout": ("excite", "squeeze", "weighed")}),
        Case("tower's last layer a thousandfold at 25", lambda: rank(thin, 960),
             lambda w: own.turns_at(w, lambda at: proofs.at_bounds(w, "tower/thin", at), 25, 0.9, 0.4), "saturated", thins, 25,
             {**dict.fromkeys(PARTS, (*thins, *wides)), "exploding_errors": wides, **STUCK}),
        Case("last change a thousandfold at 21", lambda: temporal(change, 961),
             lambda w: own.turns_at(w, lambda at: proofs.at_bounds(w, "change4", at), 21, 0.9, 0.4), "saturated", ("change4",), 21,
             {**dict.fromkeys(PARTS, ("change4",)), "exploding_errors": ALL, **STUCK}),
        Case("one channel normalised alone", lambda: unet(alone, 962), lambda w: own.flat_output(w, "even", 0), "constant", ("even",), 0, NOTHING_PASSES),
        Case("brighter than white", lambda: coder(bright, 963), lambda w: proofs.same(w, "scaled", 0), "constant", ("scaled",), 0, NOTHING_PASSES),
        Case("tower muted from 28 on", lambda: rank(muted, 964), lambda w: proofs.same(w, "tower/way", 28) and not proofs.same(w, "tower/way", 27), "constant",
             ways, 28, NOTHING_PASSES),
        Case("last normalisation without scale from 19 on", lambda: crowd(no_scale, 965), lambda w: proofs.same(w, "norm3", 19) and not proofs.same(w, "norm3", 18),
             "constant", ("norm3",), 19, {**NOTHING_PASSES, "update_too_large": ("norm3",)}),
        Case("huge kernel at the bottom", lambda: unet(huge, 966), lambda w: proofs.gain(w, "low2") > 50, "poor_initialisation", ("low2",), 0, WILD),
        Case("tiny kernel of the mix", lambda: tabular(tiny, 967), lambda w: proofs.gain(w, "mix") < 1e-5, "poor_initialisation", ("mix",), 0,
             {**dict.fromkeys(("vanishing_errors", "worse_readout", "constant"), narrow), "update_too_large": ("mix",)}),
        Case("all filters of a convolution alike", lambda: stack(alike, 968), lambda w: np.ptp(w.output(0, "s1"), axis=-1).max() < 1e-4, "poor_initialisation", ("s1",), 0,
             {"worse_readout": ("s1",)}),
        Case("second sine a thousand times too wild", lambda: siren(wild, 969), lambda w: proofs.gain(w, "second") > 50, "poor_initialisation", ("second",), 0, WILD),
    ]  # fmt: skip


def sixth() -> list[Case]:
    """All of them."""
    return [*_numbers(), *_errors(), *_outputs(), *later(), *healthy()]
