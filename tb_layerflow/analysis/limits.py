"""The thresholds of all findings, in one place. `bench/findings.py` measures how well they tell faulty from healthy models."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What each rule compares with; each rule's docstring says how.

    `records` is how many records in a row something must hold to be more than a passing state. A threshold stands about half-way,
    on a logarithmic scale, between what healthy trainings reach (`bench/healthy.py`, `more.py`, `further.py`) and what planted
    faults do.
    """

    records: int = 3
    exploding_error: float = 500.0
    exploding_growth: float = 1e2
    vanishing_error: float = 2e-4
    vanishing_branch: float = 1e-6
    dead_share: float = 0.97
    dead_units: float = 0.72
    dead_channels: float = 0.25
    saturated: float = 0.97
    constant: float = 1e-5
    update_too_large: float = 0.4
    update_too_small: float = 5e-6
    rate_too_small: float = 2e-5
    initial_gain: float = 5.0
    initial_fade: float = 0.02
    readout_drop: float = 0.2
    readout_errors: float = 2.5
    readout_share: float = 0.5
    readout_loss: float = 2.0
    loss_fall: float = 0.1
    loss_trend: float = 2.5
    loss_spread: float = 1.0
    loss_records: int = 12
    loss_span: int = 20
    skipped_share: float = 0.25
    skipped_run: int = 5
    skipped_grace: int = 10
