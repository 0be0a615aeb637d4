import { expect, test } from "vitest";
import { fromHash, fromText, intoHash, toText, type LinkState } from "./link";

const STATE: LinkState = {
  run: "siamese/a & b", stream: "train", step: 4700, call: "encoder#1/conv%2Fodd", kind: "error#1", column: "l2", view: "flow",
  panel: "errors", open: ["encoder", "encoder#1"], unfolded: ["stack:conv1"], heatmap: true, span: "run", filter: "dense=1",
};

test("a state comes back from its link as it was", () => {
  expect(fromText(toText(STATE))).toEqual(STATE);
  expect(fromHash(intoHash("", STATE))).toEqual(STATE);
});

test("no open group is not the same as the first view's choice", () => {
  expect(fromText(toText({ open: [] })).open).toEqual([]);
  expect(fromText(toText({})).open).toBeUndefined();
});

test("the link goes to TensorBoard's own address and leaves there what others wrote", () => {
  const hash = intoHash("#scalars&p.other.x=1&p.layerflow.s=old", { run: "r" });
  expect(hash).toBe("#layerflow&scalars&p.other.x=1&p.layerflow.s=run%3Dr");
  expect(intoHash("#layerflow", {})).toBe("#layerflow&p.layerflow.s=");
});

test("a damaged link opens as far as it can be read", () => {
  expect(fromHash("#layerflow&p.layerflow.s=%E0%A4%A")).toBeNull();
  expect(fromHash("#scalars")).toBeNull();
  expect(fromText("step=many&run=r&novelty=1")).toEqual({ run: "r" });
});
