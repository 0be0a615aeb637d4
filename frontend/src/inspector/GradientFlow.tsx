/** The errors of all calls at the step of the cursor, as bars in the order of the flow: where they shrink or grow. */
import { useState } from "preact/hooks";
import { count, exponent, number } from "../format";
import { speaks } from "../graph/tree";
import { reveal, tree } from "../selection";
import { graph, record } from "../state";
import { cell, rowsOfCalls } from "../values";
import { trainingWords } from "../words/training";
import { depthBars } from "./depth";

const MOST_BARS = 180;
const HEIGHT = 72;

export function GradientFlow({ call, pass, relative }: { call: number; pass: string; relative: boolean }) {
  const [over, setOver] = useState(-1);
  const table = record.value;
  const kind = table?.kinds.get(pass);
  if (!table || !kind) return null;
  const calls = graph.value!.calls;
  const outputs = table.kinds.get("output");
  const under = relative && outputs ? rowsOfCalls(calls, outputs.ports) : null;
  const values: [number, number][] = [];
  for (const [each, row] of rowsOfCalls(calls, kind.ports)) {
    if (!speaks(tree.value!, each)) continue;
    const l2 = cell(table, kind, row, "l2");
    if (Number.isNaN(l2) && Number.isNaN(cell(table, kind, row, "count"))) continue;
    const lower = under ? cell(table, outputs!, under.get(each) ?? -1, "l2") : 1;
    values.push([each, l2 / lower]);
  }
  values.sort(([a], [b]) => a - b);
  const { bars, least, high, each } = depthBars(values, MOST_BARS);
  const at = bars[over] ?? bars.find((bar) => bar.call === call);
  return (
    <section>
      <h3>{trainingWords.flow} <span class="quiet plain-weight">{trainingWords.flowAt(count(table.step))}</span></h3>
      {bars.length ? (
        <>
          <div class="depth-frame">
            <span class="quiet" aria-hidden="true">{trainingWords.flowAxis(relative)}</span>
            <svg class="depth" viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={trainingWords.flow} onPointerLeave={() => setOver(-1)}>
              {bars.map((bar, i) => {
                const height = Math.max(1.5, bar.height * HEIGHT);
                const look = bar.bad ? "bad" : bar.value === 0 ? "zero" : bar.call === call ? "chosen" : "";
                return (
                  <g key={bar.call} data-path={calls[bar.call]!.path} onPointerEnter={() => setOver(i)} onClick={() => reveal(bar.call)}>
                    <title>{trainingWords.flowBar(calls[bar.call]!.path, number(bar.value))}</title>
                    <rect class="hit" x={i} y={0} width={1} height={HEIGHT} />
                    <rect class={`bar ${look}`} x={i + 0.08} y={HEIGHT - height} width={0.84} height={height} />
                  </g>
                );
              })}
            </svg>
          </div>
          <p class="note readout mono">
            {at ? <span class="cut">{trainingWords.flowBar(calls[at.call]!.path, number(at.value))}</span> : <span />}
            <span class="quiet">{least < Infinity && [...new Set([least, high].map((end) => exponent(end)))].join(" – ")}</span>
          </p>
          {each > 1 && <p class="quiet note">{trainingWords.flowMore(each)}</p>}
        </>
      ) : (
        <p class="sentence">{trainingWords.flowNone}</p>
      )}
    </section>
  );
}
