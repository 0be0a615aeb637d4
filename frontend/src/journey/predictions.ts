/** The classes that a vector of numbers speaks for, the largest first, and which of them is right. Pure. */
import type { Numbers } from "../binary";

export interface Prediction {
  name: string;
  value: number;
  /** Whether this is what the sample is: its label, or one of them. */
  isLabel: boolean;
}

/** What a bar of full length stands for: 1 where all are shares, as softmax and sigmoid give them (to rounding), else the largest. */
export function fullBar(predictions: readonly Prediction[]): number {
  const isShare = predictions.every(({ value }) => value >= 0 && value <= 1 + 1e-6);
  return isShare ? 1 : Math.max(...predictions.map(({ value }) => Math.abs(value)), 1e-300);
}

/** The largest, and after them those of the labels that are not among them; `labels` as `labelsOf` gives them. */
export function topClasses(values: Numbers, names: readonly string[], labels: ReadonlySet<number> | null = null, most = 5): Prediction[] {
  const sorted = Array.from(values as ArrayLike<number>, (value, i) => ({ name: names[i] ?? String(i), value, isLabel: labels?.has(i) ?? false }))
    .sort((a, b) => b.value - a.value);
  return [...sorted.slice(0, most), ...sorted.slice(most).filter(({ isLabel }) => isLabel).slice(0, 3)];
}

/** The classes that labels stand for, which are a class's number, or 0 and 1 for each; null where they are targets of another kind. */
export function labelsOf(labels: Numbers, classes: number): Set<number> | null {
  const given = Array.from(labels as ArrayLike<number>);
  if (given.length === 1 && classes > 1) {
    const [only] = given as [number];
    return Number.isInteger(only) && only >= 0 && only < classes ? new Set([only]) : null;
  }
  if (given.length !== classes || classes < 2 || !given.every((each) => each === 0 || each === 1)) return null;
  return new Set(given.flatMap((each, i) => (each === 1 ? [i] : [])));
}

/** One unit speaks for the second of two classes, and its label names one of them; else both are numbers. */
export function ofOneUnit(value: number, label: number | null, names: readonly string[], otherwise: { output: string; label: string }): Prediction[] {
  const [none, one] = names.length === 2 ? names : [];
  const only = { name: one ?? otherwise.output, value, isLabel: false };
  if (label === null) return [only];
  return [only, { name: (label === 1 ? one : label === 0 ? none : undefined) ?? otherwise.label, value: label, isLabel: true }];
}
