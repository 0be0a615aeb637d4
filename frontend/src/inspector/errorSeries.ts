/** The numbers of one call's error over the steps, from series of whole graphs. Pure. */
import type { SeriesTable } from "../api";
import type { CallInfo } from "../types";
import { rowsOfCalls } from "../values";

/** The call's own numbers; null where it has none. */
export function ofCall(series: SeriesTable, calls: readonly CallInfo[], call: number): Float32Array | null {
  const row = rowsOfCalls(calls, series.ports).get(call);
  return row === undefined ? null : ofRow(series, row);
}

export function ofRow({ values, step }: SeriesTable, row: number): Float32Array {
  return values.subarray(row * step.length, (row + 1) * step.length);
}

/** The largest magnitude, from the smallest and the largest number. */
export function magnitude(min: ArrayLike<number>, max: ArrayLike<number>): Float32Array {
  return Float32Array.from(min, (low, i) => Math.max(Math.abs(low), Math.abs(max[i]!)));
}

/** Mean minus and plus one standard deviation, within min and max. */
export function deviation(mean: ArrayLike<number>, std: ArrayLike<number>, bound: ArrayLike<number>, sign: 1 | -1): Float32Array {
  return Float32Array.from(mean, (value, i) => (sign > 0 ? Math.min(bound[i]!, value + std[i]!) : Math.max(bound[i]!, value - std[i]!)));
}

export function quotient(over: ArrayLike<number>, under: ArrayLike<number>): Float32Array {
  return Float32Array.from(over, (value, i) => (under[i] === 0 ? NaN : value / under[i]!));
}

/** One layer's l2 over all its variables that both series know, the one over the other; null where there is none. */
export function layerQuotient(over: SeriesTable, under: SeriesTable, layer: number): Float32Array | null {
  const lower = new Map(under.ports.map(([of, weight], row) => [of === layer ? weight : -1, row]));
  const records = over.step.length;
  const sums = [new Float64Array(records), new Float64Array(records)] as const;
  let found = false;
  over.ports.forEach(([of, weight], row) => {
    const below = of === layer ? lower.get(weight) : undefined;
    if (below === undefined) return;
    found = true;
    for (let i = 0; i < records; i++) {
      sums[0][i]! += over.values[row * records + i]! ** 2;
      sums[1][i]! += under.values[below * records + i]! ** 2;
    }
  });
  return found ? Float32Array.from(sums[0], (sum, i) => (sums[1][i] ? Math.sqrt(sum / sums[1][i]!) : NaN)) : null;
}

/** Values at the steps of another run, or NaN where that run has no record of the step. */
export function alignSteps(values: ArrayLike<number>, own: ArrayLike<number>, wanted: ArrayLike<number>): Float32Array {
  const index = new Map(Array.from(own, (step, i) => [step, i]));
  return Float32Array.from(wanted, (step) => values[index.get(step) ?? -1] ?? NaN);
}

/** All steps of several runs, rising, each once. */
export function unionSteps(all: readonly ArrayLike<number>[]): Float64Array {
  const found = new Set<number>();
  for (const steps of all) for (let i = 0; i < steps.length; i++) found.add(steps[i]!);
  return Float64Array.from(found).sort();
}
