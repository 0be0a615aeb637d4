/** The tensors of one call that have statistics, with where each was recorded. Pure. */
import type { RecordTable } from "../api";
import type { CallInfo, PortInfo } from "../types";
import { areLogitsOf, cell, madeBy, WEIGHT_KINDS } from "../values";

export interface Tensor {
  kind: string;
  /** The call and port whose record holds it: of an input that is another call's output, that output's. */
  call: number;
  port: number;
  /** The place among the chosen call's own inputs or outputs. */
  ownPort: number;
  info: PortInfo;
  /** Row in the record's table of `recordedAs`; -1 where nothing was recorded. */
  row: number;
  recordedAs: string;
  /** Why there are no numbers; empty where there are. */
  status: string;
}

export const COLUMNS = ["mean", "std", "l2", "min", "max", "zero", "nan", "pos_inf", "neg_inf"] as const;

function rowOf(table: RecordTable | null, kind: string, call: number, port: number): number {
  return table?.kinds.get(kind)?.ports.findIndex(([c, p]) => c === call && p === port) ?? -1;
}

/** Outputs, then errors by backward pass, then inputs. */
export function tensorsOf(calls: readonly CallInfo[], call: number, table: RecordTable | null, missing: string): Tensor[] {
  const { inputs, outputs } = calls[call]!;
  const errorKinds = [...(table?.kinds.keys() ?? [])].filter((kind) => kind.startsWith("error"));
  const errors = errorKinds.length ? errorKinds : ["error"];
  const find = (kind: string, ownPort: number, info: PortInfo, status: string): Tensor => {
    const own = { kind, call, port: ownPort, ownPort, info, recordedAs: kind, row: rowOf(table, kind, call, ownPort) };
    if (own.row >= 0) return { ...own, status: "" };
    const made = madeBy(calls, info.source);
    const recordedAs = kind === "input" ? "output" : kind;
    const row = made ? rowOf(table, recordedAs, made[0], made[1]) : -1;
    if (made && row >= 0) return { ...own, call: made[0], port: made[1], recordedAs, row, status: "" };
    return { ...own, status: status || missing };
  };
  return [
    ...outputs.map((info, port) => find("output", port, info, info.status)),
    ...errors.flatMap((kind) => outputs.map((info, port) => find(kind, port, info, info.error || info.status))),
    ...inputs.map((info, port) => find("input", port, info, info.status)),
  ].filter(({ kind }) => !WEIGHT_KINDS.has(kind));
}

/**
 * The tensors of one port side by side. Where the loss reads the logits, the error of the output is theirs, and stands in its place.
 */
export function tensorsOfPort(tensors: Tensor[], port: number): Tensor[] {
  return tensors.filter(({ ownPort }) => ownPort === port).map((tensor) => {
    if (tensor.row >= 0 || !tensor.kind.startsWith("error")) return tensor;
    const logits = tensors.find(({ kind, row, info }) => kind === tensor.kind && row >= 0 && areLogitsOf(info, tensor.info));
    return logits ? { ...logits, status: tensor.status } : tensor;
  });
}

/** The backward pass whose error is the record's own, if both are among the tensors. */
export function ownPass(table: RecordTable, tensors: readonly Tensor[]): Tensor | undefined {
  const own = tensors.find(({ kind, row }) => kind === "error" && row >= 0);
  return own && tensors.find((each) => each.kind.startsWith("error#") && each.row >= 0 && COLUMNS.every((column) => Object.is(statistic(table, each, column), statistic(table, own, column))));
}

export function statistic(table: RecordTable, tensor: Tensor, column: string): number {
  return cell(table, table.kinds.get(tensor.recordedAs)!, tensor.row, column);
}

/** How many elements the columns that are not exact were taken from, and with what stride. */
export function partOf(table: RecordTable, tensor: Tensor): { part: number; stride: number } {
  const { part } = table.kinds.get(tensor.recordedAs)!;
  return { part: part[2 * tensor.row]!, stride: part[2 * tensor.row + 1]! };
}
