"""The seventh suite: 66 faults and 26 healthy trainings, written by one who had read neither the rules nor their thresholds.

Each fault is what comes first: what stands before it, in the step and in time, is as it should be. That it is there, and that each
healthy training's result is good, is proved without LayerFlow; nothing had been judged, and no recorded statistics read, when the
suite was finished. Dead channels are planted as dead units are, in convolutions. README's figures are those of the one time it was
judged blind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import initializers, ops, optimizers

from bench.case import BATCH, Case

from . import fifth_proofs
from . import fourth_proofs as proofs
from . import seventh_proofs as own
from . import sixth_proofs as earlier
from .fourth_proofs import in_halves, since
from .planting import Gate, Plan, Shown, Turns, from_step
from .seventh_bodies import film, graph, hyper, inverted, memory, sets, taste, volume
from .seventh_healthy import healthy
from .seventh_later import later
from .seventh_more import aligned, branches, denoiser, glu, levels, sampled, towers, translator
from .sixth_later import AFTER_NAN, ALL, NOTHING_PASSES, PARTS, STUCK, WILD


def _no_noise(x: Any, y: Any) -> None:
    x["level"][18 * BATCH + 5] = 0


def _blank(x: Any, y: Any) -> None:
    x["upper"][21 * BATCH + 7] = 0


def _millions(x: Any, y: Any) -> None:
    y *= 1e6


def _another_unit(x: Any, y: Any) -> None:
    x["upper"] *= 1e4


def _break(model: Any) -> None:
    kernel = model.get_layer("upper").cell.recurrent_kernel
    value = kernel.numpy()
    value[1, 3] = np.inf
    kernel.assign(value)


def _rescaled(model: Any) -> None:
    model.optimizer.dynamic_scale.assign(2.0**60)


def _scaled(optimizer: Any, **options: Any) -> Any:
    return lambda: optimizers.LossScaleOptimizer(optimizer(), **options)


def _parts(*paths: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys(PARTS, paths)


def _numbers() -> list[Case]:
    level = Plan(rows=_no_noise, instead={"seen": lambda: Shown(lambda two: two[0] / two[1][:, None, None], name="seen")})
    blank = Plan(
        rows=_blank,
        instead={"upper_unit": lambda: Shown(lambda x: x / ops.norm(x, axis=-1, keepdims=True), name="upper_unit")},
        arguments={"upper1": {"use_bias": False}, "upper2": {"use_bias": False}},
    )
    broken = Plan(callbacks=from_step(26, _break))
    log = Plan(behind={"each2": lambda: Shown(own.safe_log, name="safe_log")})
    endless = Plan(optimizer=_scaled(lambda: optimizers.Adam(5e-3), initial_scale=2.0**50))
    again = Plan(optimizer=_scaled(lambda: optimizers.AdamW(4e-3)), callbacks=since(31, _rescaled))
    large = Plan(optimizer=_scaled(lambda: optimizers.Adam(1e-2)), rows=_millions)
    grows = Plan(optimizer=_scaled(lambda: optimizers.Adamax(1e-2), initial_scale=2.0**18, dynamic_growth_steps=1))
    nan = {**NOTHING_PASSES, **AFTER_NAN}
    skips = {**AFTER_NAN, "update_too_small": ALL, "exploding_errors": ALL}
    return [
        Case("divided by a level of nothing", lambda: denoiser(level, 1121), lambda w: proofs.first_bad(w, "seen", 18), "non_finite", ("seen",), 18, nan),
        Case("direction of a blank half", lambda: towers(blank, 1122), lambda w: proofs.first_bad(w, "upper_unit", 21), "non_finite", ("upper_unit",), 21, nan),
        Case("one recurrent weight endless at 26", lambda: memory(broken, 1123), lambda w: own.broken_variable(w, 26), "non_finite", ("upper", "upper/*"), 26, nan),
        Case("logarithm that is left out", lambda: sets(log, 1124), lambda w: fifth_proofs.bad_way_back(w, "safe_log", "each1", "each2"), "non_finite",
             ("safe_log", "each2"), 0, {**nan, "exploding_errors": ALL}),
        Case("translator's scale of two to the fiftieth", in_halves(lambda: translator(endless, 1125)), lambda w: fifth_proofs.skips_from(w, 0, 15), "loss_scaler_skips",
             (".",), 0, skips),
        Case("scale set each step from 31 on", in_halves(lambda: glu(again, 1126)), lambda w: fifth_proofs.skips_from(w, 31, 20), "loss_scaler_skips", (".",), 31, skips),
        Case("ratings in millionths", in_halves(lambda: taste(large, 1127)), lambda w: fifth_proofs.skips_from(w, 0, 8), "loss_scaler_skips", (".",), 0,
             {**skips, "worse_readout": ALL}),
        Case("scale of the sets doubles each step", in_halves(lambda: sets(grows, 1128)), lambda w: proofs.skipped_share(w) > 0.3, "loss_scaler_skips", (".",), None, skips),
    ]  # fmt: skip


def _way(behind: str, backward: float, step: int | None = None) -> Plan:
    """A gate behind a layer, whose way back is changed from the start or at a step."""
    if step is None:
        return Plan(behind={behind: lambda: Gate(backward=backward, name="way")})
    return Plan(behind={behind: lambda: Gate(name="way")}, callbacks=from_step(step, earlier.put("way", "backward", backward)))


def _stopped(behind: str, function: Any) -> Plan:
    return Plan(behind={behind: lambda: Shown(function, name="stopped")})


def _opened(witness: Any, step: int, above: float) -> bool:
    """The way back is as it was in the step before, and that much steeper in a step."""
    return 0.5 < proofs.times(witness, "way", step - 1) < 2 and proofs.times(witness, "way", step) > above


def _shut(witness: Any, step: int) -> bool:
    return 0.5 < proofs.times(witness, "way", step - 1) < 2 and proofs.times(witness, "way", step) < 1e-8


def _errors() -> list[Case]:
    hops = Plan(behind={f"spread{n}": lambda n=n: Gate(backward=60, name=f"way{n}") for n in range(1, 6)})  # type: ignore[misc]
    turned = Plan(behind={"read": lambda: Turns(1e7, name="turned")})
    spikes = Plan(behind={"d2": lambda: own.Spikes(1e7, name="spikes")})
    whole = _stopped("seek2", lambda x: ops.cast(ops.cast(8 * x, "int32"), "float32") / 8)
    sum1 = (
        "sum1",
        "thin1",
        "norm_thin1",
        "bent_depth1",
        "norm_depth1",
        "depth1",
        "bent_wide1",
        "norm_wide1",
        "widen1",
        "bent_stem",
        "norm_stem",
        "stem",
    )
    stages = ("turn?", "spread?", "way?", "bent?")
    source, lower, five = ("read", "way", "source_*"), ("lower2", "way", "lower1"), ("five", "way", "five_in")
    seek = ("seek1", "seek2", "all_pixels")
    return [
        Case("each hop's way back sixtyfold", lambda: graph(hops, 1131, depth=5), lambda w: proofs.shrinks(w, "turn1", "way5") > 1e5, "exploding_errors", stages, 0, WILD),
        Case("a reversal behind the encoder", lambda: translator(turned, 1132), lambda w: proofs.times(w, "turned") > 1e6, "exploding_errors", ("read", "turned"), 0, WILD),
        Case("way back of the scaled steepens at 25", lambda: denoiser(_way("scaled", 1e7, 25), 1133), lambda w: _opened(w, 25, 1e6), "exploding_errors",
             ("scaled", "way"), 25, WILD),
        Case("too steep a surrogate gradient", lambda: levels(spikes, 1134), lambda w: proofs.times(w, "spikes") > 1e6, "exploding_errors", ("d2", "spikes"), 0, WILD),
        Case("way back of the codes steepens at 23", lambda: taste(_way("beside", 1e8, 23), 1135), lambda w: _opened(w, 23, 1e7), "exploding_errors",
             ("beside", "way", "user_deep", "item_deep"), 23, WILD),
        Case("twelve sigmoids for each point", lambda: sets(seed=1136, depth=12, activation="sigmoid"), lambda w: proofs.shrinks(w, "each1", "each12") < 1e-6,
             "vanishing_errors", ("each*",), 0, {**NOTHING_PASSES, "poor_initialisation": ALL}),
        Case("way back of the first block shut at 24", lambda: inverted(_way("sum1", 1e-10, 24), 1137), lambda w: _shut(w, 24), "vanishing_errors", (*sum1, "way"), 24,
             {**STUCK, **_parts(*sum1, "way")}),
        Case("way back of the widest branch starved", lambda: branches(_way("five", 1e-10), 1138), lambda w: proofs.times(w, "way") < 1e-8 and w.moved("three", 3),
             "vanishing_errors", five, 0, _parts(*five)),
        Case("way back of the encoder shut at 20", lambda: translator(_way("read", 1e-10, 20), 1139), lambda w: _shut(w, 20), "vanishing_errors", source, 20,
             {**STUCK, **_parts(*source)}),
        Case("way back of the lower tower starved", lambda: towers(_way("lower2", 1e-10), 1140), lambda w: proofs.times(w, "way") < 1e-8 and w.moved("upper1", 3),
             "vanishing_errors", lower, 0, _parts(*lower)),
        Case("middle branch stopped", lambda: branches(_stopped("three", ops.stop_gradient), 1141), lambda w: proofs.cut(w, "three_in", "three") and w.moved("five", 3),
             "disconnected", ("three_in", "three"), 0, _parts("three_in", "three", "stopped")),
        Case("code in eighths", lambda: hyper(_stopped("code", lambda x: ops.round(8 * x) / 8), 1142), lambda w: proofs.cut(w, "code") and w.moved("maker", 3),
             "disconnected", ("code",), 0, _parts("code", "stopped")),
        Case("looks at whole places", lambda: aligned(whole, 1143), lambda w: proofs.cut(w, "seek1", "seek2") and w.moved("conv", 3), "disconnected", seek, 0,
             {**STUCK, **_parts(*seek, "stopped")}),
        Case("codes of the rated stopped", lambda: taste(_stopped("item_deep", ops.stop_gradient), 1144), lambda w: proofs.cut(w, "item_deep") and w.moved("user_deep", 3),
             "disconnected", ("item_deep",), 0, {**STUCK, **_parts("item_deep", "stopped")}),
    ]  # fmt: skip


def _silent() -> list[Case]:
    def dies(name: str, first: int, step: int, weight: str = "bias") -> Plan:
        return Plan(callbacks=from_step(step, earlier.sinks(name, weight, first, -50)))

    solid = Plan(arguments={"solid2": {"bias_initializer": earlier.sinking(14, 16, -50)}})
    each = Plan(arguments={"each2": {"bias_initializer": earlier.sinking(22, 24, -50)}})
    gate = Plan(arguments={"gate1": {"activation": "relu"}}, callbacks=from_step(25, earlier.sinks("gate1", "bias", 29, -60)))
    below = ("widen2", "norm_wide2", "bent_wide2", "depth2", "norm_depth2", "bent_depth2")

    def dead(*paths: str) -> dict[str, tuple[str, ...]]:
        return {**_parts(*paths), "dead_units": paths, "dead_channels": paths}

    def always(witness: Any, name: str) -> bool:
        return min(proofs.dead(witness, name, at) for at in (0, 30, 59)) >= 0.875

    return [
        Case("most wide channels shifted below at 23", lambda: inverted(dies("norm_wide2", 28, 23, "beta"), 1151), lambda w: earlier.dies_at(w, "bent_wide2", 23),
             "dead_units", ("bent_wide2",), 23, dead(*below)),
        Case("most solid filters below", lambda: volume(solid, 1152), lambda w: always(w, "solid2"), "dead_units", ("solid2",), 0,
             {**dead("solid2", "pool"), "poor_initialisation": ("solid2",)}),
        Case("most late filters fall silent at 27", lambda: branches(dies("later", 22, 27), 1153), lambda w: earlier.dies_at(w, "later", 27), "dead_units", ("later",), 27,
             dead("later", "late_pool")),
        Case("most units of each point below", lambda: sets(each, 1154), lambda w: always(w, "each2"), "dead_units", ("each2",), 0,
             {**dead("each2", "pool"), "poor_initialisation": ("each2",)}),
        Case("most units of taste fall silent at 22", lambda: taste(dies("deep1", 22, 22), 1155), lambda w: earlier.dies_at(w, "deep1", 22), "dead_units", ("deep1",), 22,
             {**STUCK, **dead("deep1", "beside", "user_deep", "item_deep")}),
        Case("most gates fall shut at 25", lambda: glu(gate, 1156), lambda w: earlier.dies_at(w, "gate1", 25), "dead_units", ("gate1",), 25,
             dead("gate1", "gated1", "value1")),
        Case("most of the encoder's units silent at 28", lambda: translator(dies("source_wide", 43, 28), 1157), lambda w: earlier.dies_at(w, "source_wide", 28),
             "dead_units", ("source_wide",), 28, dead("source_wide")),
    ]  # fmt: skip


def _outputs() -> list[Case]:
    def louder(name: str, step: int) -> Plan:
        return Plan(callbacks=from_step(step, earlier.louder(name, "kernel", 1000)))

    def full(witness: Any, name: str, step: int) -> bool:
        return earlier.turns_at(witness, lambda at: proofs.at_bounds(witness, name, at), step, 0.9, 0.4)

    def kernel(name: str, initializer: Any) -> Plan:
        return Plan(arguments={name: {"kernel_initializer": initializer}})

    def muted(behind: str, step: int) -> Plan:
        return Plan(behind={behind: lambda: Gate(name="way")}, callbacks=from_step(step, earlier.put("way", "forward", 0.0)))

    def function(name: str, what: Any) -> Plan:
        return Plan(instead={name: lambda: Shown(what, name=name)})

    def mutes(witness: Any, step: int) -> bool:
        return proofs.same(witness, "way", step) and not proofs.same(witness, "way", step - 1)

    normal = initializers.RandomNormal
    beside = function("sampled", lambda two: sampled([two[0], two[1] + 50]))
    whole = function("centred", lambda x: ops.cast(ops.cast(0.99 * x, "int32"), "float32"))
    swapped = function("measures", lambda x: ops.clip(x, 1.0, -1.0))
    wide1 = ("widen1", "norm_wide1", "bent_wide1", "depth1", "norm_depth1", "bent_depth1")
    points = ("each1", "each2", "pool", "all1")
    hop = ("bent2", "spread2", "turn2", "bent1", "spread1", "turn1")
    return [
        Case("code a thousandfold at 21", lambda: hyper(louder("code", 21), 1161), lambda w: full(w, "code", 21), "saturated", ("code",), 21,
             {**_parts("code"), **STUCK}),
        Case("upper halves in another unit", lambda: towers(Plan(rows=_another_unit), 1162), lambda w: proofs.at_bounds(w, "upper1", 0) > 0.95, "saturated", ("upper1",), 0,
             {**_parts("upper1"), **STUCK, "poor_initialisation": ("upper1",)}),
        Case("mix of the film a thousandfold at 19", lambda: film(louder("mix", 19), 1163), lambda w: full(w, "mix", 19), "saturated", ("mix",), 19,
             {**_parts("mix"), **STUCK, "exploding_errors": ALL}),
        Case("second hop a thousandfold at 24", lambda: graph(louder("turn2", 24), 1164), lambda w: full(w, "bent2", 24), "saturated", ("bent2",), 24,
             {**_parts(*hop), **STUCK, "exploding_errors": ALL}),
        Case("what is looked at muted from 25 on", lambda: film(muted("look", 25), 1165), lambda w: mutes(w, 25), "constant", ("way",), 25, NOTHING_PASSES),
        Case("looks beside the square", lambda: aligned(beside, 1166), lambda w: proofs.same(w, "sampled", 0), "constant", ("sampled",), 0, NOTHING_PASSES),
        Case("film in whole numbers", lambda: volume(whole, 1167), lambda w: proofs.same(w, "centred", 0), "constant", ("centred",), 0, NOTHING_PASSES),
        Case("bounds of a clip changed places", lambda: glu(swapped, 1168), lambda w: proofs.same(w, "measures", 0), "constant", ("measures",), 0, NOTHING_PASSES),
        Case("made kernel muted from 28 on", lambda: hyper(muted("kernel", 28), 1169), lambda w: mutes(w, 28), "constant", ("way",), 28, NOTHING_PASSES),
        Case("huge kernel of the second hop", lambda: graph(kernel("turn2", normal(stddev=40, seed=43)), 1171), lambda w: proofs.gain(w, "turn2") > 50,
             "poor_initialisation", ("turn2",), 0, WILD),
        Case("tiny kernel behind the points", lambda: sets(kernel("all1", normal(stddev=1e-7, seed=44)), 1172), lambda w: proofs.gain(w, "all1") < 1e-5,
             "poor_initialisation", ("all1",), 0, {**_parts(*points), "constant": points, "update_too_large": ("all1",)}),
        Case("all units of the film's mix alike", lambda: film(kernel("mix", initializers.Constant(0.05)), 1173), lambda w: own.alike(w, "mix"), "poor_initialisation",
             ("mix",), 0, {"worse_readout": ("mix",)}),
        Case("huge kernel in the middle of the denoiser", lambda: denoiser(kernel("middle", normal(stddev=30, seed=45)), 1174), lambda w: proofs.gain(w, "middle") > 50,
             "poor_initialisation", ("middle",), 0, WILD),
        Case("all wide channels alike", lambda: inverted(kernel("widen1", initializers.Constant(0.1)), 1175), lambda w: own.alike(w, "widen1"), "poor_initialisation",
             ("widen1",), 0, {"worse_readout": wide1}),
        Case("tiny kernel of the widest branch", lambda: branches(kernel("five_in", normal(stddev=1e-7, seed=46)), 1176), lambda w: proofs.gain(w, "five_in") < 1e-5,
             "poor_initialisation", ("five_in",), 0,
             {**_parts("five_in", "five"), "update_too_large": ("five_in",), "constant": ("five_in", "five"), "dead_units": ("five_in", "five"),
              "dead_channels": ("five_in", "five")}),
    ]  # fmt: skip


def seventh() -> list[Case]:
    """All of them."""
    return [*_numbers(), *_errors(), *_silent(), *_outputs(), *later(), *healthy()]
