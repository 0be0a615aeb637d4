import { expect, test } from "vitest";
import type { SeriesTable } from "../api";
import { alignSteps, deviation, layerQuotient, magnitude, quotient, unionSteps } from "./errorSeries";

test("a layer's gradient over its weights counts every variable that has both", () => {
  const table = (ports: [number, number][], values: number[]): SeriesTable => ({ kind: "", column: "l2", ports, step: Float64Array.of(0), values: Float32Array.from(values) });
  const gradient = table([[2, 0], [2, 1], [5, 0]], [3, 4, 100]);
  const weight = table([[2, 1], [2, 0], [2, 2]], [0, 10, 77]);
  expect([...layerQuotient(gradient, weight, 2)!]).toEqual([0.5]);
  expect(layerQuotient(gradient, weight, 3)).toBeNull();
});

test("magnitudes, deviations and quotients go element by element", () => {
  expect([...magnitude([-3, 1], [2, 2])]).toEqual([3, 2]);
  expect([...deviation([1, 1], [0.5, 9], [3, 3], 1)]).toEqual([1.5, 3]);
  expect([...deviation([1, 1], [0.5, 9], [0, 0], -1)]).toEqual([0.5, 0]);
  expect([...quotient([1, 1], [2, 0])]).toEqual([0.5, NaN]);
});

test("runs that recorded other steps share one axis, with gaps where a run has no record", () => {
  const steps = unionSteps([[0, 10], [5, 10, 20]]);
  expect([...steps]).toEqual([0, 5, 10, 20]);
  expect([...alignSteps([1, 2], [0, 10], steps)]).toEqual([1, NaN, 2, NaN]);
});
