/** What runs after the output and belongs to no call, as slim cards below it. Knows words and counts, not what they stand for. */

import type { Tree } from "../graph/tree";
import { TAIL_TOP, type Positions } from "./layout";
import type { Picture } from "./picture";
import type { TailCard } from "./props";
import { measure } from "./text";

interface TailProps {
  tree: Tree;
  picture: Picture;
  positions: Positions;
  cards: readonly TailCard[];
  zoom: number;
}

const PAD = 9;
const GAP = 14;

export function Tail({ tree, picture, positions, cards, zoom }: TailProps) {
  // Below this zoom cards are coloured blocks, and words would not fit them.
  if (cards.length === 0 || zoom < 0.45) return null;
  const size = Math.max(11 / zoom, 11);
  const height = size * 1.75;
  const widths = cards.map(({ name, count }) => measure(`${name}  ${count}`, "plain", size) + 2 * PAD);
  const total = widths.reduce((sum, width) => sum + width + GAP, -GAP);
  const output = outermostBox(tree, picture);
  const y = positions.extent.height - TAIL_TOP;
  const left = Math.max(24, Math.min(output < 0 ? 24 : positions.x[output]!, positions.extent.width - 16 - total));
  let x = left;
  return (
    <g class="tail">
      {output >= 0 && <path class="edge" d={stem(positions, output, left + PAD + 5, y)} />}
      {cards.map(({ key, name, count, chosen, pick }, i) => {
        const at = x;
        x += widths[i]! + GAP;
        return (
          <g
            key={key} class={chosen ? "slim chosen" : "slim"} data-bucket={key} data-control role="button" tabindex={0} transform={`translate(${at} ${y})`}
            onClick={(event) => { event.stopPropagation(); pick(); }}
            onKeyDown={(event) => { if (event.key === "Enter") { event.stopPropagation(); pick(); } }}
          >
            {i > 0 && <path class="edge" d={`M${-GAP} ${height / 2}H0`} />}
            <rect width={widths[i]} height={height} rx={5} />
            <text class="plain" x={PAD} y={height / 2 + size * 0.35} font-size={size}>{name}</text>
            <text class="mono" x={widths[i]! - PAD} y={height / 2 + size * 0.35} font-size={size} text-anchor="end">{count}</text>
          </g>
        );
      })}
    </g>
  );
}

/** From the output's foot to the head of the first card. */
function stem({ x, y, height }: Positions, output: number, toX: number, toY: number): string {
  const foot = y[output]! + height[output]!;
  return `M${x[output]! + PAD + 5} ${foot}V${(foot + toY) / 2}H${toX}V${toY}`;
}

/** The box of the last output, or of the outermost group that holds it; -1 where there is none. */
function outermostBox(tree: Tree, picture: Picture): number {
  const last = Math.max(-1, ...tree.outputs);
  let box = last < 0 ? -1 : (picture.boxOf[last] ?? -1);
  while (box >= 0 && picture.cards[box]!.parent >= 0) box = picture.cards[box]!.parent;
  return box;
}
