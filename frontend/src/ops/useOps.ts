/** The operations that a question asks for, all pages up to a limit. */
import { useAnswer, type Answer } from "../inspector/useAnswer";
import { fetchChain, fetchOps, OPS_PAGE, type OpInfo, type OpsQuestion, type StackInfo } from "../lineageApi";
import { stepOfTrace } from "../loaded";
import { graph, run, stepIndex, steps, stream } from "../state";

const MOST_PAGES = 5;

export interface Ops {
  ops: OpInfo[];
  stacks: StackInfo[];
  total: number;
  /** How many the whole step has; 0: none were recorded. */
  all: number;
}

/** A step of the trace at the cursor: operations are those of a trace. */
export function traceAtCursor(): number | null {
  return steps.value && stepIndex.value >= 0 ? stepOfTrace(steps.value, stepIndex.value) : null;
}

/** Asks for what the panel of the operation's call or bucket will show; the answers are kept until it asks for them itself. */
export function askAhead({ call, bucket }: OpInfo): void {
  const [at, of, trace] = [run.peek(), stream.peek(), traceAtCursor()];
  const path = call === null ? undefined : graph.peek()?.calls[call]?.path;
  fetchOps(at, of, trace, path === undefined ? { bucket } : { path }).catch(() => undefined);
  if (path !== undefined) fetchChain(at, of, trace, path).catch(() => undefined);
}

export function useOps(question: OpsQuestion): Answer<Ops> {
  const [at, of, trace] = [run.value, stream.value, traceAtCursor()];
  return useAnswer(JSON.stringify([at, of, trace, question]), async () => {
    const first = await fetchOps(at, of, trace, question);
    const found: Ops = { ops: first.ops, stacks: first.stacks, total: first.total, all: first.all ?? first.total };
    for (let page = 1; page < MOST_PAGES && found.ops.length < first.total && first.ops.length === OPS_PAGE; page++) {
      const next = await fetchOps(at, of, trace, { ...question, offset: page * OPS_PAGE });
      const base = found.stacks.length;
      found.stacks = [...found.stacks, ...next.stacks];
      found.ops = [...found.ops, ...next.ops.map((op) => ({ ...op, stack: op.stack + base }))];
    }
    return found;
  });
}
