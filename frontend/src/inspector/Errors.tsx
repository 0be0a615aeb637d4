/** The errors of the chosen calls over the steps and by depth, the layer losses, and the model's own losses beneath, on the same steps. */
import { Segment } from "../bar/TopBar";
import { runColour } from "../host";
import { goToIndex } from "../selection";
import { compared, errorLook, graph, namedKind, nearestIndex, otherRuns, run, stepIndex, steps, stream, streams, type ErrorLook } from "../state";
import { ordinal, words } from "../strings";
import { trainingWords } from "../words/training";
import { Chart, type Line } from "./Chart";
import { CopyPython } from "./CopyPython";
import { ErrorsChart } from "./ErrorsChart";
import { GradientFlow } from "./GradientFlow";
import { LayerLosses } from "./LayerLosses";
import { seriesPython } from "./python";

/** What the graph's step knows: the record's own error, and where several passes ran each of them. */
function passesOf(): { key: string; name: string }[] {
  const { error_kinds } = graph.value!;
  const { passes } = trainingWords;
  return [...new Set(["error", ...error_kinds])].map((key) => {
    const name = namedKind(key).split(":")[1];
    if (key === "error") return { key, name: passes.error };
    return { key, name: name ? passes.named(name) : passes.nth(ordinal(Number(key.slice(6)) + 1)) };
  });
}

export function Errors({ call }: { call: number }) {
  const table = steps.value;
  if (!table || stepIndex.value < 0) return null;
  const look = errorLook.value;
  const change = (part: Partial<ErrorLook>) => (errorLook.value = { ...look, ...part });
  const passes = passesOf();
  const pass = passes.some(({ key }) => key === look.pass) ? look.pass : "error";
  const losses: Line[] = [...table.losses].map(([name, values], i) => ({ name, values, colour: i ? "--edge" : "--ink-2", dashed: i > 0 }));
  const segment = (names: Record<string, string>, titles?: Record<string, string>) =>
    Object.entries(names).map(([key, name]) => ({ key, name, title: titles?.[key] }));
  const linear = look.linear || (look.relative === "none" && (look.column === "mean" || look.column === "spread"));
  return (
    <div class="sections">
      <section>
        <div class="tools spaced">
          <h3>{words.errors.title}</h3>
          <CopyPython text={seriesPython(run.value, stream.value, graph.value!.calls[call]!.path, pass, look.column === "spread" ? "mean" : look.column, 0)} />
        </div>
        <div class="tools wrap">
          {look.relative === "none" && (
            <Segment label={trainingWords.column} entries={segment(trainingWords.columns)} current={look.column} onPick={(column) => change({ column: column as ErrorLook["column"] })} />
          )}
          <Segment label={trainingWords.relative} entries={segment(trainingWords.relatives, trainingWords.relativeTitles)} current={look.relative}
            onPick={(relative) => change({ relative: relative as ErrorLook["relative"] })} />
          <Segment label={trainingWords.scale} entries={segment(trainingWords.scales)} current={linear ? "linear" : "log"} onPick={(key) => change({ linear: key === "linear" })} />
          {passes.length > 1 && (
            <select aria-label={trainingWords.pass} title={trainingWords.pass} value={pass} onChange={(event) => change({ pass: event.currentTarget.value })}>
              {passes.map(({ key, name }) => <option key={key} value={key}>{name}</option>)}
            </select>
          )}
        </div>
        <ErrorsChart call={call} pass={pass} />
        <Compared call={call} />
        <OtherRuns />
      </section>
      <GradientFlow call={call} pass={pass} relative={look.relative === "output"} />
      <LayerLosses call={call} />
      <section>
        <h3>{words.errors.loss}</h3>
        {losses.length > 0 ? (
          <Chart x={table.step} lines={losses} logarithmic={!look.linear} now={table.step[stepIndex.value]!} height={104} onPick={(step) => goToIndex(nearestIndex(table.step, step))} />
        ) : (
          <p class="sentence">{words.errors.noLoss}</p>
        )}
        <p class="quiet note">{words.errors.click}</p>
      </section>
    </div>
  );
}

/** The calls that stand beside the chosen one, and how to add some. */
function Compared({ call }: { call: number }) {
  const others = compared.value.filter((path) => path !== graph.value!.calls[call]!.path);
  if (!others.length) return <p class="quiet note">{trainingWords.add}</p>;
  return (
    <p class="chips">
      {others.map((path) => (
        <button key={path} class="chip mono" title={trainingWords.remove(path)} onClick={() => (compared.value = compared.value.filter((each) => each !== path))}>
          <span class="cut">{path}</span> ×
        </button>
      ))}
    </p>
  );
}

/** The other runs that have this stream, each a switch in TensorBoard's colour. */
function OtherRuns() {
  const others = (streams.value?.runs ?? []).filter((other) => other.run !== run.value && other.streams.some((each) => each.stream === stream.value));
  if (!others.length) return null;
  const toggle = (name: string) => {
    const next = new Set(otherRuns.value);
    if (!next.delete(name)) next.add(name);
    otherRuns.value = next;
  };
  return (
    <p class="chips" role="group" aria-label={trainingWords.runs} title={trainingWords.runs}>
      {others.slice(0, 24).map(({ run: name }) => (
        <button key={name} class="chip" aria-pressed={otherRuns.value.has(name)} onClick={() => toggle(name)}>
          <i class="dot" style={{ background: runColour(name) }} /> <span class="cut">{name}</span>
        </button>
      ))}
    </p>
  );
}
