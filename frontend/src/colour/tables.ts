/**
 * Colour tables of 256 entries. Pure. A table is the straight line between two colours in Oklab (Björn Ottosson, 2020), which keeps
 * steps of equal size equally visible and the hue steady.
 */

export type Rgb = readonly [number, number, number];

export const ENTRIES = 256;
/** Where the sequential table begins, so that the smallest number still differs from zero, which is the panel's colour. */
const FAINTEST = 0.1;

/** Of `#rgb` or `#rrggbb`, each channel 0 to 255. */
export function parseHex(text: string): Rgb {
  const hex = text.trim().replace("#", "");
  const full = hex.length === 3 ? [...hex].map((digit) => digit + digit).join("") : hex;
  if (!/^[0-9a-f]{6}$/i.test(full)) throw new Error(`A colour must be #rgb or #rrggbb. Received: ${text}.`);
  return [0, 2, 4].map((at) => parseInt(full.slice(at, at + 2), 16)) as unknown as Rgb;
}

const toLinear = (channel: number) => {
  const c = channel / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
};

const fromLinear = (c: number) => {
  const channel = c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.min(1, Math.max(0, channel)));
};

export function toOklab([red, green, blue]: Rgb): Rgb {
  const [r, g, b] = [toLinear(red), toLinear(green), toLinear(blue)];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

export function fromOklab([lightness, a, b]: Rgb): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    fromLinear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    fromLinear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    fromLinear(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** The colour `t` of the way from one to the other, t from 0 to 1. */
export function mix(from: Rgb, to: Rgb, t: number): Rgb {
  const [a, b] = [toOklab(from), toOklab(to)];
  return fromOklab([a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t]);
}

/** From faint to full `end`; `zero` is the panel's colour, which the table leaves to zero itself. */
export function sequential(zero: Rgb, end: Rgb): Rgb[] {
  return Array.from({ length: ENTRIES }, (_, i) => mix(zero, end, FAINTEST + (1 - FAINTEST) * (i / (ENTRIES - 1))));
}

/** From `negative` over `zero` (between entries 127 and 128) to `positive`. */
export function diverging(negative: Rgb, zero: Rgb, positive: Rgb): Rgb[] {
  return Array.from({ length: ENTRIES }, (_, i) => {
    const t = (2 * i) / (ENTRIES - 1) - 1;
    return t < 0 ? mix(zero, negative, -t) : mix(zero, positive, t);
  });
}

/** Whether dark text reads better on a colour of `css` than light text. */
export function isLight(colour: string): boolean {
  const [red, green, blue] = colour.match(/\d+/g)!.map((channel) => toLinear(Number(channel))) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
}

export const css = ([red, green, blue]: Rgb): string => `rgb(${red} ${green} ${blue})`;

/** The colour as one little-endian RGBA pixel, for a Uint32Array over an ImageData. */
export const pixel = ([red, green, blue]: Rgb): number => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
