"""What the first recorded step costs: tracing the recording variant."""

from __future__ import annotations

from statistics import median

from .figure import Figure, spread

REPEATS = 2


def measure() -> list[Figure]:
    """By how much the first step is longer than the second: recorded with LayerFlow's defaults against plain, on fresh models."""
    from .subject import Subject

    ratios = []
    for _ in range(REPEATS):
        subject = Subject()
        plain = subject.tracing("plain").processor
        ratios.append(subject.tracing("default").processor / plain)
    return [Figure("tracing the recording variant / tracing the plain step", median(ratios), 3, note=spread(ratios))]
