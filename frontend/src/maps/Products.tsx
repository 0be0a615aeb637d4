/** One input channel in the microscope: its window, the kernel, and their products, each as a small picture. */
import { useMemo } from "preact/hooks";
import { entryOf } from "../colour/mapPixels";
import { number } from "../format";
import { words } from "../strings";
import type { Term, TermGroup } from "../valuesApi";
import { indexText } from "./exactText";
import type { Walk } from "./Lens";
import { mapPalette } from "./palette";
import { termGrid, type TermGrid } from "./termGrid";

const said = words.exact.lens;
const SIDE = 60;

export function Products({ group, several, walk }: { group: TermGroup; several: boolean; walk: Walk }) {
  const grid = useMemo(() => termGrid(group.terms), [group]);
  const hasWeights = group.terms.some(({ weight }) => weight !== null);
  const name = `${several ? `${said.ofInput(group.port)}, ` : ""}${said.channel(group.channel)}`;
  return (
    <div class="products" data-group={`${group.port} ${group.channel}`} data-sum={group.sum}>
      <span class="quiet">{name}</span>
      <div>
        <Cells grid={grid} of={({ value }) => value} name={(term) => `${indexText(term.index)}: ${number(term.value)}`} walk={walk} />
        {hasWeights && (
          <>
            <span>×</span>
            <Cells grid={grid} of={({ weight }) => weight} name={(term) => `${term.weight_name}${term.weight_index ? indexText(term.weight_index) : ""}: ${number(term.weight ?? NaN)}`} />
            <span>=</span>
            <Cells grid={grid} of={({ product }) => product} name={(term) => number(term.product)} />
          </>
        )}
        <span class="mono nowrap">Σ {number(group.sum)}</span>
      </div>
    </div>
  );
}

function Cells({ grid, of, name, walk }: { grid: TermGrid; of(term: Term): number | null; name(term: Term): string; walk?: Walk }) {
  const colours = mapPalette.value;
  const values = grid.terms.map((term) => (term ? of(term) : null));
  const reach = values.reduce<number>((most, value) => Math.max(most, Number.isFinite(value) ? Math.abs(value!) : 0), 0);
  const cell = SIDE / Math.max(grid.rows, grid.cols);
  return (
    <svg class="cells" width={cell * grid.cols} height={cell * grid.rows} viewBox={`0 0 ${grid.cols} ${grid.rows}`} preserveAspectRatio="none">
      {grid.terms.map((term, i) => {
        const value = values[i]!;
        const fill = value === null ? "none" : value === 0 ? colours.panel : Number.isFinite(value) ? colours.css[entryOf(value, reach)] : "var(--bad)";
        const way = term && walk?.(term);
        return (
          <rect
            key={i} x={i % grid.cols} y={Math.floor(i / grid.cols)} width={1} height={1} fill={fill} class={way ? "walk" : undefined}
            role={way ? "button" : undefined} tabIndex={way ? 0 : undefined} aria-label={way?.label} onClick={way?.go}
            onKeyDown={way ? (event) => { if (event.key === "Enter") way.go(); } : undefined}
          >
            {term && <title>{way ? `${name(term)}\n${way.label}` : name(term)}</title>}
          </rect>
        );
      })}
    </svg>
  );
}
