/** How the recorded functions execute: one word in the bar, and below it the report, function by function. */
import { fetchGraph } from "../api";
import { duration } from "../format";
import { useAnswer } from "../inspector/useAnswer";
import { graph, menu, run, runInfo, stream } from "../state";
import { words } from "../strings";
import type { Execution as ExecutionFacts } from "../types";
import { Popover } from "./Popover";

/** `traced · XLA`, `eager`, `traced · retraced 3×`. */
export function executionWord(facts: ExecutionFacts): string {
  const how = facts.run_eagerly || facts.mode === "eager" ? words.execution.eager : facts.mode || words.execution.traced;
  const parts = [how];
  if (facts.jit_compile) parts.push("XLA");
  if (facts.retraces.length) parts.push(words.execution.retraced(facts.retraces.length));
  return parts.join(" · ");
}

function factsOf(facts: ExecutionFacts): [string, string][] {
  const w = words.execution;
  const rows: [string, string | number | false][] = [
    [w.mode, facts.mode],
    [w.xla, facts.jit_compile ? w.jit : w.noJit],
    [w.function, facts.function],
    [w.traces, facts.traces > 0 && `${facts.traces}${facts.trace_seconds ? ` · ${w.traceSeconds(duration(facts.trace_seconds))}` : ""}`],
    [w.perExecution, facts.steps_per_execution > 1 && facts.steps_per_execution],
    [w.strategy, facts.strategy && `${facts.strategy} · ${w.replicas(facts.replicas)}`],
    [w.devices, facts.devices.join(", ")],
    [w.policy, facts.dtype_policy],
    [w.optimizer, facts.optimizer],
    [w.loss, facts.loss],
    [w.family, [facts.family, facts.keras_version].filter(Boolean).join(" ")],
    [w.tensorflow, facts.tensorflow_version],
  ];
  return rows.filter((row) => row[1]).map(([name, value]) => [name, String(value)]);
}

export function ExecutionFactsList({ facts }: { facts: ExecutionFacts }) {
  return (
    <>
      <dl class="facts">
        {factsOf(facts).map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      {facts.traces > 0 && <p class="quiet note">{words.execution.variants}</p>}
      {facts.retraces.length > 0 && (
        <>
          <h3>{words.execution.retraces}</h3>
          {facts.retraces.map((reason) => (
            <p key={reason}>{reason}</p>
          ))}
        </>
      )}
      <p class="quiet note">{facts.run_eagerly ? words.execution.eagerly : words.execution.notEagerly}</p>
    </>
  );
}

/** Every stream records a function of its own: what each of them is, how it runs and how often it was traced. */
function Functions() {
  const streams = (runInfo.value?.streams ?? []).filter(({ records }) => records > 0).map((each) => each.stream);
  const at = run.value;
  const { value } = useAnswer(JSON.stringify([at, streams, graph.value?.trace]), () =>
    Promise.all(streams.map((each) => fetchGraph(at, each, null).then(({ execution }) => ({ stream: each, execution })).catch(() => null))),
  );
  const known = (value ?? []).filter((each) => each !== null);
  if (!known.length) return null;
  const w = words.execution;
  return (
    <table class="statistics functions">
      <thead>
        <tr>
          <th scope="col">{w.function}</th>
          <th scope="col">{w.runs}</th>
          <th scope="col">{w.traces}</th>
        </tr>
      </thead>
      <tbody>
        {known.map(({ stream: each, execution }) => (
          <tr key={each} class={each === stream.value ? "current" : ""}>
            <th scope="row"><span class="mono">{execution.function || "–"}</span> <span class="quiet">{each}</span></th>
            <td>{executionWord(execution)}</td>
            <td>{execution.traces || "–"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Execution() {
  const facts = graph.value?.execution;
  if (!facts) return null;
  return (
    <Popover
      name="execution"
      label={words.bar.execution}
      className="execution"
      align="end"
      button={
        <>
          <span class="quiet">{words.bar.runs}</span> <span class="cut">{executionWord(facts)}</span>
        </>
      }
    >
      <div class="sheet">
        {menu.value === "execution" && <Functions />}
        <ExecutionFactsList facts={facts} />
      </div>
    </Popover>
  );
}
