import { expect, test } from "vitest";
import type { OpInfo } from "../lineageApi";
import { chainLines, consumersOf, isPlace, opLinks, placeOfStack, labelOf, shortName, shortFate } from "./lineage";

const op = (number: number, inputs: number[]): OpInfo => ({
  number, name: `a/b_${number}`, type: "T", direction: "forward", call: 0, bucket: "", forward_op: null, variable: "", fate: "", body: "", inputs, stack: 0,
});

test("a chain reads as a method and one line for each raw operation", () => {
  expect(chainLines(["Dense.call", "keras.ops.matmul", "tf.matmul", "MatMul", "keras.ops.add", "BiasAdd"])).toEqual({
    head: "Dense.call",
    lines: [["keras.ops.matmul", "tf.matmul", "MatMul"], ["keras.ops.add", "BiasAdd"]],
  });
  expect(chainLines(["Flatten.call", "keras.ops.reshape"]).lines).toEqual([["keras.ops.reshape"]]);
  expect(chainLines([])).toEqual({ head: "", lines: [] });
});

test("an operation is named by its call first, which tells it from others", () => {
  expect(labelOf("gradient_tape/resnet_1/block1_conv1_1/Conv2DBackpropInput", "block1_conv1")).toBe("block1_conv1/Conv2DBackpropInput");
  expect(labelOf("a/b/Relu", "encoder/one_block/another_block/relu")).toBe("…/relu/Relu");
  expect(labelOf("loss/Mean", null)).toBe("loss/Mean");
});

test("who takes an output is told once, however often it does", () => {
  expect(consumersOf([op(1, []), op(2, [1, 1]), op(3, [1, 2])])).toEqual(new Map([[1, [2, 3]], [2, [3]]]));
});

test("only tensors between the shown operations are links", () => {
  expect(opLinks([op(7, [3]), op(8, [7, 7]), op(9, [8, 7, 2])])).toEqual([{ from: 0, to: 1 }, { from: 1, to: 2 }, { from: 0, to: 2 }]);
});

test("places and names are shortened to what identifies them", () => {
  expect(placeOfStack({ frames: [["model.py", 42, "call", "user"], ["k.py", 1, "f", "keras"]], user_frame: 0, text: "" })).toBe("model.py:42");
  expect(placeOfStack({ frames: [], user_frame: -1, text: "" })).toBe("");
  expect(shortName("gradient_tape/model/dense/MatMul_1")).toBe("MatMul_1");
  expect([isPlace("model.py:42"), isPlace("conv"), isPlace("a/b.py")]).toEqual([true, false, true]);
});

test("a fate in a row is said without the names of other operations", () => {
  expect(shortFate("kept")).toBe("kept");
  expect(shortFate("fused into model/conv/Relu (_FusedConv2D)")).toBe("fused into _FusedConv2D");
  expect(shortFate("fused into model/conv/mul")).toBe("fused into mul");
  expect(shortFate("unknown: it stands in a function of its own")).toBe("unknown");
});
