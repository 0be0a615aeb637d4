import { expect, test } from "vitest";
import { evidenceText } from "./evidence";

test("what a finding explains is said in words, with its place where it has one", () => {
  expect(evidenceText({ ratio: 3, explains: ["dead_units · second", "loss_does_not_fall · ."], kind: "output", chain: [] })).toEqual([
    "ratio 3",
    "explains dead units at second, loss does not fall",
  ]);
});

test("evidence that is empty is left out", () => {
  expect(evidenceText({ output: "", step: null, steps: [], zeros: 0 })).toEqual(["zeros 0"]);
});
