"""Findings about numbers that are none: the first non-finite value, and steps that the loss scaler skipped. Pure functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log.records import COLUMNS

from .limits import Limits
from .observed import Finding, Observed

_BACKWARD_KINDS = ("weight_gradient", "update")


def non_finite(observed: Observed, limits: Limits) -> list[Finding]:
    """The first NaN or infinity: the call, forward or backward, and the step.

    Definition: of the first record that holds a non-finite number, the first call in execution order whose output is non-finite
    though its inputs are finite; if all outputs are finite, the loss; then the last call in execution order whose error is (the
    first that the backward pass reached); then weights' gradients and updates. Errors of a step that the loss scaler skipped are
    meant to overflow and do not count, nor outputs that are infinite in some record whose loss, errors and gradients all are
    finite and of whose outputs none is NaN (what a softmax is told to leave out). A weight that was already non-finite comes
    before everything that it spoils.
    """
    bad = {kind: _bad(observed, kind) for kind in ("weight", "output", "error", *_BACKWARD_KINDS)}
    for kind in ("error", *_BACKWARD_KINDS):
        bad[kind] = bad[kind] & ~observed.skipped_steps[:, None]
    losses = np.array([~np.isfinite(values) for values in observed.losses.values()]).reshape(-1, len(observed.steps)).T
    known = np.array([~np.isnan(values).all() for values in observed.losses.values()], np.bool_)
    lost = (losses & known).any(1) if losses.size else np.zeros(len(observed.steps), np.bool_)
    lost &= ~observed.skipped_steps
    bad["output"] = bad["output"] & ~(bad["output"] & _harmless(observed, bad, lost)[:, None]).any(0)
    any_bad = lost.copy()
    for found in bad.values():
        any_bad |= found.any(1)
    if not any_bad.any():
        return []
    place = int(np.argmax(any_bad))
    good = int(observed.steps[place - 1]) if place else None
    return [_first(observed, bad, bool(lost[place]), place, good)]


def passing(observed: Observed) -> NDArray[np.bool_]:
    """Per record, whether outputs are not finite but nothing of that stays: the loss scaler skipped the update, and the weights
    are finite.
    """
    return observed.skipped_steps & _bad(observed, "output").any(1) & ~_bad(observed, "weight").any(1)


def _bad(observed: Observed, kind: str) -> NDArray[np.bool_]:
    found = observed.statistics.get(kind)
    if found is None:
        return np.zeros((len(observed.steps), 0), np.bool_)
    finite = found.values[:, :, 5]
    bad: NDArray[np.bool_] = finite == 0.0
    return bad


def _harmless(observed: Observed, bad: dict[str, NDArray[np.bool_]], lost: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Per record, whether errors or gradients were recorded and all are finite, as the loss is, and no output is NaN."""
    outputs = observed.statistics.get("output")
    backward = [bad[kind] for kind in ("error", *_BACKWARD_KINDS) if bad[kind].shape[1]]
    if outputs is None or not backward:
        return np.zeros(len(observed.steps), np.bool_)
    spoilt = lost | (np.nan_to_num(outputs.values[:, :, COLUMNS.index("nan")]) > 0).any(1)
    for found in (*backward, bad["weight"]):
        spoilt |= found.any(1)
    return ~spoilt


def _first(observed: Observed, bad: dict[str, NDArray[np.bool_]], lost: bool, place: int, good: int | None) -> Finding:
    step = int(observed.steps[place])
    evidence: dict[str, object] = {"last good record": good, "direction": "forward"}
    weights = _named(observed, "weight", bad, place)
    if weights:
        since = "no record before it is good" if good is None else f"the last good record is of step {good}"
        text = (
            f"the weights of {weights[0][0]} were already non-finite at the first recorded bad step; {since}. "
            f"layerflow.summary.LayerFlow(log_dir, every=1) from there on catches the step that made them so"
        )
        return _finding(weights[0], step, "weight", text, evidence)
    outputs = sorted(_named(observed, "output", bad, place), key=lambda port: _order(observed, port[0]))
    outputs = [port for port in outputs if observed.numbers.get(port[0]) not in observed.groups] or outputs
    if outputs:
        text = f"the output of {outputs[0][0]} is not finite, and it is the first"
        return _finding(outputs[0], step, "output", text, evidence)
    if lost:
        return _finding((".", 0), step, "loss", "the loss is not finite though every output is", evidence)
    evidence["direction"] = "backward"
    errors = sorted(_named(observed, "error", bad, place), key=lambda port: -_order(observed, port[0]))
    errors = [port for port in errors if observed.numbers.get(port[0]) not in observed.groups] or errors
    if errors:
        text = f"the error at {errors[0][0]} is not finite, and the backward pass met it first; every output is finite"
        return _finding(errors[0], step, "error", text, evidence)
    kind = next(kind for kind in _BACKWARD_KINDS if _named(observed, kind, bad, place))
    port = _named(observed, kind, bad, place)[0]
    return _finding(port, step, kind, f"the {kind.replace('_', ' ')} of {port[0]} is not finite", evidence)


def _named(observed: Observed, kind: str, bad: dict[str, NDArray[np.bool_]], place: int) -> list[tuple[str, int]]:
    found = observed.statistics.get(kind)
    return [] if found is None else [found.ports[int(port)] for port in np.flatnonzero(bad[kind][place])]


def _order(observed: Observed, path: str) -> int:
    return observed.numbers.get(path, len(observed.numbers))


def _finding(port: tuple[str, int], step: int, kind: str, text: str, evidence: dict[str, object]) -> Finding:
    message = f"{text} (step {step})."
    return Finding("non_finite", port[0], step, message, {"kind": kind, "port": port[1], **evidence}, "failure")


def loss_scaler_skips(observed: Observed, limits: Limits) -> list[Finding]:
    """The loss scaler skips more updates than its search for a scale explains.

    Definition: after the first `skipped_grace` records, more than `skipped_share` of the records (at least `skipped_run` of them)
    were skipped, or the last `skipped_run` in a row were. A dynamic scale that doubles every 2,000 steps and halves on overflow
    (Micikevicius et al. 2018, Mixed precision training) skips a few steps at the start and about one in 2,000 later.
    """
    skipped = observed.skipped_steps
    later = skipped[limits.skipped_grace :]
    if later.sum() < limits.skipped_run:
        return []
    share = float(later.mean())
    tail = len(skipped) >= limits.skipped_run and bool(skipped[-limits.skipped_run :].all())
    if share <= limits.skipped_share and not tail:
        return []
    step = int(observed.steps[int(np.argmax(skipped))])
    spoilt = int(passing(observed).sum())
    why = f"in {spoilt} records outputs are not finite" if spoilt else "gradients overflow in half precision"
    message = f"the loss scaler skipped {int(later.sum())} of {len(later)} recorded updates: {why}."
    return [Finding("loss_scaler_skips", ".", step, message, {"share": share, "limit": limits.skipped_share})]
