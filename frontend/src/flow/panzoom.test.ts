import { expect, test } from "vitest";
import { held, MOST_ZOOM, zoomAround } from "./panzoom";
import { roundedPath, edgeWidth } from "./wires";

test("zooming keeps the point under the pointer where it is", () => {
  const before = { x: 30, y: -20, zoom: 0.8 };
  const after = zoomAround(before, 1.7, 400, 300);
  expect((400 - after.x) / after.zoom).toBeCloseTo((400 - before.x) / before.zoom, 9);
  expect((300 - after.y) / after.zoom).toBeCloseTo((300 - before.y) / before.zoom, 9);
  expect(zoomAround(before, 1e9, 0, 0).zoom).toBe(MOST_ZOOM);
});

test("the picture cannot be pushed out of sight", () => {
  const camera = held({ x: -1e6, y: 1e6, zoom: 1 }, { width: 1000, height: 500 }, { width: 760, height: 850 });
  expect(camera.x + 1000).toBeGreaterThan(0);
  expect(camera.y).toBeLessThan(850);
});

test("corners are rounded no further than half of the shorter stretch", () => {
  expect(roundedPath([0, 0, 10, 0, 10, 4])).toBe("M0 0L8 0Q10 0 10 2L10 4");
  expect(roundedPath([0, 0])).toBe("");
});

test("an edge is wider for a larger tensor", () => {
  expect(edgeWidth(10_000)).toBeGreaterThan(edgeWidth(100));
  expect(edgeWidth(1e12)).toBeLessThanOrEqual(3.2);
});
