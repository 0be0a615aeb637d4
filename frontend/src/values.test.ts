import { expect, test } from "vitest";
import { fitScale } from "./colour/scale";
import { ofColumn } from "./format";
import { colourBy, graph, record } from "./state";
import type { GraphInfo } from "./types";
import { valueOfCall } from "./values";

test("zeros are coloured by their share of the elements that were counted, so that large and small tensors compare", () => {
  graph.value = { calls: [{ outputs: [] }, { outputs: [] }], layers: [] } as unknown as GraphInfo;
  record.value = {
    step: 0, columns: ["count", "mean", "zero"], losses: {}, phase: "", batchSize: 1, lossScale: 1, skipped: false,
    kinds: new Map([["output", { ports: [[0, 0], [1, 0]], columns: Float32Array.of(294_912, 0.5, 8192, 40, 0.5, 10), part: Float64Array.of(32_768, 1, 40, 1) }]]),
  };
  colourBy.value = { kind: "output", column: "zero" };
  expect([...valueOfCall.value]).toEqual([[0, 0.25], [1, 0.25]]);
  const scale = fitScale("zero", valueOfCall.value.values())!;
  expect([scale.form, scale.low, scale.high, scale.place(0.25)]).toEqual(["linear", 0, 1, 0.25]);
  expect(ofColumn("zero", 0.25)).toBe("25.0 %");
  colourBy.value = { kind: "output", column: "mean" };
  expect([...valueOfCall.value.values()]).toEqual([0.5, 0.5]);
});
