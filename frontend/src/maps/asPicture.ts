/** Inputs that are pictures, and the greys in which people see their channels. Reads recorded statistics, draws nothing. */
import type { MapColours } from "../colour/mapPixels";
import { css, pixel, type Rgb } from "../colour/tables";
import type { Held, HeldTensor } from "../exact";
import { cell } from "../values";
import { isImage } from "./thumbnails";

/** Black and white, as pictures are given to models. */
const RANGES: readonly (readonly [number, number])[] = [[0, 1], [0, 255], [-1, 1]];

/** The first of these that all numbers lie in, to a hundredth, by which resizing may overshoot; null for what is no picture. */
export function rangeOf(low: number, high: number): readonly [number, number] | null {
  return RANGES.find(([black, white]) => low >= black - 0.01 && high <= white * 1.01) ?? null;
}

/** From black to white, where a tensor is an input with one or three channels and holds the numbers of pictures in the whole batch. */
export function pictureRange(held: Held, tensor: HeldTensor): readonly [number, number] | null {
  const table = held.record.kinds.get(tensor.value.kind);
  const row = table?.ports.findIndex(([call, port]) => call === tensor.call && port === tensor.port) ?? -1;
  if (row < 0 || !isImage(held, tensor)) return null;
  return rangeOf(cell(held.record, table!, row, "min"), cell(held.record, table!, row, "max"));
}

/** Black to white in place of the signed scale's colours; of a range that begins at zero the negative half is black. */
export function greys(colours: MapColours, [black]: readonly [number, number]): MapColours {
  const table = Array.from({ length: 256 }, (_, entry): Rgb => {
    const level = black < 0 ? entry : Math.max(0, 2 * entry - 255);
    return [level, level, level];
  });
  const zero = table[black < 0 ? 128 : 0]!;
  return { ...colours, pixels: Uint32Array.from(table, pixel), css: table.map(css), zero: pixel(zero), panel: css(zero), key: `grey ${black}` };
}
