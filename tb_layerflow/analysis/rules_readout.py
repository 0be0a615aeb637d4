"""The finding about layer losses: labels can be read worse from what a layer puts out than from what it gets. Pure functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log.records import COLUMNS, Call

from .limits import Limits
from .observed import Finding, LossRow, Observed
from .rules_errors import vanishing_errors
from .rules_outputs import constant, dead_units, saturated


def worse_readout(observed: Observed, limits: Limits) -> list[Finding]:
    """The labels can be read worse from a layer's output than from its input: it throws away what is needed.

    Definition, over the last `records` records that have layer losses, for calls on the way to the output whose labels they
    are: the readout's accuracy, for the best of the call and all that depend on it, is below that of the best of the call's
    inputs by more than `readout_drop` and by more than `readout_errors` standard errors of their difference, or by more than
    half and four fifths of these where its loss says that more than `readout_share` of what can be known (by which their loss
    is below that of a readout that knows nothing) is lost; where there is no accuracy, its loss is above `readout_loss` times
    theirs (of 64 samples' squares, about as many standard errors), above it by more than `readout_drop` times the loss of a
    readout that knows nothing, and no better than the model's own. (What can be read again further on was not lost: the
    readout averages over space, which others do not, and there may be a way around the call.) Where the model's own loss is
    above `readout_loss` times that of knowing nothing, nearly all must be lost. Not where it stays the same to one in ten
    thousand (the model is not trained), nor for outputs that are dead, saturated or constant (which is what is named), nor
    where less than `vanishing_error` of the record's largest error arrives, nor in a model in which errors vanish (what is
    before has not been trained). Source: Alain and Bengio 2016, Understanding intermediate layers using linear classifier
    probes: in a trained model, the readout gets better with depth.
    """
    if any("branch" not in one.evidence for one in vanishing_errors(observed, limits)):
        return []
    rows = {(row.step, row.path, row.output): row for row in observed.layer_losses if row.form == "readout"}
    own = {(row.step, row.output): row.loss for row in observed.layer_losses if row.form == "direct" and row.path == "."}
    named = {one.path for rule in (dead_units, saturated, constant) for one in rule(observed, limits)}
    found = []
    for output in sorted({output for _, _, output in rows}):
        steps = sorted({step for step, _, key in rows if key == output})[-limits.records :]
        losses = np.array([loss for (_, key), loss in own.items() if key == output])
        if len(steps) < limits.records or (len(losses) and np.ptp(losses) <= 1e-4 * np.abs(losses).max()):
            continue
        places = np.flatnonzero(np.isin(observed.steps, steps))
        before_it = observed.before_output(output)
        for number, call, _ in observed.leaf_outputs():
            if number not in before_it or call.path in named or not _is_reached(observed, call, places, limits):
                continue
            sources = [observed.graph.calls[source].path for source in observed.sources(number)]
            behind = [one for one in sorted(before_it) if observed.behind[number] >> one & 1]
            kept = [observed.graph.calls[one].path for one in (number, *behind)]
            pairs = [_pair(rows, step, kept, sources, output) for step in steps]
            worse = [pair is not None and _is_worse(pair, own.get((step, output), 0.0), observed, limits)
                     for step, pair in zip(steps, pairs, strict=True)]  # fmt: skip
            if not all(worse) or pairs[-1] is None:
                continue
            after, before = pairs[-1]
            text = f"accuracy {after.accuracy:.2f} after {before.accuracy:.2f}, loss {after.loss:.3g} after {before.loss:.3g}"
            message = f"the labels can be read worse from {call.path}, and all behind it, than from what it gets ({text})."
            evidence = {
                "accuracy": after.accuracy, "input accuracy": before.accuracy, "loss": after.loss, "input loss": before.loss,
                "output": output,
            }  # fmt: skip
            found.append(Finding("worse_readout", call.path, steps[0], message, evidence))
    return found


def _is_reached(observed: Observed, call: Call, places: NDArray[np.int64], limits: Limits) -> bool:
    """Whether errors arrive at a call's outputs, as far as they were recorded."""
    if call.outputs and all(tensor.error == "not connected" for tensor in call.outputs):
        return False
    errors = [observed.series("error", call.path, port, "l2") for port in range(len(call.outputs))]
    known = np.array([np.nan_to_num(error[places], nan=np.inf) for error in errors if error is not None])
    if not len(known):
        return True
    largest = np.nan_to_num(observed.statistics["error"].values[places, :, COLUMNS.index("l2")]).max(1)
    return bool((known.max(0) > limits.vanishing_error * largest).all())


def _pair(
    rows: dict[tuple[int, str, str], LossRow], step: int, kept: list[str], sources: list[str], output: str
) -> tuple[LossRow, LossRow] | None:
    """The best readout of a call (the first) and those behind it, and the best of its inputs; None where either is missing."""
    after, before = ([rows[step, path, output] for path in paths if (step, path, output) in rows] for paths in (kept, sources))
    if (step, kept[0], output) not in rows or not before:
        return None
    return min(after, key=_order), min(before, key=_order)


def _order(row: LossRow) -> tuple[float, float]:
    """The better, the less."""
    return (0.0 if np.isnan(row.accuracy) else -row.accuracy, row.loss)


def _is_worse(pair: tuple[LossRow, LossRow], model: float, observed: Observed, limits: Limits) -> bool:
    after, before = pair
    is_lost = after.baseline > 0 and not model <= limits.readout_loss * after.baseline
    if is_lost and after.loss < 0.9 * after.baseline:
        return False
    if np.isnan(after.accuracy) or np.isnan(before.accuracy):
        lost = after.loss - before.loss
        least = max((limits.readout_loss - 1) * abs(before.loss), limits.readout_drop * abs(after.baseline))
        return bool(lost > least and after.loss > 0.9 * model)
    scored = max(float(np.max(observed.batch_size, initial=0)) / 2, 1.0)
    spread = after.accuracy * (1 - after.accuracy) + before.accuracy * (1 - before.accuracy)
    error, drop = np.sqrt(max(spread, 1e-9) / scored), before.accuracy - after.accuracy
    known = before.baseline - before.loss
    is_most = known > 0 and after.loss - before.loss > limits.readout_share * known
    eased = (0.5, 0.8) if is_most else (1.0, 1.0)
    return bool(drop > eased[0] * limits.readout_drop and drop > eased[1] * limits.readout_errors * error)
