/** The layer losses of the chosen call over the steps, each labelled by its form. */
import type { LossesTable } from "../api";
import { goToIndex } from "../selection";
import { callIndex, compared, graph, losses, nearestIndex, stepIndex, steps } from "../state";
import { trainingWords } from "../words/training";
import { Chart, type Line } from "./Chart";

const BESIDE = ["--neg", "--pos", "--ok", "--ink-2", "--warn"];
const COLOURS: Record<string, string> = { readout: "--err", direct: "--neg", added: "--pos" };

/** The chosen call's in full lines, coloured by form; those of the calls beside it dashed, named by their path. */
function linesOf(table: LossesTable, calls: number[], values: Float32Array): Line[] {
  const records = table.step.length;
  return calls.flatMap((call, order) =>
    table.rows.flatMap(({ call: of, form, output }, row): Line[] => {
      const own = values.subarray(row * records, (row + 1) * records);
      if (of !== call || own.every(Number.isNaN)) return [];
      const name = [form, output, order > 0 && graph.value!.calls[call]!.path].filter(Boolean).join(" · ");
      const colour = order > 0 ? BESIDE[(order - 1) % BESIDE.length]! : (COLOURS[form] ?? "--ink-2");
      return [{ name, values: own, colour, dashed: order > 0 }];
    }),
  );
}

export function LayerLosses({ call }: { call: number }) {
  const table = losses.value;
  if (!table) return null;
  const rows = table.rows.filter((row) => row.call === call);
  const beside = compared.value.map((path) => callIndex.value.get(path)).filter((each) => each !== undefined && each !== call) as number[];
  const lines = linesOf(table, [call, ...beside], table.loss);
  const accuracies = linesOf(table, [call, ...beside], table.accuracy);
  const pick = (step: number) => goToIndex(nearestIndex(steps.value!.step, step));
  const now = steps.value!.step[stepIndex.value]!;
  return (
    <section>
      <h3>{trainingWords.layerLoss}</h3>
      {!lines.length && <p class="quiet note">{trainingWords.noLayerLoss}</p>}
      {lines.length > 0 && <p class="quiet note">{trainingWords.loss}</p>}
      {lines.length > 0 && <Chart x={table.step} lines={lines} now={now} height={104} onPick={pick} />}
      {accuracies.length > 0 && <p class="quiet note">{trainingWords.accuracy}</p>}
      {accuracies.length > 0 && <Chart x={table.step} lines={accuracies} now={now} height={92} onPick={pick} />}
      {[...new Set(rows.map(({ form }) => form))].map((form) => (
        <p class="quiet note" key={form}>{trainingWords.forms[form]}</p>
      ))}
    </section>
  );
}
