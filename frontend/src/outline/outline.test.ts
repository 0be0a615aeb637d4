import { expect, test } from "vitest";
import type { Row } from "../graph/folds";
import type { CallInfo } from "../types";
import { sparkPoints } from "./strip";
import { filterRows } from "./filter";
import { placeOfIndex, shownRange, stepAt } from "./places";
import { badness, worstSeries } from "./worst";

test("a sparkline spans its box and breaks where there is no number", () => {
  const points = sparkPoints([1, 10, NaN, 100, 1000], 104, 24, true);
  expect(points.map(({ x }) => x)).toEqual([2, 27, 77, 102]);
  expect(points.map(({ y }) => y)).toEqual([22, expect.closeTo(15.333, 2), expect.closeTo(8.667, 2), 2]);
  expect(points.map(({ joined }) => joined)).toEqual([false, true, false, true]);
});

test("a constant is a line in the middle, nothing is no line", () => {
  expect(sparkPoints([3, 3, 3], 40, 20, false).map(({ y }) => y)).toEqual([10, 10, 10]);
  expect(sparkPoints([NaN, 0], 40, 20, true)).toEqual([]);
  expect(sparkPoints([3], 40, 20, false)[0]).toMatchObject({ x: 20, y: 10 });
});

test("one spike among ten thousand steps is still drawn", () => {
  const values = new Float32Array(10_000).fill(1);
  values[6543] = 100;
  const points = sparkPoints(values, 78, 22, true);
  expect(points.length).toBeLessThan(400);
  expect(Math.min(...points.map(({ y }) => y))).toBe(2);
});

test("a place on a strip is a step, and a step a place, in any stretch", () => {
  expect([0, 0.49, 0.5, 1].map((place) => stepAt(place, [10, 12], true))).toEqual([10, 10, 11, 11]);
  expect(placeOfIndex(11, [10, 12], true)).toBe(0.75);
  expect(placeOfIndex(9, [10, 12], true)).toBeLessThan(0);
  expect(shownRange([5, 99], 8)).toEqual([5, 8]);
});

test("a place on the strip is the step below it", () => {
  expect([0, 0.49, 0.5, 1].map((place) => stepAt(place, [0, 2], true))).toEqual([0, 0, 1, 1]);
  expect([0, 0.2, 0.3, 1].map((place) => stepAt(place, [0, 3], false))).toEqual([0, 0, 1, 2]);
});

test("the filter keeps what matches and the way to it", () => {
  const paths = ["a", "a/conv", "a/dense", "b", "b/c", "b/c/conv", "b/dense", "conv"];
  const calls = paths.map((path) => ({ path, type: path.endsWith("dense") ? "Dense" : "X" }) as CallInfo);
  const all = paths.map((path, call) => ({ kind: "call", call, members: [call], depth: path.split("/").length - 1, key: null, open: true, times: 0 }) as Row);
  const found = (text: string) => filterRows(all, calls, text).map(({ call }) => paths[call]);
  expect(found("conv")).toEqual(["a", "a/conv", "b", "b/c", "b/c/conv", "conv"]);
  expect(found("dense")).toEqual(["a", "a/dense", "b", "b/dense"]);
  expect(found("nothing")).toEqual([]);
});

test("a folded row shows its worst child at each step", () => {
  const values = new Float32Array([1, -5, NaN, 2, 3, NaN]);
  expect([...worstSeries(values, 3, [0, 1])]).toEqual([2, -5, NaN]);
  expect([badness(undefined), badness(-3), badness(NaN)]).toEqual([-1, 3, Infinity]);
});
