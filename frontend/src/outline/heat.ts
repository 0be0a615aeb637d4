/** The heatmap's numbers to pixels: a stretch of a row's steps over a width, so that no bad step is lost where steps outnumber pixels. Pure. */
import type { Scale } from "../colour/scale";
import { ENTRIES } from "../colour/tables";
import { pixel } from "../colour/tables";
import type { CellColours } from "./strip";

/** How much a step stands out: a number that is none most of all, then what is farthest from calm; a step without a value not at all. */
const ABSENT = -2;
const CALM = -1;
const WRONG = Infinity;

/**
 * The pixels of the steps from `from` up to `to`, at most `width` of them. Where several steps share a pixel it shows the one that stands
 * out most. `flawed` tells NaN that was recorded from NaN that means no call at that step.
 */
export function heatPixels(
  values: ArrayLike<number>,
  from: number,
  to: number,
  width: number,
  scale: Scale | null,
  colours: CellColours,
  flawed: (i: number) => boolean = () => false,
): Uint32Array {
  const [zero, missing, wrong] = [pixel(colours.panel), pixel(colours.absent), pixel(colours.bad)];
  const steps = Math.max(0, to - from);
  const pixels = new Uint32Array(Math.min(steps, Math.max(1, Math.floor(width))));
  for (let p = 0; p < pixels.length; p++) {
    const first = from + Math.floor((p * steps) / pixels.length);
    const last = from + Math.floor(((p + 1) * steps) / pixels.length);
    let most = ABSENT;
    let colour = missing;
    for (let i = first; i < last; i++) {
      const value = values[i]!;
      if (Number.isNaN(value) ? flawed(i) : !Number.isFinite(value)) {
        [most, colour] = [WRONG, wrong];
        break;
      }
      if (Number.isNaN(value)) continue;
      const place = scale?.place(value) ?? null;
      const stands = place === null ? CALM : scale!.middle ? Math.abs(place - 0.5) : place;
      if (stands <= most) continue;
      most = stands;
      colour = place === null ? zero : colours.pixels[Math.round(place * (ENTRIES - 1))]!;
    }
    pixels[p] = colour;
  }
  return pixels;
}

/** The stretch of steps after zooming by `factor` about a place from 0 to 1 of the one shown; at least four steps, at most all. */
export function zoomed([from, to]: readonly [number, number], records: number, place: number, factor: number): [number, number] | null {
  const span = Math.min(records, Math.max(Math.min(4, records), (to - from) * factor));
  if (span >= records) return null;
  const at = from + place * (to - from);
  const start = Math.min(records - span, Math.max(0, at - place * span));
  return [Math.round(start), Math.round(start + span)];
}

/** The same stretch moved by a part of its width. */
export function panned([from, to]: readonly [number, number], records: number, by: number): [number, number] {
  const span = to - from;
  const start = Math.round(Math.min(records - span, Math.max(0, from + by * span)));
  return [start, start + span];
}
