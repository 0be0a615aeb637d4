/** A list of operations; an open one tells its neighbours, its fate and how Python got to it. */
import { useState } from "preact/hooks";
import { fetchOps, OPS_PAGE, type OpInfo, type StackInfo } from "../lineageApi";
import { useAnswer } from "../inspector/useAnswer";
import { showOp, showLine } from "../selection";
import { chosenOp, graph, run, stream } from "../state";
import { lineageWords } from "../words/lineage";
import { consumersOf, placeOfStack, shortFate, shortName, shortPlace } from "./lineage";

const STEP = 60;

interface OpListProps {
  ops: OpInfo[];
  stacks: StackInfo[];
  /** All that are known, for neighbours; at least `ops`. */
  known: OpInfo[];
  trace: number | null;
}

export function OpList({ ops, stacks, known, trace }: OpListProps) {
  const [limit, setLimit] = useState(STEP);
  const chosenAt = ops.findIndex(({ number }) => number === chosenOp.value);
  const most = Math.max(limit, chosenAt + 1);
  return (
    <>
      <ul class="ops">
        {ops.slice(0, most).map((op) => (
          <li key={op.number} class={op.number === chosenOp.value ? "open" : ""} data-op={op.name}>
            <button class="op" aria-expanded={op.number === chosenOp.value} title={op.name} onClick={() => (chosenOp.value = chosenOp.value === op.number ? null : op.number)}>
              <span class="mono strong type">{op.type}</span>
              <span class="quiet cut">{op.variable || shortName(op.name)}</span>
              <span class="quiet mono cut place" title={placeOfStack(stacks[op.stack])}>{shortPlace(placeOfStack(stacks[op.stack]))}</span>
              <span class="quiet fate">{shortFate(op.fate)}</span>
            </button>
            {op.number === chosenOp.value && <OpDetail op={op} stack={stacks[op.stack]} known={known} trace={trace} />}
          </li>
        ))}
      </ul>
      {ops.length > most && (
        <p class="quiet note">
          {lineageWords.more(most, ops.length)}
          <button class="link" onClick={() => setLimit(most + 4 * STEP)}>{lineageWords.loadMore}</button>
        </p>
      )}
    </>
  );
}

function OpDetail({ op, stack, known, trace }: { op: OpInfo; stack: StackInfo | undefined; known: OpInfo[]; trace: number | null }) {
  const [at, of] = [run.value, stream.value];
  // Neighbours may belong to other calls: their page of the whole list tells what they are.
  const byNumber = new Map(known.map((each) => [each.number, each]));
  const pages = [...new Set([op.number, ...op.inputs].map((number) => Math.floor(number / OPS_PAGE) * OPS_PAGE))].slice(0, 8);
  const { value } = useAnswer(JSON.stringify([at, of, trace, pages]), () =>
    Promise.all(pages.map((offset) => fetchOps(at, of, trace, { offset: offset || undefined }).catch(() => null))),
  );
  for (const page of value ?? []) for (const each of page?.ops ?? []) if (!byNumber.has(each.number)) byNumber.set(each.number, each);
  const all = [...byNumber.values()];
  const consumers = (consumersOf(all).get(op.number) ?? []).map((number) => byNumber.get(number)!);
  const forward = op.forward_op === null ? undefined : all.find(({ name }) => name === op.forward_op);
  const gradients = all.filter(({ forward_op }) => forward_op === op.name);
  const inputs = op.inputs.map((number) => byNumber.get(number) ?? number);
  const call = op.call === null ? null : graph.value!.calls[op.call];
  return (
    <div class="op-detail">
      <p class="mono full">{op.name}</p>
      <dl class="facts">
        {op.fate && <Fact name={lineageWords.fate}>{op.fate}</Fact>}
        {op.variable && <Fact name={lineageWords.variable}><span class="mono">{op.variable}</span></Fact>}
        {op.body && <Fact name={lineageWords.body}><span class="mono">{op.body}</span></Fact>}
        {call && <Fact name={lineageWords.calls}><span class="mono">{call.path}</span></Fact>}
        {op.bucket && <Fact name={lineageWords.bucket}>{lineageWords.buckets[op.bucket] ?? op.bucket}</Fact>}
        {op.forward_op !== null && <Fact name={lineageWords.gradientOf}><Neighbour of={forward ?? op.forward_op} /></Fact>}
        {inputs.length > 0 && <Fact name={lineageWords.inputs}><Neighbours of={inputs} /></Fact>}
        {consumers.length > 0 && <Fact name={lineageWords.consumers}><Neighbours of={consumers} /></Fact>}
        {gradients.length > 0 && <Fact name={lineageWords.gradients}><Neighbours of={gradients} /></Fact>}
      </dl>
      {stack && <Frames stack={stack} />}
    </div>
  );
}

const Fact = ({ name, children }: { name: string; children: preact.ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

const MOST_NEIGHBOURS = 24;

function Neighbours({ of }: { of: (OpInfo | number)[] }) {
  return (
    <>
      {of.slice(0, MOST_NEIGHBOURS).map((each, i) => <span key={i}>{i > 0 && ", "}<Neighbour of={each} /></span>)}
      {of.length > MOST_NEIGHBOURS && <span class="quiet"> {lineageWords.chainMore(of.length - MOST_NEIGHBOURS)}</span>}
    </>
  );
}

function Neighbour({ of }: { of: OpInfo | number | string }) {
  if (typeof of === "string") return <span class="mono">{of}</span>;
  if (typeof of === "number") return <span class="quiet">{lineageWords.outside}</span>;
  const place = of.call === null ? lineageWords.buckets[of.bucket] : graph.value!.calls[of.call]?.path;
  return (
    <>
      <button class="link mono" title={of.name} onClick={() => showOp(of)}>{of.type}</button>
      {place && <span class="quiet"> {place}</span>}
    </>
  );
}

/** The frames from the innermost line of the user's inwards; those before it lead to every operation alike. */
function Frames({ stack }: { stack: StackInfo }) {
  const [all, setAll] = useState(false);
  const first = all || stack.user_frame < 0 ? 0 : stack.user_frame;
  return (
    <>
      <h4>{lineageWords.frames}</h4>
      {stack.user_frame < 0 && <p class="quiet note">{lineageWords.noUserLine}</p>}
      <ol class="frames mono">
        {first > 0 && <li><button class="link" onClick={() => setAll(true)}>{lineageWords.chainMore(first)}</button></li>}
        {stack.frames.slice(first).map(([file, line, name, origin], i) => {
          const user = origin === "user";
          return (
            <li key={i} class={first + i === stack.user_frame ? "user-frame" : ""}>
              {user ? <button class="link" onClick={() => showLine(`${file}:${line}`)}>{file}:{line}</button> : <span>{file}:{line}</span>}{" "}
              <span class="quiet">{name} · {lineageWords.origins[origin] ?? origin}</span>
            </li>
          );
        })}
      </ol>
      {stack.text && <pre class="code">{stack.text}</pre>}
    </>
  );
}
