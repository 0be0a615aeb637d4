/** Lays the terms of one channel out as they lie in the window. Pure. */
import type { Term } from "../valuesApi";

export interface TermGrid {
  rows: number;
  cols: number;
  /** Row by row; null where a padding or nothing lies. */
  terms: (Term | null)[];
}

/** The last two axes along which the terms differ are rows and columns; any before them are stacked. */
export function termGrid(terms: readonly Term[]): TermGrid {
  const rank = terms[0]?.index.length ?? 0;
  const places = Array.from({ length: rank }, (_, axis) => [...new Set(terms.map(({ index }) => index[axis]!))].sort((a, b) => a - b));
  const varying = places.map((_, axis) => axis).filter((axis) => places[axis]!.length > 1);
  const colAxis = varying.at(-1);
  const rowAxis = varying.at(-2);
  const stacked = varying.slice(0, -2);
  const cols = colAxis === undefined ? 1 : places[colAxis]!.length;
  const inner = rowAxis === undefined ? 1 : places[rowAxis]!.length;
  const outer = stacked.reduce((product, axis) => product * places[axis]!.length, 1);
  const grid = Array<Term | null>(cols * inner * outer).fill(null);
  for (const term of terms) {
    const along = (axis: number | undefined) => (axis === undefined ? 0 : places[axis]!.indexOf(term.index[axis]!));
    const block = stacked.reduce((at, axis) => at * places[axis]!.length + along(axis), 0);
    grid[(block * inner + along(rowAxis)) * cols + along(colAxis)] = term;
  }
  return { rows: inner * outer, cols, terms: grid };
}
