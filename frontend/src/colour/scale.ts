/** From a number to its place on the colour scale. Pure; knows no colours. */

export type Form = "logarithmic" | "signed" | "signed logarithmic";

export interface Scale {
  form: Form;
  /** The smallest and largest number of the scale; of a signed one, minus and plus the largest magnitude. */
  low: number;
  high: number;
  /** 0 to 1; null for NaN (no value) and, on a logarithmic scale, for zero, which has the panel's colour. */
  place(value: number): number | null;
}

const SIGNED = new Set(["mean", "min", "max"]);
/** Beyond this many times the typical magnitude, a linear scale shows only its outliers. */
const WIDE = 50;
/** A signed logarithm is linear below this part of the largest magnitude. */
const KNEE = 1e-4;

export const isSigned = (column: string): boolean => SIGNED.has(column);

/** The scale that fits the finite numbers among `values`; null where there is none. */
export function fitScale(column: string, values: Iterable<number>): Scale | null {
  const magnitudes: number[] = [];
  for (const value of values) if (Number.isFinite(value) && value !== 0) magnitudes.push(Math.abs(value));
  if (!magnitudes.length) return null;
  let low = Infinity;
  let high = 0;
  for (const magnitude of magnitudes) {
    if (magnitude < low) low = magnitude;
    if (magnitude > high) high = magnitude;
  }
  if (!isSigned(column)) return logarithmic(low, high);
  magnitudes.sort((a, b) => a - b);
  const typical = magnitudes[magnitudes.length >> 1]!;
  return high / typical > WIDE ? signedLogarithmic(high) : signedLinear(high);
}

export function logarithmic(low: number, high: number): Scale {
  const span = Math.log(high / low);
  const place = (value: number) => {
    if (!(value > 0)) return null;
    return span > 0 ? clamp(Math.log(value / low) / span) : 0.5;
  };
  return { form: "logarithmic", low, high, place };
}

export function signedLinear(high: number): Scale {
  return { form: "signed", low: -high, high, place: (value) => (Number.isNaN(value) ? null : clamp(0.5 + value / (2 * high))) };
}

export function signedLogarithmic(high: number): Scale {
  const full = Math.log1p(1 / KNEE);
  const place = (value: number) => {
    if (Number.isNaN(value)) return null;
    return clamp(0.5 + (Math.sign(value) * Math.log1p(Math.abs(value) / (high * KNEE))) / (2 * full));
  };
  return { form: "signed logarithmic", low: -high, high, place };
}

const clamp = (t: number) => Math.min(1, Math.max(0, t));
