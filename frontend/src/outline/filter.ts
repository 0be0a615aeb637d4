/** The outline's rows: as they stand open, or with a filter those that match it, wherever they are hidden. Reads state, draws nothing. */
import { computed } from "@preact/signals";
import { rows, type Row } from "../graph/folds";
import { folds, outlineRows, tree } from "../selection";
import { filter, graph, heatmap, rowGrouping, unfolded } from "../state";
import { byType, everyCall } from "./grouping";
import type { CallInfo } from "../types";

/** Every group and fold stands open while the filter looks through them. */
const EVERYTHING = { has: () => true } as unknown as ReadonlySet<string>;

const everyRow = computed<Row[]>(() => (tree.value && folds.value ? rows(tree.value, folds.value, EVERYTHING, EVERYTHING) : []));

/** The rows of the heatmap's own orders; null where the outline's are wanted. */
const groupedRows = computed<Row[] | null>(() => {
  if (!heatmap.value || rowGrouping.value === "tree" || !tree.value) return null;
  return rowGrouping.value === "calls" ? everyCall(tree.value) : byType(tree.value, unfolded.value);
});

export const shownRows = computed<Row[]>(() => {
  const text = filter.value.trim().toLowerCase();
  if (groupedRows.value) return text && graph.value ? filterRows(groupedRows.value, graph.value.calls, text) : groupedRows.value;
  return text && graph.value ? filterRows(everyRow.value, graph.value.calls, text) : outlineRows.value;
});

/** Rows whose path or type holds the text, and the rows above them that lead there. */
export function filterRows(all: readonly Row[], calls: readonly CallInfo[], text: string): Row[] {
  const kept: Row[] = [];
  let wanted = -1;
  // Backwards, so that a parent is met after the children for whose sake it stays.
  for (let at = all.length - 1; at >= 0; at--) {
    const row = all[at]!;
    const { path, type } = calls[row.call]!;
    if (row.depth >= wanted && !path.toLowerCase().includes(text) && !type.toLowerCase().includes(text)) continue;
    kept.push(row);
    wanted = row.depth;
  }
  return kept.reverse();
}
