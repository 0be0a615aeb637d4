"""Findings about what training does: weights that stay, update ratios, a loss that stays. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log.records import COLUMNS, Weight

from .limits import Limits
from .observed import Finding, Floats, Observed, is_kernel, usual_l2
from .states import staying


def unchanged_weights(observed: Observed, limits: Limits) -> list[Finding]:
    """A trainable weight does not move while others do.

    Definition: its update is exactly zero, and stays so (see `staying`), over the records in which some weight of the model
    changed by more than `update_too_small` of it (steps that the loss scaler skipped, or that only accumulate, are passed over);
    or none changes any more though there are gradients (see `_standstill`). A layer is named once, with its weights; not where
    nothing reaches it (see `_reached`), nor for a bias that the loss does not depend on (its gradient is exactly zero, as that
    of a bias which a difference or a normalisation takes out again).
    """
    rows = list(_trainable(observed, "update", "l2"))
    if not rows:
        return []
    moving = np.zeros(len(observed.steps), np.bool_)
    for path, _, number, series in rows:
        weight = observed.series("weight", path, number, "l2")
        moving |= np.nan_to_num(series) > limits.update_too_small * np.nan_to_num(0.0 if weight is None else weight)
    end = _standstill(observed, limits)
    still: dict[str, list[tuple[str, int]]] = {}
    for path, one, number, series in rows:
        found = staying(series[moving] == 0, limits)
        place = end if found is None else int(np.flatnonzero(moving)[found])
        if place is None or _is_idle_bias(observed, path, one.name, number):
            continue
        if _reached(observed, path, place, limits):
            still.setdefault(path, []).append((one.name, int(observed.steps[place])))
    named = []
    for path, names in still.items():
        step = min(step for _, step in names)
        since = "in these records" if step == observed.steps[0] else f"from step {step} on"
        message = f"{', '.join(name for name, _ in names)} of {path} did not change {since}, though trainable."
        named.append(Finding("unchanged_weights", path, step, message, {"weights": [name for name, _ in names]}))
    return named


def _standstill(observed: Observed, limits: Limits) -> int | None:
    """The place of the first record of those at the end in which no weight of the model changes, nor between them, though some
    gradient is not zero: at least `loss_records`, and a third of all. The rate is zero there, and it is no schedule's end.
    """
    given = [list(_trainable(observed, kind, "l2")) for kind in ("update", "weight", "weight_gradient")]
    if not all(given):
        return None
    update, weight, gradient = (np.nan_to_num(np.stack([series for *_, series in rows], 1)) for rows in given)
    is_still = ~update.any(1) & ~observed.skipped_steps & (weight == weight[-1:]).all(1) & gradient.any(1)
    moves = np.flatnonzero(~is_still)
    place = int(moves[-1]) + 1 if len(moves) else 0
    return place if len(is_still) - place >= max(limits.loss_records, len(is_still) / 3) else None


def _is_idle_bias(observed: Observed, path: str, name: str, number: int) -> bool:
    """Whether a weight is a bias whose gradient is exactly zero though that of the layer's kernel is not."""
    own = observed.series("weight_gradient", path, number, "l2")
    others = [observed.series("weight_gradient", layer_path, one, "l2")
              for layer_path, _, one, _ in _trainable(observed, "update", "l2", kernels=True) if layer_path == path]  # fmt: skip
    if "bias" not in name or own is None or not others:
        return False
    return not np.nan_to_num(own).any() and any(one is not None and np.nan_to_num(one).any() for one in others)


def _reached(observed: Observed, path: str, place: int, limits: Limits) -> bool:
    """Whether some call of a layer gets more than one number, puts out more than one, and is met by more than `vanishing_error`
    of the record's largest error. A layer for which none does has no fault of its own: what cuts it off is named.
    """
    if (path, "weight_gradient", "not connected") in {(entry.path, entry.kind, entry.reason) for entry in observed.ledger}:
        return False
    numbers = observed.calls_of(path)
    if not numbers or "error" not in observed.statistics:
        return True
    column = COLUMNS.index("l2")
    largest = np.nanmax(np.nan_to_num(observed.statistics["error"].values[place, :, column]), initial=0.0)
    for number in numbers:
        call = observed.graph.calls[number]
        errors = [observed.series("error", call.path, port, "l2") for port in range(len(call.outputs))]
        met = [float(one[place]) for one in errors if one is not None and np.isfinite(one[place])]
        is_met = not met or max(met) > limits.vanishing_error * largest
        if is_met and not observed.fed_nothing(number, place, 1.0):
            return True
    return False


def update_ratio(observed: Observed, limits: Limits) -> list[Finding]:
    """Updates are too large or too small beside the weights that they change.

    Definition, for trainable kernels (two axes or more, no biases): the l2 of the update over the l2 of the weight, or over
    that of a weight of its shape as it usually starts (see `usual_l2`) where that is more and the weight does not shrink: one
    that starts at nothing grows many times over, and does well. Too large: in `records` records in a row (in all, where there
    are fewer before numbers that are none come, or before the weight stands still) the ratio's geometric mean is above
    `update_too_large`, and none is below a fifth of it; or in one it is twenty times that. Too small, for layers that errors
    reach (see `_reached`): the ratio is above zero and at most `update_too_small`, or `rate_too_small` where no kernel of the
    model has more in that record (a layer may be slow by itself, a model is by its rate; not before `loss_records` records,
    nor while the rate warms up: its last third is twice its first), in every record, or in all from one on that are a third
    of them and `loss_records` or more (a rate that falls to nothing at the end is a schedule), records left out in which the
    error at the model's end is below a thousandth of its largest (where all is learnt, updates are small) or the weight's
    gradient is zero (its decay alone moves it). Around 1e-3 is usual (Karpathy 2015, CS231n notes, "Ratio of
    weights:updates"); the fastest healthy trainings reach 0.2 at the start, the slowest 2e-3 in some record.
    """
    found = []
    given = list(_ratios(observed))
    if not given:
        return []
    is_settled = _settled(observed)
    fastest = np.nan_to_num([ratio for _, _, ratio, _ in given]).max(0, initial=0.0)
    third = len(fastest) // 3
    is_warming_up = len(fastest) < limits.loss_records or np.median(fastest[-third:]) > 2 * np.median(fastest[:third])
    is_slow = (fastest <= limits.rate_too_small) & (not is_warming_up)
    limit = np.where(is_slow, limits.rate_too_small, limits.update_too_small)
    for path, weight, ratio, is_pulled in given:
        known = np.isfinite(ratio)
        ratio, steps = ratio[known], observed.steps[known]
        is_over = observed.is_cut or (len(ratio) and steps[-1] < observed.steps[-limits.records :][0])
        place = _too_large(ratio, limits, min(limits.records, len(ratio)) if is_over else limits.records)
        if place is not None:
            held = float(ratio[place])
            message = f"an update of {path}/{weight.name} is {held:.2g} times its weight: the learning rate is too large for it."
            evidence = {"ratio": held, "limit": limits.update_too_large, "weight": weight.name}
            found.append(Finding("update_too_large", path, int(steps[place]), message, evidence))
            continue
        counts = (is_pulled & ~is_settled)[known]
        ratio, steps = ratio[counts], steps[counts]
        own_limit = limit[known][counts]
        since, first = (_after_last(ratio > factor * own_limit) for factor in (1, 10))
        is_small = limits.records <= len(ratio) and (since == 0 or len(ratio) - since >= max(limits.loss_records, len(ratio) / 3))
        if is_small and _reached(observed, path, int(np.searchsorted(observed.steps, steps[first])), limits):
            reach = float(ratio[since:].max())
            message = f"an update of {path}/{weight.name} stays at {reach:.2g} of its weight or less: it learns next to nothing."
            evidence = {"largest": reach, "limit": float(own_limit[since:].min()), "weight": weight.name}
            found.append(Finding("update_too_small", path, int(steps[first]), message, evidence))
    return found


def _ratios(observed: Observed) -> Iterator[tuple[str, Weight, Floats, NDArray[np.bool_]]]:
    """(layer path, weight, ratio, whether it has a gradient) of each trainable kernel that moves, [records]; NaN where nothing
    does, or nobody knows. Without a gradient all that moves it is its decay.
    """
    types = {layer.path: layer.type for layer in observed.graph.layers}
    for path, weight, number, update in _trainable(observed, "update", "l2", kernels=True):
        size, gradient = (observed.series(kind, path, number, "l2") for kind in ("weight", "weight_gradient"))
        if size is None:
            continue
        known = (update > 0) & (size >= 0) & np.isfinite(update) & np.isfinite(size)
        if known.any():
            own = np.where(known, size, np.nan)
            is_falling = np.append(size[1:], size[-1:]) < size
            base = np.where(is_falling & (own > 0), own, np.maximum(own, usual_l2(weight, types[path])))
            ratio = np.where(known, update, np.nan) / base
            yield path, weight, ratio, np.ones(len(ratio), np.bool_) if gradient is None else gradient != 0


def _after_last(holds: NDArray[np.bool_]) -> int:
    """The place behind the last record in which something holds."""
    return int(np.flatnonzero(holds)[-1]) + 1 if holds.any() else 0


def _too_large(ratio: Floats, limits: Limits, records: int) -> int | None:
    """The place of the first record of those that show too large an update, by itself or in so many in a row."""
    wide, limit = np.zeros(0, np.int64), np.log(limits.update_too_large)
    if len(ratio) >= records:
        several = np.lib.stride_tricks.sliding_window_view(np.log(ratio), records)
        wide = np.flatnonzero((several.mean(1) > limit) & (several.min(1) > limit - np.log(5)))
    once = np.flatnonzero(ratio > 20 * limits.update_too_large)
    places = [int(found[0]) for found in (wide, once) if len(found)]
    return min(places, default=None)


def _settled(observed: Observed) -> NDArray[np.bool_]:
    """Per record, whether the largest of its errors is below a thousandth of the largest of all records."""
    errors = observed.statistics.get("error")
    if errors is None or not errors.values.size:
        return np.zeros(len(observed.steps), np.bool_)
    largest = np.nan_to_num(errors.values[:, :, COLUMNS.index("l2")], nan=0.0, posinf=0.0).max(1)
    found: NDArray[np.bool_] = largest < 1e-3 * largest.max()
    return found


def _trainable(observed: Observed, kind: str, column: str, kernels: bool = False) -> Iterator[tuple[str, Weight, int, Floats]]:
    """(layer path, weight, its number, series) of each trainable weight; with `kernels`, of those alone."""
    for layer in observed.graph.layers:
        for number, weight in enumerate(layer.weights):
            series = observed.series(kind, layer.path, number, column) if weight.trainable and layer.trainable else None
            if series is not None and (is_kernel(weight) or not kernels):
                yield layer.path, weight, number, series


def loss_does_not_fall(observed: Observed, limits: Limits) -> list[Finding]:
    """Training does not lower the loss.

    Definition, from `loss_records` records over `loss_span` steps on: the median of the last third of the losses is above 1 -
    `loss_fall` times that of the first third (of losses that may be below zero a share means nothing: the mean of the last third
    is below those of the first third and of the first tenth by less than `loss_spread` standard errors), and over the last two
    thirds the losses do not go down: the rank correlation with time times the root of the number of records less one,
    which is normal for losses that only vary (Spearman 1904), is above -`loss_trend`. A loss that has only fallen to what
    it costs to know nothing (labels that have nothing to do with their samples) does both. One number per stream; a probe's
    losses are less noisy than a batch's.
    """
    losses = observed.losses.get("loss")
    if losses is None or len(losses) < limits.loss_records or observed.steps[-1] - observed.steps[0] < limits.loss_span:
        return []
    finite = np.isfinite(losses)
    if finite.sum() < limits.loss_records:
        return []
    known, steps = losses[finite], observed.steps[finite]
    third = len(known) // 3
    early, late = float(np.median(known[:third])), float(np.median(known[-third:]))
    trend = _trend(known[third:])
    if known.min() < 0:
        starts = (known[:third], known[: max(len(known) // 10, 3)])
        has_fallen = max(_fall(start, known[-third:]) for start in starts) >= limits.loss_spread
    else:
        has_fallen = early - late >= limits.loss_fall * early
    if has_fallen or trend < -limits.loss_trend or abs(early) < 1e-9:
        return []
    message = f"the loss does not fall: {early:.4g} in the first third of the records, {late:.4g} in the last."
    evidence = {"early": early, "late": late, "trend": trend, "limit": limits.loss_fall}
    return [Finding("loss_does_not_fall", ".", int(steps[-third]), message, evidence)]


def _trend(losses: Floats) -> float:
    """How many standard errors the rank correlation of losses with time is above zero; 0 where they are all the same."""
    ranks = np.array([np.mean(np.flatnonzero(np.sort(losses) == one)) for one in losses])
    if not ranks.std() > 0:
        return 0.0
    return float(np.corrcoef(ranks, np.arange(len(losses)))[0, 1] * np.sqrt(len(losses) - 1))


def _fall(early: Floats, late: Floats) -> float:
    """How many standard errors the mean of later losses is below that of earlier ones; 0 where they are all the same."""
    error = np.sqrt(early.var(ddof=1) / len(early) + late.var(ddof=1) / len(late))
    return float((early.mean() - late.mean()) / error) if error > 0 else 0.0
