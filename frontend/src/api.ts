/** Asks the plugin, and nobody else does: routes of tb_layerflow/plugin/http_api.md in, typed tables or one sentence out. */
import { decode, type BinaryAnswer } from "./binary";
import { words } from "./strings";
import type { FindingInfo, GraphInfo, HistogramInfo, LedgerEntry, StreamsInfo } from "./types";

export interface StepsTable {
  sessions: string[];
  step: Float64Array;
  iterations: Float64Array;
  epoch: Float64Array;
  wallTime: Float64Array;
  trace: Int32Array;
  session: Int32Array;
  skipped: Uint8Array;
  seconds: Float64Array;
  stepSeconds: Float64Array;
  batchSize: Float64Array;
  /** The model's own losses, by name. */
  losses: ReadonlyMap<string, Float64Array>;
}

export interface SeriesTable {
  kind: string;
  column: string;
  /** [call, port] of each row; for weights [layer, weight]. */
  ports: [number, number][];
  step: Float64Array;
  /** [ports, records], row by row; NaN where the call was absent. What was counted in a part is a share of it, 0 to 1. */
  values: Float32Array;
}

export interface KindTable {
  ports: [number, number][];
  /** [ports, columns], row by row. */
  columns: Float32Array;
  /** [ports, 2]: elements that std, zero, nan, pos_inf and neg_inf were taken from, and the stride. */
  part: Float64Array;
}

export interface RecordTable {
  step: number;
  columns: string[];
  kinds: ReadonlyMap<string, KindTable>;
  losses: Record<string, number | null>;
  phase: string;
  batchSize: number;
  lossScale: number;
  skipped: boolean;
  /** [calls, 2]: how long each call's operations ran forward and backward, in seconds; where that was measured. */
  seconds?: Float64Array | undefined;
}

/** One layer loss over the steps: which call, which of the three forms, whose labels. */
export interface LossRow {
  call: number;
  port: number;
  form: "added" | "direct" | "readout";
  task: string;
  output: string;
}

export interface LossesTable {
  rows: LossRow[];
  step: Float64Array;
  /** [rows, records], row by row; NaN where there is none. */
  loss: Float32Array;
  accuracy: Float32Array;
}

/** A refusal by the plugin or the network; its message is a sentence for people. */
export class AnswerError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

export type Parameters = Record<string, string | number | null | undefined>;

/** Everything is relative to this module, so that any prefix that TensorBoard runs under works. */
const ROOT = new URL("..", import.meta.url);
const CACHED_BYTES = 64 << 20;

/** Least recently used last; evicted by size. The value keeps the promise, so that two askers share one request. */
class AnswerCache {
  private readonly kept = new Map<string, { answer: Promise<unknown>; bytes: number }>();
  private bytes = 0;

  get(key: string): Promise<unknown> | undefined {
    const entry = this.kept.get(key);
    if (!entry) return undefined;
    this.kept.delete(key);
    this.kept.set(key, entry);
    return entry.answer;
  }

  put(key: string, answer: Promise<unknown>): void {
    this.kept.set(key, { answer, bytes: 0 });
  }

  weigh(key: string, bytes: number): void {
    const entry = this.kept.get(key);
    if (!entry) return;
    entry.bytes = bytes;
    this.bytes += bytes;
    for (const [oldest, { bytes: size }] of this.kept) {
      if (this.bytes <= CACHED_BYTES || oldest === key) break;
      this.drop(oldest, size);
    }
  }

  drop(key: string, size = this.kept.get(key)?.bytes ?? 0): void {
    if (this.kept.delete(key)) this.bytes -= size;
  }

  dropWhere(test: (key: string) => boolean): void {
    for (const [key, { bytes }] of this.kept) if (test(key)) this.drop(key, bytes);
  }
}

const cache = new AnswerCache();

function address(route: string, parameters: Parameters): string {
  const url = new URL(route, ROOT);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}

async function ask(href: string): Promise<ArrayBuffer> {
  let answer: Response;
  try {
    answer = await fetch(href);
  } catch {
    throw new AnswerError(words.failures.unreachable, 0);
  }
  if (!answer.ok) {
    const plain = answer.headers.get("content-type")?.startsWith("text/plain");
    const text = plain ? (await answer.text()).trim() : "";
    throw new AnswerError(text.replace(/^[A-Za-z ]+: /, "") || words.failures.status(answer.status), answer.status);
  }
  return answer.arrayBuffer();
}

/** One answer for one question, kept as long as there is room: for the files beside this one that know a route. */
export function cached<T>(route: string, parameters: Parameters, read: (buffer: ArrayBuffer) => T): Promise<T> {
  const key = address(route, parameters);
  const kept = cache.get(key);
  if (kept) return kept as Promise<T>;
  const answer = ask(key).then((buffer) => {
    cache.weigh(key, buffer.byteLength);
    return read(buffer);
  });
  cache.put(key, answer);
  answer.catch(() => cache.drop(key));
  return answer;
}

export function json<T>(buffer: ArrayBuffer): T {
  return JSON.parse(new TextDecoder().decode(buffer)) as T;
}

const GROWING = ["steps", "series", "ledger", "findings", "losses"].map((route) => new URL(route, ROOT).pathname);

/** Drops what may have changed since a stream grew; all that is known of it where a new session began. */
export function forget(run: string, stream: string, everything: boolean): void {
  cache.dropWhere((key) => {
    const { pathname, searchParams } = new URL(key);
    const ours = searchParams.get("run") === run && searchParams.get("stream") === stream;
    return ours && (everything || GROWING.includes(pathname));
  });
}

export async function fetchStreams(): Promise<StreamsInfo> {
  return json<StreamsInfo>(await ask(address("streams", {})));
}

export function fetchGraph(run: string, stream: string, step: number | null): Promise<GraphInfo> {
  return cached("graph", { run, stream, step }, (buffer) => json<GraphInfo>(buffer));
}

export function fetchSteps(run: string, stream: string): Promise<StepsTable> {
  return cached("steps", { run, stream }, (buffer) => stepsTable(decode(buffer)));
}

export function fetchSeries(run: string, stream: string, kind: string, column: string, step: number | null): Promise<SeriesTable> {
  return cached("series", { run, stream, kind, column, step }, (buffer) => {
    const { header, arrays } = decode(buffer);
    return {
      kind,
      column,
      ports: header.ports as [number, number][],
      step: arrays.get("step") as Float64Array,
      values: shares(arrays.get("values") as Float32Array, arrays.get("part") as Float64Array | undefined),
    };
  });
}

function shares(counts: Float32Array, part?: Float64Array): Float32Array {
  return part ? counts.map((count, i) => count / part[i]!) : counts;
}

export function fetchRecord(run: string, stream: string, step: number): Promise<RecordTable> {
  return cached("record", { run, stream, step }, (buffer) => recordTable(decode(buffer)));
}

export function fetchHistogram(
  run: string,
  stream: string,
  step: number,
  path: string,
  kind: string,
  port: number,
): Promise<HistogramInfo> {
  return cached("histogram", { run, stream, step, path, kind, port }, (buffer) => json<HistogramInfo>(buffer));
}

export async function fetchLedger(run: string, stream: string): Promise<LedgerEntry[]> {
  const answer = await cached("ledger", { run, stream }, (buffer) => json<{ entries: LedgerEntry[] }>(buffer));
  return answer.entries;
}

/** Failures first, then by step. */
export async function fetchFindings(run: string, stream: string): Promise<FindingInfo[]> {
  const answer = await cached("findings", { run, stream }, (buffer) => json<{ findings: FindingInfo[] }>(buffer));
  return answer.findings;
}

export function fetchLosses(run: string, stream: string, step: number | null): Promise<LossesTable> {
  return cached("losses", { run, stream, step }, (buffer) => {
    const { header, arrays } = decode(buffer);
    return {
      rows: header.rows as LossRow[],
      step: arrays.get("step") as Float64Array,
      loss: arrays.get("loss") as Float32Array,
      accuracy: arrays.get("accuracy") as Float32Array,
    };
  });
}

/** Run names in the order in which TensorBoard gives out its colours. Empty where the host has no such route. */
export async function fetchHostRuns(): Promise<string[]> {
  return json<string[]>(await ask(new URL("../../runs", ROOT).href));
}

export function stepsTable({ header, arrays }: BinaryAnswer): StepsTable {
  const doubles = (name: string) => arrays.get(name) as Float64Array;
  const losses = new Map<string, Float64Array>();
  for (const [name, values] of arrays) if (name.startsWith("loss:")) losses.set(name.slice(5), values as Float64Array);
  return {
    sessions: (header.sessions ?? []) as string[],
    step: doubles("step"),
    iterations: doubles("iterations"),
    epoch: doubles("epoch"),
    wallTime: doubles("wall_time"),
    trace: arrays.get("trace") as Int32Array,
    session: arrays.get("session") as Int32Array,
    skipped: arrays.get("skipped") as Uint8Array,
    seconds: doubles("seconds"),
    stepSeconds: doubles("step_seconds"),
    batchSize: doubles("batch_size"),
    losses,
  };
}

export function recordTable({ header, arrays }: BinaryAnswer): RecordTable {
  const kinds = new Map<string, KindTable>();
  for (const [kind, { ports }] of Object.entries(header.kinds as Record<string, { ports: [number, number][] }>)) {
    kinds.set(kind, {
      ports,
      columns: arrays.get(`${kind}:columns`) as Float32Array,
      part: arrays.get(`${kind}:part`) as Float64Array,
    });
  }
  return {
    step: header.step as number,
    columns: header.columns as string[],
    kinds,
    losses: (header.losses ?? {}) as Record<string, number | null>,
    phase: (header.phase ?? "") as string,
    batchSize: (header.batch_size ?? 0) as number,
    lossScale: (header.loss_scale ?? 0) as number,
    skipped: Boolean(header.skipped),
    seconds: arrays.get("seconds") as Float64Array | undefined,
  };
}
