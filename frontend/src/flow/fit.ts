/** Finds the zoom at which a picture fits, and breaks its lines for that zoom. Knows no DOM. */

import { layout, type Positions } from "./layout";
import type { Picture } from "./picture";
import { CARD_WIDTH, GAP, lineRoom } from "./wrap";

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

/** Zooms that are tried, largest first, none of which enlarges a card: the readable ones, then those down to the smallest that a first view may have. */
const READABLE = [1, 0.92, 0.85, 0.8, 0.75, 0.7];
const SMALL = [0.65, 0.6, 0.55, 0.5];
/** Above this many boxes one width is enough: trying all would be felt. */
export const MANY = 120;
export const MANY_ZOOM = 0.7;

export function fitPicture(picture: Picture, view: Size, place = layout): Fit {
  if (picture.boxes.length > MANY) return attempt(picture, view, MANY_ZOOM, place);
  let last: Fit | null = null;
  for (const zoom of [...READABLE, ...SMALL]) {
    last = attempt(picture, view, zoom, place);
    if (last.whole) return last;
  }
  return attempt(picture, view, MANY_ZOOM, place);
}

/** Lines are broken for the zoom. Where stage labels or lanes make them wider than the view, once more with a card less. */
function attempt(picture: Picture, view: Size, zoom: number, place: typeof layout): Fit {
  let room = lineRoom(view.width, zoom);
  let positions = place(picture.boxes, picture.edges, { room });
  const card = CARD_WIDTH + GAP;
  if (positions.extent.width > view.width / zoom && room >= 2 * card) {
    room -= card;
    positions = place(picture.boxes, picture.edges, { room });
  }
  const { width, height } = positions.extent;
  return { zoom, room, positions, whole: width * zoom <= view.width && height * zoom <= view.height };
}
