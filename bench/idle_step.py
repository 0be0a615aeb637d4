"""What the callback costs a step that it does not record."""

from __future__ import annotations

from statistics import median

from .figure import Figure, spread

REPEATS = 9


def measure() -> list[Figure]:
    """A block of steps with the callback attached, nothing due, against the same block without it."""
    from .subject import paired, shared

    subject = shared()
    ratios = paired(subject.idle, subject.plain, REPEATS)
    return [Figure("a step that is not recorded, callback attached / without", median(ratios), 1.02, note=spread(ratios))]
