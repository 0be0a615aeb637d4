/** Where the planes of a grid lie, which of them are in view, and which element is under a point. Pure. */

export interface GridInput {
  count: number;
  rows: number;
  cols: number;
  /** Room, in pixels of the page. */
  width: number;
  /** The edge that a map should have; it grows so that a line is filled. */
  edge: number;
  /** How many maps belong side by side: lines then end where such a row does, or divide it evenly. */
  across?: number | undefined;
}

export interface GridLayout {
  count: number;
  rows: number;
  cols: number;
  columns: number;
  /** Size of one map. */
  cellWidth: number;
  cellHeight: number;
  width: number;
  height: number;
}

export interface Hit {
  slot: number;
  row: number;
  col: number;
}

export const GAP = 5;
/** A map is never flatter than this, so that a pointer finds it. */
const LEAST_HEIGHT = 14;

export function layGrid({ count, rows, cols, width, edge, across }: GridInput): GridLayout {
  const room = Math.max(1, Math.floor((width + GAP) / (edge + GAP)));
  const columns = Math.max(1, Math.min(evenly(room, across), count));
  const filled = edge > width ? edge : Math.floor((width - GAP * (columns - 1)) / columns);
  // A few maps grow into the room, but not beyond what their numbers need.
  const most = count === 1 ? Math.max(edge * 7, 280) : edge * 2.4;
  const cellWidth = Math.max(4, Math.min(filled, Math.max(edge, Math.min(most, cols * 24))));
  const cellHeight = Math.max(LEAST_HEIGHT, Math.min(Math.round((cellWidth * rows) / cols), cellWidth * 3));
  const lines = Math.ceil(count / columns);
  return {
    count, rows, cols, columns, cellWidth, cellHeight,
    width: columns * (cellWidth + GAP) - GAP,
    height: Math.max(0, lines * (cellHeight + GAP) - GAP),
  };
}

/** The most columns in the room that divide a row of maps evenly; all of the room where that would leave most of it empty. */
function evenly(room: number, across = 1): number {
  if (across > 1) for (let columns = Math.min(room, across); 2 * columns > Math.min(room, across); columns--) if (across % columns === 0) return columns;
  return room;
}

/** Beyond this a map only grows coarser. */
const LARGEST = 240;

/** The largest edge with which all maps are in sight in a room of some height; `edge` where even that is too large. */
export function roomyEdge({ count, rows, cols, width, edge }: GridInput, height: number): number {
  let best = edge;
  for (let columns = Math.max(1, Math.floor((width + GAP) / (edge + GAP))); columns >= 1; columns--) {
    const wide = Math.floor((width - GAP * (columns - 1)) / columns);
    const lines = Math.ceil(count / columns);
    if (wide > LARGEST || lines * (Math.round((wide * rows) / cols) + GAP) - GAP > height) break;
    best = Math.max(best, wide);
  }
  return best;
}

export function cornerOf(layout: GridLayout, slot: number): { x: number; y: number } {
  return {
    x: (slot % layout.columns) * (layout.cellWidth + GAP),
    y: Math.floor(slot / layout.columns) * (layout.cellHeight + GAP),
  };
}

/** The slots from the first to one past the last that lie between two heights. */
export function inView(layout: GridLayout, top: number, bottom: number): [number, number] {
  const line = layout.cellHeight + GAP;
  const first = Math.max(0, Math.floor(top / line)) * layout.columns;
  const last = Math.ceil(bottom / line) * layout.columns;
  return [Math.min(first, layout.count), Math.min(layout.count, Math.max(0, last))];
}

/** The element under a point of the grid; null between maps and beyond them. */
export function hit(layout: GridLayout, x: number, y: number): Hit | null {
  const column = Math.floor(x / (layout.cellWidth + GAP));
  const line = Math.floor(y / (layout.cellHeight + GAP));
  const [inX, inY] = [x - column * (layout.cellWidth + GAP), y - line * (layout.cellHeight + GAP)];
  if (x < 0 || y < 0 || column >= layout.columns || inX >= layout.cellWidth || inY >= layout.cellHeight) return null;
  const slot = line * layout.columns + column;
  if (slot >= layout.count) return null;
  return { slot, row: Math.floor((inY / layout.cellHeight) * layout.rows), col: Math.floor((inX / layout.cellWidth) * layout.cols) };
}

/** The rectangle of an element, or of a box of elements, in the grid. */
export function rectOf(layout: GridLayout, slot: number, row: number, col: number, rows = 1, cols = 1): { x: number; y: number; width: number; height: number } {
  const { x, y } = cornerOf(layout, slot);
  const [sx, sy] = [layout.cellWidth / layout.cols, layout.cellHeight / layout.rows];
  return { x: x + col * sx, y: y + row * sy, width: cols * sx, height: rows * sy };
}
