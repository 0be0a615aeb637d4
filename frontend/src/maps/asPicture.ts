/** Inputs that are pictures, and the greys in which people see their channels. Reads recorded statistics, draws nothing. */
import type { MapColours } from "../colour/mapPixels";
import { css, pixel, type Rgb } from "../colour/tables";
import type { Held, HeldTensor } from "../exact";
import { cell } from "../values";
import type { HeldValue } from "../valuesApi";

/** Black and white, as pictures are given to models. */
const RANGES: readonly (readonly [number, number])[] = [[0, 1], [0, 255], [-1, 1]];

/** The first of these that all numbers lie in, to a hundredth, by which resizing may overshoot; null for what is no picture. */
export function rangeOf(low: number, high: number): readonly [number, number] | null {
  return RANGES.find(([black, white]) => low >= black - 0.01 && high <= white * 1.01) ?? null;
}

/** An input with one or three channels, or a picture without an axis for them, is shown in grey or in its colours. */
export function isImage(held: Held, { call, value, channels }: HeldTensor): boolean {
  const depth = value.shape.length === 4 && channels === "last" ? value.shape[3]! : 0;
  return held.graph.calls[call]!.kind === "input" && (channels === "none" || depth === 1 || depth === 3);
}

/** From black to white, where a tensor is an input that `isImage` and holds the numbers of pictures in the whole batch. */
export function pictureRange(held: Held, tensor: HeldTensor): readonly [number, number] | null {
  return isImage(held, tensor) ? recordedRange(held, tensor.value.kind, tensor.call, tensor.port) : null;
}

function recordedRange(held: Held, kind: string, call: number, port: number): readonly [number, number] | null {
  const table = held.record.kinds.get(kind);
  const row = table?.ports.findIndex((each) => each[0] === call && each[1] === port) ?? -1;
  return row < 0 ? null : rangeOf(cell(held.record, table!, row, "min"), cell(held.record, table!, row, "max"));
}

/** Fewer rows or columns are a short series of few features rather than a picture. */
const SMALLEST = 16;

/** Whether an input of three axes is a picture of rows and columns, without an axis for channels: large both ways, with the bytes of
 *  pictures or their shares. A series of features has negative numbers, or is small one way. */
export function isBarePicture(held: Held, { kind, shape }: HeldValue, call: number, port: number): boolean {
  if (held.graph.calls[call]!.kind !== "input" || shape.length !== 3 || Math.min(shape[1]!, shape[2]!) < SMALLEST) return false;
  return recordedRange(held, kind, call, port)?.[0] === 0;
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
