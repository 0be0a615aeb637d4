/** Which call speaks for a row that hides several: the worst. Pure. */
import { isGroup, type Tree } from "../graph/tree";
import type { Row } from "../graph/folds";

/** The calls that a row stands for: its own, and below a closed group or fold everything inside that has numbers of its own. */
export function hiddenCalls(tree: Tree, row: Row): number[] {
  if (row.open || row.kind === "call") return [row.call];
  const found: number[] = [];
  const waiting = [...row.members];
  for (let call = waiting.pop(); call !== undefined; call = waiting.pop()) {
    if (isGroup(tree, call) && !tree.loops.has(call)) waiting.push(...tree.children[call]!);
    else found.push(call);
  }
  return found.reverse();
}

/** Larger is worse; a number that is none is worst of all. */
export function badness(value: number | undefined): number {
  if (value === undefined) return -1;
  return Number.isNaN(value) ? Infinity : Math.abs(value);
}

/** An open group says nothing: its rows speak below it. Around a loop they cannot. */
export function isSilent(tree: Tree, row: Row): boolean {
  return row.open && row.kind === "group" && !tree.loops.has(row.call);
}

/**
 * The call whose number stands on the row, and -1 where there is none: the worst at this step. Of numbers with a sign none is worst,
 * so a row shows its own.
 */
export function worstCall(tree: Tree, row: Row, valueOf: (call: number) => number | undefined, signed: boolean): number {
  if (isSilent(tree, row)) return -1;
  if (signed) return valueOf(row.call) === undefined ? -1 : row.call;
  let worst = -1;
  let most = -1;
  for (const call of hiddenCalls(tree, row)) {
    const bad = badness(valueOf(call));
    if (bad > most) [worst, most] = [call, bad];
  }
  return worst;
}

/** Over all steps: the worst value of each one. NaN where no call has one. */
export function worstSeries(values: Float32Array, records: number, series: number[]): Float32Array {
  if (series.length === 1) return values.subarray(series[0]! * records, (series[0]! + 1) * records);
  const made = new Float32Array(records).fill(NaN);
  for (const row of series) {
    for (let i = 0; i < records; i++) {
      const value = values[row * records + i]!;
      if (Number.isNaN(made[i]!) || Math.abs(value) > Math.abs(made[i]!)) made[i] = value;
    }
  }
  return made;
}
