/** Lays out one level: the boxes inside one frame, and the stretches of every link that runs in it. Pure; equal levels are laid out once. */

import { arrange, type Columns, type Item } from "./columns";
import { route, type Grid, type Margins, type Wire } from "./route";
import { breakLines } from "./wrap";

export interface LevelInput {
  items: Item[];
  /** `from` -1: from outside, `to` -1: to the outside; heights are measured from the items' tops. */
  wires: { from: number; to: number; net: number; fromAt: number; toAt: number }[];
  /** Width that one line may take. */
  room: number;
  margins: Margins;
}

export interface LevelOutput {
  x: Float64Array;
  y: Float64Array;
  width: number;
  height: number;
  paths: number[][];
  /** Lines that begin a stage: its label, and where the line lies. */
  stages: { band: string; x: number; y: number; height: number }[];
}

/** One layout per shape of level: transformer blocks and shared models are laid out once. */
export class LevelMemo {
  private readonly known = new Map<string, LevelOutput>();
  /** Columns do not depend on the room, which changes while the zoom is found. */
  private readonly arranged = new Map<string, Columns>();

  layout(level: LevelInput): LevelOutput {
    const key = keyOf(level);
    let output = this.known.get(key);
    if (output === undefined) {
      output = layoutLevel(level, this.columns(level));
      if (this.known.size > 400) this.known.clear();
      this.known.set(key, output);
    }
    return output;
  }

  private columns(level: LevelInput): Columns {
    const key = keyOf({ ...level, room: 0 });
    let columns = this.arranged.get(key);
    if (columns === undefined) {
      columns = arrangeLevel(level);
      if (this.arranged.size > 400) this.arranged.clear();
      this.arranged.set(key, columns);
    }
    return columns;
  }
}

function arrangeLevel({ items, wires }: LevelInput): Columns {
  const inner = wires.filter((wire) => wire.from >= 0 && wire.to >= 0);
  return arrange(items, inner, new Set(wires.filter((wire) => wire.from < 0).map((wire) => wire.to)));
}

/** Nets are numbered by first appearance, so that two calls of one model have the same key. */
function keyOf(level: LevelInput): string {
  const nets = new Map<number, number>();
  const wires = level.wires.map((wire) => {
    if (!nets.has(wire.net)) nets.set(wire.net, nets.size);
    return [wire.from, wire.to, nets.get(wire.net), wire.fromAt, wire.toAt].join();
  });
  const items = level.items.map((item) => [item.width, item.height, item.band, item.lead].join());
  const { left, right, top, bottom } = level.margins;
  return [level.room, left, right, top, bottom, items.join(";"), wires.join(";")].join("|");
}

function layoutLevel(level: LevelInput, columns: Columns): LevelOutput {
  const { items, margins } = level;
  const inner = level.wires.filter((wire) => wire.from >= 0 && wire.to >= 0);
  const grid = gridOf(level, columns);
  const single = alignSingle(level, grid);
  straighten(level, grid);
  const place = new Map(inner.map((wire, index) => [wire, index]));
  const passing = passingHeights(columns, inner, grid, single);
  const shift = normalise(grid, items, passing);
  const wires = level.wires.map((wire): Wire => ({ ...wire, through: shifted(passing.get(place.get(wire) ?? -1), shift, grid, wire.from) }));
  const routed = route(grid, wires, margins);
  const stages = grid.lines.flatMap((line, index) =>
    line.band === null ? [] : [{ band: line.band, x: routed.lineLeft, y: routed.lineTop[index]!, height: grid.lineHeight[index]! }],
  );
  return { x: routed.x, y: routed.y, width: routed.width, height: routed.height, paths: routed.paths, stages };
}

function gridOf(level: LevelInput, { columns, top }: Columns): Grid {
  const { items } = level;
  const columnWidth = columns.map((column) => column.reduce((most, item) => Math.max(most, items[item]!.width), 0));
  const bands = columns.map((column) => column.map((item) => items[item]!.band).find((band) => band !== null) ?? null);
  const lines = breakLines(columnWidth, bands, level.room);
  const lineOf = new Int32Array(items.length);
  const columnOf = new Int32Array(items.length);
  lines.forEach((line, index) => {
    for (let column = line.start; column < line.end; column++) {
      for (const item of columns[column]!) {
        lineOf[item] = index;
        columnOf[item] = column;
      }
    }
  });
  const width = Float64Array.from(items, (item) => item.width);
  return { lines, columns, columnWidth, lineHeight: lines.map(() => 0), lineOf, columnOf, top: Float64Array.from(top), width };
}

/** A box that only feeds one neighbour stands at the height of the port that it feeds, as far as its column allows. */
function straighten(level: LevelInput, grid: Grid): void {
  const { items, wires } = level;
  const fed = new Set(wires.map((wire) => wire.to));
  const feeds = new Map<number, number[]>();
  wires.forEach((wire, index) => {
    if (wire.from >= 0) feeds.set(wire.from, [...(feeds.get(wire.from) ?? []), index]);
  });
  for (const [item, indices] of feeds) {
    const wire = wires[indices[0]!]!;
    if (indices.length > 1 || fed.has(item) || wire.to < 0 || grid.lineOf[item] !== grid.lineOf[wire.to]) continue;
    if (grid.columnOf[wire.to] !== grid.columnOf[item]! + 1) continue;
    const wanted = grid.top[wire.to]! + wire.toAt - wire.fromAt;
    const column = grid.columns[grid.columnOf[item]!]!;
    const free = column.every((other) => {
      if (other === item) return true;
      const above = grid.top[other]! + items[other]!.height + 12 <= wanted;
      return above || wanted + items[item]!.height + 12 <= grid.top[other]!;
    });
    if (free) grid.top[item] = wanted;
  }
}

/** The heights at which links pass columns, only for links whose two ends stand in one line. */
function passingHeights(
  { through }: Columns, inner: { from: number; to: number }[], grid: Grid, single: boolean[],
): Map<number, Map<number, number>> {
  const within = (index: number): boolean => {
    const line = grid.lineOf[inner[index]!.from]!;
    return line === grid.lineOf[inner[index]!.to] && !single[line];
  };
  return new Map([...through].filter(([index]) => within(index)));
}

/**
 * Lines with one box in each column: the boxes stand in a row, their wires straight, and what passes them runs above. Says which
 * lines these are.
 */
function alignSingle(level: LevelInput, grid: Grid): boolean[] {
  return grid.lines.map((line) => {
    const columns = grid.columns.slice(line.start, line.end);
    if (columns.some((column) => column.length > 1)) return false;
    columns.forEach(([item], at) => {
      const before = at === 0 ? undefined : columns[at - 1]![0];
      const wire = level.wires.find(({ from, to }) => from === before && to === item);
      const middle = before === undefined ? 0 : grid.top[before]! + (wire?.fromAt ?? level.items[before]!.height / 2);
      grid.top[item!] = middle - (wire?.toAt ?? level.items[item!]!.height / 2);
    });
    return true;
  });
}

/** Measures each line's boxes from the line's own top. Returns what was taken off, per line. */
function normalise(grid: Grid, items: Item[], passing: Map<number, Map<number, number>>): number[] {
  const low = grid.lines.map(() => Infinity);
  const high = grid.lines.map(() => -Infinity);
  const lineOfColumn = new Int32Array(grid.columns.length);
  grid.lines.forEach((line, index) => lineOfColumn.fill(index, line.start, line.end));
  const take = (line: number, top: number, bottom: number): void => {
    low[line] = Math.min(low[line]!, top);
    high[line] = Math.max(high[line]!, bottom);
  };
  items.forEach((item, index) => take(grid.lineOf[index]!, grid.top[index]!, grid.top[index]! + item.height));
  for (const heights of passing.values()) for (const [column, at] of heights) take(lineOfColumn[column]!, at - 4, at + 4);
  grid.lineHeight = low.map((top, line) => high[line]! - top);
  items.forEach((_, index) => { grid.top[index]! -= low[grid.lineOf[index]!]!; });
  return low;
}

function shifted(heights: Map<number, number> | undefined, shift: number[], grid: Grid, from: number): Map<number, number> | undefined {
  if (heights === undefined) return undefined;
  const by = shift[grid.lineOf[from]!]!;
  return new Map([...heights].map(([column, at]) => [column, at - by]));
}
