/** Counts in words. Pure. */

export const plural = (count: number, one: string, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

const ORDINALS = ["th", "st", "nd", "rd"];
/** 1st, 2nd, 3rd, 11th, 22nd. */
export function ordinal(n: number): string {
  const tens = n % 100;
  return n + (tens > 10 && tens < 20 ? "th" : (ORDINALS[n % 10] ?? "th"));
}
