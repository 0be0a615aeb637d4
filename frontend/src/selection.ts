/** What a click or a key does to the state: choosing a call, going to a step, opening what hides a call. Draws nothing. */
import { batch, computed, effect, untracked } from "@preact/signals";
import { makeFolds, openingsFor, rows, type Folds, type Row } from "./graph/folds";
import { callOfFinding, placeOf } from "./findings/places";
import { firstOpen } from "./graph/opening";
import { makeTree, type Tree } from "./graph/tree";
import * as state from "./state";
import type { FindingInfo } from "./types";

export const tree = computed<Tree | null>(() => (state.graph.value ? makeTree(state.graph.value) : null));
export const folds = computed<Folds | null>(() => (tree.value ? makeFolds(tree.value) : null));
/** The groups that stand open, the first view's choice included. */
export const openNow = computed<ReadonlySet<string>>(() => {
  if (state.openGroups.value) return state.openGroups.value;
  return tree.value && folds.value ? firstOpen(tree.value, folds.value) : new Set();
});
export const outlineRows = computed<Row[]>(() =>
  tree.value && folds.value ? rows(tree.value, folds.value, openNow.value, state.unfolded.value) : [],
);

/** Keeps the chosen call over a change of graph, by its path, and the path beside every choice that a view makes; the microscope closes with its call. */
export function followChoice(): void {
  effect(() => {
    const index = state.callIndex.value.get(state.chosenPath.peek()) ?? null;
    if (!state.graph.value) return;
    untracked(() => {
      state.chosen.value = index;
      state.hovered.value = null;
    });
  });
  effect(() => {
    const call = state.chosen.value;
    const graph = state.graph.peek();
    // Whichever view it was chosen in, a call takes the place of a bucket or a line.
    if (call !== null) state.focus.value = null;
    if (!graph) return;
    const path = call === null ? "" : (graph.calls[call]?.path ?? "");
    if (path !== state.chosenPath.peek() && path !== state.lens.peek()?.path) closeLens();
    // A call that this step's graph lacks stays remembered: the next step may have it again.
    if (path || state.callIndex.peek().has(state.chosenPath.peek())) state.chosenPath.value = path;
  });
}

/** Closes the microscope; what its number saw is then drawn nowhere. */
export function closeLens(): void {
  batch(() => {
    state.lens.value = null;
    state.pointed.value = null;
  });
}

export function choose(call: number | null): void {
  state.chosen.value = call;
  state.focus.value = null;
  if (call !== null) state.inspectorOpen.value = true;
}

/** The operation in the list of its call, or of its bucket. */
export function showOp(op: { number: number; call: number | null; bucket: string }): void {
  batch(() => {
    if (op.call !== null) {
      if (op.call !== state.chosen.value) reveal(op.call);
      state.focus.value = null;
      state.panel.value = "ops";
    } else state.focus.value = { kind: "bucket", name: op.bucket || "other" };
    state.chosenOp.value = op.number;
    state.inspectorOpen.value = true;
  });
}

/** A line of the program, `model.py:42`, with everything that it made. */
export function showLine(place: string): void {
  batch(() => {
    state.focus.value = { kind: "line", name: place };
    state.inspectorOpen.value = true;
  });
}

/** The operations of a bucket: loss, metrics, optimizer, input, other. */
export function showBucket(name: string): void {
  batch(() => {
    state.focus.value = { kind: "bucket", name };
    state.chosenOp.value = null;
    state.inspectorOpen.value = true;
  });
}

/** Puts a call beside the chosen one in the charts, or takes it away; with nothing chosen it is the chosen one. */
export function compare(call: number): void {
  const path = state.graph.value?.calls[call]?.path;
  if (path === undefined) return;
  if (state.chosen.value === null) return choose(call);
  if (call === state.chosen.value) return;
  const { value: paths } = state.compared;
  state.compared.value = paths.includes(path) ? paths.filter((each) => each !== path) : [...paths, path];
  state.inspectorOpen.value = true;
}

/** Chooses a call and opens the groups and folds that hide it. */
export function reveal(call: number): void {
  if (!tree.value || !folds.value) return;
  const needed = openingsFor(tree.value, folds.value, call);
  batch(() => {
    if (needed.groups.some((group) => !openNow.value.has(group))) {
      state.openGroups.value = new Set([...openNow.value, ...needed.groups]);
    }
    if (needed.folds.some((fold) => !state.unfolded.value.has(fold))) {
      state.unfolded.value = new Set([...state.unfolded.value, ...needed.folds]);
    }
    choose(call);
  });
}

/** Opens or closes a group or fold. */
export function toggle({ kind, key, open }: Row): void {
  if (key === null) return;
  const target = kind === "group" ? openNow.value : state.unfolded.value;
  const next = new Set(target);
  if (open) next.delete(key);
  else next.add(key);
  if (kind === "group") state.openGroups.value = next;
  else state.unfolded.value = next;
}

/** The step at a place among the steps that exist; the newest one is followed while records keep coming. */
export function goToIndex(index: number): void {
  const all = state.steps.value?.step;
  if (!all?.length) return;
  const kept = Math.min(all.length - 1, Math.max(0, index));
  state.step.value = kept === all.length - 1 ? null : all[kept]!;
}

/** The call, the step and the numbers that a finding is about; `inHeatmap` shows them as a cell of it. */
export function goToFinding(finding: FindingInfo, inHeatmap: boolean): void {
  const { colourBy, panel } = placeOf(finding);
  const call = callOfFinding(finding, state.graph.value);
  batch(() => {
    if (call !== null) reveal(call);
    goToIndex(state.steps.value ? state.nearestIndex(state.steps.value.step, finding.step) : 0);
    if (colourBy) state.colourBy.value = colourBy;
    if (panel) state.panel.value = panel;
    state.heatmap.value = inHeatmap;
    state.stepRange.value = null;
    state.filter.value = "";
    state.railOpen.value = false;
  });
}

export function moveStep(by: number): void {
  goToIndex(state.stepIndex.value + by);
}
