"""Which elements of a tensor std, zero, nan, infinities and histograms are taken from. Pure arithmetic on shapes.

As many whole samples as fit into PART elements, from the first on; where one sample is larger, every k-th position of the
first, with all its channels (the last axis).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

PART = 32_768


class Part(NamedTuple):
    """`samples` whole samples where `stride` is 1; else every `stride`-th position, of `channels` numbers, of the first
    sample.
    """

    samples: int
    stride: int
    channels: int


def of_sample(sample: Sequence[int]) -> Part:
    """The part for samples of this shape (without the batch axis), however many there are."""
    elements = math.prod(sample)
    if elements <= PART:
        return Part(PART // max(elements, 1), 1, 1)
    channels = sample[-1] if len(sample) > 1 else 1
    return Part(1, math.ceil(elements / PART) if channels <= PART else elements // channels, channels)


def sizes(shape: Sequence[int], *, everything: bool = False, skip: int = 0) -> tuple[int, int, int]:
    """(elements, elements of the part, stride) of a tensor of this shape; `skip` samples of the part came before it."""
    elements = math.prod(shape)
    if everything or not shape:
        return elements, elements, 1
    part = of_sample(shape[1:])
    if part.stride == 1:
        samples = max(0, min(shape[0], part.samples - skip))
        return elements, samples * math.prod(shape[1:]), 1
    if skip or not shape[0]:
        return elements, 0, part.stride
    positions = math.prod(shape[1:]) // part.channels
    return elements, -(-positions // part.stride) * part.channels, part.stride
