import { expect, test } from "vitest";
import { callOfFinding, groupByRule, marksOnSteps, placeOf, worstLevel } from "./places";
import type { FindingInfo, GraphInfo } from "../types";

const finding = (rule: string, path: string, step: number, level: "failure" | "warning" = "warning", evidence = {}): FindingInfo => ({
  rule, level, path, call: null, step, message: "", evidence,
});

test("findings are grouped by rule, the first bad call's group first", () => {
  const groups = groupByRule([finding("non_finite", "b", 5, "failure"), finding("dead_units", "a", 0), finding("dead_units", "c", 3)]);
  expect(groups.map(({ rule, level, findings }) => [rule, level, findings.map(({ path }) => path)])).toEqual([
    ["non_finite", "failure", ["b"]],
    ["dead_units", "warning", ["a", "c"]],
  ]);
});

test("a finding about a layer's weights leads to the layer's first call", () => {
  const graph = { layers: [{ path: "x" }, { path: "encoder/dense" }], calls: [{ path: ".", layer: 0, outputs: [{ source: null }] }, { path: "encoder#1/dense", layer: 1 }] };
  const known = graph as unknown as GraphInfo;
  expect(callOfFinding(finding("unchanged_weights", "encoder/dense", 0), known)).toBe(1);
  expect(callOfFinding(finding("loss_does_not_fall", ".", 0), known)).toBe(0);
  Object.assign(known.calls[0]!, { outputs: [{ source: [1, 0] }] });
  Object.assign(known.calls[1]!, { outputs: [{ source: null }] });
  expect(callOfFinding(finding("loss_does_not_fall", ".", 0), known)).toBe(1);
  expect(callOfFinding(finding("dead_units", "gone", 0), known)).toBeNull();
});

test("the slider is marked where something was first seen, with the worst at each record", () => {
  const found = [finding("a", "x", 20, "warning"), finding("b", "x", 20, "failure"), finding("c", "y", 0), finding("d", "y", 7)];
  expect(marksOnSteps(found, [0, 10, 20])).toEqual([{ index: 0, level: "warning" }, { index: 2, level: "failure" }]);
  expect(worstLevel([undefined, "warning", "failure"])).toBe("failure");
  expect(worstLevel([undefined])).toBeUndefined();
});

test("a finding shows where its numbers are", () => {
  expect(placeOf(finding("non_finite", "a", 1, "failure", { kind: "weight" }))).toEqual({ colourBy: { kind: "weight", column: "l2" }, panel: "weights" });
  expect(placeOf(finding("vanishing_errors", "a", 1))).toEqual({ colourBy: { kind: "error", column: "l2" }, panel: "errors" });
  expect(placeOf(finding("a rule of a later version", "a", 1)).colourBy).toBeNull();
});
