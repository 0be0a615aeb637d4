import { expect, test } from "vitest";
import { fitScale, tally } from "./scale";
import { words } from "../strings";
import { css, diverging, mix, parseHex, pixel, sequential, toOklab, type Rgb, isLight } from "./tables";

const WHITE = parseHex("#fff");
const PURPLE = parseHex("#8e3a9d");

test("Oklab has white at lightness one and the published numbers for red", () => {
  const near = (colour: Rgb, expected: number[]) => colour.forEach((each, i) => expect(each).toBeCloseTo(expected[i]!, 3));
  near(toOklab(WHITE), [1, 0, 0]);
  near(toOklab([255, 0, 0]), [0.628, 0.2249, 0.1258]);
});

test("a mix begins and ends at its colours", () => {
  expect(mix(WHITE, PURPLE, 0)).toEqual([255, 255, 255]);
  expect(mix(WHITE, PURPLE, 1)).toEqual([142, 58, 157]);
});

test("the sequential table darkens with every eighth step and never is the panel's colour", () => {
  const table = sequential(WHITE, PURPLE);
  expect(table).toHaveLength(256);
  expect(table[0]).not.toEqual(WHITE);
  for (let i = 8; i < 256; i += 8) expect(toOklab(table[i]!)[0]).toBeLessThan(toOklab(table[i - 8]!)[0]);
});

test("the diverging table has the panel's colour in its middle and the two ends' outside", () => {
  const table = diverging(parseHex("#2468b4"), WHITE, parseHex("#c4500c"));
  expect(table[0]).toEqual([0x24, 0x68, 0xb4]);
  expect(table[255]).toEqual([0xc4, 0x50, 0x0c]);
  for (const channel of [...table[127]!, ...table[128]!]) expect(channel).toBeGreaterThan(251);
});

test("colours are written for CSS and for the pixels of a little-endian image", () => {
  expect(css([142, 58, 157])).toBe("rgb(142 58 157)");
  expect([...new Uint8Array(new Uint32Array([pixel([142, 58, 157])]).buffer)]).toEqual([142, 58, 157, 255]);
});

test("text on a colour is light or dark as reads better", () => {
  expect(["rgb(255 255 255)", "rgb(239 138 78)", "rgb(36 104 180)", "rgb(30 33 38)"].map(isLight)).toEqual([true, true, false, false]);
});

test("a colour that is none is refused", () => {
  expect(() => parseHex("teal")).toThrow("A colour must be #rgb or #rrggbb. Received: teal.");
});

test("an l2 is placed by its logarithm, and zero and missing numbers have no place", () => {
  const scale = fitScale("l2", [0.001, 0.1, 0, NaN])!;
  expect(scale).toMatchObject({ form: "logarithmic", low: 0.001, high: 0.1 });
  expect([0.001, 0.01, 0.1, 5].map((value) => scale.place(value))).toEqual([0, expect.closeTo(0.5), 1, 1]);
  expect([scale.place(0), scale.place(NaN)]).toEqual([null, null]);
});

test("a mean is placed around zero, on a logarithm only where few numbers dwarf the others", () => {
  const linear = fitScale("mean", [-2, 1, 0.5])!;
  expect(linear).toMatchObject({ form: "signed", low: -2, high: 2 });
  expect([-2, 0, 1, 2].map((value) => linear.place(value))).toEqual([0, 0.5, 0.75, 1]);
  const wide = fitScale("mean", [1000, 1, -1])!;
  expect(wide.form).toBe("signed logarithmic");
  expect([wide.place(-1000), wide.place(0), wide.place(1000)]).toEqual([0, 0.5, 1]);
  expect(wide.place(1)!).toBeGreaterThan(0.6);
});

test("a person may have a column linear, logarithmic, or around its median", () => {
  expect([0, 5, 10].map(fitScale("l2", [1, 10], "linear")!.place)).toEqual([0, 0.5, 1]);
  const about = fitScale("l2", [1, 10, 100], "diverging")!;
  expect(about).toMatchObject({ form: "around the median", middle: true, low: 1, high: 100 });
  expect([1, 10, 100].map(about.place)).toEqual([expect.closeTo(0), 0.5, 1]);
  expect(fitScale("mean", [-1, 2], "logarithmic")!.form).toBe("signed logarithmic");
  expect(fitScale("readout.accuracy", [0.2, 0.5])!.place(0.5)).toBe(0.5);
});

test("nothing to place gives no scale, one number a scale with that number in the middle", () => {
  expect(fitScale("l2", [NaN, 0])).toBeNull();
  expect(fitScale("l2", [3])!.place(3)).toBe(0.5);
});

test("where no scale fits, what there is is counted as it is written", () => {
  const numbers = [NaN, 0, NaN, -Infinity];
  expect(fitScale("l2", numbers)).toBeNull();
  expect(words.legend.only(tally(numbers))).toBe("NaN in 2 calls, 0 in 1 call, −Inf in 1 call");
});
