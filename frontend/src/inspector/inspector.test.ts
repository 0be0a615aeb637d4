import { expect, test } from "vitest";
import type { RecordTable, StepsTable } from "../api";
import { graph, namedKind, streams } from "../state";
import type { CallInfo, GraphInfo } from "../types";
import { onlyRecorded, recordingCost } from "./cost";
import { isNote } from "./ledger";
import { histogramPython, openPython, seriesPython } from "./python";
import { COLUMNS, ownPass, tensorsOf } from "./tensors";

const table = (step: number[], seconds: number[], stepSeconds: number[]) =>
  ({ step: Float64Array.from(step), seconds: Float64Array.from(seconds), stepSeconds: Float64Array.from(stepSeconds) }) as unknown as StepsTable;

test("the cost is the seconds of the records over all the time that the steps took", () => {
  // 100 steps of 0.1 s and three records of 0.5 s: 1.5 of 11.5 s.
  const cost = recordingCost(table([0, 50, 99], [0.5, 0.5, 0.5], [0.1, 0.1, 0.1]))!;
  expect(cost.share).toBeCloseTo(1.5 / 11.5, 12);
  expect(cost).toMatchObject({ perRecord: 0.5, perStep: 0.1 });
});

test("the milliseconds of a record and the share of all records agree", () => {
  const { share, perRecord, perStep } = recordingCost(table([0, 1, 99], [3, 0.1, 0.2], [0.1, 0.1, 5]))!;
  expect(share).toBeCloseTo((3 * perRecord) / (3 * perRecord + 100 * perStep), 12);
});

test("a log without times has no cost rather than none", () => {
  expect(recordingCost(table([0, 1], [0, NaN], [NaN, NaN]))).toBeNull();
});

test("where every step of a fit was recorded, there was no plain one to compare with; a custom loop times none anyway", () => {
  const only = (step: number[], epoch: number) => onlyRecorded({ step: Float64Array.from(step), epoch: Float64Array.from(step, () => epoch) } as unknown as StepsTable);
  expect([only([3, 4, 5], 0), only([3, 4, 6], 0), only([3], 0), only([3, 4, 5], -1)]).toEqual([true, false, false, false]);
});

test("the record's own error is found among the backward passes, and each goes by the name it was given", () => {
  const row = (from: number) => Float64Array.from({ length: 9 }, (_, i) => from + i);
  const kinds = new Map(Object.entries({ error: 1, "error#0": 5, "error#1": 1 }).map(([kind, from]) => [kind, { ports: [[0, 0]], columns: row(from), part: row(0) }]));
  const table = { columns: [...COLUMNS], kinds } as unknown as RecordTable;
  const call = { inputs: [], outputs: [{ source: null, status: "", error: "" }] } as unknown as CallInfo;
  expect(ownPass(table, tensorsOf([call], 0, table, ""))!.kind).toBe("error#1");
  graph.value = { backward_names: ["generator", ""] } as GraphInfo;
  expect(["error", "error#0", "error#1", "output"].map(namedKind)).toEqual(["error", "error:generator", "error#1", "output"]);
  graph.value = null;
});

test("the Python text names what is shown and leaves defaults out", () => {
  expect(openPython("a\"b", "train")).toContain('.run("a\\"b").stream("train")');
  expect(seriesPython("r", "train", "encoder#1/conv1", "error", "l2", 0)).toMatch(
    /stream\.statistics\("error"\)\n.* = statistics\.series\("encoder#1\/conv1", "l2"\)\nprint\(steps, values\)$/,
  );
  expect(histogramPython("r", "train", "same", "error", 1, 40)).toMatch(/stream\.histogram\("same", kind="error", port=1, step=40\)\nprint\(histogram\)$/);
  expect(histogramPython("r", "train", "same", "output", 0, 40)).toMatch(/stream\.histogram\("same", step=40\)\n/);
});

test("the Python text opens the folder that TensorBoard was started on", () => {
  expect(openPython("r", "train")).toContain("LogDir(log_dir)");
  streams.value = { runs: [], schema: 1, problem: "", logdir: "/home/me/my logs" };
  expect(openPython("r", "train")).toContain('LogDir("/home/me/my logs")');
  streams.value = null;
});

test("an error that stands at the logits instead is a note, one that is cut is missing", () => {
  const entry = { path: "probs", kind: "error", port: 0, status: "skipped", reason: "at the logits", step: -1 };
  expect([entry, { ...entry, status: "note", reason: "x" }, { ...entry, path: "", kind: "timing", reason: "x" }].map(isNote)).toEqual([true, true, true]);
  expect([{ ...entry, reason: "not connected" }, { ...entry, status: "truncated", reason: "over the limit" }].map(isNote)).toEqual([false, false]);
});
