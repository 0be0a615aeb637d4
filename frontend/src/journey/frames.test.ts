import { expect, test } from "vitest";
import type { RecordTable } from "../api";
import { heldFrom } from "../exact";
import { mobilenet, siamese } from "../graph/examples";
import { makeFolds } from "../graph/folds";
import { makeTree } from "../graph/tree";
import type { GraphInfo } from "../types";
import { frameOf, framesOf, leadsTo, originOf } from "./frames";
import { outputsOf } from "./outputs";

function setUp(graph: GraphInfo, every: boolean) {
  const values = graph.calls.map(({ outputs }, call) => ({ kind: "output", call, port: 0, shape: outputs[0]?.shape ?? [], dtype: "float32", bytes: 4 }));
  const tree = makeTree(graph);
  const held = heldFrom("r", "record", { steps: [0], step: 0, samples: 1, bytes: 0, values, cut: [] }, graph, {} as RecordTable);
  return { tree, held, found: framesOf(tree, makeFolds(tree), held, every) };
}

const frames = (graph: GraphInfo, every: boolean) => setUp(graph, every).found;

test("both calls of a shared model are on the way, each from its own input, and meet where they are joined", () => {
  const found = frames(siamese(), true);
  expect(found.map(({ path }) => path)).toEqual([
    "left", "right", ...["encoder", "encoder#1"].flatMap((group) => ["conv1", "conv2", "conv3", "pool", "first_dense"].map((name) => `${group}/${name}`)),
    "join", "last_dense", "same",
  ]);
  const at = (path: string) => found.findIndex((frame) => frame.path === path);
  expect(found[at("join")]!.from).toEqual([at("encoder/first_dense"), at("encoder#1/first_dense")]);
  expect(found[originOf(found, at("encoder#1/pool"))]!.path).toBe("right");
});

test("what rides on a layer belongs to its stage, which shows the last output of the layer's own rank", () => {
  const graph = mobilenet();
  const stages = frames(graph, false);
  expect(stages.length).toBeLessThan(frames(graph, true).length / 2);
  expect(stages.find(({ head }) => head === "conv1")).toMatchObject({ path: "conv1_relu", type: "Conv2D" });
  expect(stages.find(({ head }) => head === "conv_preds")!.path).toBe("conv_preds");
});

test("a stage leads to the nearest output after it", () => {
  const { tree, found } = setUp(siamese(), false);
  const call = (path: string) => tree.byPath.get(path)!;
  const from = (path: string) => leadsTo(found, frameOf(tree, found, call(path)), [call("same"), call("encoder/first_dense"), call("left")]);
  expect(["left", "encoder/pool", "encoder#1/pool", "join", "same"].map(from)).toEqual([2, 1, 0, 0, 0]);
  expect(leadsTo(found, found.length - 1, [call("left")])).toBe(-1);
});

test("an output is known by its key and by the call that made it, and logits are none", () => {
  const graph = siamese();
  const root = graph.calls[0]!;
  root.outputs = [{ ...root.outputs[0]!, key: "match" }, { ...root.outputs[0]!, key: "match/logits", kind: "logits" }];
  expect(outputsOf(setUp(graph, false).held).map(({ name, made, port }) => [name, made, port])).toEqual([["match", "same", 0]]);
  expect(outputsOf(setUp(mobilenet(), false).held).map(({ name }) => name)).toEqual(["predictions"]);
});

test("a group that was chosen is shown by the first stage inside it", () => {
  const { tree, found } = setUp(siamese(), false);
  expect(found[frameOf(tree, found, tree.byPath.get("encoder#1")!)]!.head).toBe("encoder#1/conv1");
});
