import { expect, test } from "vitest";
import type { LossesTable, SeriesTable } from "./api";
import { byLayer, lossColumns, lossSeries, ratioSeries, ratiosOf, rowsOfLayers } from "./measures";
import type { CallInfo } from "./types";

const series = (kind: string, ports: [number, number][], values: number[]): SeriesTable => ({
  kind, column: "l2", ports, step: Float64Array.of(0, 5), values: Float32Array.from(values),
});

test("a ratio joins the ports that both have, and has no number over zero", () => {
  const update = series("update", [[1, 0], [1, 1]], [1, 2, 3, 4]);
  const weight = series("weight", [[0, 0], [1, 1], [1, 0]], [9, 9, 2, 0, 4, 4]);
  const ratio = ratioSeries(update, weight);
  expect(ratio).toMatchObject({ kind: "ratio", column: "update/weight", ports: [[1, 0], [1, 1]] });
  expect([...ratio.values]).toEqual([0.25, 0.5, 1.5, NaN]);
});

test("ratios are offered only where both kinds were recorded", () => {
  expect(ratiosOf(new Set(["output", "error", "weight"]))).toEqual(["error/output"]);
  expect(byLayer("ratio", "update/weight")).toBe(true);
  expect(byLayer("ratio", "error/output")).toBe(false);
});

const losses: LossesTable = {
  rows: [
    { call: 2, port: 0, form: "readout", task: "classification", output: "" },
    { call: 3, port: 0, form: "added", task: "", output: "" },
  ],
  step: Float64Array.of(0, 5),
  loss: Float32Array.of(2, 1, 0.1, 0.2),
  accuracy: Float32Array.of(0.1, 0.9, NaN, NaN),
};

test("layer losses are offered by form, accuracies only where there are some", () => {
  expect(lossColumns(losses)).toEqual(["readout.loss", "readout.accuracy", "added.loss"]);
  const accuracy = lossSeries(losses, "readout.accuracy");
  expect(accuracy.ports).toEqual([[2, 0]]);
  expect([...accuracy.values]).toEqual([...Float32Array.of(0.1, 0.9)]);
});

test("a layer's number is that of its first weight, at each of its calls", () => {
  const calls = [{ layer: null }, { layer: 1 }, { layer: 1 }, { layer: 0 }] as CallInfo[];
  expect([...rowsOfLayers(calls, [[1, 1], [1, 0]])]).toEqual([[1, 1], [2, 1]]);
});
