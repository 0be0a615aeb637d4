import { expect, test } from "vitest";
import { figuresOf } from "./figures";

test("the figures of a sample are those of its own numbers", () => {
  const { mean, std, min, max, zeros, count, reach } = figuresOf(Float32Array.of(0, -3, 1, 2, 0, 6));
  expect([mean, min, max, zeros, count, reach]).toEqual([1, -3, 6, 2, 6, 6]);
  // numpy.std([0, -3, 1, 2, 0, 6])
  expect(std).toBeCloseTo(2.7080128015, 9);
});

test("a NaN spreads through the figures, and colours still reach over the finite numbers", () => {
  const { mean, min, reach } = figuresOf(Float32Array.of(1, NaN, -4));
  expect([mean, min, reach]).toEqual([NaN, NaN, 4]);
  expect(figuresOf(Float32Array.of(2, Infinity)).reach).toBe(2);
});
