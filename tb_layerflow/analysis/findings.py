"""What is wrong with a training, from its records: the rules, and all of them at once. Pure functions over arrays.

Each rule is a function (Observed, Limits) → findings whose docstring gives its definition, its thresholds and its source.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from . import causes, rules_channels, rules_errors, rules_numbers, rules_outputs, rules_readout, rules_training
from .limits import Limits
from .observed import Finding, Observed

__all__ = ["RULES", "Finding", "Limits", "Observed", "findings"]

Rule = Callable[[Observed, Limits], list[Finding]]

RULES: tuple[Rule, ...] = (
    rules_numbers.non_finite,
    rules_numbers.loss_scaler_skips,
    rules_errors.exploding_errors,
    rules_errors.vanishing_errors,
    rules_errors.disconnected,
    rules_outputs.dead_units,
    rules_channels.units_without_gradient,
    rules_outputs.saturated,
    rules_outputs.constant,
    rules_outputs.poor_initialisation,
    rules_training.unchanged_weights,
    rules_training.update_ratio,
    rules_readout.worse_readout,
    rules_training.loss_does_not_fall,
)
KINDS = ("input", "output", "error", "weight", "weight_gradient", "update")
"""The kinds of statistics that the rules look at."""


def findings(observed: Observed, limits: Limits | None = None) -> list[Finding]:
    """All findings that follow from no other (see `causes`): failures first, then by step, then in the order of the calls.

    What comes after the first number that is none says nothing about its cause: the other rules look at the records before it.
    Records of which the loss scaler let nothing stay (see `rules_numbers.passing`) spoil no others, and are left out alone.
    """
    chosen = limits or Limits()
    found = rules_numbers.non_finite(observed, chosen)
    passing = rules_numbers.passing(observed)
    spoilt = rules_numbers.non_finite(observed.kept(~passing), chosen) if passing.any() else found
    until = observed.before(spoilt[0].step) if spoilt else observed
    sound = until.kept(~passing[: len(until.steps)]) if passing.any() else until
    if len(sound.steps):
        others = rules_numbers.loss_scaler_skips(until, chosen)
        others += [finding for rule in RULES[2:] for finding in rule(sound, chosen)]

        @functools.cache
        def trend_before(step: int) -> float:
            """Of the loss, in standard errors above zero; minus infinity where it falls, or nobody can say yet."""
            kept = sound.steps < step
            losses = {name: values[kept] for name, values in sound.losses.items()}
            staying = rules_training.loss_does_not_fall(replace(sound, steps=sound.steps[kept], losses=losses), chosen)
            return float(staying[0].evidence["trend"]) if staying else -np.inf

        found = found + causes.attributed(others, sound, chosen, trend_before)
        silent = {one.path for one in others if one.rule in ("dead_units", "constant")}
        found += [one for one in rules_channels.dead_channels(sound, chosen) if one.path not in silent]
    order = observed.numbers
    return sorted(found, key=lambda one: (one.level != "failure", one.step, order.get(one.path, len(order)), one.rule))
