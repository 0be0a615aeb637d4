"""What the first recorded step costs: tracing the recording variant."""

from __future__ import annotations

from statistics import median

from .figure import Figure, spread

REPEATS = 2


def measure() -> list[Figure]:
    """By how much the first recorded step is slower than the second, against the same for plain steps; fresh models."""
    from .subject import Subject, shared

    subjects = [shared(), *(Subject() for _ in range(REPEATS - 1))]
    ratios = [subject.recording_tracing.processor / subject.plain_tracing.processor for subject in subjects]
    return [Figure("tracing the recording variant / tracing the plain step", median(ratios), 3, note=spread(ratios))]
