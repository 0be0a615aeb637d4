import { expect, test } from "vitest";
import { GraphMaker, port, siamese } from "./examples";
import { ancestors, makeTree, topLevel } from "./tree";

test("an input that a group passes on leads back to the leaf that made it", () => {
  const tree = makeTree(siamese());
  const join = tree.byPath.get("join")!;
  const made = tree.edges.filter((edge) => edge.to === join).map((edge) => tree.calls[edge.from]!.path);
  expect(made).toEqual(["encoder/first_dense", "encoder#1/first_dense"]);
});

test("counts are leaf calls without inputs", () => {
  const tree = makeTree(siamese());
  expect(tree.leafCount).toBe(13);
  expect(tree.leaves[tree.byPath.get("encoder#1")!]).toBe(5);
});

test("a shared layer's calls are counted from one", () => {
  const tree = makeTree(siamese());
  expect(tree.occurrence[tree.byPath.get("encoder#1/conv1")!]).toEqual({ k: 2, n: 2 });
  expect(tree.occurrence[tree.byPath.get("join")!]).toEqual({ k: 1, n: 1 });
});

test("a group's input that no call inside takes ends at the group", () => {
  const make = new GraphMaker();
  const root = make.add(".", "Model", null, []);
  const input = make.add("x", "Input", root, [], [-1, 4], "input");
  const group = make.add("block", "Block", root, [input]);
  make.add("block/dense", "Dense", group, [null]);
  const tree = makeTree(make.graph());
  expect(tree.edges.map((edge) => [edge.from, edge.to])).toEqual([[input, group]]);
});

test("an input that plain operations computed has a derived edge from each output that they took", () => {
  const make = new GraphMaker();
  const root = make.add(".", "Model", null, []);
  const one = make.add("one", "Encoder", root, [null]);
  const inner = make.add("one/dense", "Dense", one, [null]);
  make.passOn(one, inner);
  const two = make.add("two", "Dense", root, [null]);
  const last = make.add("last", "Dense", root, [null]);
  make.calls[last]!.inputs[0]!.derived = [[one, 0], [two, 0], [999, 0]];
  const edges = makeTree(make.graph()).edges.map(({ from, to, derived }) => ({ from, to, derived }));
  expect(edges).toEqual([{ from: inner, to: last, derived: true }, { from: two, to: last, derived: true }]);
});

test("a call that hands its own input back stands between what made it and what takes it", () => {
  const make = new GraphMaker();
  const root = make.add(".", "Model", null, []);
  const dense = make.add("dense", "Dense", root, [null]);
  const dropout = make.add("dropout", "Dropout", root, [dense]);
  make.passOn(dropout, dense);
  const last = make.add("last", "Dense", root, [dropout]);
  expect(makeTree(make.graph()).edges.map((edge) => [edge.from, edge.to])).toEqual([[dense, dropout], [dropout, last]]);
});

test("sources that are missing, point nowhere or in a circle give no edge and do not hang", () => {
  const make = new GraphMaker();
  const root = make.add(".", "Model", null, []);
  const a = make.add("a", "Block", root, [null]);
  const inner = make.add("a/b", "Block", a, [null]);
  make.add("a/b/d", "Dense", inner, [null]);
  const c = make.add("c", "Dense", root, [a]);
  make.calls[a]!.outputs = [port([-1, 4], [inner, 0])];
  make.calls[inner]!.outputs = [port([-1, 4], [a, 0])];
  make.calls[c]!.inputs.push(port(null, [999, 0]));
  expect(makeTree(make.graph()).edges).toEqual([]);
});

test("a step with several roots has them all on the outermost level", () => {
  const make = new GraphMaker();
  const one = make.add("generator", "Sequential", null, []);
  make.add("generator/dense", "Dense", one, [null]);
  const two = make.add("discriminator", "Sequential", null, [one]);
  make.add("discriminator/dense", "Dense", two, [one]);
  const tree = makeTree(make.graph());
  expect(topLevel(tree)).toEqual([one, two]);
  expect(ancestors(tree, 3)).toEqual([two]);
});

test("ten thousand calls nested a thousand deep are read without recursion", { timeout: 60_000 }, () => {
  const make = new GraphMaker();
  let parent: number | null = null;
  let path = "";
  for (let depth = 0; depth < 1000; depth++) {
    path = path === "" ? "g" : `${path}/g`;
    parent = make.add(path, "Block", parent, [null]);
    for (let leaf = 0; leaf < 9; leaf++) make.add(`${path}/d${leaf}`, "Dense", parent, [leaf === 0 ? null : make.calls.length - 1]);
  }
  expect(makeTree(make.graph()).leafCount).toBe(9000);
});
