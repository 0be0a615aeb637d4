"""What left the step, as tables: from the arrays of `statistics.measure` to statistics and histograms, merged over replicas and
chunks.

Pure numpy; knows no TensorFlow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log import histogram
from tb_layerflow.log.records import HistogramTable, Table

Rows = dict[str, list[tuple[int, int, int]]]
"""Per kind: (call, port, slot)."""


@dataclass
class Figures:
    """Statistics of n tensors (slots). `sum_of_squares` and the means are float64, so that merging loses nothing."""

    count: NDArray[np.float64]
    mean: NDArray[np.float64]
    sum_of_squares: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    part: NDArray[np.float64]
    part_mean: NDArray[np.float64]
    part_spread: NDArray[np.float64]
    stride: NDArray[np.float64]
    bins: NDArray[np.uint64]


def figures(exact: NDArray[np.float32], part: NDArray[np.float32], codes: NDArray[np.int32], sizes: NDArray[np.int64]) -> Figures:
    """One replica's or chunk's arrays, shapes as in `statistics.Measured`; `sizes` is int64 [n, 3] of `part.sizes`."""
    mean, half_squares, low, high = exact.astype(np.float64).T if len(exact) else np.zeros((4, 0))
    part_mean, spread = part.astype(np.float64).T if len(part) else np.zeros((2, 0))
    count, elements, stride = sizes.astype(np.float64).T if len(sizes) else np.zeros((3, 0))
    return Figures(count, mean, 2.0 * half_squares, low, high, elements, part_mean, spread, stride, histogram.fold(codes))


def merge(parts: list[Figures], once: NDArray[np.int64] | None = None) -> Figures:
    """The figures of all replicas or chunks together (Chan et al. 1979 for the deviation).

    `once`: slots whose tensor is the same one in every part (weights): they stay those of the first.
    """
    merged = parts[0]
    for other in parts[1:]:
        merged = _merge(merged, other)
    if once is not None and len(once) and len(parts) > 1:
        for name in Figures.__dataclass_fields__:
            getattr(merged, name)[once] = getattr(parts[0], name)[once]
    return merged


def _merge(one: Figures, two: Figures) -> Figures:
    count = one.count + two.count
    part = one.part + two.part
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = _weighted(one.mean, one.count, two.mean, two.count)
        part_mean = _weighted(one.part_mean, one.part, two.part_mean, two.part)
        between = np.where(
            (one.part > 0) & (two.part > 0), one.part * two.part * (one.part_mean - two.part_mean) ** 2 / part**2, 0
        )
        spread = _weighted(one.part_spread, one.part, two.part_spread, two.part) + between
    return Figures(
        count,
        mean,
        _sum_where(one.sum_of_squares, one.count, two.sum_of_squares, two.count),
        _pick(np.minimum, one.low, one.count, two.low, two.count),
        _pick(np.maximum, one.high, one.count, two.high, two.count),
        part,
        part_mean,
        spread,
        np.maximum(one.stride, two.stride),
        one.bins + two.bins,
    )


def _weighted(
    a: NDArray[np.float64], n: NDArray[np.float64], b: NDArray[np.float64], m: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.where(m == 0, a, np.where(n == 0, b, (a * n + b * m) / np.maximum(n + m, 1)))


def _sum_where(
    a: NDArray[np.float64], n: NDArray[np.float64], b: NDArray[np.float64], m: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.where(m == 0, a, np.where(n == 0, b, a + b))


def _pick(
    choose: np.ufunc, a: NDArray[np.float64], n: NDArray[np.float64], b: NDArray[np.float64], m: NDArray[np.float64]
) -> NDArray[np.float64]:
    picked: NDArray[np.float64] = np.where(m == 0, a, np.where(n == 0, b, choose(a, b)))
    return picked


def joined(parts: list[Figures]) -> Figures:
    """The slots of several recordings one behind another."""
    return Figures(*(np.concatenate([getattr(part, name) for part in parts]) for name in Figures.__dataclass_fields__))


def scaled(numbers: Figures, factor: NDArray[np.float64]) -> Figures:
    """The figures of the tensors times `factor` per slot; histograms stay (their numbers were multiplied on the device)."""
    return Figures(
        numbers.count,
        numbers.mean * factor,
        numbers.sum_of_squares * factor**2,
        numbers.low * factor,
        numbers.high * factor,
        numbers.part,
        numbers.part_mean * factor,
        numbers.part_spread * factor**2,
        numbers.stride,
        numbers.bins,
    )


def tables(numbers: Figures, rows: Rows) -> tuple[dict[str, Table], dict[str, HistogramTable]]:
    """The tables of all kinds; a kind's rows are sorted by call and port."""
    statistics: dict[str, Table] = {}
    histograms: dict[str, HistogramTable] = {}
    for kind, entries in rows.items():
        call, port, slot = np.array(sorted(entries), np.int64).reshape(-1, 3).T
        empty = numbers.count[slot] == 0
        columns = {
            "count": numbers.count[slot].astype(np.uint64),
            "mean": _floats(numbers.mean[slot], empty),
            "l2": _floats(np.sqrt(numbers.sum_of_squares[slot]), np.zeros_like(empty)),
            "min": _floats(numbers.low[slot], empty),
            "max": _floats(numbers.high[slot], empty),
            "finite": empty | np.isfinite(numbers.low[slot]) & np.isfinite(numbers.high[slot]),
            "std": _floats(np.sqrt(numbers.part_spread[slot]), numbers.part[slot] == 0),
            "zero": numbers.bins[slot, histogram.ZERO],
            "nan": numbers.bins[slot, histogram.NAN],
            "pos_inf": numbers.bins[slot, histogram.POS_INF],
            "neg_inf": numbers.bins[slot, histogram.NEG_INF],
        }
        calls, ports = call.astype(np.uint32), port.astype(np.uint32)
        part = numbers.part[slot].astype(np.uint64)
        statistics[kind] = Table(calls, ports, columns, part, np.maximum(numbers.stride[slot], 1).astype(np.uint64))
        histograms[kind] = HistogramTable(calls, ports, numbers.bins[slot], part, columns["count"])
    return statistics, histograms


def _floats(numbers: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return np.where(missing, np.nan, numbers).astype(np.float32)
