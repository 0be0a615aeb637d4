import { expect, test } from "vitest";
import { gradCam, normalised } from "./gradcam";
import { fullBar, topClasses } from "./predictions";
import { fitTiles } from "./scene";

test("Grad-CAM weighs each map with the mean of its error, turned round, and keeps what speaks for a falling loss", () => {
  // α = (−(−1 − 3)/2, −(2 + 0)/2) = (2, −1): 2·(1, 3) − (4, 1) = (−2, 5).
  const map = gradCam([Float32Array.of(1, 3), Float32Array.of(4, 1)], [Float32Array.of(-1, -3), Float32Array.of(2, 0)]);
  expect([...map]).toEqual([0, 5]);
  expect([...normalised(map)]).toEqual([0, 1]);
  expect([...normalised(Float32Array.of(0, 0))]).toEqual([0, 0]);
});

test("the top classes have their names, or their numbers where there are none", () => {
  expect(topClasses(Float32Array.of(0.25, 0.5, 0.125), ["cat", "dog"], 2)).toEqual([{ name: "dog", value: 0.5 }, { name: "cat", value: 0.25 }]);
  expect(topClasses(Float32Array.of(1, 2), []).map(({ name }) => name)).toEqual(["1", "0"]);
});

test("tiles are as large as they can be and all fit", () => {
  const { columns, tileWidth, tileHeight } = fitTiles(64, 1, 500, 400);
  const rows = Math.ceil(64 / columns);
  expect(columns * tileWidth + 4 * (columns - 1)).toBeLessThanOrEqual(500.001);
  expect(rows * tileHeight + 4 * (rows - 1)).toBeLessThanOrEqual(400.001);
  expect(tileWidth).toBeGreaterThan(40);
});

test("bars of shares are drawn against 1, those of other numbers against the largest", () => {
  expect(fullBar([{ name: "a", value: 0.3 }, { name: "b", value: 0.1 }])).toBe(1);
  expect(fullBar([{ name: "a", value: 3 }, { name: "b", value: -6 }])).toBe(6);
});
