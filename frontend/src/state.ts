/** What the person chose and what was fetched for it, as signals: the only place where the page keeps state. Knows no fetching and no drawing. */
import { computed, signal } from "@preact/signals";
import type { Held } from "./exact";
import type { CallWindow } from "./valuesApi";
import type { LossesTable, RecordTable, SeriesTable, StepsTable } from "./api";
import type { FindingInfo, GraphInfo, LedgerEntry, RunInfo, StreamInfo, StreamsInfo } from "./types";

/** What cards, rows and the heatmap are coloured by: one column of the statistics of one kind of tensor. */
export interface ColourBy {
  kind: string;
  column: string;
}

/** Whether the colour scale spans the numbers of the step at the cursor, or those of all steps. */
export type ScaleSpan = "step" | "run";

/** How numbers become colours: `auto` as fits the column, else as the person chose. */
export type ScaleForm = "auto" | "linear" | "logarithmic" | "diverging";

/** What the heatmap has as rows: the outline's, every call, or the calls by the type of their layer. */
export type RowGrouping = "tree" | "calls" | "types";

// Chosen. ------------------------------------------------------------------------------------------------------------

export const run = signal("");
export const stream = signal("");
/** The step at the cursor; null before anything is loaded, or to follow the newest one. */
export const step = signal<number | null>(null);
/** The chosen call, an index into `graph.calls`; null: nothing chosen. */
export const chosen = signal<number | null>(null);
/** Its path, which finds it again in another step's, stream's or run's graph; empty: nothing chosen. */
export const chosenPath = signal("");
/** The call under the pointer, in whichever view it is. */
export const hovered = signal<number | null>(null);
export const colourBy = signal<ColourBy>({ kind: "error", column: "l2" });
export const scaleSpan = signal<ScaleSpan>("step");
export const scaleForm = signal<ScaleForm>("auto");
/** The records that the heatmap shows, first and one past the last; null: all. */
export const stepRange = signal<readonly [number, number] | null>(null);
export const rowGrouping = signal<RowGrouping>("tree");
/** Key of an entry of VIEWS in views.ts. */
export const view = signal("flow");
/** Key of an entry of PANELS in inspector/panels.ts. */
export const panel = signal("distribution");
/** Paths of the groups that stand open; null: as the first view decides. */
export const openGroups = signal<ReadonlySet<string> | null>(null);
/** Keys of the stacks and repeats that were unfolded. */
export const unfolded = signal<ReadonlySet<string>>(new Set());
export const outlineWidth = signal(288);
/** Whether the outline's strip is widened into the heatmap. */
export const heatmap = signal(false);
export const filter = signal("");
export const playing = signal(false);
/** True for a moment after the link was copied. */
export const copied = signal(false);
/** The menu or overlay that stands open: `run`, `colour`, `search`, `execution`, `help`, or empty. */
export const menu = signal("");
export const ledgerOpen = signal(false);
export const findingsOpen = signal(true);
export const inspectorOpen = signal(false);
export const railOpen = signal(false);
/** What the person asked for; `auto` follows TensorBoard. */
export const theme = signal<"auto" | "light" | "dark">("auto");

/** Which of the kept samples the exact values are shown of. */
export const sample = signal(0);
/** What of a call the maps show: `output`, `input`, an error, or `all` side by side. */
export const mapKind = signal("output");
/** Over what the ends of a map's colour scale are taken. */
export const mapRange = signal<"map" | "layer" | "model">("layer");
export const mapOrder = signal<"channel" | "activity">("channel");
/** Steps of the zoom of maps. */
export const mapZoom = signal(0);
/** The number in the microscope, with the batch axis; null: none. Its call is named by its path. */
export const lens = signal<{ path: string; port: number; index: number[] } | null>(null);
/** The number under the pointer, whose window is drawn in earlier maps. */
export const pointed = signal<{ path: string; port: number; index: number[] } | null>(null);

/** Number of the operation that stands open in a list; null: none. */
export const chosenOp = signal<number | null>(null);
/** What the inspector shows in place of a call: a bucket of operations, or a line of the program (`model.py:42`). */
export const focus = signal<{ kind: "bucket" | "line"; name: string } | null>(null);

/** How the errors are charted: which number of them, relative to what, on which scale, of which backward pass. */
export interface ErrorLook {
  column: "l2" | "mean" | "max" | "spread";
  relative: "none" | "output" | "weights";
  linear: boolean;
  pass: string;
}
export const errorLook = signal<ErrorLook>({ column: "l2", relative: "none", linear: false, pass: "error" });
/** Paths of the calls whose numbers stand beside the chosen one's. */
export const compared = signal<readonly string[]>([]);
/** Runs that are overlaid on the shown one. */
export const otherRuns = signal<ReadonlySet<string>>(new Set());

// Told by the browser and the host. ----------------------------------------------------------------------------------

export const hostDark = signal(false);
export const dark = computed(() => (theme.value === "auto" ? hostDark.value : theme.value === "dark"));
export const runColours = signal<ReadonlyMap<string, string>>(new Map());
/** False while TensorBoard shows another tab or the browser tab is hidden: nothing is fetched, drawn or played then. */
export const awake = signal(true);
export const windowWidth = signal(1440);

// Fetched. -----------------------------------------------------------------------------------------------------------

export const streams = signal<StreamsInfo | null>(null);
export const graph = signal<GraphInfo | null>(null);
export const steps = signal<StepsTable | null>(null);
/** All statistics at the cursor. While the next step is on its way, the last one that arrived. */
export const record = signal<RecordTable | null>(null);
/** The colour-by over all steps. */
export const series = signal<SeriesTable | null>(null);
/** `finite` of the colour-by's kind over all steps, fetched only where `series` holds numbers that are none. */
export const flaws = signal<SeriesTable | null>(null);
export const ledger = signal<LedgerEntry[] | null>(null);
/** What is wrong with the training, failures first; null until it is known, or where the plugin cannot say. */
export const findings = signal<FindingInfo[] | null>(null);
/** How many operations belong to no call, by bucket; empty where the log has none. */
export const buckets = signal<Readonly<Record<string, number>>>({});
/** The layer losses over all steps; null where the stream has none. */
export const losses = signal<LossesTable | null>(null);
/** A sentence on a run or stream that was asked for and is not there: another is shown. */
export const missing = signal("");
/** A sentence in place of the picture, where the stream cannot be shown. */
export const problem = signal("");
/** Exact values of the nearest earlier record that has them, with that record's own graph. */
export const held = signal<Held | null>(null);
/** Why there are none; empty where there are, or nothing is known yet. */
export const noValues = signal("");
/** The steps whose record has exact values. */
export const valueSteps = signal<readonly number[]>([]);
/** The receptive window of the number under the pointer, else of the one in the microscope: `call port` of `held.graph` → its part. */
export const windows = signal<ReadonlyMap<string, CallWindow>>(new Map());
/** True once something has been awaited for more than 150 ms. */
export const slow = signal(false);

// Derived. -----------------------------------------------------------------------------------------------------------

export const runInfo = computed<RunInfo | undefined>(() => streams.value?.runs.find((entry) => entry.run === run.value));
export const streamInfo = computed<StreamInfo | undefined>(() =>
  runInfo.value?.streams.find((entry) => entry.stream === stream.value),
);
/** Call path → index into `graph.calls`. */
export const callIndex = computed<ReadonlyMap<string, number>>(
  () => new Map(graph.value?.calls.map((call, index) => [call.path, index]) ?? []),
);
/** The error of a backward pass under the name that the pass was given: `error#0` as `error:generator`. Other kinds as they are. */
export function namedKind(kind: string): string {
  const name = kind.startsWith("error#") && graph.value?.backward_names[Number(kind.slice(6))];
  return name ? `error:${name}` : kind;
}
/** The place of the cursor among the steps that exist; -1 where there are none. */
export const stepIndex = computed(() => {
  const all = steps.value?.step;
  if (!all?.length) return -1;
  return step.value === null ? all.length - 1 : nearestIndex(all, step.value);
});

/** The index of the number nearest to `wanted` in a rising array that is not empty. */
export function nearestIndex(rising: ArrayLike<number>, wanted: number): number {
  let low = 0;
  let high = rising.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low > 0 && wanted - rising[low - 1]! <= rising[low]! - wanted ? low - 1 : low;
}
