/** One variable of a layer: its numbers, its gradient's and its update's at the step and over the steps. */
import { useState } from "preact/hooks";
import { fetchHistogram, fetchSeries } from "../api";
import { Segment } from "../bar/TopBar";
import { count, number, share } from "../format";
import { stepOfTrace } from "../loaded";
import { goToIndex } from "../selection";
import { graph, nearestIndex, record, run, stepIndex, steps, stream } from "../state";
import { columnName, words } from "../strings";
import { cell } from "../values";
import { trainingWords } from "../words/training";
import { Chart, type Line } from "./Chart";
import { CopyPython } from "./CopyPython";
import { ofRow, quotient } from "./errorSeries";
import { Histogram } from "./Histogram";
import { NoWeightNumbers } from "./NoWeightNumbers";
import { histogramPython } from "./python";
import { useAnswer } from "./useAnswer";

const KINDS = ["weight", "weight_gradient", "update"] as const;
const COLUMNS = ["mean", "std", "l2", "min", "max", "zero"] as const;
const COLOURS: Record<string, string> = { weight: "--ink-2", weight_gradient: "--err", update: "--neg" };

export function WeightNumbers({ layer, weight }: { layer: number; weight: number }) {
  const table = record.value;
  if (!table) return null;
  const rows = KINDS.map((kind) => {
    const of = table.kinds.get(kind);
    const row = of?.ports.findIndex(([each, port]) => each === layer && port === weight) ?? -1;
    return { kind, of, row };
  }).filter((each) => each.of && each.row >= 0);
  if (!rows.length) return <NoWeightNumbers />;
  const at = (kind: string, column: string) => {
    const found = rows.find((each) => each.kind === kind);
    return found ? cell(table, found.of!, found.row, column) : NaN;
  };
  const text = (kind: string, column: string) => {
    const found = rows.find((each) => each.kind === kind)!;
    const value = at(kind, column);
    return column === "zero" ? share(value, found.of!.part[2 * found.row]!) : number(value);
  };
  return (
    <>
      <table class="statistics numbers">
        <thead>
          <tr>
            <th class="quiet">{words.bar.step(count(table.step))}</th>
            {rows.map(({ kind }) => <th key={kind} scope="col">{trainingWords.weights.kinds[kind]}</th>)}
          </tr>
        </thead>
        <tbody class="mono">
          {COLUMNS.map((column) => (
            <tr key={column}>
              <th scope="row">{columnName(column)}</th>
              {rows.map(({ kind }) => (
                <td key={kind} class={Number.isFinite(at(kind, column)) ? "" : "bad"} data-kind={kind} data-column={column}>{text(kind, column)}</td>
              ))}
            </tr>
          ))}
          <tr>
            <th scope="row">{trainingWords.weights.each}</th>
            {rows.map(({ kind }) => (
              <td key={kind} title={kind === "weight" ? "" : `${trainingWords.weights.kinds[kind]} ÷ weight, l2`}>
                {kind === "weight" ? "" : `${number(at(kind, "l2") / at("weight", "l2"), 3)} ×`}
              </td>
            ))}
          </tr>
        </tbody>
      </table>
      <OverSteps layer={layer} weight={weight} kinds={rows.map(({ kind }) => kind)} />
      <HistogramOfWeight layer={layer} weight={weight} kinds={rows.map(({ kind }) => kind)} step={table.step} />
    </>
  );
}

function OverSteps({ layer, weight, kinds }: { layer: number; weight: number; kinds: string[] }) {
  const table = steps.value!;
  const [at, of, trace] = [run.value, stream.value, stepOfTrace(table, Math.max(0, stepIndex.value))];
  const key = JSON.stringify([at, of, trace, kinds, table.step.length]);
  const { value } = useAnswer(key, () => Promise.all(kinds.map((kind) => fetchSeries(at, of, kind, "l2", trace))));
  if (!value) return <div class="chart waiting" />;
  const lines: Line[] = [];
  for (const series of value) {
    const row = series.ports.findIndex(([each, port]) => each === layer && port === weight);
    if (row >= 0) lines.push({ name: trainingWords.weights.kinds[series.kind]!, values: ofRow(series, row), colour: COLOURS[series.kind]! });
  }
  const own = lines[0];
  if (!own || table.step.length < 2) return null;
  const ratios = lines.slice(1).map((line) => ({ ...line, name: `${line.name} ÷ ${own.name}`, values: quotient(line.values, own.values) }));
  const x = value[0]!.step;
  const now = table.step[stepIndex.value]!;
  const pick = (step: number) => goToIndex(nearestIndex(table.step, step));
  return (
    <>
      <h3>{trainingWords.weights.over}</h3>
      <Chart x={x} lines={lines} logarithmic now={now} height={116} onPick={pick} />
      {ratios.length > 0 ? (
        <>
          <h3>{trainingWords.weights.ratio}</h3>
          <Chart x={x} lines={ratios} logarithmic now={now} height={104} onPick={pick} />
        </>
      ) : (
        <p class="quiet note">{trainingWords.weights.noUpdate}</p>
      )}
    </>
  );
}

function HistogramOfWeight({ layer, weight, kinds, step }: { layer: number; weight: number; kinds: string[]; step: number }) {
  const [wanted, setWanted] = useState("weight");
  const kind = kinds.includes(wanted) ? wanted : kinds[0]!;
  const { path } = graph.value!.layers[layer]!;
  const [at, of] = [run.value, stream.value];
  const key = JSON.stringify([at, of, step, path, kind, weight]);
  const { value, problem } = useAnswer(key, () => fetchHistogram(at, of, step, path, kind, weight));
  return (
    <>
      <div class="tools spaced">
        <Segment label={trainingWords.weights.histogram} current={kind} onPick={setWanted}
          entries={kinds.map((each) => ({ key: each, name: trainingWords.weights.kinds[each] }))} />
        <CopyPython text={histogramPython(at, of, path, kind, weight, step)} />
      </div>
      {value ? <Histogram histogram={value} kind={kind} /> : problem ? <p class="sentence">{words.distribution.noHistogram} {problem}</p> : <div class="histogram" />}
    </>
  );
}
