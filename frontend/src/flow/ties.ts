/** The dashed ties between the calls of one shared layer: which are drawn, and how they run. Knows no DOM. */

import { parentIndex, type Tree } from "../graph/tree";
import type { Positions } from "./layout";
import type { Picture } from "./picture";

export interface Tie {
  /** Index into the graph's layers. */
  layer: number;
  boxes: number[];
  /** Corner points of each of its strokes. */
  strokes: number[][];
}

/** More shared layers than this on the outermost level, and only those of the chosen and the hovered call are tied. */
const MOST_TIED = 12;
/** Below a card, out from its left side, and beside a group. */
const UNDER = 6;
const BESIDE = 8;
const BETWEEN = 5;

/** Outermost shared layers are always tied, deeper ones while one of their calls is chosen or under the pointer. */
export function tiesOf(tree: Tree, picture: Picture, positions: Positions, singled: (number | null)[]): Tie[] {
  const layers = new Set(outermostShared(tree));
  if (layers.size > MOST_TIED) layers.clear();
  for (const call of singled) {
    const layer = call === null ? null : tree.calls[call]?.layer ?? null;
    if (layer !== null) layers.add(layer);
  }
  const ties: Tie[] = [];
  for (const layer of layers) {
    const boxes = [...new Set(tree.callsOfLayer[layer]!.map((call) => picture.boxOf[call]!))].filter((box) => box >= 0);
    if (boxes.length > 1) ties.push({ layer, boxes, strokes: strokes(picture, positions, boxes, BESIDE + BETWEEN * (ties.length % 3)) });
  }
  return ties;
}

function outermostShared(tree: Tree): number[] {
  const inShared = new Uint8Array(tree.calls.length);
  const found = new Set<number>();
  tree.calls.forEach((call, index) => {
    const parent = parentIndex(tree, index);
    const shared = call.layer !== null && tree.occurrence[index]!.n > 1;
    if (parent >= 0 && inShared[parent]) inShared[index] = 1;
    else if (shared) {
      inShared[index] = 1;
      found.add(call.layer!);
    }
  });
  return [...found];
}

/** Calls side by side are tied below; others by a trunk left of all of them and of the groups around them, where no title stands. */
function strokes(picture: Picture, at: Positions, boxes: number[], beside: number): number[][] {
  const foot = (box: number): [number, number] => [at.x[box]! + 14, at.y[box]! + at.height[box]!];
  const level = boxes.every((box) => Math.abs(foot(box)[1] - foot(boxes[0]!)[1]) < 1 && picture.cards[box]!.parent === picture.cards[boxes[0]!]!.parent);
  if (level) return boxes.slice(1).map((box, k) => bridge(foot(boxes[k]!), foot(box)));
  const heights = boxes.map((box) => at.y[box]!);
  const left = Math.min(...boxes.map((box) => at.x[outside(picture, box, boxes)]!)) - beside;
  const trunk = clearOfEdges(at, left, Math.min(...heights), Math.max(...heights));
  const arms = boxes.map((box): number[] => {
    const frame = picture.cards[box]!.frame || picture.cards[box]!.parent < 0;
    if (frame) {
      const y = at.y[box]! + 15;
      return [at.x[box]!, y, trunk, y];
    }
    const [x, y] = foot(box);
    return [x, y, x, y + UNDER, trunk, y + UNDER];
  });
  const ends = arms.map((arm) => arm[arm.length - 1]!);
  return [...arms, [trunk, Math.min(...ends), trunk, Math.max(...ends)]];
}

/** Moves an upright stroke to the left until no edge runs along it. */
function clearOfEdges(at: Positions, x: number, top: number, bottom: number): number {
  const along = (left: number): boolean => at.paths.some((path) => {
    for (let i = 0; i + 3 < path.length; i += 2) {
      const upright = Math.abs(path[i]! - path[i + 2]!) < 0.01 && Math.abs(path[i]! - left) < 3;
      if (upright && Math.min(path[i + 1]!, path[i + 3]!) < bottom && Math.max(path[i + 1]!, path[i + 3]!) > top) return true;
    }
    return false;
  });
  for (let tries = 0; tries < 8 && along(x); tries++) x -= 4;
  return x;
}

function bridge([ax, ay]: [number, number], [bx, by]: [number, number]): number[] {
  return [ax, ay, ax, ay + UNDER, bx, by + UNDER, bx, by];
}

/** The outermost frame around a box that does not hold all of the others too. */
function outside(picture: Picture, box: number, boxes: number[]): number {
  let at = box;
  for (let parent = picture.cards[at]!.parent; parent >= 0; parent = picture.cards[parent]!.parent) {
    if (boxes.every((other) => inside(picture, other, parent))) break;
    at = parent;
  }
  return at;
}

function inside(picture: Picture, box: number, frame: number): boolean {
  let at = box;
  while (at > frame) at = picture.cards[at]!.parent;
  return at === frame;
}
