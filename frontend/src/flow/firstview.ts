/** Decides the first view: which groups stand open, and at which zoom the picture begins. Knows no DOM. */

import { CARD_LIMIT, type Folds } from "../graph/folds";
import type { Tree } from "../graph/tree";
import { layout, type Positions } from "./layout";
import { groupsByDepth, makePicture, type Picture } from "./picture";
import { lineRoom } from "./wrap";

export interface Size {
  width: number;
  height: number;
}

export interface Fit {
  zoom: number;
  /** The zoom for which the lines were broken. */
  room: number;
  positions: Positions;
  /** Whether all of the picture is visible at this zoom. */
  whole: boolean;
}

/** Zooms that are tried, largest first: the readable ones, then those down to the smallest that a first view may have. */
const READABLE = [1.15, 1, 0.92, 0.85, 0.8, 0.75, 0.7];
const SMALL = [0.65, 0.6, 0.55, 0.5];
/** Above this many boxes one width is enough: trying all would be felt. */
const MANY = 120;

export function fitPicture(picture: Picture, view: Size, place = layout): Fit {
  if (picture.boxes.length > MANY) return { ...attempt(picture, view, 0.7, place), zoom: 0.7 };
  let last: Fit | null = null;
  for (const zoom of [...READABLE, ...SMALL]) {
    last = attempt(picture, view, zoom, place);
    if (last.whole) return last;
  }
  return attempt(picture, view, 0.7, place);
}

/** Lines are broken for the zoom; a group too wide for its line may still ask for a smaller one. */
function attempt(picture: Picture, view: Size, zoom: number, place: typeof layout): Fit {
  const room = lineRoom(view.width, zoom);
  const positions = place(picture.boxes, picture.edges, { room });
  const { width, height } = positions.extent;
  return { zoom, room, positions, whole: width * zoom <= view.width && height * zoom <= view.height };
}

/**
 * Groups open from the outside inwards, all calls of one layer together, as long as the cards stay within the limit and all of the
 * picture is readable.
 */
export function openAtFirst(tree: Tree, folds: Folds, unfolded: ReadonlySet<string>, view: Size): ReadonlySet<string> {
  let open: ReadonlySet<string> = new Set();
  if (makePicture(tree, folds, open, unfolded).boxes.length > CARD_LIMIT) return open;
  const seen = new Set<number>();
  let tries = 0;
  for (const group of groupsByDepth(folds)) {
    if (seen.has(group) || tries > 12) continue;
    const layer = tree.calls[group]!.layer;
    const together = layer === null ? [group] : tree.callsOfLayer[layer]!;
    together.forEach((call) => seen.add(call));
    const wider = new Set([...open, ...together.map((call) => tree.calls[call]!.path)]);
    const picture = makePicture(tree, folds, wider, unfolded);
    if (picture.cards.filter((card) => !card.frame).length > CARD_LIMIT) continue;
    tries++;
    const fit = fitPicture(picture, view);
    if (fit.whole && fit.zoom >= 0.7) open = wider;
  }
  return open;
}
