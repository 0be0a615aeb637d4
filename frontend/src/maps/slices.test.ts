import { expect, test } from "vitest";
import { parseSlices, slicesParameter, slicesText } from "./slices";

const SHAPE = [2, 24, 20, 16];
const lengths = (text: string) => parseSlices(text, SHAPE).map(({ length }) => length);

// The expected lengths are those that numpy gives for np.zeros((2, 24, 20, 16)).
test("indices and slices choose what numpy chooses", () => {
  expect(lengths("[0, :, :, 3]")).toEqual([1, 24, 20, 1]);
  expect(lengths("0, 2:9, ::3, -4:")).toEqual([1, 7, 7, 4]);
  expect(lengths("...")).toEqual(SHAPE);
  expect(lengths("1, ..., :2")).toEqual([1, 24, 20, 2]);
  expect(lengths("-1")).toEqual([1, 24, 20, 16]);
  expect(lengths("[:, 5:999]")).toEqual([2, 19, 20, 16]);
});

test("an index drops its axis and a slice of one keeps it", () => {
  expect(parseSlices("0, 3:4", SHAPE).map(({ single }) => single)).toEqual([true, false, false, false]);
});

test("a negative place counts from the end", () => {
  expect(parseSlices("-1, -3", SHAPE).slice(0, 2)).toMatchObject([{ start: 1 }, { start: 21, stop: 22 }]);
});

test("what is read is written as numpy has it, and for the plugin without brackets", () => {
  const axes = parseSlices("[0,2:24, 1:9:2 ,3]", SHAPE);
  expect(slicesText(axes, SHAPE)).toBe("[0, 2:, 1:9:2, 3]");
  expect(slicesParameter(axes, SHAPE)).toBe("0,2:,1:9:2,3");
});

test.each([
  ["2", "Axis 0 has the positions 0 to 1. Received: 2."],
  ["0, x", "An axis is an index or a slice, such as 3, 2:9 or ::2. Received: x."],
  ["0, 9:3", "The slice 9:3 of axis 1, which has 24 positions, is empty."],
  ["0, ::-1", "A step must be 1 or more: maps are not turned round. Received: -1."],
  ["0,0,0,0,0", "This tensor has 4 axes, 2×24×20×16. Received: 5."],
  ["0,,0", "An axis is an index or a slice, such as 3, 2:9 or ::2. Received: nothing."],
])("%s is refused with a sentence", (text, sentence) => {
  expect(() => parseSlices(text, SHAPE)).toThrow(sentence);
});
