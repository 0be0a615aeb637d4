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

/** Where the slim cards stand; null where there are none. */
function placed({ tree, picture, positions, cards, zoom }: TailProps) {
  // Below this zoom cards are coloured blocks, and words would not fit them.
  if (cards.length === 0 || zoom < 0.45) return null;
  const size = Math.max(11 / zoom, 11);
  const widths = cards.map(({ name, count }) => measure(name, "plain", size) + size * 0.6 + measure(count, "mono", size) + 2 * PAD);
  const total = widths.reduce((sum, width) => sum + width + GAP, -GAP);
  const outputs = outputBoxes(tree, picture);
  const y = positions.extent.height - TAIL_TOP;
  const x = Math.max(24, Math.min(outputs.length ? positions.x[outputs[0]!]! : 24, positions.extent.width - 16 - total));
  return { size, widths, outputs, x, y };
}

/** What leads from the outputs to the first slim card. Drawn before the cards, so that it runs behind those in its way. */
export function Stems(props: TailProps) {
  const at = placed(props);
  if (!at) return null;
  const path = (output: number) => stem(props.positions, output, at.x + PAD + 5, at.y);
  return <g class="tail">{at.outputs.map((output) => <path key={output} class="edge" d={path(output)} />)}</g>;
}

export function Tail(props: TailProps) {
  const place = placed(props);
  if (!place) return null;
  const { size, widths, y } = place;
  const height = size * 1.75;
  let { x } = place;
  return (
    <g class="tail">
      {props.cards.map(({ key, name, count, chosen, pick }, i) => {
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

/** From the output's foot to the head of the first card, across below the lowest box. */
function stem({ x, y, height }: Positions, output: number, toX: number, toY: number): string {
  const foot = y[output]! + height[output]!;
  return `M${x[output]! + PAD + 5} ${foot}V${toY - 8}H${toX}V${toY}`;
}

/** The boxes of the outputs, or of the outermost groups that hold them, the last one first. */
export function outputBoxes(tree: Tree, picture: Picture): number[] {
  const boxes = [...tree.outputs].sort((a, b) => b - a).map((output) => {
    let box = picture.boxOf[output] ?? -1;
    while (box >= 0 && picture.cards[box]!.parent >= 0) box = picture.cards[box]!.parent;
    return box;
  });
  return [...new Set(boxes)].filter((box) => box >= 0);
}
