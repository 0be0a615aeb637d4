import { expect, test } from "vitest";
import { depthBars } from "./depth";

test("bars stand on a logarithm from the smallest to the largest error", () => {
  const { bars, least, high } = depthBars([[3, 1e-4], [5, 1e-2], [6, 1], [8, 0], [9, NaN]], 10);
  expect([least, high]).toEqual([0, 1]);
  expect(bars.map(({ height }) => height)).toEqual([expect.closeTo(0.04), expect.closeTo(0.52), 1, 0, 1]);
  expect(bars.map(({ bad }) => bad)).toEqual([false, false, false, false, true]);
});

test("more calls than bars: the largest of neighbours stands for them, a bad one before all", () => {
  const { bars, each } = depthBars([[0, 1], [1, 5], [2, NaN], [3, 9], [4, 2]], 3);
  expect(each).toBe(2);
  expect(bars.map(({ call }) => call)).toEqual([1, 2, 4]);
});

test("the ends are numbers that are drawn, not those of the decade at least that the bars span", () => {
  expect(depthBars([[0, 0.054], [1, 0.06]], 10)).toMatchObject({ least: 0.054, high: 0.06 });
  expect(depthBars([[0, 0.054], [1, 0.06]], 1).least).toBe(0.06);
  expect(depthBars([[0, NaN]], 1).least).toBe(Infinity);
});
