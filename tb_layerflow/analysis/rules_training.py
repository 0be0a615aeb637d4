"""Findings about what training does: weights that stay, update ratios, a loss that stays. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tb_layerflow.log.records import COLUMNS

from .limits import Limits
from .observed import Finding, Floats, Observed, is_kernel, lasting

EMBEDDING = 3
"""Embeddings start small (0.05 at most, in Keras): healthy updates reach 0.4 of them."""


def unchanged_weights(observed: Observed, limits: Limits) -> list[Finding]:
    """A trainable weight does not move while others do.

    Definition: its update is exactly zero in `records` records in a row in which some weight of the model changed by more than
    `update_too_small` of it (steps that the loss scaler skipped, or that only accumulate, are passed over). A layer is named
    once, with its weights; not where nothing reaches it (see `_reached`), nor for a bias that the loss does not depend on (its
    gradient is exactly zero, as that of a bias which a difference or a normalisation takes out again).
    """
    rows = list(_trainable(observed, "update", "l2"))
    if not rows:
        return []
    moving = np.zeros(len(observed.steps), np.bool_)
    for path, _, number, series in rows:
        weight = observed.series("weight", path, number, "l2")
        moving |= np.nan_to_num(series) > limits.update_too_small * np.nan_to_num(0.0 if weight is None else weight)
    still: dict[str, list[tuple[str, int]]] = {}
    for path, name, number, series in rows:
        place = lasting(series[moving] == 0, limits.records)
        if place is None or _is_idle_bias(observed, path, name, number):
            continue
        if _reached(observed, path, int(np.flatnonzero(moving)[place]), limits):
            still.setdefault(path, []).append((name, int(observed.steps[moving][place])))
    return [
        Finding("unchanged_weights", path, min(step for _, step in names),
                f"{', '.join(name for name, _ in names)} of {path} never changed in these records, though trainable.",
                {"weights": [name for name, _ in names]})
        for path, names in still.items()
    ]  # fmt: skip


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
    numbers = []
    for number, call in enumerate(observed.graph.calls):
        if call.layer is not None and observed.graph.layers[call.layer].path == path:
            in_loop = bool(call.outputs) and all(tensor.error == "inside a loop" for tensor in call.outputs)
            numbers.append(call.parent if in_loop and call.parent is not None else number)
    if not numbers or "error" not in observed.statistics:
        return True
    column = COLUMNS.index("l2")
    largest = np.nanmax(np.nan_to_num(observed.statistics["error"].values[place, :, column]), initial=0.0)
    for number in numbers:
        call = observed.graph.calls[number]
        errors = [observed.series("error", call.path, port, "l2") for port in range(len(call.outputs))]
        met = [float(one[place]) for one in errors if one is not None and np.isfinite(one[place])]
        is_met = not met or max(met) > limits.vanishing_error * largest
        if is_met and not observed.silent(number, place, 1.0) and not observed.fed_nothing(number, place, 1.0):
            return True
    return False


def update_ratio(observed: Observed, limits: Limits) -> list[Finding]:
    """Updates are too large or too small beside the weights that they change.

    Definition, for trainable kernels (two axes or more, no biases) of layers that errors reach (see `_reached`): the l2 of the
    update over the l2 of the weight. Too large: above `update_too_large` (of embeddings EMBEDDING times that) in `records`
    records in a row, or in one a hundred times above. Too small: above zero and at most `update_too_small` in every record, or
    in all from one on that are a third of them and `loss_records` or more (a rate that falls to nothing at the end is a
    schedule). Around 1e-3 is usual (Karpathy 2015, CS231n notes, "Ratio of weights:updates"); Adam's first steps on small
    kernels reach 0.05.
    """
    found = []
    types = {layer.path: layer.type for layer in observed.graph.layers}
    for path, name, number, update in _trainable(observed, "update", "l2", kernels=True):
        weight = observed.series("weight", path, number, "l2")
        if weight is None:
            continue
        known = (update > 0) & (weight > 0) & np.isfinite(update) & np.isfinite(weight)
        if known.sum() < limits.records:
            continue
        ratio, steps = update[known] / weight[known], observed.steps[known]
        large = limits.update_too_large * (EMBEDDING if types[path].endswith("Embedding") else 1)
        places = (lasting(ratio > large, limits.records), lasting(ratio > 100 * large, 1))
        small = ratio > limits.update_too_small
        since = int(np.flatnonzero(small)[-1]) + 1 if small.any() else 0
        is_small = since == 0 or len(ratio) - since >= max(limits.loss_records, len(ratio) / 3)
        if any(place is not None for place in places):
            place = min(place for place in places if place is not None)
            held = float(ratio[place : place + limits.records].min()) if place == places[0] else float(ratio[place])
            message = f"updates of {path}/{name} are {held:.2g} times its weight and more: the learning rate is too large for it."
            evidence = {"ratio": held, "limit": large, "weight": name}
            found.append(Finding("update_too_large", path, int(steps[place]), message, evidence))
        elif is_small and _reached(observed, path, int(np.flatnonzero(known)[since]), limits):
            reach = float(ratio[since:].max())
            message = f"an update of {path}/{name} is never more than {reach:.2g} of its weight: it learns next to nothing."
            evidence = {"largest": reach, "limit": limits.update_too_small, "weight": name}
            found.append(Finding("update_too_small", path, int(steps[since]), message, evidence))
    return found


def _trainable(observed: Observed, kind: str, column: str, kernels: bool = False) -> Iterator[tuple[str, str, int, Floats]]:
    """(layer path, weight's name, its number, series) of each trainable weight; with `kernels`, of those alone."""
    for layer in observed.graph.layers:
        for number, weight in enumerate(layer.weights):
            series = observed.series(kind, layer.path, number, column) if weight.trainable and layer.trainable else None
            if series is not None and (is_kernel(weight) or not kernels):
                yield layer.path, weight.name, number, series


def loss_does_not_fall(observed: Observed, limits: Limits) -> list[Finding]:
    """Training does not lower the loss.

    Definition, from `loss_records` records over `loss_span` steps on: the median of the last third of the losses is above 1 -
    `loss_fall` times that of the first third (for losses below zero: not below it by `loss_fall` of its magnitude), or below it
    by less than the standard error of their difference (1.48 times the median deviation stands for the deviation). One number per
    stream; a probe's losses are less noisy than a batch's.
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
    noise = float(np.hypot(_spread(known[:third]), _spread(known[-third:]))) / np.sqrt(third)
    if early - late >= max(limits.loss_fall * abs(early), noise) or abs(early) < 1e-9:
        return []
    message = f"the loss does not fall: {early:.4g} in the first third of the records, {late:.4g} in the last."
    evidence = {"early": early, "late": late, "limit": limits.loss_fall}
    return [Finding("loss_does_not_fall", ".", int(steps[-third]), message, evidence)]


def _spread(losses: Floats) -> float:
    return float(1.48 * np.median(np.abs(losses - np.median(losses))))
