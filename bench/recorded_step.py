"""What recording a step costs."""

from __future__ import annotations

from .figure import Figure

REPEATS = 7


def measure() -> list[Figure]:
    """Recorded steps, statistics and histograms of all outputs and errors, against plain steps of the same model."""
    from .subject import against_plain

    ratio, note = against_plain("recorded", REPEATS)
    ratio_valued, note_valued = against_plain("valued", REPEATS)
    return [
        Figure("a recorded step / plain step (MobileNet, 96×96, batch 32)", ratio, 1.35, note=note),
        Figure("the same with the exact values of one sample", ratio_valued, 2.0, note=note_valued),
    ]
