import { expect, test } from "vitest";
import { ticksOf } from "./ticks";

const texts = (low: number, high: number, logarithmic = false, least = 2) => ticksOf(low, high, logarithmic, least).map(({ text }) => text);

test("an axis has two round numbers at least, however narrow its range", () => {
  expect(texts(0.38, 0.445)).toEqual(["0.38", "0.40", "0.42", "0.44"]);
  expect(texts(1.94, 2.04)).toEqual(["1.95", "2.00"]);
  expect(texts(0, 1)).toEqual(["0", "1"]);
  expect(texts(-3, 8, false, 3)).toEqual(["−2", "0", "2", "4", "6", "8"]);
  expect(texts(0, 250_000)).toEqual(["0", "2.0e5"]);
  expect(texts(0.4, 0.4)).toEqual(["0.400"]);
});

test("a logarithm has its powers of ten, or what lies between where there is but one", () => {
  expect(texts(9e-4, 1.1, true)).toEqual(["1e−3", "1e−2", "1e−1", "1e0"]);
  expect(texts(0.15, 3, true)).toEqual(["2e−1", "5e−1", "1e0", "2e0"]);
  expect(ticksOf(1e-30, 1, true, 2).length).toBeLessThanOrEqual(6);
});
