/** How the chosen call's error and output went over the steps, and the model's own losses beneath, on the same steps. */
import { fetchSeries, type SeriesTable } from "../api";
import { goToIndex } from "../selection";
import { graph, nearestIndex, run, stepIndex, steps, stream } from "../state";
import { kindShort, statusSentence, words } from "../strings";
import { stepOfTrace } from "../loaded";
import { rowsOfCalls } from "../values";
import { Chart, type Line } from "./Chart";
import { CopyPython } from "./CopyPython";
import { seriesPython } from "./python";
import { useAnswer } from "./useAnswer";

export function Errors({ call }: { call: number }) {
  const table = steps.value;
  const calls = graph.value!.calls;
  const kinds = [...new Set(["error", ...graph.value!.error_kinds])];
  const [at, of, index] = [run.value, stream.value, stepIndex.value];
  const trace = table && index >= 0 ? stepOfTrace(table, index) : null;
  // The number of records is part of the question: a run that grows is asked again.
  const key = trace === null ? null : JSON.stringify([at, of, trace, kinds, table!.step.length]);
  const { value, problem } = useAnswer(key, () =>
    Promise.all([...kinds, "output"].map((kind) => fetchSeries(at, of, kind, "l2", trace).catch(() => null))),
  );
  if (!table || !value) return problem ? <p class="sentence">{problem}</p> : null;
  const found = value.filter((series) => series !== null);
  const lineOf = (series: SeriesTable): Line | null => {
    const row = rowsOfCalls(calls, series.ports).get(call);
    if (row === undefined) return null;
    const records = series.step.length;
    const values = series.values.subarray(row * records, (row + 1) * records);
    return { name: `${kindShort(series.kind)} l2`, values, colour: series.kind === "output" ? "--ink-3" : "--err", dashed: series.kind.includes("#") };
  };
  const x = found[0]?.step ?? table.step;
  const errors = found.filter(({ kind }) => kind !== "output").map(lineOf).filter((line) => line !== null);
  const outputs = found.filter(({ kind }) => kind === "output").map(lineOf).filter((line) => line !== null);
  const losses: Line[] = [...table.losses].map(([name, values], i) => ({ name, values, colour: i ? "--edge" : "--ink-2", dashed: i > 0 }));
  const pick = (step: number) => goToIndex(nearestIndex(table.step, step));
  const now = table.step[index]!;
  const why = calls[call]!.outputs.map(({ error, status }) => error || status).find(Boolean);
  return (
    <>
      <div class="tools spaced">
        <h3>{words.errors.error}</h3>
        {errors.length > 0 && <CopyPython text={seriesPython(at, of, calls[call]!.path, "error", "l2", 0)} />}
      </div>
      {errors.length > 0 ? (
        <Chart x={x} lines={errors} logarithmic now={now} height={132} onPick={pick} />
      ) : (
        <p class="sentence">{why ? statusSentence(why) : words.errors.noError}</p>
      )}
      {outputs.length > 0 && (
        <>
          <h3>{words.errors.output}</h3>
          <Chart x={x} lines={outputs} logarithmic now={now} height={116} onPick={pick} />
        </>
      )}
      <h3>{words.errors.loss}</h3>
      {losses.length > 0 ? (
        <Chart x={table.step} lines={losses} now={now} height={116} onPick={pick} />
      ) : (
        <p class="sentence">{words.errors.noLoss}</p>
      )}
      <p class="quiet note">{words.errors.click}</p>
    </>
  );
}
