/** Where an arrow key leads from a card: along the flow, or to the nearest card above or below. Knows no DOM. */

import type { Positions } from "./layout";
import type { Picture } from "./picture";

export type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

export function isArrow(key: string): key is Arrow {
  return /^Arrow(Left|Right|Up|Down)$/.test(key);
}

/** The box to go to, or null where there is none in that direction. */
export function step(picture: Picture, at: Positions, from: number | null, arrow: Arrow): number | null {
  if (from === null) return picture.cards.length > 0 ? firstCard(picture) : null;
  if (arrow === "ArrowRight") {
    if (picture.cards[from]!.frame) return picture.cards[from + 1]?.parent === from ? from + 1 : along(picture, at, from, 1);
    return along(picture, at, from, 1);
  }
  if (arrow === "ArrowLeft") return along(picture, at, from, -1) ?? (picture.cards[from]!.parent >= 0 ? picture.cards[from]!.parent : null);
  return beside(picture, at, from, arrow === "ArrowDown" ? 1 : -1);
}

function firstCard(picture: Picture): number {
  const first = picture.cards.findIndex((card) => !card.frame);
  return first < 0 ? 0 : first;
}

/** Of the boxes that take (1) or give (-1) a tensor, the one at the most similar height. */
function along(picture: Picture, at: Positions, from: number, direction: 1 | -1): number | null {
  const found = picture.edges
    .filter((edge) => (direction === 1 ? edge.from : edge.to) === from)
    .map((edge) => (direction === 1 ? edge.to : edge.from));
  return least(found, (box) => Math.abs(middle(at, box)[1] - middle(at, from)[1]) + Math.abs(middle(at, box)[0] - middle(at, from)[0]) / 8);
}

function beside(picture: Picture, at: Positions, from: number, direction: 1 | -1): number | null {
  const [x, y] = middle(at, from);
  const found = picture.cards.flatMap((card, box) => (!card.frame && (middle(at, box)[1] - y) * direction > 20 ? [box] : []));
  return least(found, (box) => Math.abs(middle(at, box)[1] - y) + 2 * Math.abs(middle(at, box)[0] - x));
}

function middle(at: Positions, box: number): [number, number] {
  return [at.x[box]! + at.width[box]! / 2, at.y[box]! + at.height[box]! / 2];
}

function least(boxes: number[], cost: (box: number) => number): number | null {
  let best: number | null = null;
  for (const box of boxes) if (best === null || cost(box) < cost(best)) best = box;
  return best;
}
