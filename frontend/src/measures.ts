/** What calls can be coloured by beyond the columns of a record: ratios of two kinds, and layer losses, as series over the steps. Pure. */
import type { LossesTable, SeriesTable } from "./api";
import type { CallInfo } from "./types";

/** Columns that count elements of a part: as shares of it tensors of unequal size can be compared. */
const COUNTED: ReadonlySet<string> = new Set(["zero", "nan", "pos_inf", "neg_inf"]);

/** Whether people see the column as a share of a whole, 0 to 1. */
export const isShare = (column: string): boolean => COUNTED.has(column) || column.endsWith("accuracy");

/** Numbered by layer, everything else by call. */
export const WEIGHT_KINDS: ReadonlySet<string> = new Set(["weight", "weight_gradient", "update"]);

export const RATIO = "ratio";
export const LOSSES = "losses";

/** Kinds that are made of others, so that a record has no column of theirs. */
export const isMade = (kind: string): boolean => kind === RATIO || kind === LOSSES;

/** The l2 of the one over the l2 of the other. */
export const RATIOS: readonly (readonly [string, string])[] = [
  ["update", "weight"],
  ["weight_gradient", "weight"],
  ["error", "output"],
];

export const ratioColumn = ([over, under]: readonly [string, string]): string => `${over}/${under}`;

/** Which ratios a record of these kinds has. */
export function ratiosOf(kinds: { has(kind: string): boolean }): string[] {
  return RATIOS.filter((pair) => pair.every((kind) => kinds.has(kind))).map(ratioColumn);
}

/** Whether a kind's rows are numbered by layer. */
export function byLayer(kind: string, column: string): boolean {
  return WEIGHT_KINDS.has(kind === RATIO ? column.split("/")[0]! : kind);
}

const portKey = ([first, second]: readonly [number, number]) => first * 4096 + second;

/** One series over another, for the ports that both have. NaN where either is missing or the lower one is zero. */
export function ratioSeries(over: SeriesTable, under: SeriesTable): SeriesTable {
  const records = over.step.length;
  const below = new Map(under.ports.map((port, row) => [portKey(port), row]));
  const shared = over.ports.map((port, row) => ({ port, row, under: below.get(portKey(port)) })).filter((pair) => pair.under !== undefined);
  const values = new Float32Array(shared.length * records);
  shared.forEach(({ row, under: lower }, at) => {
    for (let i = 0; i < records; i++) {
      const divisor = under.values[lower! * records + i]!;
      values[at * records + i] = divisor === 0 ? NaN : over.values[row * records + i]! / divisor;
    }
  });
  return { kind: RATIO, column: `${over.kind}/${under.kind}`, ports: shared.map(({ port }) => port), step: over.step, values };
}

/** `direct.loss`, `readout.accuracy`, …: what a stream's layer losses can colour. */
export function lossColumns({ rows, loss, accuracy, step }: LossesTable): string[] {
  const found = new Set<string>();
  const filled = (values: Float32Array, row: number) => values.subarray(row * step.length, (row + 1) * step.length).some((value) => !Number.isNaN(value));
  rows.forEach(({ form }, row) => {
    if (filled(loss, row)) found.add(`${form}.loss`);
    if (filled(accuracy, row)) found.add(`${form}.accuracy`);
  });
  return [...found];
}

/** One form's losses or accuracies as a series; of several rows of one call and port, the first. */
export function lossSeries(table: LossesTable, column: string): SeriesTable {
  const [form, what] = column.split(".");
  const source = what === "accuracy" ? table.accuracy : table.loss;
  const records = table.step.length;
  const rows = table.rows.map((row, at) => ({ ...row, at })).filter((row) => row.form === form);
  const firsts = rows.filter(({ call, port }, i) => rows.findIndex((each) => each.call === call && each.port === port) === i);
  const values = new Float32Array(firsts.length * records);
  firsts.forEach(({ at }, i) => values.set(source.subarray(at * records, (at + 1) * records), i * records));
  return { kind: LOSSES, column, ports: firsts.map(({ call, port }) => [call, port]), step: table.step, values };
}

/** Call → row of what is numbered by layer: that of the layer's first weight which has numbers, for every call of the layer. */
export function rowsOfLayers(calls: readonly CallInfo[], ports: readonly [number, number][]): Map<number, number> {
  const first = new Map<number, number>();
  ports.forEach(([layer, weight], row) => {
    const kept = first.get(layer);
    if (kept === undefined || weight < ports[kept]![1]) first.set(layer, row);
  });
  const rows = new Map<number, number>();
  calls.forEach(({ layer }, call) => {
    const row = layer === null ? undefined : first.get(layer);
    if (row !== undefined) rows.set(call, row);
  });
  return rows;
}
