/** Measures words and cuts long ones in the middle, so that no text leaves its place. */

export type Face = "name" | "plain" | "mono";

const FONTS: Record<Face, string> = {
  name: '600 100px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif',
  plain: '400 100px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif',
  mono: '400 100px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
};

/** Without a canvas: per em, wide enough for the widest of the fonts named. */
const CAREFUL: Record<Face, number> = { name: 0.72, plain: 0.66, mono: 0.62 };
const SHORTEST = 8;

const widths = new Map<string, number>();
let pen: CanvasRenderingContext2D | null | undefined;

/** Width of a text at one em. */
function ems(text: string, face: Face): number {
  const key = `${face} ${text}`;
  let width = widths.get(key);
  if (width !== undefined) return width;
  if (pen === undefined) pen = typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");
  if (pen === null) width = text.length * CAREFUL[face];
  else {
    pen.font = FONTS[face];
    width = pen.measureText(text).width / 100;
  }
  if (widths.size > 20_000) widths.clear();
  widths.set(key, width);
  return width;
}

export function measure(text: string, face: Face, size: number): number {
  return ems(text, face) * size;
}

/** The text, or as much of its two ends as fits, but never fewer than eight of its characters. */
export function cutMiddle(text: string, face: Face, size: number, room: number): string {
  if (measure(text, face, size) <= room) return text;
  let low = Math.min(SHORTEST, text.length);
  let high = text.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(ends(text, middle), face, size) <= room) low = middle;
    else high = middle - 1;
  }
  return low >= text.length ? text : ends(text, low);
}

/** More of the end than of the beginning goes on the right: numbers stand there. */
function ends(text: string, kept: number): string {
  const right = Math.floor(kept / 2);
  return `${text.slice(0, kept - right)}…${text.slice(text.length - right)}`;
}

/** The beginning of the text, as much as fits beside the tail, which stays whole. */
export function cutEnd(text: string, tail: string, face: Face, size: number, room: number): string {
  if (measure(text + tail, face, size) <= room) return text + tail;
  let kept = text.length - 1;
  while (kept > 1 && measure(`${text.slice(0, kept)}…${tail}`, face, size) > room) kept--;
  return `${text.slice(0, kept)}…${tail}`;
}

/** Room that the shortest cut of a name asks for. */
export function leastRoom(text: string, face: Face, size: number): number {
  return measure(text.length <= SHORTEST + 1 ? text : ends(text, SHORTEST), face, size);
}
