/** Asks the plugin for exact values: what there is, parts of tensors, how a number came about, what it saw. Draws nothing. */
import { cached, json } from "./api";
import { decode, type Numbers } from "./binary";

/** One exact tensor of a record: of weights, `call` is a layer. */
export interface HeldValue {
  kind: string;
  call: number;
  port: number;
  shape: number[];
  dtype: string;
  bytes: number;
}

export interface CutValue {
  path: string;
  kind: string;
  port: number;
  status: string;
  reason: string;
  step: number;
}

export interface ValuesInfo {
  /** The steps whose record has exact values. */
  steps: number[];
  step: number | null;
  samples: number;
  bytes: number;
  values: HeldValue[];
  cut: CutValue[];
}

/** Where one exact tensor is. */
export interface ValuePlace {
  run: string;
  stream: string;
  step: number;
  path: string;
  kind: string;
  port: number;
}

export interface ValuePart {
  values: Numbers;
  shape: number[];
  /** The tensor's own dtype; what arrives of float16 is float32, say. */
  dtype: string;
}

export interface Term {
  port: number;
  index: number[];
  value: number;
  product: number;
  weight_name: string;
  weight_index: number[] | null;
  weight: number | null;
}

export interface TermGroup {
  port: number;
  channel: number;
  sum: number;
  magnitude: number;
  count: number;
  terms: Term[];
}

export type Box = [number, number][];

export interface InputWindow {
  port: number;
  box: Box | null;
  unclipped: Box | null;
  reason: string;
}

export interface Explained {
  explained: true;
  type: string;
  reason: string;
  formula: string;
  combine: string;
  groups: TermGroup[];
  term_count: number;
  omitted: { count: number; sum: number; magnitude: number };
  bias: number | null;
  pre_activation: number;
  activation: string;
  total: number;
  magnitude: number;
  recorded: number | null;
  difference: number | null;
  quantities: [string, number][];
  steps: (Explained | Unexplained)[];
  note: string;
  window: InputWindow[];
}

export interface Unexplained {
  explained: false;
  type: string;
  reason: string;
  recorded: number | null;
  window: InputWindow[];
}

/** The receptive window in one earlier output. */
export interface CallWindow {
  call: number;
  port: number;
  box: Box | null;
  unclipped: Box | null;
  reason: string;
}

export function fetchValues(run: string, stream: string, step: number | null): Promise<ValuesInfo> {
  return cached("values", { run, stream, step }, (buffer) => json<ValuesInfo>(buffer));
}

/** `slices` in numpy's words, an index keeping its axis: `0,:,:,8:16`. */
export function fetchValue({ run, stream, step, path, kind, port }: ValuePlace, slices: string): Promise<ValuePart> {
  return cached("value", { run, stream, step, path, kind, port, slices }, (buffer) => {
    const { header, arrays, shapes } = decode(buffer);
    return { values: arrays.get("value")!, shape: shapes.get("value")!, dtype: header.dtype as string };
  });
}

export function fetchExplanation(place: Omit<ValuePlace, "kind">, index: readonly number[]): Promise<Explained | Unexplained> {
  const { run, stream, step, path, port } = place;
  return cached("explain", { run, stream, step, path, port, index: index.join(",") }, (buffer) => json<Explained | Unexplained>(buffer));
}

export async function fetchWindows(place: Omit<ValuePlace, "kind">, index: readonly number[]): Promise<CallWindow[]> {
  const { run, stream, step, path, port } = place;
  const answer = await cached("windows", { run, stream, step, path, port, index: index.join(",") }, (buffer) =>
    json<{ windows: CallWindow[] }>(buffer),
  );
  return answer.windows;
}
