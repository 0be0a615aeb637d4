/** The layer losses of the chosen call over the steps, each labelled by its form. */
import type { LossesTable } from "../api";
import { goToIndex } from "../selection";
import { losses, nearestIndex, stepIndex, steps } from "../state";
import { trainingWords } from "../words/training";
import { Chart, type Line } from "./Chart";

const COLOURS: Record<string, string> = { readout: "--err", direct: "--neg", added: "--pos" };

function linesOf(table: LossesTable, call: number, values: Float32Array): Line[] {
  const records = table.step.length;
  return table.rows.flatMap(({ call: of, form, output }, row) => {
    const own = values.subarray(row * records, (row + 1) * records);
    if (of !== call || own.every(Number.isNaN)) return [];
    return [{ name: output ? `${form} ${output}` : form, values: own, colour: COLOURS[form] ?? "--ink-2" }];
  });
}

export function LayerLosses({ call }: { call: number }) {
  const table = losses.value;
  if (!table) return null;
  const rows = table.rows.filter((row) => row.call === call);
  const lines = linesOf(table, call, table.loss);
  const accuracies = linesOf(table, call, table.accuracy);
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
