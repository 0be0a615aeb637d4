import { expect, test } from "vitest";
import { entryOf, mapColours, paintMap, paintPicture } from "./mapPixels";
import { diverging, parseHex, pixel } from "./tables";

const WHITE = parseHex("#fff");
const table = diverging(parseHex("#2468b4"), WHITE, parseHex("#c4500c"));
const grey = parseHex("#888");
const colours = mapColours(table, { panel: WHITE, odd: parseHex("#f00"), hatch: grey, line: grey, chosen: grey, window: grey, ink: grey });

test("zero is the panel's colour, the ends are the scale's, what is no number stands apart", () => {
  const pixels = new Uint32Array(8);
  paintMap(pixels, Float32Array.of(0, -0, -2, 2, 5, NaN, Infinity), 2, colours);
  expect([...pixels]).toEqual([pixel(WHITE), pixel(WHITE), pixel(table[0]!), pixel(table[255]!), pixel(table[255]!), pixel(parseHex("#f00")), pixel(parseHex("#f00")), 0]);
});

test("half of the reach is half way out, on either side alike", () => {
  expect([entryOf(1, 2), entryOf(-1, 2), entryOf(9, 2), entryOf(-9, 2)]).toEqual([191, 64, 255, 0]);
});

test("pictures keep their bytes, and grey ones are grey", () => {
  const pixels = new Uint32Array(2);
  paintPicture(pixels, Uint8Array.of(1, 2, 3, 250, 251, 252), 3);
  expect([...new Uint8Array(pixels.buffer)]).toEqual([1, 2, 3, 255, 250, 251, 252, 255]);
  paintPicture(pixels, Uint8Array.of(9, 200), 1);
  expect([...new Uint8Array(pixels.buffer)]).toEqual([9, 9, 9, 255, 200, 200, 200, 255]);
});
