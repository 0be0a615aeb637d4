import { expect, test } from "vitest";
import { makePlane, takePlanes } from "./planes";
import { parseSlices } from "./slices";
import { firstAxes, indexAt, makeView, placeOf, planePlaces, type Channels } from "./view";

const view = (shape: number[], text: string | null = null, channels: Channels = "last") =>
  makeView(shape, text === null ? firstAxes(shape, 0, channels) : parseSlices(text, shape), channels);

test("maps are planes by channel, wherever the channels are", () => {
  expect(view([2, 5, 7, 3])).toMatchObject({ rows: 5, cols: 7, count: 3, wrapped: false });
  expect(view([2, 3, 5, 7], null, "first")).toMatchObject({ rows: 5, cols: 7, count: 3 });
});

test("a sequence has features as rows and time to the right", () => {
  expect(view([2, 40, 24])).toMatchObject({ rowAxis: 2, colAxis: 1, rows: 24, cols: 40, count: 1 });
  expect(view([2, 24, 40], null, "first")).toMatchObject({ rowAxis: 1, colAxis: 2, rows: 24, cols: 40 });
});

test("a picture without an axis for channels has its rows as rows", () => {
  expect(view([2, 28, 20], null, "none")).toMatchObject({ rowAxis: 1, colAxis: 2, rows: 28, cols: 20, count: 1 });
});

test("a vector is wrapped, a volume cut in its middle, a 1×1 map a vector over its channels", () => {
  expect(view([4, 10])).toMatchObject({ wrapped: true, rows: 1, cols: 10, size: 10, count: 1 });
  expect(view([4, 1000])).toMatchObject({ wrapped: true, cols: 40, rows: 25 });
  expect(indexAt(view([1, 8, 9, 10, 2]), 1, 3, 4)).toEqual([0, 4, 3, 4, 1]);
  expect(view([1, 1, 1, 32])).toMatchObject({ wrapped: true, size: 32, count: 1 });
});

test("each kernel is a map by input and output channel, and a matrix is one map", () => {
  const kernel = (shape: number[], text = "") => makeView(shape, parseSlices(text, shape), "last", true);
  expect(kernel([3, 5, 4, 8])).toMatchObject({ rows: 3, cols: 5, count: 32, planeAxes: [2, 3] });
  expect(indexAt(kernel([3, 5, 4, 8]), 8 + 6, 2, 4)).toEqual([2, 4, 1, 6]);
  expect(kernel([3, 5, 4, 8], ":, :, 2, :")).toMatchObject({ rows: 3, cols: 5, count: 8 });
  expect(kernel([7, 4, 8])).toMatchObject({ rows: 4, cols: 7, count: 8 });
  for (const matrix of [[6, 9], [1, 1, 6, 9]]) expect(kernel(matrix)).toMatchObject({ rows: 6, cols: 9, count: 1, wrapped: false });
  for (const vector of [[12], [1, 1, 12, 1]]) expect(kernel(vector)).toMatchObject({ wrapped: true, size: 12, count: 1 });
});

test("slices leave the planes that they leave", () => {
  expect(view([2, 5, 7, 3], "[:, :, :, 1]")).toMatchObject({ rows: 5, cols: 7, count: 2 });
  expect(view([2, 5, 7, 3], "[0, 2, :, :]")).toMatchObject({ rows: 3, cols: 7, count: 1 });
  expect(view([1, 8, 9, 10, 2], "[0, :, :, :, 1]")).toMatchObject({ rows: 9, cols: 10, count: 8 });
  expect(view([2, 5, 7, 3], "[0, 2, 3, 1]")).toMatchObject({ wrapped: true, size: 1, count: 1 });
});

test("every element's index leads back to its place", () => {
  for (const each of [view([2, 5, 7, 3]), view([2, 3, 5, 7], null, "first"), view([2, 6, 4]), view([3, 50]), view([2, 5, 7, 3], "1, 1:5:2, ::3, 1:")]) {
    for (let plane = 0; plane < each.count; plane++) {
      for (let element = 0; element < each.size; element++) {
        const place = { plane, row: Math.floor(element / each.cols), col: element % each.cols };
        expect(placeOf(each, indexAt(each, place.plane, place.row, place.col))).toEqual(place);
      }
    }
  }
  expect(placeOf(view([2, 5, 7, 3]), [1, 0, 0, 0])).toBeNull();
});

test("planes are taken out of an answer as the tensor has them", () => {
  // Each element is its own index, read as a number: [n, row, col, channel] → channel + 10 col + 100 row.
  for (const channelsFirst of [false, true]) {
    const shape = channelsFirst ? [1, 3, 2, 4] : [1, 2, 4, 3];
    const of = view(shape, null, channelsFirst ? "first" : "last");
    const numbers = new Float32Array(24);
    for (let row = 0; row < 2; row++) for (let col = 0; col < 4; col++) for (let channel = 0; channel < 3; channel++) {
      numbers[channelsFirst ? channel * 8 + row * 4 + col : row * 12 + col * 3 + channel] = channel + 10 * col + 100 * row;
    }
    const planes = takePlanes(of, numbers, shape, 3);
    expect([...planes[2]!]).toEqual([2, 12, 22, 32, 102, 112, 122, 132]);
    expect(planePlaces(of, 2).at(-1)).toBe(2);
  }
});

test("a plane is dead where all is exactly zero, and only there", () => {
  expect(makePlane(Float32Array.of(0, 0, -0))).toMatchObject({ dead: true, low: 0, high: 0, activity: 0 });
  expect(makePlane(Float32Array.of(0, 1e-30))).toMatchObject({ dead: false });
  expect(makePlane(Float32Array.of(0, NaN))).toMatchObject({ dead: false, odd: true });
  expect(makePlane(Float32Array.of(3, -4, Infinity))).toMatchObject({ low: -4, high: 3, activity: Math.sqrt(12.5), odd: true });
});

test("a plane larger than any screen is thinned", () => {
  const of = view([1, 4096, 4096]);
  expect(of.size).toBeLessThanOrEqual(4 << 20);
  expect(indexAt(of, 0, 1, 1)).toEqual([0, of.axes[1]!.step, of.axes[2]!.step]);
});
