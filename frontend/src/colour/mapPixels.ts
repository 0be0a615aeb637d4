/** The pixels of a map on the signed scale, zero having exactly the panel's colour. Pure. */
import type { Numbers } from "../binary";
import { css, pixel, type Rgb } from "./tables";

export interface MapColours {
  /** The 256 entries from negative over zero to positive. */
  pixels: Uint32Array;
  css: string[];
  zero: number;
  /** NaN and infinities. */
  odd: number;
  hatch: string;
  panel: string;
  line: string;
  chosen: string;
  window: string;
  ink: string;
  key: string;
}

export function mapColours(table: Rgb[], colours: Record<"panel" | "odd" | "hatch" | "line" | "chosen" | "window" | "ink", Rgb>): MapColours {
  const { panel, odd, hatch, line, chosen, window, ink } = colours;
  return {
    pixels: Uint32Array.from(table, pixel), css: table.map(css), zero: pixel(panel), odd: pixel(odd), hatch: css(hatch), panel: css(panel),
    line: css(line), chosen: css(chosen), window: css(window), ink: css(ink), key: css(panel),
  };
}

/** Entry of the table for a number: `reach` is the magnitude at either end. */
export function entryOf(value: number, reach: number): number {
  const t = reach > 0 ? value / reach : Math.sign(value);
  return Math.round((Math.min(1, Math.max(-1, t)) + 1) * 127.5);
}

/** Writes one pixel per element; elements that a wrapped vector lacks stay clear. */
export function paintMap(to: Uint32Array, values: Numbers, reach: number, { pixels, zero, odd }: MapColours): void {
  const factor = reach > 0 ? 127.5 / reach : 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value === 0) to[i] = zero;
    else if (value - value !== 0) to[i] = odd;
    else {
      const entry = factor ? Math.round(127.5 + value * factor) : value < 0 ? 0 : 255;
      to[i] = pixels[entry < 0 ? 0 : entry > 255 ? 255 : entry]!;
    }
  }
  to.fill(0, values.length);
}

/** Red, green and blue bytes, or grey ones, as people see them. */
export function paintPicture(to: Uint32Array, bytes: Numbers, channels: number): void {
  const [green, blue] = channels >= 3 ? [1, 2] : [0, 0];
  for (let i = 0, from = 0; i < to.length; i++, from += channels) {
    to[i] = ((255 << 24) | (bytes[from + blue]! << 16) | (bytes[from + green]! << 8) | bytes[from]!) >>> 0;
  }
}
