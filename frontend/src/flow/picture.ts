/** What the flow shows: cards, frames of open groups and the edges between them, before they have places. Knows no DOM. */

import { isInput, parentIndex, shapeText, type Tree } from "../graph/tree";
import { shownUnits, type Folds, type Unit } from "../graph/folds";
import type { PortInfo } from "../types";
import type { Box, Link } from "./layout";
import { CARD_HEIGHT, CARD_WIDTH } from "./wrap";

export interface Card {
  unit: Unit;
  /** An open group is a frame, everything else a card. */
  frame: boolean;
  /** Index of the frame around it, -1 outside of all. */
  parent: number;
  depth: number;
}

export interface DrawnEdge extends Link {
  /** The largest tensor of those that it stands for; null where no size is known. */
  elements: number | null;
  /** Whether it stands for derived edges only. */
  derived: boolean;
}

export interface Picture {
  cards: Card[];
  boxes: Box[];
  edges: DrawnEdge[];
  /** The card or frame that stands for each call; -1 for the frameless root. */
  boxOf: Int32Array;
  /** Cards that are no inputs and no frames: the "as 30 cards" of the screen. */
  cardCount: number;
}

/** Height of one row of a repeat's block matrix, and the room above it. */
export const CELL = 10;
export const MATRIX_TOP = 26;
const MOST_ROWS = 8;

export function makePicture(tree: Tree, folds: Folds, open: ReadonlySet<string>, unfolded: ReadonlySet<string>): Picture {
  const cards = listCards(tree, folds, open, unfolded);
  const boxOf = standIns(tree, cards);
  return {
    cards, boxOf,
    boxes: cards.map((card) => boxFor(tree, card)),
    edges: drawnEdges(tree, cards, boxOf),
    cardCount: cards.filter((card) => !card.frame && !isInput(tree.calls[card.unit.head]!)).length,
  };
}

function listCards(tree: Tree, folds: Folds, open: ReadonlySet<string>, unfolded: ReadonlySet<string>): Card[] {
  const cards: Card[] = [];
  const waiting: Card[] = [];
  const push = (parent: number, frame: number, depth: number): void => {
    const units = shownUnits(folds, parent, unfolded);
    for (let at = units.length - 1; at >= 0; at--) {
      const unit = units[at]!;
      const isFrame = unit.kind === "group" && open.has(tree.calls[unit.head]!.path);
      waiting.push({ unit, frame: isFrame, parent: frame, depth });
    }
  };
  push(-1, -1, 0);
  for (let card = waiting.pop(); card !== undefined; card = waiting.pop()) {
    const index = cards.push(card) - 1;
    if (card.frame) push(card.unit.head, index, card.depth + 1);
  }
  return cards;
}

function standIns(tree: Tree, cards: Card[]): Int32Array {
  const boxOf = new Int32Array(tree.calls.length).fill(-1);
  cards.forEach((card, index) => card.unit.members.forEach((call) => { boxOf[call] = index; }));
  for (let call = 0; call < boxOf.length; call++) {
    const parent = parentIndex(tree, call);
    if (boxOf[call] === -1 && parent >= 0) boxOf[call] = boxOf[parent]!;
  }
  return boxOf;
}

/** The edges between boxes: each pair once, none from a frame to what it holds or back. */
function drawnEdges(tree: Tree, cards: Card[], boxOf: Int32Array): DrawnEdge[] {
  const found = new Map<number, DrawnEdge>();
  const holds = (outer: number, inner: number): boolean => {
    let at = inner;
    while (at > outer) at = cards[at]!.parent;
    return at === outer;
  };
  for (const edge of tree.edges) {
    const from = boxOf[edge.from]!;
    const to = boxOf[edge.to]!;
    if (from < 0 || to < 0 || holds(from, to) || holds(to, from)) continue;
    const key = from * cards.length + to;
    const known = found.get(key);
    if (known === undefined) {
      found.set(key, { from, to, elements: edge.elements, derived: edge.derived });
      continue;
    }
    known.derived &&= edge.derived;
    if (edge.elements !== null) known.elements = Math.max(known.elements ?? 0, edge.elements);
  }
  return [...found.values()];
}

function boxFor(tree: Tree, card: Card): Box {
  const { unit } = card;
  const call = tree.calls[unit.head]!;
  const lead = isInput(call);
  const size = unit.kind === "repeat" ? matrixSize(unit) : { width: CARD_WIDTH, height: CARD_HEIGHT };
  return { parent: card.parent, open: card.frame, ...size, band: lead || unit.kind === "group" ? null : bandOf(call.outputs[0]), lead };
}

export function matrixRows(unit: Unit): number {
  return Math.min(MOST_ROWS, unit.blocks[0]?.length ?? 0);
}

function matrixSize(unit: Unit): { width: number; height: number } {
  const rows = matrixRows(unit);
  return { width: Math.max(CARD_WIDTH, 20 + CELL * unit.blocks.length), height: Math.max(CARD_HEIGHT, MATRIX_TOP + rows * CELL + 24) };
}

/** The spatial size of an output, `80×80`; empty where it has none or only 1×1; null where the shape is unknown. */
export function bandOf(port: PortInfo | undefined): string | null {
  if (port?.shape == null) return null;
  if (port.shape.length < 4) return "";
  const spatial = shapeText({ ...port, shape: port.shape.slice(0, -1) });
  return /^1(×1)*$/.test(spatial) ? "" : spatial;
}
