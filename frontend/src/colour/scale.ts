/** From a number to its place on the colour scale. Pure; knows no colours. */
import { number } from "../format";
import { isShare } from "../measures";

export type Form = "logarithmic" | "linear" | "signed" | "signed logarithmic" | "around the median";

/** What the person may ask for; `auto` is what fits the column. */
export type Wanted = "auto" | "linear" | "logarithmic" | "diverging";

export interface Scale {
  form: Form;
  /** The smallest and largest number of the scale; of a signed one, minus and plus the largest magnitude. */
  low: number;
  high: number;
  /** Whether the calm colour lies in the middle. */
  middle: boolean;
  /** 0 to 1; null for NaN (no value) and, on a logarithmic scale, for zero, which has the panel's colour. */
  place(value: number): number | null;
}

const SIGNED = new Set(["mean", "min", "max"]);
/** How often each number stands among `values`, as it is written: what there is where no scale fits. */
export function tally(values: Iterable<number>): Map<string, number> {
  const found = new Map<string, number>();
  for (const value of values) found.set(number(value), (found.get(number(value)) ?? 0) + 1);
  return found;
}

/** Beyond this many times the typical magnitude, a linear scale shows only its outliers. */
const WIDE = 50;
/** A signed logarithm is linear below this part of the largest magnitude. */
const KNEE = 1e-4;

export const isSigned = (column: string): boolean => SIGNED.has(column);

/** The scale that fits the finite numbers among `values`; null where there is none. */
export function fitScale(column: string, values: Iterable<number>, wanted: Wanted = "auto"): Scale | null {
  const magnitudes: number[] = [];
  for (const value of values) if (Number.isFinite(value) && value !== 0) magnitudes.push(Math.abs(value));
  if (!magnitudes.length) return null;
  let low = Infinity;
  let high = 0;
  for (const magnitude of magnitudes) {
    if (magnitude < low) low = magnitude;
    if (magnitude > high) high = magnitude;
  }
  if (!isSigned(column) && wanted !== "diverging") {
    // A logarithm would distort shares.
    return wanted === "linear" || (wanted === "auto" && isShare(column)) ? linear(isShare(column) ? 1 : high) : logarithmic(low, high);
  }
  const typical = median(magnitudes);
  if (!isSigned(column)) return aroundMedian(typical, Math.max(high / typical, typical / low));
  if (wanted === "linear" || wanted === "logarithmic") return wanted === "linear" ? signedLinear(high) : signedLogarithmic(high);
  return high / typical > WIDE ? signedLogarithmic(high) : signedLinear(high);
}

/** Of more numbers than this a part, evenly taken, is enough to say what is typical. */
const MEDIAN_OF = 20_000;

function median(numbers: number[]): number {
  const stride = Math.ceil(numbers.length / MEDIAN_OF);
  const part = Float64Array.from({ length: Math.ceil(numbers.length / stride) }, (_, i) => numbers[i * stride]!).sort();
  return part[part.length >> 1]!;
}

export function logarithmic(low: number, high: number): Scale {
  const span = Math.log(high / low);
  const place = (value: number) => {
    if (!(value > 0)) return null;
    return span > 0 ? clamp(Math.log(value / low) / span) : 0.5;
  };
  return { form: "logarithmic", low, high, middle: false, place };
}

export function linear(high: number): Scale {
  return { form: "linear", low: 0, high, middle: false, place: (value) => (Number.isNaN(value) ? null : clamp(value / high)) };
}

/** A logarithm about the typical number: what is smaller on one side, what is larger on the other, `reach` times at the ends. */
export function aroundMedian(typical: number, reach: number): Scale {
  const full = Math.log(Math.max(reach, 1 + 1e-9));
  const place = (value: number) => (value > 0 ? clamp(0.5 + Math.log(value / typical) / (2 * full)) : null);
  return { form: "around the median", low: typical / reach, high: typical * reach, middle: true, place };
}

export function signedLinear(high: number): Scale {
  return { form: "signed", low: -high, high, middle: true, place: (value) => (Number.isNaN(value) ? null : clamp(0.5 + value / (2 * high))) };
}

export function signedLogarithmic(high: number): Scale {
  const full = Math.log1p(1 / KNEE);
  const place = (value: number) => {
    if (Number.isNaN(value)) return null;
    return clamp(0.5 + (Math.sign(value) * Math.log1p(Math.abs(value) / (high * KNEE))) / (2 * full));
  };
  return { form: "signed logarithmic", low: -high, high, middle: true, place };
}

const clamp = (t: number) => Math.min(1, Math.max(0, t));
