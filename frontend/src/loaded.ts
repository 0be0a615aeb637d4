/** Keeps what was fetched in step with what was chosen: stale replies are dropped, growth is noticed. Changes state, draws nothing. */
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { fetchFindings, fetchGraph, fetchLedger, fetchLosses, fetchRecord, fetchSeries, fetchSteps, fetchStreams, forget } from "./api";
import type { SeriesTable, StepsTable } from "./api";
import { fetchOps } from "./lineageApi";
import { isMade, LOSSES, lossColumns, lossSeries, ratioSeries, ratiosOf, RATIO } from "./measures";
import * as state from "./state";
import { words } from "./strings";

const POLL_MS = 5000;
const QUIET_MS = 150;

/** Lets only the newest of several questions of one sort take effect, and says when an answer is slow. */
class Newest {
  private asked = 0;

  async ask<T>(question: Promise<T>, use: (answer: T) => void, fail: (message: string) => void = failed): Promise<void> {
    const mine = ++this.asked;
    const timer = setTimeout(() => mine === this.asked && (state.slow.value = true), QUIET_MS);
    try {
      const answer = await question;
      if (mine === this.asked) batch(() => use(answer));
    } catch (error) {
      if (mine === this.asked) fail(error instanceof Error ? error.message : String(error));
    } finally {
      clearTimeout(timer);
      if (mine === this.asked) state.slow.value = false;
    }
  }

  drop(): void {
    this.asked++;
  }
}

const asks = {
  steps: new Newest(),
  picture: new Newest(),
  series: new Newest(),
  ledger: new Newest(),
  findings: new Newest(),
  losses: new Newest(),
  buckets: new Newest(),
};

function failed(message: string): void {
  state.problem.value = message;
}

/** Any step of the trace in force at `index`, always the same one: graphs and series are asked for by it, and so found again. */
export function stepOfTrace(steps: StepsTable, index: number): number {
  return steps.step[steps.trace.indexOf(steps.trace[index]!)]!;
}

let seen = { all: "", stream: "", sessions: "" };

/** Asks what streams there are; where the one on the page grew, what depends on it is asked again. */
export async function refresh(): Promise<void> {
  try {
    const answer = await fetchStreams();
    const all = JSON.stringify(answer);
    if (all === seen.all && !state.problem.value) return;
    const first = state.streams.value === null;
    state.streams.value = answer;
    const wanted = [state.run.value, state.stream.value] as const;
    chooseExisting();
    if (state.run.value) state.missing.value = sayMissing(...wanted) || state.missing.value;
    const info = state.streamInfo.value;
    const [run, stream] = [state.run.value, state.stream.value];
    const now = { all, stream: JSON.stringify([run, info]), sessions: JSON.stringify([run, stream, info?.sessions.map(({ session }) => session)]) };
    if (info && (now.stream !== seen.stream || state.problem.value)) {
      // A new session may hide records of an older one: then nothing that is known of the stream may stay.
      if (!first) forget(run, stream, now.sessions !== seen.sessions);
      loadSteps();
    }
    seen = now;
  } catch (error) {
    failed(error instanceof Error ? error.message : String(error));
  }
}

/** Run and stream change together: nobody asks for a stream of a run that has none of that name. */
export function chooseRun(run: string): void {
  batch(() => {
    state.run.value = run;
    chooseExisting();
  });
}

/** Where the chosen run or stream does not exist (yet), the first that has records. */
function chooseExisting(): void {
  const runs = state.streams.value?.runs ?? [];
  batch(() => {
    if (!runs.some(({ run }) => run === state.run.peek())) {
      const filled = runs.find(({ streams }) => streams.some(({ records }) => records > 0));
      state.run.value = (filled ?? runs[0])?.run ?? "";
    }
    const streams = runs.find(({ run }) => run === state.run.peek())?.streams ?? [];
    if (!streams.some(({ stream }) => stream === state.stream.peek())) {
      state.stream.value = (streams.find(({ records }) => records > 0) ?? streams[0])?.stream ?? "";
    }
  });
}

/** Of what was asked for and is not shown; empty where it is. */
function sayMissing(run: string, stream: string): string {
  if (run && run !== state.run.value) return words.missing.run(run, state.run.value);
  return stream && stream !== state.stream.value ? words.missing.stream(stream, state.run.value, state.stream.value) : "";
}

function loadSteps(): void {
  const run = state.run.peek();
  const stream = state.stream.peek();
  if (!run || !stream) return;
  void asks.steps.ask(fetchSteps(run, stream), (steps) => {
    state.problem.value = "";
    state.steps.value = steps;
  });
}

/** A change of run or stream empties the page at once, so that no number of one is read as the other's. */
function followStream(): void {
  effect(() => {
    state.run.value;
    state.stream.value;
    untracked(() => {
      for (const ask of Object.values(asks)) ask.drop();
      batch(() => {
        state.slow.value = false;
        state.problem.value = "";
        state.missing.value = "";
        state.steps.value = null;
        state.graph.value = null;
        state.record.value = null;
        state.series.value = null;
        state.flaws.value = null;
        state.ledger.value = null;
        state.findings.value = null;
        state.losses.value = null;
        state.stepRange.value = null;
        state.buckets.value = {};
        state.focus.value = null;
        state.chosenOp.value = null;
      });
      loadSteps();
    });
  });
}

let busy = false;
/** Rises when an answer came for a place that the cursor has left meanwhile. */
const overtaken = signal(0);

/** One question at a time while the cursor is dragged: when an answer comes, the cursor's place by then is asked for. */
function followCursor(): void {
  effect(() => {
    const steps = state.steps.value;
    const index = state.stepIndex.value;
    overtaken.value;
    if (!steps || index < 0 || busy) return;
    untracked(() => {
      const [run, stream, step] = [state.run.peek(), state.stream.peek(), steps.step[index]!];
      if (state.record.peek()?.step === step && state.graph.peek()) return;
      busy = true;
      const question = Promise.all([fetchGraph(run, stream, stepOfTrace(steps, index)), fetchRecord(run, stream, step)]);
      const use = ([graph, record]: Awaited<typeof question>) => {
        if (state.graph.peek() !== graph) state.graph.value = graph;
        state.record.value = record;
        state.problem.value = "";
      };
      void asks.picture.ask(question, use).finally(() => {
        busy = false;
        if (state.steps.peek()?.step[state.stepIndex.peek()] !== step) overtaken.value++;
      });
    });
  });
}

function followColour(): void {
  effect(() => {
    const steps = state.steps.value;
    const { kind, column } = state.colourBy.value;
    const graph = state.graph.value;
    if (!steps || !graph) return;
    untracked(() => {
      const step = stepOfTrace(steps, Math.max(0, state.stepIndex.peek()));
      const [run, stream] = [state.run.peek(), state.stream.peek()];
      const ask = async () => {
        if (isMade(kind)) return { series: await fetchMade(run, stream, kind, column, step), flaws: null };
        const series = await fetchSeries(run, stream, kind, column, step);
        const flawed = !series.values.every(Number.isFinite);
        return { series, flaws: flawed ? await fetchSeries(run, stream, kind, "finite", step) : null };
      };
      const use = (answer: { series: SeriesTable | null; flaws: SeriesTable | null }) => {
        state.series.value = answer.series;
        state.flaws.value = answer.flaws;
      };
      void asks.series.ask(ask(), use, () => use({ series: null, flaws: null }));
    });
  });
}

/** A colour-by that no record has a column of: a layer loss, or one kind's l2 over another's. */
async function fetchMade(run: string, stream: string, kind: string, column: string, step: number): Promise<SeriesTable> {
  if (kind === LOSSES) return lossSeries(await fetchLosses(run, stream, step), column);
  const [over, under] = column.split("/") as [string, string];
  const [above, below] = await Promise.all([fetchSeries(run, stream, over, "l2", step), fetchSeries(run, stream, under, "l2", step)]);
  return ratioSeries(above, below);
}

/** What was found, and the layer losses. A plugin that has neither route answers 404: then the page has neither. */
function followFindings(): void {
  effect(() => {
    if (!state.steps.value) return;
    untracked(() => {
      const [run, stream] = [state.run.peek(), state.stream.peek()];
      void asks.findings.ask(fetchFindings(run, stream), (found) => (state.findings.value = found), () => (state.findings.value = null));
    });
  });
  effect(() => {
    const steps = state.steps.value;
    if (!steps || !state.graph.value) return;
    untracked(() => {
      const step = stepOfTrace(steps, Math.max(0, state.stepIndex.peek()));
      const question = fetchLosses(state.run.peek(), state.stream.peek(), step);
      const use = (table: Awaited<typeof question>) => (state.losses.value = table.rows.length ? table : null);
      void asks.losses.ask(question, use, () => (state.losses.value = null));
    });
  });
}

/** The buckets of the trace in force; a log or plugin without lineage has none. Asked for beside the graph, not after it: the
 *  plugin then reads a large trace while the picture is drawn, and has read it when somebody searches it. */
function followBuckets(): void {
  const trace = computed(() => (state.steps.value ? stepOfTrace(state.steps.value, Math.max(0, state.stepIndex.value)) : null));
  effect(() => {
    const step = trace.value;
    if (!state.steps.value || step === null) return;
    untracked(() => {
      const question = fetchOps(state.run.peek(), state.stream.peek(), step, { bucket: "loss" });
      void asks.buckets.ask(question, (answer) => (state.buckets.value = answer.buckets ?? {}), () => (state.buckets.value = {}));
    });
  });
}

/** The ledger is small and the overview counts it. */
function followLedger(): void {
  effect(() => {
    if (!state.steps.value) return;
    untracked(() => {
      const question = fetchLedger(state.run.peek(), state.stream.peek());
      void asks.ledger.ask(question, (entries) => (state.ledger.value = entries), () => (state.ledger.value = []));
    });
  });
}

/** A kind that this record does not have cannot colour anything: the output's l2 can. */
function followKinds(): void {
  effect(() => {
    const kinds = state.record.value?.kinds;
    const { kind: wanted, column } = state.colourBy.value;
    if (!kinds?.size || kinds.has(wanted)) return;
    if (wanted === RATIO && ratiosOf(kinds).includes(column)) return;
    // Layer losses arrive after the record: until then nobody knows whether there are any.
    if (wanted === LOSSES && (!state.losses.value || lossColumns(state.losses.value).includes(column))) return;
    const kind = ["error", "output"].find((name) => kinds.has(name)) ?? [...kinds.keys()][0]!;
    state.colourBy.value = { kind, column: state.record.peek()!.columns.includes(column) ? column : "l2" };
  });
}

export function startLoading(): void {
  followStream();
  followCursor();
  followColour();
  followLedger();
  followFindings();
  followBuckets();
  followKinds();
  void refresh();
  setInterval(() => state.awake.value && void refresh(), POLL_MS);
  let wasAwake = state.awake.peek();
  effect(() => {
    const awake = state.awake.value;
    if (awake && !wasAwake) void refresh();
    wasAwake = awake;
  });
}

/** What stands in place of the picture: a sentence, or empty where there is something to draw or to wait for. */
export function sentenceInPlace(): string {
  if (state.problem.value && !state.graph.value) {
    return state.stream.value ? `${words.empty.cannotLoad(state.stream.value)} ${state.problem.value}` : state.problem.value;
  }
  const info = state.streamInfo.value;
  if (info && info.records === 0) return info.problem || words.empty.noRecords(info.stream);
  if (state.runInfo.value && !state.runInfo.value.streams.length) return words.empty.noStream;
  return "";
}
