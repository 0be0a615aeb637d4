import { expect, test } from "vitest";
import { cornerOf, GAP, hit, inView, layGrid, roomyEdge } from "./gridLayout";

const layout = layGrid({ count: 20, rows: 8, cols: 4, width: 300, edge: 50 });

test("a line is filled, maps keep their shape, and nothing leaves the room", () => {
  expect(layout).toMatchObject({ columns: 5, cellWidth: 56, cellHeight: 112 });
  expect(layout.width).toBeLessThanOrEqual(300);
  expect(layout.height).toBe(4 * (112 + GAP) - GAP);
});

test("maps grow until they fill a room of some height, and no further than all of them can be seen", () => {
  const given = { count: 16, rows: 8, cols: 8, width: 720, edge: 84 };
  const edge = roomyEdge(given, 400);
  const grown = layGrid({ ...given, edge });
  expect(grown.columns).toBe(6);
  expect(edge).toBeGreaterThan(84);
  expect(grown.height).toBeLessThanOrEqual(400);
  expect(roomyEdge({ ...given, count: 400 }, 400)).toBe(84);
  expect(roomyEdge({ ...given, count: 2 }, 400)).toBe(236);
});

test("the element under a point is the one that is drawn there", () => {
  for (let slot = 0; slot < 20; slot++) {
    const { x, y } = cornerOf(layout, slot);
    expect(hit(layout, x + 0.5, y + 0.5)).toEqual({ slot, row: 0, col: 0 });
    expect(hit(layout, x + 55.9, y + 111.9)).toEqual({ slot, row: 7, col: 3 });
    expect(hit(layout, x + 15, y + 29)).toEqual({ slot, row: 2, col: 1 });
  }
  expect(hit(layout, 57, 5)).toBeNull();
  expect(hit(layout, 5, layout.height + 20)).toBeNull();
});

test("only what is in view is asked for", () => {
  const many = layGrid({ count: 4096, rows: 7, cols: 7, width: 300, edge: 50 });
  const [first, last] = inView(many, 1000, 1300);
  expect(last - first).toBeLessThan(50);
  expect(cornerOf(many, first).y).toBeLessThanOrEqual(1000);
  expect(cornerOf(many, last).y).toBeGreaterThanOrEqual(1300);
});

test("maps that belong side by side stand in whole rows, or in even parts of one", () => {
  const columns = (across: number) => layGrid({ count: 96, rows: 3, cols: 3, width: 300, edge: 21, across }).columns;
  // 11 have room.
  expect([columns(8), columns(16), columns(24), columns(13), columns(1)]).toEqual([8, 8, 8, 11, 11]);
});
