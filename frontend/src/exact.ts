/** Keeps the exact values at hand in step with the cursor: those of the nearest earlier record that has some. Draws nothing. */
import { batch, effect, untracked } from "@preact/signals";
import { fetchGraph, fetchRecord, type RecordTable } from "./api";
import { stepOfTrace } from "./loaded";
import { isBarePicture } from "./maps/asPicture";
import { channelsFirstCalls } from "./maps/formats";
import type { Channels } from "./maps/view";
import * as state from "./state";
import { words } from "./strings";
import type { GraphInfo } from "./types";
import { areLogitsOf, madeBy, WEIGHT_KINDS } from "./values";
import { fetchValues, fetchWindows, type HeldValue, type ValuePlace, type ValuesInfo } from "./valuesApi";

/** What one record holds in exact values. */
export interface Held {
  run: string;
  stream: string;
  step: number;
  info: ValuesInfo;
  graph: GraphInfo;
  record: RecordTable;
  callOf: ReadonlyMap<string, number>;
  /** `kind call port` → the array. */
  arrays: ReadonlyMap<string, HeldValue>;
  channelsFirst: ReadonlySet<number>;
}

/** One tensor of one call, with where its array is: an input's is that of the output that it is. */
export interface HeldTensor {
  place: ValuePlace;
  value: HeldValue;
  /** Whose output it is, in the record's graph; of a weight, the layer. */
  call: number;
  port: number;
  channels: Channels;
}

export function heldFrom(run: string, stream: string, info: ValuesInfo, graph: GraphInfo, record: RecordTable): Held {
  return {
    run, stream, step: info.step!, info, graph, record,
    callOf: new Map(graph.calls.map(({ path }, call) => [path, call])),
    arrays: new Map(info.values.map((value) => [`${value.kind} ${value.call} ${value.port}`, value])),
    channelsFirst: channelsFirstCalls(graph),
  };
}

/** The kind under which a record keeps an error: of several passes the last one stands for all. */
function keptAs(held: Held, kind: string, call: number, port: number): HeldValue | undefined {
  const own = held.arrays.get(`${kind} ${call} ${port}`);
  if (own || kind !== "error") return own;
  const passes = held.graph.error_kinds.filter((name) => name !== "error");
  return passes.reverse().map((name) => held.arrays.get(`${name} ${call} ${port}`)).find(Boolean);
}

function channelsOf(held: Held, value: HeldValue, call: number, port: number): Channels {
  if (held.channelsFirst.has(call)) return "first";
  return isBarePicture(held, value, call, port) ? "none" : "last";
}

/** The array that stands for a tensor of a call, or for a weight of the layer at a path; null where the record holds none. */
export function heldTensor(held: Held, path: string, kind: string, port: number): HeldTensor | null {
  const { calls, layers } = held.graph;
  const isWeight = WEIGHT_KINDS.has(kind);
  const found = (value: HeldValue, at: number, ownPort: number): HeldTensor => ({
    place: { run: held.run, stream: held.stream, step: held.step, path: isWeight ? path : calls[at]!.path, kind: value.kind, port: ownPort },
    value, call: at, port: ownPort, channels: isWeight ? "last" : channelsOf(held, value, at, ownPort),
  });
  if (isWeight) {
    const layer = layers.findIndex((each) => each.path === path);
    const kept = held.arrays.get(`${kind} ${layer} ${port}`);
    return kept ? found(kept, layer, port) : null;
  }
  const call = held.callOf.get(path);
  if (call === undefined) return null;
  const own = keptAs(held, kind, call, port);
  if (own) return found(own, call, port);
  const ports = kind === "input" ? calls[call]!.inputs : calls[call]!.outputs;
  const made = madeBy(calls, ports[port]?.source ?? null);
  const passed = made && keptAs(held, kind === "input" ? "output" : kind, made[0], made[1]);
  if (passed) return found(passed, made[0], made[1]);
  // Where the loss reads the logits, the error of the output is theirs.
  const logits = kind.startsWith("error") && ports[port] ? ports.findIndex((each) => areLogitsOf(each, ports[port]!)) : -1;
  return logits > port ? heldTensor(held, path, kind, logits) : null;
}

/** Why a tensor has no exact values in this record: a sentence. */
export function whyNot(held: Held, path: string, kind: string, port: number): string {
  const isWeight = WEIGHT_KINDS.has(kind);
  const call = isWeight ? undefined : held.graph.calls[held.callOf.get(path) ?? -1];
  if (!call && !isWeight) return words.exact.noCall(path);
  const source = kind === "input" ? madeBy(held.graph.calls, call!.inputs[port]?.source ?? null) : null;
  const [from, as, at] = source ? [held.graph.calls[source[0]]!.path, "output", source[1]] : [path, kind, port];
  const is = (entry: { kind: string }) => entry.kind === as || (as === "error" && entry.kind.startsWith("error"));
  const cut = held.info.cut.find((entry) => entry.path === from && is(entry) && entry.port === at);
  if (cut) return words.exact.cut(cut.reason);
  const info = kind === "input" ? call?.inputs[port] : call?.outputs[port];
  return (kind.startsWith("error") ? info?.error : "") || info?.status || words.exact.notHere;
}

/** Of rising steps the last that is not after `step`, else the first. */
export function nearestEarlier(steps: readonly number[], step: number): number | null {
  let found: number | null = steps[0] ?? null;
  for (const each of steps) if (each <= step) found = each;
  return found;
}

/** The exact values of one step, with its own graph and statistics. */
export async function heldAt(run: string, stream: string, step: number): Promise<Held> {
  const steps = state.steps.peek()!;
  const trace = stepOfTrace(steps, Math.max(0, steps.step.indexOf(step)));
  const [info, graph, record] = await Promise.all([
    fetchValues(run, stream, step), fetchGraph(run, stream, trace), fetchRecord(run, stream, step),
  ]);
  return heldFrom(run, stream, info, graph, record);
}

let asked = 0;

async function load(run: string, stream: string, step: number): Promise<void> {
  const mine = ++asked;
  try {
    const { steps: there } = await fetchValues(run, stream, null);
    const nearest = nearestEarlier(there, step);
    const steps = state.steps.peek();
    if (mine !== asked || !steps) return;
    state.valueSteps.value = there;
    if (nearest === null) return void batch(() => ((state.held.value = null), (state.noValues.value = words.exact.none)));
    const kept = state.held.peek();
    if (kept?.step === nearest && kept.run === run && kept.stream === stream) return;
    const found = await heldAt(run, stream, nearest);
    if (mine !== asked) return;
    batch(() => {
      state.held.value = found;
      state.noValues.value = "";
      if (state.sample.peek() >= found.info.samples) state.sample.value = 0;
    });
  } catch (error) {
    if (mine === asked) state.noValues.value = error instanceof Error ? error.message : String(error);
  }
}

/** A window says nothing of one number while it is that of another: it is cleared at once and asked for when the pointer rests. */
const RESTING_MS = 50;

function followWindows(): void {
  let timer = 0;
  let newest = 0;
  effect(() => {
    const at = state.pointed.value ?? state.lens.value;
    const held = state.held.value;
    clearTimeout(timer);
    const mine = ++newest;
    if (state.windows.peek().size) state.windows.value = new Map();
    if (!at || !held) return;
    timer = setTimeout(() => {
      const { run, stream, step } = held;
      fetchWindows({ run, stream, step, path: at.path, port: at.port }, at.index).then(
        (found) => mine === newest && (state.windows.value = new Map(found.map((one) => [`${one.call} ${one.port}`, one]))),
        () => undefined,
      );
    }, RESTING_MS);
  });
}

export function followValues(): void {
  effect(() => {
    state.run.value;
    state.stream.value;
    untracked(() => {
      asked++;
      batch(() => {
        state.held.value = null;
        state.noValues.value = "";
        state.valueSteps.value = [];
        state.lens.value = null;
        state.pointed.value = null;
      });
    });
  });
  effect(() => {
    const steps = state.steps.value;
    const index = state.stepIndex.value;
    if (!steps || index < 0) return;
    untracked(() => void load(state.run.peek(), state.stream.peek(), steps.step[index]!));
  });
  followWindows();
}
