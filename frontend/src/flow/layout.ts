/** Boxes and links in, positions out: levels laid out from the innermost group outwards, and put together. Pure; knows no calls and no drawing. */

import { LevelMemo, type LevelInput, type LevelOutput } from "./level";
import type { Margins } from "./route";
import { CARD_WIDTH, GAP } from "./wrap";

export interface Box {
  /** Index of the open group around it, which comes before it; -1 for the outermost level. */
  parent: number;
  /** An open group's size is found by the layout; for all others it is given here. */
  open: boolean;
  width: number;
  height: number;
  band: string | null;
  lead: boolean;
}

export interface Link {
  from: number;
  to: number;
}

export interface LayoutOptions {
  /** Room of one line on the outermost level. */
  room: number;
}

export interface Stage {
  /** The open group in which the line stands, -1 for the outermost level. */
  parent: number;
  band: string;
  x: number;
  y: number;
  height: number;
}

export interface Positions {
  x: Float64Array;
  y: Float64Array;
  width: Float64Array;
  height: Float64Array;
  /** Corner points x, y, x, y, … of each link. */
  paths: number[][];
  stages: Stage[];
  extent: { width: number; height: number };
}

/** Room for the title of an open group. No edge runs in it. */
export const HEADER = 30;
const GROUP: Margins = { left: 16, right: 16, top: HEADER + 4, bottom: 16 };
/** Below the last line there is room for the slim cards of what runs after the output; so far from the picture's end they begin. */
export const TAIL_TOP = 42;
const ROOT: Margins = { left: 24, right: 24, top: 16, bottom: 58 };
/** Left of the lines when they are stages, for their labels. */
export const STAGE_LABEL = 78;

interface Part {
  level: number;
  wire: number;
}

interface Frames {
  children: number[][];
  /** Children's place among the items of their level. */
  slot: Int32Array;
  inputs: Map<number, LevelInput>;
  /** The stretches of each link, from its source outwards and in again to its target. */
  parts: Part[][];
}

const shared = new LevelMemo();

export function layout(boxes: Box[], links: Link[], options: LayoutOptions, memo: LevelMemo = shared): Positions {
  const frames = framesOf(boxes, links, options);
  const width = Float64Array.from(boxes, (box) => box.width);
  const height = Float64Array.from(boxes, (box) => box.height);
  const outputs = new Map<number, LevelOutput>();
  for (let box = boxes.length - 1; box >= -1; box--) {
    const input = frames.inputs.get(box);
    if (input === undefined) continue;
    const children = frames.children[box + 1]!;
    input.items.forEach((item, slot) => {
      item.width = width[children[slot]!]!;
      item.height = height[children[slot]!]!;
    });
    setPorts(input, frames, outputs, children, height, box);
    const output = memo.layout(input);
    outputs.set(box, output);
    if (box >= 0) {
      width[box] = Math.max(output.width, CARD_WIDTH + 2 * GROUP.left);
      height[box] = output.height;
    }
  }
  return assemble(boxes, frames, outputs, width, height);
}

function framesOf(boxes: Box[], links: Link[], options: LayoutOptions): Frames {
  const children: number[][] = Array.from({ length: boxes.length + 1 }, () => []);
  const slot = new Int32Array(boxes.length);
  const depth = new Int32Array(boxes.length);
  boxes.forEach((box, index) => {
    slot[index] = children[box.parent + 1]!.push(index) - 1;
    depth[index] = box.parent < 0 ? 0 : depth[box.parent]! + 1;
  });
  const inputs = new Map<number, LevelInput>();
  const rooms = new Float64Array(boxes.length + 1);
  for (let box = -1; box < boxes.length; box++) {
    if (box >= 0 && !boxes[box]!.open) continue;
    rooms[box + 1] = box < 0 ? options.room : innerRoom(rooms[boxes[box]!.parent + 1]!, children[boxes[box]!.parent + 1]!.length);
    const items = children[box + 1]!.map((child) => ({ width: 0, height: 0, band: boxes[child]!.band, lead: boxes[child]!.lead }));
    inputs.set(box, { items, wires: [], room: rooms[box + 1]!, margins: box < 0 ? ROOT : GROUP });
  }
  const frames: Frames = { children, slot, inputs, parts: [] };
  frames.parts = links.map((link, net) => stretch(boxes, frames, link, depth, net));
  return frames;
}

/** A group leaves its neighbours in the line the room of one card. */
function innerRoom(room: number, siblings: number): number {
  const frame = GROUP.left + GROUP.right;
  return Math.max(CARD_WIDTH + GAP, room - frame - (siblings > 1 ? CARD_WIDTH + GAP : 0));
}

/** Adds one wire to every level that a link crosses: out of the source's groups, across the level they share, into the target's. */
function stretch(boxes: Box[], frames: Frames, link: Link, depth: Int32Array, index: number): Part[] {
  const outward: Part[] = [];
  const inward: Part[] = [];
  let from = link.from;
  let to = link.to;
  const net = link.from;
  const add = (level: number, a: number, b: number): Part => {
    const wires = frames.inputs.get(level)!.wires;
    const slotOf = (box: number): number => (box < 0 ? -1 : frames.slot[box]!);
    wires.push({ from: slotOf(a), to: slotOf(b), net, fromAt: index, toAt: index });
    return { level, wire: wires.length - 1 };
  };
  while (boxes[from]!.parent !== boxes[to]!.parent) {
    if (depth[from]! > depth[to]! || (depth[from] === depth[to] && boxes[from]!.parent > boxes[to]!.parent)) {
      outward.push(add(boxes[from]!.parent, from, -1));
      from = boxes[from]!.parent;
    } else {
      inward.push(add(boxes[to]!.parent, -1, to));
      to = boxes[to]!.parent;
    }
  }
  return [...outward, add(boxes[from]!.parent, from, to), ...inward.reverse()];
}

/** Gives the wires of a level their heights: a card's middle, or the place where the link crosses an inner group's frame. */
function setPorts(
  input: LevelInput, frames: Frames, outputs: Map<number, LevelOutput>, children: number[], height: Float64Array, level: number,
): void {
  for (const wire of input.wires) {
    const index = wire.fromAt;
    wire.fromAt = wire.from < 0 ? 0 : portHeight(frames, outputs, children[wire.from]!, height, level, index, true);
    wire.toAt = wire.to < 0 ? 0 : portHeight(frames, outputs, children[wire.to]!, height, level, index, false);
  }
}

function portHeight(
  frames: Frames, outputs: Map<number, LevelOutput>, box: number, height: Float64Array, level: number, link: number, leaving: boolean,
): number {
  const parts = frames.parts[link]!;
  const at = parts.findIndex((part) => part.level === level);
  const inner = parts[leaving ? at - 1 : at + 1];
  if (inner === undefined || inner.level !== box) return height[box]! / 2;
  const path = outputs.get(box)!.paths[inner.wire]!;
  return leaving ? path[path.length - 1]! : path[1]!;
}

function assemble(boxes: Box[], frames: Frames, outputs: Map<number, LevelOutput>, width: Float64Array, height: Float64Array): Positions {
  const root = outputs.get(-1)!;
  const indent = root.stages.length > 0 ? STAGE_LABEL : 0;
  const x = new Float64Array(boxes.length);
  const y = new Float64Array(boxes.length);
  boxes.forEach((box, index) => {
    const output = outputs.get(box.parent)!;
    const slot = frames.slot[index]!;
    x[index] = output.x[slot]! + (box.parent < 0 ? indent : x[box.parent]!);
    y[index] = output.y[slot]! + (box.parent < 0 ? 0 : y[box.parent]!);
  });
  const origin = (level: number): [number, number] => (level < 0 ? [indent, 0] : [x[level]!, y[level]!]);
  const paths = frames.parts.map((parts) => {
    const points: number[] = [];
    for (const part of parts) {
      const [left, top] = origin(part.level);
      const path = outputs.get(part.level)!.paths[part.wire]!;
      for (let at = 0; at < path.length; at += 2) points.push(path[at]! + left, path[at + 1]! + top);
    }
    return straightened(points);
  });
  const stages = [...outputs].flatMap(([parent, output]) => {
    const [left, top] = origin(parent);
    return output.stages.map((stage): Stage => ({ parent, band: stage.band, x: stage.x + left, y: stage.y + top, height: stage.height }));
  });
  return { x, y, width, height, paths, stages, extent: { width: root.width + indent, height: root.height } };
}

/** Without the points that lie on the way between their neighbours. */
function straightened(points: number[]): number[] {
  const kept: number[] = [];
  for (let at = 0; at < points.length; at += 2) {
    const px = points[at]!;
    const py = points[at + 1]!;
    while (kept.length >= 2) {
      const [ax, ay] = [kept[kept.length - 2]!, kept[kept.length - 1]!];
      const before = kept.length >= 4 ? [kept[kept.length - 4]!, kept[kept.length - 3]!] : null;
      const same = Math.abs(ax - px) < 0.01 && Math.abs(ay - py) < 0.01;
      const onWay = before !== null && ((near(before[0]!, ax) && near(ax, px)) || (near(before[1]!, ay) && near(ay, py)));
      if (!same && !onWay) break;
      kept.length -= 2;
    }
    kept.push(px, py);
  }
  return kept;
}

const near = (a: number, b: number): boolean => Math.abs(a - b) < 0.01;
