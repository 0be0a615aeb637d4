/** The classes that a vector of numbers speaks for, the largest first. Pure. */
import type { Numbers } from "../binary";

export interface Prediction {
  name: string;
  value: number;
}

/** What a bar of full length stands for: 1 where all are shares, as softmax and sigmoid give them (to rounding), else the largest. */
export function fullBar(predictions: readonly Prediction[]): number {
  const isShare = predictions.every(({ value }) => value >= 0 && value <= 1 + 1e-6);
  return isShare ? 1 : Math.max(...predictions.map(({ value }) => Math.abs(value)), 1e-300);
}

export function topClasses(values: Numbers, names: readonly string[], most = 5): Prediction[] {
  return Array.from(values as ArrayLike<number>, (value, i) => ({ name: names[i] ?? String(i), value }))
    .sort((a, b) => b.value - a.value)
    .slice(0, most);
}
