import { expect, test } from "vitest";
import { nearestEarlier, type Held } from "../exact";
import { paintMap, type MapColours } from "../colour/mapPixels";
import { greys, isBarePicture, rangeOf } from "./asPicture";
import { exactText } from "./exactText";
import { channelsFirstCalls } from "./formats";
import { halfBits, toNpy } from "./npy";
import { activityOfFigures, byActivity } from "./planes";
import { termGrid } from "./termGrid";
import { everyNth, stepFor } from "./draw";
import { fixedChannels, stretched } from "./thumbnails";
import type { GraphInfo } from "../types";
import type { HeldValue } from "../valuesApi";

test("a number is written in the fewest digits that name it in its dtype", () => {
  expect(exactText(Math.fround(0.1), "float32")).toBe("0.1");
  expect(exactText(Math.fround(1 / 3), "float32")).toBe("0.33333334");
  expect(exactText(1 / 3, "float64")).toBe("0.3333333333333333");
  expect(exactText(-2, "int32")).toBe("−2");
  expect(exactText(NaN, "float32")).toBe("NaN");
});

test("a float16 has the bits that numpy gives it", () => {
  // np.float16([0, -0.0, 1, -2, 65504, 6e-8, 6.1e-5, inf, 0.333]).view(np.uint16)
  const given = [0, -0, 1, -2, 65504, 5.960464477539063e-8, 6.103515625e-5, Infinity, 0.333251953125];
  expect(given.map(halfBits)).toEqual([0, 0x8000, 0x3c00, 0xc000, 0x7bff, 1, 0x400, 0x7c00, 0x3555]);
});

test("an .npy file has numpy's magic, a header that ends at a multiple of 64, and the numbers", () => {
  const file = toNpy(Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3], "float32");
  expect([...file.subarray(0, 8)]).toEqual([0x93, 78, 85, 77, 80, 89, 1, 0]);
  const length = file[8]! + 256 * file[9]!;
  expect((10 + length) % 64).toBe(0);
  expect(new TextDecoder().decode(file.subarray(10, 10 + length))).toMatch(/^\{'descr': '<f4', 'fortran_order': False, 'shape': \(2, 3\), \} *\n$/);
  expect([...new Float32Array(file.slice(10 + length).buffer)]).toEqual([1, 2, 3, 4, 5, 6]);
  expect(new TextDecoder().decode(toNpy(Uint8Array.of(1), [1], "bool").subarray(10, 70))).toContain("'|b1', 'fortran_order': False, 'shape': (1,)");
});

test("maps are sorted by root mean square, the unknown last, equal ones as they were", () => {
  expect(byActivity([1, null, 3, 1, 0])).toEqual([2, 0, 3, 4, 1]);
  // Means 3 and 0, standard deviations 4 and 2: root mean squares 5 and 2.
  expect(activityOfFigures(Float32Array.of(3, 0, 4, 2, 0, 0, 9, 9, 0, 0))).toEqual([5, 2]);
});

test("the terms of a window lie as its positions do, holes stay holes", () => {
  const term = (row: number, col: number) => ({ port: 0, index: [0, row, col, 2], value: row * 10 + col, product: 1, weight_name: "", weight_index: null, weight: null });
  const grid = termGrid([term(4, 7), term(4, 9), term(6, 7)]);
  expect(grid).toMatchObject({ rows: 2, cols: 2 });
  expect(grid.terms.map((each) => each?.value ?? null)).toEqual([47, 49, 67, null]);
});

test("values come from the nearest earlier record, else from the first", () => {
  expect(nearestEarlier([10, 20, 30], 25)).toBe(20);
  expect(nearestEarlier([10, 20, 30], 5)).toBe(10);
  expect(nearestEarlier([], 5)).toBeNull();
});

test("a thumbnail's channels are at most nine, spread over all", () => {
  expect(fixedChannels(512)).toMatchObject({ start: 0, step: 56, length: 9 });
  expect(fixedChannels(3)).toMatchObject({ step: 1, length: 3 });
});

test("what went in is stretched over all bytes, and what is all equal is grey", () => {
  expect([...stretched(Float32Array.of(-1, 0, 1, NaN))]).toEqual([0, 128, 255, 0]);
  expect([...stretched(Float32Array.of(3, 3))]).toEqual([127, 127]);
});

test("what lies as pictures do is drawn from black to white over the range that it is given in", () => {
  expect([rangeOf(0, 0.9), rangeOf(0, 254), rangeOf(-0.9, 1.005), rangeOf(-2.1, 2.6), rangeOf(0, 300), rangeOf(NaN, NaN)]).toEqual([[0, 1], [0, 255], [-1, 1], null, null, null]);
  expect([...stretched(Float32Array.of(0, 51, 255, 300), [0, 255])]).toEqual([0, 51, 255, 255]);
  const painted = (range: readonly [number, number], ...values: number[]) => {
    const pixels = new Uint32Array(values.length);
    paintMap(pixels, Float32Array.from(values), range[1], greys({ odd: 0 } as MapColours, range));
    return [...pixels].map((each) => each & 255);
  };
  expect(painted([0, 1], 0, 1)).toEqual([0, 255]);
  expect(painted([-1, 1], -1, 0, 1)).toEqual([0, 128, 255]);
  expect(Math.abs(painted([0, 255], 100)[0]! - 100)).toBeLessThanOrEqual(1);
});

test("an input of rows and columns with the numbers of pictures is one, a series of features is none", () => {
  const isBare = (shape: number[], low: number, high: number, kind = "input") => {
    const table = { ports: [[0, 0]], columns: Float32Array.of(low, high) };
    const held = { graph: { calls: [{ kind }] }, record: { columns: ["min", "max"], kinds: new Map([["output", table]]) } };
    return isBarePicture(held as unknown as Held, { kind: "output", shape } as HeldValue, 0, 0);
  };
  expect([isBare([1, 28, 28], 0, 1), isBare([1, 28, 28], 0, 255)]).toEqual([true, true]);
  expect([isBare([1, 28, 28], -1, 1), isBare([1, 40, 4], 0, 1), isBare([1, 28, 28], 0, 1, ""), isBare([1, 28, 28, 1], 0, 1)]).toEqual([false, false, false, false]);
});

test("a map far larger than its place is painted with two numbers a pixel, the others whole", () => {
  expect([stepFor(512, 512, 84, 84), stepFor(14, 14, 84, 84), stepFor(512, 8, 84, 84)]).toEqual([3, 1, 1]);
  expect([...everyNth(Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8), 3, 3, 2)]).toEqual([0, 2, 6, 8]);
});

test("channels first is inherited along the flow, in both directions", () => {
  const call = (layer: number | null, sources: number[]) => ({ layer, inputs: sources.map((source) => ({ source: [source, 0] })) });
  const graph = {
    layers: [{ data_format: "" }, { data_format: "channels_first" }, { data_format: "channels_last" }],
    calls: [call(null, []), call(1, [0]), call(0, [1]), call(2, [2]), call(0, [3])],
  } as unknown as GraphInfo;
  expect([...channelsFirstCalls(graph)]).toEqual([0, 1, 2]);
});
