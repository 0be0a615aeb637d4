/** Leads the links of one level around its boxes: through the gaps between columns and the channels between lines. Knows only rectangles. */

import { Lanes } from "./lanes";
import { GAP, type Line } from "./wrap";

/** Boxes set into lines, before any room is given to the links. Heights are measured from the top of the box's line. */
export interface Grid {
  lines: Line[];
  columns: number[][];
  columnWidth: number[];
  lineHeight: number[];
  lineOf: Int32Array;
  columnOf: Int32Array;
  top: Float64Array;
  width: Float64Array;
}

export interface Wire {
  /** The box that it leaves; -1: it comes in through the frame's left side. */
  from: number;
  /** The box that it reaches; -1: it goes out through the frame's right side. */
  to: number;
  /** Wires of one net carry the same tensor and may lie on each other. */
  net: number;
  /** Heights below the boxes' tops. */
  fromAt: number;
  toAt: number;
  /** Heights, from the line's top, at which it passes the columns between. */
  through: Map<number, number> | undefined;
}

export interface Margins {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Routed {
  x: Float64Array;
  y: Float64Array;
  width: number;
  height: number;
  /** Corner points x, y, x, y, … of each wire. */
  paths: number[][];
  lineTop: number[];
  lineLeft: number;
}

const LANE = 6;
const CHANNEL = 28;
/** More room than this for lanes side by side would tear the picture apart: further nets share lanes. */
const MOST_LANES = 24;

/** A height: of a place in a line, or of a net's lane in channel k (the one above line k). */
type Level = { line: number; at: number } | { channel: number };
/** Go up or down in a gap, to a height. */
interface Turn {
  gap: number;
  to: Level;
}

interface Plan {
  start: Level;
  turns: Turn[];
}

/** The vertical gaps are numbered over all lines; 0 is the gutter left of every line, which all of them share. */
class Frame {
  readonly gapStart: number[] = [];
  readonly gaps: Lanes[] = [new Lanes()];
  readonly channels: Lanes[];
  constructor(readonly grid: Grid, readonly margins: Margins) {
    for (const line of grid.lines) {
      this.gapStart.push(this.gaps.length - 1);
      for (let column = line.start; column < line.end; column++) this.gaps.push(new Lanes());
    }
    this.channels = Array.from({ length: grid.lines.length + 1 }, () => new Lanes());
  }

  before(column: number, line: number): number {
    const first = this.grid.lines[line]!.start;
    return column === first ? 0 : this.gapStart[line]! + column - first;
  }

  after(column: number, line: number): number {
    return this.gapStart[line]! + column - this.grid.lines[line]!.start + 1;
  }
}

/** Where gaps, channels and boxes lie, for given numbers of lanes. */
interface Measures {
  columnX: Float64Array;
  /** Left edge and width of each gap. */
  gapX: Float64Array;
  gapWidth: Float64Array;
  channelY: Float64Array;
  channelHeight: Float64Array;
  lineTop: number[];
  right: number;
  bottom: number;
}

export function route(grid: Grid, wires: Wire[], margins: Margins): Routed {
  const frame = new Frame(grid, margins);
  const plans = wires.map((wire) => plan(frame, wire));
  const rough = measure(frame);
  wires.forEach((wire, index) => claim(frame, rough, wire, plans[index]!));
  for (const gap of frame.gaps) gap.settle(4);
  for (const channel of frame.channels) channel.settle(2 * LANE);
  const exact = measure(frame);
  const boxes = place(grid, exact);
  return {
    ...boxes,
    width: exact.right + margins.right,
    height: exact.bottom + margins.bottom,
    paths: wires.map((wire, index) => trace(frame, exact, boxes, wire, plans[index]!)),
    lineTop: exact.lineTop,
    lineLeft: exact.gapX[0]! + exact.gapWidth[0]!,
  };
}

function plan(frame: Frame, wire: Wire): Plan {
  const { lineOf, columnOf, top, lines } = frame.grid;
  const { from, to } = wire;
  const target = (): Level => ({ line: lineOf[to]!, at: top[to]! + wire.toAt });
  if (from < 0) {
    const line = lineOf[to]!;
    if (columnOf[to] === lines[line]!.start) return { start: target(), turns: [] };
    return { start: { channel: line }, turns: [{ gap: frame.before(columnOf[to]!, line), to: target() }] };
  }
  const p = lineOf[from]!;
  const start: Level = { line: p, at: top[from]! + wire.fromAt };
  const leave = frame.after(columnOf[from]!, p);
  if (to < 0) {
    if (columnOf[from] === lines[p]!.end - 1) return { start, turns: [] };
    return { start, turns: [{ gap: leave, to: { channel: p + 1 } }] };
  }
  const q = lineOf[to]!;
  const arrive: Turn = { gap: frame.before(columnOf[to]!, q), to: target() };
  if (p === q && columnOf[from]! < columnOf[to]!) {
    const passed = passing(frame, wire, p);
    if (passed !== null) return { start, turns: [...passed, arrive] };
    return { start, turns: [{ gap: leave, to: { channel: p } }, arrive] };
  }
  if (q === p || q === p + 1) return { start, turns: [{ gap: leave, to: { channel: p + 1 } }, arrive] };
  return { start, turns: [{ gap: leave, to: { channel: p + 1 } }, { gap: 0, to: { channel: q } }, arrive] };
}

/** The turns past the columns between, where the heights for that are known; null where they are not. */
function passing(frame: Frame, wire: Wire, line: number): Turn[] | null {
  const turns: Turn[] = [];
  for (let column = frame.grid.columnOf[wire.from]! + 1; column < frame.grid.columnOf[wire.to]!; column++) {
    const at = wire.through?.get(column);
    if (at === undefined) return null;
    turns.push({ gap: frame.before(column, line), to: { line, at } });
  }
  return turns;
}

function height(measures: Measures, level: Level, channel: (k: number) => number): number {
  return "line" in level ? measures.lineTop[level.line]! + level.at : channel(level.channel);
}

function claim(frame: Frame, rough: Measures, wire: Wire, { start, turns }: Plan): void {
  const middle = (k: number): number => rough.channelY[k]! + rough.channelHeight[k]! / 2;
  const gapMiddle = (gap: number): number => rough.gapX[gap]! + rough.gapWidth[gap]! / 2;
  let at = height(rough, start, middle);
  let level = start;
  let x = wire.from < 0 ? 0 : rough.columnX[frame.grid.columnOf[wire.from]!]!;
  // Lanes nest as brackets do, so that turning wires need not cross: the one from the nearest source lies innermost.
  const nearness = at / 1e3;
  let bracket = 0;
  for (const turn of turns) {
    const next = height(rough, turn.to, middle);
    const nextX = gapMiddle(turn.gap);
    if ("channel" in level) {
      bracket = Math.max(x, nextX) - nearness;
      frame.channels[level.channel]!.claim(wire.net, x, nextX, bracket);
    }
    const tie = (turn.gap === 0 ? -bracket : bracket) / 1e5;
    if (Math.abs(next - at) > 0.5) frame.gaps[turn.gap]!.claim(wire.net, at, next, (next > at ? -at : at) + tie);
    at = next;
    level = turn.to;
    x = nextX;
  }
  if ("channel" in level) frame.channels[level.channel]!.claim(wire.net, x, rough.right, x - nearness);
}

function measure(frame: Frame): Measures {
  const { grid, margins, gaps, channels } = frame;
  const gapX = new Float64Array(gaps.length);
  const gapWidth = Float64Array.from(gaps, (gap) => Math.max(GAP, 12 + LANE * Math.min(gap.count, MOST_LANES)));
  gapX[0] = margins.left;
  gapWidth[0] = gaps[0]!.count === 0 ? 0 : 8 + LANE * Math.min(gaps[0]!.count, MOST_LANES);
  const columnX = new Float64Array(grid.columns.length);
  let right = 0;
  grid.lines.forEach((line, p) => {
    let x = margins.left + gapWidth[0]!;
    for (let column = line.start; column < line.end; column++) {
      columnX[column] = x;
      x += grid.columnWidth[column]!;
      const gap = frame.after(column, p);
      const last = column === line.end - 1;
      gapX[gap] = x;
      if (last) gapWidth[gap] = gaps[gap]!.count === 0 ? 0 : 8 + LANE * Math.min(gaps[gap]!.count, MOST_LANES);
      x += gapWidth[gap]!;
    }
    right = Math.max(right, x);
  });
  const channelY = new Float64Array(channels.length);
  const channelHeight = new Float64Array(channels.length);
  const lineTop: number[] = [];
  let y = margins.top;
  channels.forEach((channel, k) => {
    const edge = k === 0 || k === channels.length - 1;
    const lanes = LANE * (Math.min(channel.count, MOST_LANES) + 1);
    const stage = k > 0 && grid.lines[k]?.band != null ? 8 : 0;
    channelY[k] = y;
    channelHeight[k] = edge ? (channel.count === 0 ? 0 : lanes) : Math.max(CHANNEL, lanes + 10);
    y += channelHeight[k]! + stage;
    if (k < grid.lines.length) {
      lineTop.push(y);
      y += grid.lineHeight[k]!;
    }
  });
  return { columnX, gapX, gapWidth, channelY, channelHeight, lineTop, right, bottom: y };
}

function place(grid: Grid, measures: Measures): { x: Float64Array; y: Float64Array } {
  const x = new Float64Array(grid.top.length);
  const y = new Float64Array(grid.top.length);
  for (let item = 0; item < x.length; item++) {
    const column = grid.columnOf[item]!;
    x[item] = measures.columnX[column]! + (grid.columnWidth[column]! - grid.width[item]!) / 2;
    y[item] = measures.lineTop[grid.lineOf[item]!]! + grid.top[item]!;
  }
  return { x, y };
}

function trace(frame: Frame, exact: Measures, boxes: { x: Float64Array; y: Float64Array }, wire: Wire, { start, turns }: Plan): number[] {
  const lane = (lanes: Lanes, size: number): number => {
    const count = Math.min(lanes.count, MOST_LANES);
    return (size * ((lanes.of(wire.net) % MOST_LANES) + 1)) / (count + 1);
  };
  const channelLane = (k: number): number => exact.channelY[k]! + lane(frame.channels[k]!, exact.channelHeight[k]!);
  const gapLane = (gap: number): number => {
    const within = lane(frame.gaps[gap]!, exact.gapWidth[gap]!);
    return gap === 0 ? exact.gapX[0]! + exact.gapWidth[0]! - within : exact.gapX[gap]! + within;
  };
  let y = height(exact, start, channelLane);
  const points = wire.from < 0 ? [0, y] : [boxes.x[wire.from]! + frame.grid.width[wire.from]!, y];
  for (const turn of turns) {
    const next = height(exact, turn.to, channelLane);
    if (Math.abs(next - y) > 0.5) {
      const x = gapLane(turn.gap);
      points.push(x, y, x, next);
    }
    y = next;
  }
  points.push(wire.to < 0 ? exact.right + frame.margins.right : boxes.x[wire.to]!, y);
  return points;
}
