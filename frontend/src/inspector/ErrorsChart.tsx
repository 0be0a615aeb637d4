/** The errors of the chosen calls over the steps, of one run or several. */
import { fetchGraph, fetchSeries, type SeriesTable } from "../api";
import { stepOfTrace } from "../loaded";
import { runColour } from "../host";
import { goToIndex } from "../selection";
import { compared, errorLook, graph, nearestIndex, otherRuns, run, stepIndex, steps, stream, type ErrorLook } from "../state";
import { statusSentence, words } from "../strings";
import type { GraphInfo } from "../types";
import { trainingWords } from "../words/training";
import { Chart, type Band, type Line } from "./Chart";
import { alignSteps, deviation, layerQuotient, magnitude, ofCall, quotient, unionSteps } from "./errorSeries";
import { NoWeightNumbers } from "./NoWeightNumbers";
import { useAnswer } from "./useAnswer";

/** The chosen call's own colour, then those of the calls beside it. Teal stays what is chosen. */
const COLOURS = ["--err", "--neg", "--pos", "--ok", "--ink-2", "--warn"];

/** Which series a look needs: [kind, column]. */
function needs({ column, relative }: ErrorLook, pass: string): [string, string][] {
  if (relative === "weights") return [["weight_gradient", "l2"], ["weight", "l2"]];
  if (relative === "output") return [[pass, "l2"], ["output", "l2"]];
  if (column === "spread") return ["min", "mean", "std", "max"].map((each) => [pass, each]);
  return column === "max" ? [[pass, "min"], [pass, "max"]] : [[pass, column]];
}

interface RunAnswer {
  /** As it was when the series were asked for: until the next ones are here, these are shown as what they are. */
  look: ErrorLook;
  run: string;
  graph: GraphInfo;
  series: SeriesTable[];
}

/** The numbers of one call: one line, or of a spread five, outermost first and last. */
function numbersOf({ look: { relative, column }, graph: of, series }: RunAnswer, path: string): Float32Array[] | null {
  const call = of.calls.findIndex((each) => each.path === path);
  if (call < 0) return null;
  if (relative === "weights") {
    const { layer } = of.calls[call]!;
    const made = layer === null ? null : layerQuotient(series[0]!, series[1]!, layer);
    return made && [made];
  }
  const rows = series.map((each) => ofCall(each, of.calls, call));
  if (rows.some((row) => row === null)) return null;
  const [a, b, c, d] = rows as Float32Array[];
  if (relative === "output") return [quotient(a!, b!)];
  if (column === "max") return [magnitude(a!, b!)];
  if (column === "spread") return [a!, deviation(b!, c!, a!, -1), b!, deviation(b!, c!, d!, 1), d!];
  return [a!];
}

export function ErrorsChart({ call, pass }: { call: number; pass: string }) {
  const table = steps.value!;
  const calls = graph.value!.calls;
  const [at, of, index, look] = [run.value, stream.value, stepIndex.value, errorLook.value];
  const others = [...otherRuns.value].filter((other) => other !== at);
  const trace = stepOfTrace(table, Math.max(0, index));
  const wanted = needs(look, pass);
  const key = JSON.stringify([at, of, trace, wanted, others, table.step.length]);
  const { value } = useAnswer(key, () =>
    Promise.all(
      [at, ...others].map(async (each): Promise<RunAnswer | null> => {
        const step = each === at ? trace : null;
        const asked = [fetchGraph(each, of, step), ...wanted.map(([kind, column]) => fetchSeries(each, of, kind, column, step))] as const;
        try {
          const [found, ...series] = await Promise.all(asked);
          return { look, run: each, graph: found as GraphInfo, series: series as SeriesTable[] };
        } catch {
          return null;
        }
      }),
    ),
  );
  if (!value) return <div class="chart waiting" />;
  const answers = value.filter((answer) => answer !== null);
  const drawn = answers[0]?.look ?? look;
  const x = answers.length ? unionSteps(answers.map(({ series }) => series[0]!.step)) : table.step;
  const shown = [calls[call]!.path, ...compared.value.filter((path) => path !== calls[call]!.path)];
  const lines: Line[] = [];
  const bands: Band[] = [];
  const absent: string[] = [];
  for (const answer of answers) {
    shown.forEach((path, order) => {
      const own = answer.run === at;
      const numbers = numbersOf(answer, path)?.map((each) => alignSteps(each, answer.series[0]!.step, x));
      if (!numbers) return void (!own && order === 0 && absent.push(answer.run));
      const colour = answers.length > 1 ? runColour(answer.run) : COLOURS[order % COLOURS.length]!;
      const name = shown.length > 1 || answers.length > 1 ? trainingWords.inRun(path, answer.run) : path;
      const said = answers.length > 1 ? (shown.length > 1 ? name : answer.run) : path;
      const line = { name: said, colour, foreign: !own, dashed: answers.length > 1 && order > 0 };
      const middle = numbers.length >> 1;
      // A fan of several calls would hide them all: only the chosen one's is drawn.
      if (numbers.length === 5 && own && order === 0) {
        const base = lines.length;
        const faint = ["min", "−std", "", "+std", "max"];
        numbers.forEach((values, i) => lines.push({ ...line, name: i === middle ? "mean" : faint[i]!, values, hidden: i !== middle }));
        bands.push({ over: base + 4, under: base, colour, opacity: 0.14 }, { over: base + 3, under: base + 1, colour, opacity: 0.22 });
      } else lines.push({ ...line, values: numbers[middle]! });
    });
  }
  const why = calls[call]!.outputs.map(({ error, status }) => error || status).find(Boolean);
  if (!lines.length) {
    const { layer } = calls[call]!;
    const hasWeights = layer !== null && graph.value!.layers[layer]!.weights.some(({ trainable }) => trainable);
    if (drawn.relative === "weights" && hasWeights) return <NoWeightNumbers />;
    const sentence = drawn.relative === "weights" ? trainingWords.noWeights : why ? statusSentence(why) : words.errors.noError;
    return <p class="sentence">{sentence}</p>;
  }
  const signed = drawn.relative === "none" && (drawn.column === "mean" || drawn.column === "spread");
  return (
    <>
      <Chart
        x={x} lines={lines} bands={bands} logarithmic={!look.linear && !signed} now={table.step[index]!} height={150}
        onPick={(step) => goToIndex(nearestIndex(table.step, step))}
      />
      {drawn.column === "spread" && drawn.relative === "none" && <p class="quiet note">{trainingWords.spreadNote}</p>}
      {absent.map((each) => <p class="quiet note" key={each}>{trainingWords.absent(each)}</p>)}
    </>
  );
}
