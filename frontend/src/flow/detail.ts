/** What a card says at which zoom, and in which size: nothing is written below 11 px of the screen. Knows no DOM. */

import { cutEnd, cutMiddle, leastRoom, measure, type Face } from "./text";

export type Detail = "block" | "short" | "normal" | "full";

export function detailAt(zoom: number): Detail {
  if (zoom >= 1.6) return "full";
  if (zoom >= 0.8) return "normal";
  return zoom >= 0.45 ? "short" : "block";
}

export interface Sizes {
  /** Font sizes in the picture's own units: 11 px of the screen or more. */
  name: number;
  small: number;
}

export function sizesAt(zoom: number): Sizes {
  // Near by, the words grow more slowly than the card, so that more of them fit.
  if (zoom >= 1.6) return { name: 10, small: 8.5 };
  const name = zoom >= 0.8 ? 12 : 11;
  return { name: Math.max(name / zoom, 12), small: Math.max(11 / zoom, 11) };
}

export interface TextLine {
  text: string;
  face: Face;
  x: number;
  y: number;
  size: number;
  /** Set where even the shortest cut is too wide: the glyphs are squeezed into it. */
  squeeze: number | null;
}

export interface CardWords {
  name: string;
  type: string;
  /** Kept whole after the type where that is cut: how many calls ride on it. */
  riders: string;
  shape: string;
  channels: string;
  more: string;
}

export interface CardRoom {
  width: number;
  /** Without the colour bar. */
  height: number;
  /** Kept free at the right of the first and of the last line. */
  firstRight: number;
  lastRight: number;
  thumbnail: boolean;
}

const SIDE = 9;
const LOOSEST = 1.34;

/** Side of the thumbnail's slot, or 0 where the name would be left with fewer than eight characters. */
export function thumbnailSide(words: CardWords, room: CardRoom, zoom: number): number {
  if (!room.thumbnail || detailAt(zoom) === "block") return 0;
  const side = zoom >= 1 ? room.height - 14 : room.height - 23;
  const left = room.width - SIDE * 2 - side - 6 - room.firstRight;
  return leastRoom(words.name, "name", sizesAt(zoom).name) <= left ? side : 0;
}

/** The lines of a card, cut to their room and set one below the other around the middle of the card. */
export function cardLines(words: CardWords, room: CardRoom, zoom: number): TextLine[] {
  const detail = detailAt(zoom);
  if (detail === "block") return [];
  const sizes = sizesAt(zoom);
  const side = thumbnailSide(words, room, zoom);
  const x = side > 0 ? SIDE + side + 6 : SIDE + 1;
  const rest: Wanted[] = detail === "short"
    ? [{ text: words.channels, tail: "", face: "mono" }]
    : [{ text: words.type, tail: words.riders, face: "plain" }, { text: words.shape, tail: "", face: "mono" }];
  if (detail === "full") rest.splice(1, 0, { text: words.more, tail: "", face: "plain" });
  const lines = [{ text: words.name, tail: "", face: "name" } as Wanted, ...rest].filter(({ text }) => text !== "");
  const size = (face: Face): number => (face === "name" ? sizes.name : sizes.small);
  const sum = lines.reduce((total, line) => total + size(line.face), 0);
  const leading = Math.min(LOOSEST, (room.height - 3) / sum);
  let y = (room.height - sum * leading) / 2;
  return lines.map(({ text, tail, face }, index) => {
    y += size(face) * leading;
    const kept = index === 0 ? room.firstRight : index === lines.length - 1 ? room.lastRight : 0;
    const width = room.width - x - SIDE - kept;
    const cut = face === "name" ? cutMiddle(text, face, size(face), width) : cutEnd(text, tail, face, size(face), width);
    const squeeze = measure(cut, face, size(face)) > width + 0.5 ? width : null;
    return { text: cut, face, x, y: y - size(face) * (leading - 0.93), size: size(face), squeeze };
  });
}

interface Wanted {
  text: string;
  tail: string;
  face: Face;
}
