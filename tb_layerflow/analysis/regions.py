"""A part of a map, as positions per axis, and how parts join. Knows no layer.

A `Region` is a set of positions per axis, standing for all their combinations. That is exact for sliding windows, normalisations,
merges and the like; for reshapes and where paths join it is the smallest such region that contains the part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tb_layerflow.analysis.geometry import MOST_POSITIONS, Indices, Shape


@dataclass(frozen=True)
class Region:
    """A part of a map: sorted positions per axis, batch axis first. `reach` is the same without cutting at the map's borders.

    `reason` says why the part is larger than what the output truly depends on: the whole map, where a layer is not known.
    """

    axes: tuple[Indices, ...]
    reach: tuple[Indices, ...]
    reason: str = ""

    @property
    def box(self) -> tuple[slice, ...] | None:
        """The smallest box of slices around the part; None where it is empty or its size is not known."""
        return _box(self.axes)

    @property
    def unclipped(self) -> tuple[slice, ...] | None:
        """The box with what lies in the padding, so that it may leave the map; None where it is empty."""
        return _box(self.reach)

    @property
    def unknown(self) -> bool:
        """Whether not even the map's shape is known."""
        return bool(self.reason) and not self.axes

    @property
    def empty(self) -> bool:
        """Whether the part holds nothing."""
        return any(len(axis) == 0 for axis in self.axes)

    def with_axis(self, axis: int, positions: Indices, reach: Indices | None = None) -> Region:
        """The same part with other positions along one axis."""
        axes, reaches = list(self.axes), list(self.reach)
        axes[axis], reaches[axis] = positions, positions if reach is None else reach
        return Region(tuple(axes), tuple(reaches), self.reason)


def _box(axes: tuple[Indices, ...]) -> tuple[slice, ...] | None:
    if not axes or any(len(axis) == 0 for axis in axes):
        return None
    return tuple(slice(int(axis[0]), int(axis[-1]) + 1) for axis in axes)


def one(index: Sequence[int]) -> Region:
    """The part that is one number."""
    axes = tuple(np.array([position], np.int64) for position in index)
    return Region(axes, axes)


def of_axes(axes: Sequence[Indices], reach: Sequence[Indices] | None = None, reason: str = "") -> Region:
    """A part from its positions per axis."""
    return Region(tuple(axes), tuple(axes if reach is None else reach), reason)


def union(first: Region, second: Region) -> Region:
    """The smallest part that contains both, axis by axis."""
    if first.unknown or second.unknown:
        return first if first.unknown else second
    if first.empty or second.empty:
        kept = second if first.empty else first
        return Region(kept.axes, kept.reach, first.reason or second.reason)
    if len(first.axes) != len(second.axes):
        return unknown("Calls disagree about how many axes this map has.")
    axes = tuple(np.union1d(left, right) for left, right in zip(first.axes, second.axes, strict=True))
    reach = tuple(np.union1d(left, right) for left, right in zip(first.reach, second.reach, strict=True))
    return Region(axes, reach, first.reason or second.reason)


def unknown(reason: str) -> Region:
    """A part of a map whose shape is not known."""
    return of_axes([], reason=reason)


def everything(shape: Shape, batch: Sequence[Indices], reason: str) -> Region:
    """The whole map of the same samples (`batch` holds their positions), with the reason why."""
    if -1 in shape[1:]:
        return unknown(f"{reason} The size of this map is not known either.")
    if max(shape[1:], default=0) > MOST_POSITIONS:
        return unknown(f"{reason} The size of this map is larger than any map's.")
    axes = [*batch, *(np.arange(size) for size in shape[1:])]
    return of_axes(axes[: len(shape)], reason=reason)
