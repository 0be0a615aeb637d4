import { expect, test } from "vitest";
import { gradCam, normalised } from "./gradcam";
import { fullBar, labelsOf, ofOneUnit, topClasses } from "./predictions";
import { fitTiles } from "./scene";

test("Grad-CAM weighs each map with the mean of its error, turned round, and keeps what speaks for a falling loss", () => {
  // α = (−(−1 − 3)/2, −(2 + 0)/2) = (2, −1): 2·(1, 3) − (4, 1) = (−2, 5).
  const map = gradCam([Float32Array.of(1, 3), Float32Array.of(4, 1)], [Float32Array.of(-1, -3), Float32Array.of(2, 0)]);
  expect([...map]).toEqual([0, 5]);
  expect([...normalised(map)]).toEqual([0, 1]);
  expect([...normalised(Float32Array.of(0, 0))]).toEqual([0, 0]);
});

test("the top classes have their names, or their numbers where there are none", () => {
  const shown = topClasses(Float32Array.of(0.25, 0.5, 0.125), ["cat", "dog"], null, 2).map(({ name, value }) => [name, value]);
  expect(shown).toEqual([["dog", 0.5], ["cat", 0.25]]);
  expect(topClasses(Float32Array.of(1, 2), []).map(({ name }) => name)).toEqual(["1", "0"]);
});

test("the label is among the classes that are shown, however small its number", () => {
  const values = Float32Array.of(0.5, 0.01, 0.3, 0.19);
  const labelled = (labels: ReadonlySet<number> | null) => topClasses(values, [], labels, 2).map(({ name, isLabel }) => (isLabel ? `[${name}]` : name));
  expect(labelled(labelsOf(Float64Array.of(1), 4))).toEqual(["0", "2", "[1]"]);
  expect(labelled(labelsOf(Float32Array.of(1, 0, 0, 1), 4))).toEqual(["[0]", "2", "[3]"]);
  expect(labelled(labelsOf(Int32Array.of(2), 4))).toEqual(["0", "[2]"]);
});

test("labels that name no class are none: targets, a class that there is not", () => {
  expect(labelsOf(Float32Array.of(0.5), 4)).toBeNull();
  expect(labelsOf(Float32Array.of(4), 4)).toBeNull();
  expect(labelsOf(Float32Array.of(-1), 4)).toBeNull();
  expect(labelsOf(Float32Array.of(0.5, 0.5), 2)).toBeNull();
  expect(labelsOf(Float32Array.of(1), 1)).toBeNull();
});

test("tiles are as large as they can be and all fit", () => {
  const { columns, tileWidth, tileHeight } = fitTiles(64, 1, 500, 400);
  const rows = Math.ceil(64 / columns);
  expect(columns * tileWidth + 4 * (columns - 1)).toBeLessThanOrEqual(500.001);
  expect(rows * tileHeight + 4 * (rows - 1)).toBeLessThanOrEqual(400.001);
  expect(tileWidth).toBeGreaterThan(40);
});

const bars = (...values: number[]) => values.map((value) => ({ name: "a", value, isLabel: false }));

test("bars of shares are drawn against 1, those of other numbers against the largest", () => {
  expect(fullBar(bars(0.3, 0.1))).toBe(1);
  expect(fullBar(bars(3, -6))).toBe(6);
});

test("one unit is the probability of the second of two classes, and its label has a class's name", () => {
  const named = (names: string[], label: number | null) =>
    ofOneUnit(0.75, label, names, { output: "output", label: "label" }).map(({ name, value, isLabel }) => [name, value, isLabel]);
  expect(named(["odd", "even"], 0)).toEqual([["even", 0.75, false], ["odd", 0, true]]);
  expect(named(["odd", "even"], 1)).toEqual([["even", 0.75, false], ["even", 1, true]]);
  expect(named(["odd", "even"], 0.5)[1]).toEqual(["label", 0.5, true]);
  expect(named(["odd"], 1)).toEqual([["output", 0.75, false], ["label", 1, true]]);
  expect(named([], null)).toEqual([["output", 0.75, false]]);
});
