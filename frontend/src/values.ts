/** The colour-by's number for every call at the cursor, its scale, and the colour of a number on it. Reads state, draws nothing. */
import { computed } from "@preact/signals";
import type { KindTable, RecordTable, SeriesTable } from "./api";
import { fitScale, isSigned, type Scale } from "./colour/scale";
import { css, diverging, ENTRIES, parseHex, pixel, sequential, type Rgb } from "./colour/tables";
import { madeBy } from "./graph/made";
import { byLayer, isMade, isShare, rowsOfLayers, WEIGHT_KINDS } from "./measures";
import type { CallInfo } from "./types";
import { colourBy, dark, findings, flaws, graph, record, scaleForm, scaleSpan, series, stepIndex } from "./state";
import { callOfFinding } from "./findings/places";

export { areLogitsOf, madeBy } from "./graph/made";
export { WEIGHT_KINDS } from "./measures";

/** The rows of one column by call: the first port that has numbers, which for a last softmax is the one of its logits. */
export function firstPorts(ports: readonly [number, number][]): Map<number, number> {
  const rows = new Map<number, number>();
  ports.forEach(([call, port], row) => {
    const kept = rows.get(call);
    if (kept === undefined || port < ports[kept]![1]) rows.set(call, row);
  });
  return rows;
}

/**
 * The rows of every call of a graph: its own first port that has numbers, or, for a group that only passes on what a call inside
 * made, that call's.
 */
export function rowsOfCalls(calls: readonly CallInfo[], ports: readonly [number, number][]): Map<number, number> {
  const rows = firstPorts(ports);
  const exact = new Map(ports.map(([call, port], row) => [call * 4096 + port, row]));
  calls.forEach((call, index) => {
    if (rows.has(index)) return;
    for (const output of call.outputs) {
      const made = madeBy(calls, output.source);
      const row = made && exact.get(made[0] * 4096 + made[1]);
      if (row !== null && row !== undefined) return void rows.set(index, row);
    }
  });
  return rows;
}

export function cell(table: RecordTable, kind: KindTable, row: number, column: string): number {
  return kind.columns[row * table.columns.length + table.columns.indexOf(column)] ?? NaN;
}

/** Call → number at the cursor. Calls without one are missing; NaN says that the tensor holds NaN. */
export const valueOfCall = computed<ReadonlyMap<number, number>>(() => {
  const table = record.value;
  const { kind: name, column } = colourBy.value;
  if (isMade(name)) return madeValues();
  const kind = table?.kinds.get(name);
  const values = new Map<number, number>();
  if (!table || !kind) return values;
  for (const [call, row] of rowsFor(name, column, kind.ports)) {
    const counted = cell(table, kind, row, column);
    const value = isShare(column) ? counted / kind.part[2 * row]! : counted;
    const absent = Number.isNaN(value) && Number.isNaN(cell(table, kind, row, "count"));
    if (!absent) values.set(call, value);
  }
  return values;
});

/** Which row colours which call: a layer's number all its calls. */
function rowsFor(kind: string, column: string, ports: readonly [number, number][]): Map<number, number> {
  const calls = graph.value?.calls ?? [];
  return byLayer(kind, column) ? rowsOfLayers(calls, ports) : rowsOfCalls(calls, ports);
}

/** A ratio or a layer loss is not in the record: its number is that of the series at the cursor. */
function madeValues(): ReadonlyMap<number, number> {
  const values = new Map<number, number>();
  const all = series.value;
  const index = stepIndex.value;
  if (!all || all.kind !== colourBy.value.kind || all.column !== colourBy.value.column || index >= all.step.length) return values;
  for (const [call, row] of seriesRow.value) {
    const value = all.values[row * all.step.length + index]!;
    if (!Number.isNaN(value)) values.set(call, value);
  }
  return values;
}

/** Calls whose output or error holds NaN or infinities at the cursor. */
export const nonFiniteCalls = computed<ReadonlySet<number>>(() => {
  const table = record.value;
  const found = new Set<number>();
  for (const [name, kind] of table?.kinds ?? []) {
    if (WEIGHT_KINDS.has(name)) continue;
    kind.ports.forEach(([call], row) => {
      if (cell(table!, kind, row, "finite") === 0) found.add(call);
    });
  }
  return found;
});

/**
 * What the outline and the cards mark: a failure where a call raised or holds a number that is none at this step, and what was found
 * over all steps.
 */
export const marks = computed<ReadonlyMap<number, "failure" | "warning">>(() => {
  const found = new Map<number, "failure" | "warning">();
  graph.value?.calls.forEach((call, index) => {
    if (call.failed || nonFiniteCalls.value.has(index)) found.set(index, "failure");
  });
  for (const finding of findings.value ?? []) {
    const call = callOfFinding(finding, graph.value);
    if (call !== null && found.get(call) !== "failure") found.set(call, finding.level);
  }
  return found;
});

/** Row of `series` by call. */
export const seriesRow = computed<ReadonlyMap<number, number>>(() =>
  series.value ? rowsFor(series.value.kind, series.value.column, series.value.ports) : new Map(),
);

export const stepScale = computed<Scale | null>(() => fitScale(colourBy.value.column, valueOfCall.value.values(), scaleForm.value));
function* numbersOfRows({ values, step }: SeriesTable, rows: Iterable<number>): Iterable<number> {
  for (const row of rows) yield* values.subarray(row * step.length, (row + 1) * step.length);
}

/** Over all steps: the heatmap's, since one colour there must mean one number. */
export const runScale = computed<Scale | null>(() => {
  const all = series.value;
  if (!all || all.column !== colourBy.value.column || all.kind !== colourBy.value.kind) return null;
  // Of weights only the rows that colour something count: a bias that begins at zero would stretch the scale for all.
  const numbers = byLayer(all.kind, all.column) ? numbersOfRows(all, new Set(seriesRow.value.values())) : all.values;
  return fitScale(all.column, numbers, scaleForm.value);
});
/** Whether the scale's middle is its calm colour. */
const hasMiddle = computed(() => (runScale.value ?? stepScale.value)?.middle ?? isSigned(colourBy.value.column));
export const scale = computed<Scale | null>(() => (scaleSpan.value === "run" ? (runScale.value ?? stepScale.value) : stepScale.value));

export interface Palette {
  signed: boolean;
  table: Rgb[];
  css: string[];
  pixels: Uint32Array;
  /** Sparklines and chart lines. */
  line: Rgb;
  panel: Rgb;
  absent: Rgb;
  bad: Rgb;
}

export function token(name: string): Rgb {
  return parseHex(getComputedStyle(document.documentElement).getPropertyValue(name));
}

const palettes = new Map<string, Palette>();

/** The table of the colour-by in the colours of the theme; made once per theme. */
export const palette = computed<Palette>(() => {
  const signed = hasMiddle.value;
  const key = `${dark.value} ${signed}`;
  const kept = palettes.get(key);
  if (kept) return kept;
  // The class that the tokens hang on may not be there yet when a signal asks first.
  document.documentElement.classList.toggle("dark", dark.value);
  const panel = token("--panel");
  const table = signed ? diverging(token("--neg"), panel, token("--pos")) : sequential(panel, token("--err"));
  const made = {
    signed,
    table,
    css: table.map(css),
    pixels: Uint32Array.from(table, pixel),
    line: token("--err"),
    panel,
    absent: token("--absent"),
    bad: token("--bad"),
  };
  palettes.set(key, made);
  return made;
});

/** Fills of everything that is coloured by a number: no value and zero are not the same. */
export function colourOf(value: number | undefined, on: Scale | null, colours: Palette): string | null {
  if (value === undefined) return null;
  if (!Number.isFinite(value)) return css(colours.bad);
  // Numbers without a scale are all zero.
  const place = on?.place(value) ?? null;
  return place === null ? css(colours.panel) : colours.css[Math.round(place * (ENTRIES - 1))]!;
}

/** Call → colour at the cursor; a call without a number is missing. */
export const colourOfCall = computed<ReadonlyMap<number, string>>(() => {
  const colours = palette.value;
  const on = scale.value;
  const found = new Map<number, string>();
  for (const [call, value] of valueOfCall.value) {
    const colour = colourOf(value, on, colours);
    if (colour) found.set(call, colour);
  }
  return found;
});

/** Whether a row of the colour-by's series holds NaN at a record because the tensor did, not because the call was absent. */
export function flawsOf(row: number, index: number): boolean {
  const finite = flaws.value;
  return finite !== null && finite.values[row * finite.step.length + index] === 0;
}
