import { expect, test } from "vitest";
import { findRepeats } from "./repeats";
import { foldKey, makeFolds, openingsFor, rows, shownUnits } from "./folds";
import { GraphMaker, mobilenet, siamese } from "./examples";
import { makeTree } from "./tree";

const NONE: ReadonlySet<string> = new Set();

test("MobileNet's 90 calls and its input are 30 cards and the input", () => {
  const tree = makeTree(mobilenet());
  const units = makeFolds(tree).level(-1);
  expect(tree.leafCount).toBe(90);
  expect(units.filter((unit) => tree.calls[unit.head]!.kind !== "input")).toHaveLength(30);
});

test("a padding rides on the convolution after it, normalisation and activation on the one before", () => {
  const tree = makeTree(mobilenet());
  const units = makeFolds(tree).level(-1);
  const names = (head: string) => units.find((unit) => tree.calls[unit.head]!.name === head)!.members.map((call) => tree.calls[call]!.name);
  expect(names("conv_dw_2")).toEqual(["conv_pad_2", "conv_dw_2", "conv_dw_2_bn", "conv_dw_2_relu"]);
  expect(names("conv_preds")).toEqual(["conv_preds", "reshape_2"]);
});

test("a model's output keeps its own card", () => {
  const tree = makeTree(mobilenet());
  const last = makeFolds(tree).level(-1).at(-1)!;
  expect([tree.calls[last.head]!.name, last.kind]).toEqual(["predictions", "call"]);
});

test("an activation whose input goes elsewhere too keeps its own card", () => {
  const make = new GraphMaker();
  const root = make.add(".", "Functional", null, []);
  const input = make.add("x", "Input", root, [], [-1, 4], "input");
  const dense = make.add("dense", "Dense", root, [input]);
  const relu = make.add("relu", "ReLU", root, [dense]);
  const add = make.add("add", "Add", root, [dense, relu]);
  make.passOn(root, make.add("out", "Dense", root, [add]));
  expect(makeFolds(makeTree(make.graph())).level(-1).map((unit) => unit.kind)).toEqual(["call", "call", "call", "call", "call"]);
});

test("an opened stack shows its calls and keeps the place to fold it again", () => {
  const tree = makeTree(mobilenet());
  const units = shownUnits(makeFolds(tree), -1, new Set([foldKey("stack", "conv1")]));
  expect(units).toHaveLength(33);
  expect(units.filter((unit) => unit.opened).map((unit) => tree.calls[unit.head]!.name)).toEqual(["conv1"]);
});

function residual(blocks: number): GraphMaker {
  const make = new GraphMaker();
  const root = make.add(".", "Functional", null, []);
  let last = make.add("x", "Input", root, [], [-1, 8, 8, 4], "input");
  for (let block = 0; block < blocks; block++) {
    const a = make.add(`a${block}`, "Conv2D", root, [last], [-1, 8, 8, 4]);
    const b = make.add(`b${block}`, "Conv2D", root, [a], [-1, 8, 8, 4]);
    last = make.add(`add${block}`, "Add", root, [b, last], [-1, 8, 8, 4]);
  }
  make.passOn(root, make.add("out", "Dense", root, [last]));
  return make;
}

test("equal residual blocks fold into one card only where a level has more than 40", () => {
  const few = makeFolds(makeTree(residual(12).graph())).level(-1);
  expect(few.some((unit) => unit.kind === "repeat")).toBe(false);
  const many = makeFolds(makeTree(residual(20).graph())).level(-1);
  expect(many.map((unit) => unit.kind)).toEqual(["call", "repeat", "call"]);
  expect(many[1]!.blocks).toHaveLength(20);
  expect(many[1]!.members).toHaveLength(60);
});

test("runs of equal blocks need three repeats and equal wiring", () => {
  expect(findRepeats(["a", "b", "a", "b"], [[], [1], [1], [1]])).toEqual([]);
  expect(findRepeats(["x", "a", "b", "a", "b", "a", "b"], [[], [1], [1], [1], [1], [1], [1]])).toEqual([{ start: 1, length: 2, times: 3 }]);
  expect(findRepeats(["a", "b", "c", "a", "b", "c", "a", "b", "c"], [[1], [1], [1], [1], [1], [1, 2], [1], [1], [1]])).toEqual([]);
});

test("the outline's rows open groups and folds one level deeper", () => {
  const tree = makeTree(siamese());
  const folds = makeFolds(tree);
  expect(rows(tree, folds, NONE, NONE)).toHaveLength(7);
  const opened = rows(tree, folds, new Set(["encoder#1"]), NONE);
  expect(opened.map((row) => [tree.calls[row.call]!.path, row.depth]).slice(3, 6)).toEqual([["encoder#1", 0], ["encoder#1/conv1", 1], ["encoder#1/conv2", 1]]);
});

test("to reveal a call its groups and folds are named from the outside inwards", () => {
  const tree = makeTree(residual(20).graph());
  const folds = makeFolds(tree);
  expect(openingsFor(tree, folds, tree.byPath.get("b7")!)).toEqual({ groups: [], folds: [foldKey("repeat", "a0")] });
  const twins = makeTree(siamese());
  expect(openingsFor(twins, makeFolds(twins), twins.byPath.get("encoder#1/pool")!)).toEqual({ groups: ["encoder#1"], folds: [] });
});
