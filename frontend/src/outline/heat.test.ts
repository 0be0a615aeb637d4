import { expect, test } from "vitest";
import { fitScale } from "../colour/scale";
import { pixel, type Rgb } from "../colour/tables";
import { heatPixels, panned, zoomed } from "./heat";

const panel: Rgb = [255, 255, 255];
const absent: Rgb = [200, 200, 200];
const bad: Rgb = [255, 0, 0];
const colours = { panel, absent, bad, pixels: Uint32Array.from({ length: 256 }, (_, i) => i) };

test("where steps outnumber pixels, each pixel shows the step that stands out most", () => {
  const values = Float32Array.from({ length: 1000 }, (_, i) => (i === 501 ? 100 : 1));
  const pixels = heatPixels(values, 0, 1000, 100, fitScale("l2", values), colours);
  expect(pixels).toHaveLength(100);
  expect(pixels[50]).toBe(255);
  expect(pixels[49]).toBe(0);
});

test("one bad step is never lost, and no value is not zero", () => {
  const values = Float32Array.of(1, NaN, 2, NaN, NaN, 0, Infinity, 2);
  const shown = heatPixels(values, 0, 8, 4, fitScale("l2", values), colours, (i) => i === 1);
  expect([...shown]).toEqual([pixel(bad), 255, pixel(panel), pixel(bad)]);
  expect([...heatPixels(values, 3, 5, 10, null, colours)]).toEqual([pixel(absent), pixel(absent)]);
});

test("zooming keeps the step under the pointer, and out of everything shows all", () => {
  expect(zoomed([0, 100], 100, 0.5, 0.5)).toEqual([25, 75]);
  expect(zoomed([0, 100], 100, 0, 0.5)).toEqual([0, 50]);
  expect(zoomed([40, 60], 100, 0.5, 10)).toBeNull();
  expect(zoomed([40, 44], 100, 0.5, 0.5)).toEqual([40, 44]);
  expect(panned([25, 75], 100, 1)).toEqual([50, 100]);
  expect(panned([25, 75], 100, -0.1)).toEqual([20, 70]);
});
