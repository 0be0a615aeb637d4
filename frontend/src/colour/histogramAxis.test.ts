import { expect, test } from "vitest";
import { histogramAxis } from "./histogramAxis";

const histogram = (edges: number[], counts: number[], zero = 0) => ({
  step: 0, edges, counts, zero, nan: 0, pos_inf: 0, neg_inf: 0, sampled_from: { part: 1, total: 1, stride: 1 },
});

test("zero stands in the middle and both signs mirror each other", () => {
  const { bars, ticks } = histogramAxis(histogram([-2, -1.5, -1, 0, 1, 1.5, 2], [3, 1, 0, 0, 1, 3]));
  expect(ticks.find(({ value }) => value === 0)!.at).toBe(0.5);
  expect(bars).toHaveLength(4);
  expect(bars[0]!.left).toBeCloseTo(1 - bars[3]!.right, 12);
  expect(bars[1]!.right).toBeCloseTo(1 - bars[2]!.left, 12);
  expect(bars[0]!.left).toBeCloseTo(0, 12);
});

test("an octave is as wide wherever it lies, and bars follow each other without a gap", () => {
  const { bars } = histogramAxis(histogram([0.25, 0.5, 1, 2, 4, 8, 16, 32], [1, 1, 1, 1, 1, 1, 1]));
  const width = bars[0]!.right - bars[0]!.left;
  bars.forEach((bar, i) => {
    expect(bar.right - bar.left).toBeCloseTo(width, 12);
    if (i) expect(bar.left).toBeCloseTo(bars[i - 1]!.right, 12);
  });
});

test("a bin that touches zero stays on its own side of it", () => {
  const { bars, zero } = histogramAxis(histogram([-1, 0, 1], [5, 7]));
  expect(bars[0]!.right).toBeLessThanOrEqual(zero.left + 1e-12);
  expect(bars[1]!.left).toBeGreaterThanOrEqual(zero.right - 1e-12);
});

test("everything is counted in the total, the odd numbers too", () => {
  const axis = histogramAxis({ ...histogram([1, 2], [4], 5), nan: 2, pos_inf: 1, neg_inf: 3 });
  expect(axis.total).toBe(15);
});

test("ticks are powers of ten, the same on both sides, and nothing but zeros still has an axis", () => {
  const { ticks } = histogramAxis(histogram([0.5, 1, 2, 4], [1, 2, 1]));
  const values = ticks.map(({ value }) => value);
  expect(values).toEqual(values.map((value) => -value).reverse().map((value) => value + 0));
  for (const value of values) if (value) expect(Math.log10(Math.abs(value)) % 1).toBeCloseTo(0, 9);
  expect(histogramAxis(histogram([], [], 9))).toMatchObject({ bars: [], total: 9 });
});
