/**
 * Places the bars of a histogram. Pure. The bins are half octaves, so they are equally wide on a logarithm; the axis is that logarithm
 * for each sign, with zero in the middle, and both sides reach equally far, so that one sees which way a distribution leans.
 */
import type { HistogramInfo } from "../types";

export interface Bar {
  /** From 0 to 1 over the axis. */
  left: number;
  right: number;
  low: number;
  high: number;
  count: number;
}

export interface Tick {
  at: number;
  /** The number at this place; powers of ten, and zero. */
  value: number;
}

export interface HistogramAxis {
  bars: Bar[];
  ticks: Tick[];
  /** The bar of exact zeros stands in this gap around the middle. */
  zero: { left: number; right: number };
  /** Everything that was counted: bars, zero, NaN and the infinities. */
  total: number;
}

/** Half of the gap around zero. */
const GAP = 0.035;
/** At least this many octaves to a side: a distribution on one number should not look like a wall. */
const LEAST_OCTAVES = 6;
const FLOOR = 2 ** -64;

export function histogramAxis(histogram: HistogramInfo): HistogramAxis {
  const filled = histogram.counts.map((count, i) => ({ count, low: histogram.edges[i]!, high: histogram.edges[i + 1]! })).filter(({ count }) => count > 0);
  let inner = Infinity;
  let outer = 0;
  for (const { low, high } of filled) {
    inner = Math.min(inner, Math.max(FLOOR, Math.min(Math.abs(low), Math.abs(high))));
    outer = Math.max(outer, Math.abs(low), Math.abs(high));
  }
  if (!filled.length) [inner, outer] = [0.01, 1];
  const top = Math.log2(outer);
  const bottom = Math.min(Math.log2(inner), top - LEAST_OCTAVES);
  const place = (value: number) => {
    const t = Math.max(0, (Math.log2(Math.max(Math.abs(value), 2 ** bottom)) - bottom) / (top - bottom));
    return value < 0 ? (0.5 - GAP) * (1 - t) : 0.5 + GAP + (0.5 - GAP) * t;
  };
  // An edge at zero belongs to the sign of its bin.
  const bars = filled.map(({ count, low, high }) => ({
    count,
    low,
    high,
    left: low < 0 ? place(low) : place(Math.max(low, FLOOR)),
    right: high > 0 ? place(high) : place(Math.min(high, -FLOOR)),
  }));
  const { zero, nan, pos_inf, neg_inf } = histogram;
  const total = filled.reduce((sum, bar) => sum + bar.count, zero + nan + pos_inf + neg_inf);
  return { bars, ticks: ticks(bottom, top, place), zero: { left: 0.5 - GAP, right: 0.5 + GAP }, total };
}

/** Powers of ten, every one where there is room, else every n-th, the same on both sides. */
function ticks(bottom: number, top: number, place: (value: number) => number): Tick[] {
  const first = Math.ceil(bottom * Math.LOG10E * Math.LN2);
  const last = Math.floor(top * Math.LOG10E * Math.LN2);
  const every = Math.max(1, Math.ceil((last - first + 1) / 3));
  const made: Tick[] = [{ at: 0.5, value: 0 }];
  for (let power = last; power >= first; power -= every) {
    const value = 10 ** power;
    if (place(value) < 0.5 + GAP + 0.06) break;
    made.push({ at: place(value), value }, { at: place(-value), value: -value });
  }
  return made.sort((a, b) => a.at - b.at);
}
