"""What recording a step costs."""

from __future__ import annotations

from statistics import median

from .figure import Figure, spread

REPEATS = 9


def measure() -> list[Figure]:
    """Recorded steps, statistics and histograms of all outputs and errors, against plain steps of the same model."""
    from .subject import paired, shared

    subject = shared()
    ratios = paired(subject.recorded, subject.plain, REPEATS)
    return [Figure("a recorded step / plain step (MobileNet, 96×96, batch 32)", median(ratios), 1.35, note=spread(ratios))]
