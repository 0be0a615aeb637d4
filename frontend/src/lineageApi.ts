/** Asks the plugin for operations, chains and lines: its lineage routes in, typed rows out. */
import { cached, json } from "./api";

export interface OpInfo {
  number: number;
  name: string;
  type: string;
  direction: "forward" | "backward";
  /** Index into the graph's calls. */
  call: number | null;
  bucket: string;
  /** Name of the operation whose gradient it is. */
  forward_op: string | null;
  variable: string;
  fate: string;
  body: string;
  inputs: number[];
  /** Index into `stacks`. */
  stack: number;
}

export interface StackInfo {
  /** File, line, function and whose it is, outermost first. */
  frames: [string, number, string, string][];
  user_frame: number;
  text: string;
}

export interface OpsAnswer {
  total: number;
  offset: number;
  all: number;
  buckets: Record<string, number>;
  ops: OpInfo[];
  stacks: StackInfo[];
}

export interface SourceLine {
  file: string;
  line: number;
  text: string;
  calls: number[];
}

export interface OpsQuestion {
  path?: string;
  bucket?: string;
  search?: string;
  offset?: number;
}

function cachedJson<T>(route: string, parameters: Record<string, string | number | null | undefined>): Promise<T> {
  return cached(route, parameters, (buffer) => json<T>(buffer));
}

/** At most this many operations come in one answer. */
export const OPS_PAGE = 1000;

export function fetchOps(run: string, stream: string, step: number | null, question: OpsQuestion): Promise<OpsAnswer> {
  return cachedJson<OpsAnswer>("ops", { run, stream, step, ...question });
}

export async function fetchChain(run: string, stream: string, step: number | null, path: string): Promise<string[]> {
  return (await cachedJson<{ chain: string[] }>("chain", { run, stream, step, path })).chain;
}

export async function fetchLines(run: string, stream: string, step: number | null): Promise<SourceLine[]> {
  return (await cachedJson<{ lines: SourceLine[] }>("sources", { run, stream, step })).lines;
}

export async function fetchCallsOf(run: string, stream: string, step: number | null, place: string): Promise<number[]> {
  return (await cachedJson<{ calls: number[] }>("sources", { run, stream, step, place })).calls;
}
