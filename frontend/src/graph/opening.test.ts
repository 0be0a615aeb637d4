import { expect, test } from "vitest";
import { everyCall } from "../outline/grouping";
import { hiddenCalls, worstCall } from "../outline/worst";
import { GraphMaker } from "./examples";
import { makeFolds, rows } from "./folds";
import { firstOpen } from "./opening";
import { makeTree, weighedInside } from "./tree";

/** Two recurrent layers in a wrapper, their cells inside a loop, and a dense one after them. */
function recurrent() {
  const make = new GraphMaker();
  const root = make.add(".", "Functional", null, []);
  const input = make.add("words", "Input", root, [], [-1, 12], "input");
  const both = make.add("both", "Bidirectional", root, [input]);
  for (const way of ["forward", "backward"]) {
    const layer = make.add(`both/${way}`, "GRU", both, [input]);
    const cell = make.add(`both/${way}/cell`, "GRUCell", layer, [null]);
    make.calls[cell]!.outputs[0]!.status = "inside a loop";
  }
  make.passOn(root, make.add("last", "Dense", root, [both]));
  const graph = make.graph();
  const kernel = { name: "kernel", shape: [8, 8], dtype: "float32", trainable: true };
  for (const { layer, type } of graph.calls) if (type === "GRUCell") graph.layers[layer!]!.weights = [kernel];
  const tree = makeTree(graph);
  return { tree, folds: makeFolds(tree), at: (path: string) => tree.byPath.get(path)! };
}

test("a group around a loop starts closed and speaks for itself, the group around it does not", () => {
  const { tree, folds, at } = recurrent();
  const open = firstOpen(tree, folds);
  expect([...open]).toEqual(["both"]);
  const shown = rows(tree, folds, open, new Set());
  expect(shown.map(({ call }) => tree.calls[call]!.path)).toEqual(["words", "both", "both/forward", "both/backward", "last"]);
  const value = (call: number) => (tree.calls[call]!.type === "GRU" ? 1 : undefined);
  expect(shown.map((row) => worstCall(tree, row, value, false))).toEqual([-1, -1, at("both/forward"), at("both/backward"), -1]);
  const closed = rows(tree, folds, new Set(), new Set())[1]!;
  expect(hiddenCalls(tree, closed)).toEqual([at("both/forward"), at("both/backward")]);
  const opened = rows(tree, folds, new Set(["both", "both/forward"]), new Set())[2]!;
  expect(worstCall(tree, opened, value, false)).toBe(at("both/forward"));
  expect(everyCall(tree).map(({ call }) => tree.calls[call]!.type)).toContain("GRU");
});

test("the weights inside a group are found, each layer's once", () => {
  const { tree, at } = recurrent();
  const paths = (call: string) => weighedInside(tree, at(call)).map((each) => tree.calls[each]!.path);
  expect(paths("both")).toEqual(["both/forward/cell", "both/backward/cell"]);
  expect(paths("both/forward")).toEqual(["both/forward/cell"]);
  expect(paths("last")).toEqual([]);
});
