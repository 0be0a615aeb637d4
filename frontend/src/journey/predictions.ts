/** The classes that a vector of numbers speaks for, the largest first. Pure. */
import type { Numbers } from "../binary";

export interface Prediction {
  name: string;
  value: number;
}

export function topClasses(values: Numbers, names: readonly string[], most = 5): Prediction[] {
  return Array.from(values as ArrayLike<number>, (value, i) => ({ name: names[i] ?? String(i), value }))
    .sort((a, b) => b.value - a.value)
    .slice(0, most);
}
