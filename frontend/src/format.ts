/** Numbers as the page writes them. Pure. A minus is U+2212, as wide as a figure, so that columns of numbers stand straight. */

import { isShare } from "./measures";

const MINUS = "−";

function signed(text: string): string {
  return text.startsWith("-") ? MINUS + text.slice(1) : text;
}

/**
 * `digits` significant digits: plain from 0.001 up to 10,000, else with an exponent: 0.0171, 4,700, 1.1e−3. Zero is 0, and NaN and
 * the infinities are written as words, since hiding them would be a lie.
 */
export function number(value: number, digits = 4): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : `${MINUS}Inf`;
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(digits));
  const magnitude = Math.abs(rounded);
  if (magnitude < 1e-3 || magnitude >= 1e4) return exponent(value, digits);
  if (Number.isInteger(value)) return signed(value.toLocaleString("en"));
  return signed(rounded.toPrecision(digits));
}

/** `digits` significant digits, always with an exponent: 1.1e−3. */
export function exponent(value: number, digits = 2): string {
  if (value === 0 || !Number.isFinite(value)) return number(value);
  const [mantissa, power] = value.toExponential(digits - 1).split("e") as [string, string];
  return `${signed(mantissa)}e${signed(power.replace("+", ""))}`;
}

/** A whole number with separators; beyond exact integers as written by `number`. */
export function count(value: number): string {
  return Number.isSafeInteger(value) ? signed(value.toLocaleString("en")) : number(value);
}

/** 160, 12.3 k, 0.8 M: for counts that are read, not computed with. */
export function rough(value: number): string {
  if (value < 1e4) return count(value);
  if (value < 5e5) return `${(value / 1e3).toPrecision(3)} k`;
  return value < 1e9 ? `${(value / 1e6).toPrecision(value < 1e6 ? 2 : 3)} M` : `${(value / 1e9).toPrecision(3)} G`;
}

/** With a unit after its prefix: 160 B, 12.3 kB, 0.8 MFLOP. */
export const withUnit = (value: number, unit: string): string => rough(value).replace(/\d$/, "$& ") + unit;

/** A part of a whole: 76.7 %. What is not quite all or nothing never reads as 0 or 100. */
export function share(part: number, whole: number): string {
  if (!(whole > 0)) return "–";
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.1) return "<0.1 %";
  if (percent < 100 && percent > 99.9) return ">99.9 %";
  return `${percent === 0 || percent === 100 ? percent : percent.toFixed(1)} %`;
}

/** A number of one column of the colour-by: shares as percent, the others as `write` does. */
export function ofColumn(column: string, value: number, write: (value: number) => string = number): string {
  return isShare(column) && Number.isFinite(value) ? share(value, 1) : write(value);
}

/** Seconds as people say them: 3.1 ms, 2.4 s, 3 min. */
export function duration(seconds: number): string {
  if (seconds < 1e-3) return `${Number((seconds * 1e6).toPrecision(2))} µs`;
  if (seconds < 1) return `${Number((seconds * 1e3).toPrecision(2))} ms`;
  return seconds < 90 ? `${Number(seconds.toPrecision(2))} s` : `${Math.round(seconds / 60)} min`;
}

/** A shape with its batch axis: ?×24×24×16. */
export function shape(dimensions: number[] | null): string {
  if (!dimensions) return "?";
  if (!dimensions.length) return "scalar";
  return dimensions.map((dimension) => (dimension < 0 ? "?" : dimension)).join("×");
}

/** A whole epoch as it is, a part of one with one decimal. */
export function epoch(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}
