import { expect, test } from "vitest";
import { narrow } from "./narrow";
import { seams, tickPlaces } from "./ticks";
import { nearestIndex } from "../state";
import { ordinal } from "../strings";

test("the search finds every word in any order, names that begin with it first", () => {
  const entries = ["encoder/conv1 Conv2D", "conv1 Conv2D", "dense Dense"].map((text) => ({ key: text, value: text, text, show: text }));
  expect(narrow(entries, "conv").map(({ key }) => key)).toEqual(["conv1 Conv2D", "encoder/conv1 Conv2D"]);
  expect(narrow(entries, "conv2d enc").map(({ key }) => key)).toEqual(["encoder/conv1 Conv2D"]);
  expect(narrow(entries, " ")).toHaveLength(3);
});

test("every record has a tick until they would touch", () => {
  expect(tickPlaces(3)).toEqual([0, 0.5, 1]);
  expect(tickPlaces(1)).toEqual([0.5]);
  expect(tickPlaces(1000).length).toBeLessThanOrEqual(120);
});

test("a seam is where another session begins", () => {
  expect(seams([0, 0, 1, 1, 2])).toEqual([2, 4]);
});

test("the nearest step is found, the earlier of two equally near", () => {
  expect([-5, 4, 5, 6, 99].map((wanted) => nearestIndex([0, 10, 20], wanted))).toEqual([0, 0, 0, 1, 2]);
});

test("ordinals are spelled as in English", () => {
  expect([1, 2, 3, 4, 11, 12, 21, 112].map(ordinal)).toEqual(["1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "112th"]);
});
