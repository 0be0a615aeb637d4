/** The graph of some operations, drawn in place by the layout that draws the flow. */
import { useMemo } from "preact/hooks";
import { cutMiddle } from "../flow/text";
import { layout } from "../flow/layout";
import { LevelMemo } from "../flow/level";
import { roundedPath } from "../flow/wires";
import type { OpInfo } from "../lineageApi";
import { chosenOp } from "../state";
import { lineageWords } from "../words/lineage";
import { opLinks, shortName } from "./lineage";

const MOST = 80;
const WIDTH = 122;
const HEIGHT = 38;
const ROOM = 380;

/** A memory of its own: the flow's may not forget its levels for the sake of these. */
const memo = new LevelMemo();

export function OpGraph({ ops }: { ops: OpInfo[] }) {
  const shown = ops.length > MOST ? ops.slice(0, MOST) : ops;
  const drawn = useMemo(() => {
    if (!shown.length) return null;
    const boxes = shown.map(() => ({ parent: -1, open: false, width: WIDTH, height: HEIGHT, band: null, lead: false }));
    return layout(boxes, opLinks(shown), { room: ROOM }, memo);
  }, [ops]);
  if (!drawn) return <p class="sentence">{lineageWords.graphNone}</p>;
  const { width, height } = drawn.extent;
  const place = (op: OpInfo) => op.variable || shortName(op.name);
  return (
    <>
      <div class="op-graph">
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={lineageWords.graphLabel}>
          {drawn.paths.map((path, i) => <path key={i} class="wire" d={roundedPath(path)} />)}
          {shown.map((op, i) => (
            <g
              key={op.number} class={`box ${op.direction}${op.number === chosenOp.value ? " chosen" : ""}`} role="button" tabindex={0}
              transform={`translate(${drawn.x[i]} ${drawn.y[i]})`} onClick={() => (chosenOp.value = op.number)}
              onKeyDown={(event) => event.key === "Enter" && (chosenOp.value = op.number)}
            >
              <title>{op.name}</title>
              <rect width={WIDTH} height={HEIGHT} rx={5} />
              <text class="strong" x={8} y={16} font-size={12}>{cutMiddle(op.type, "name", 12, WIDTH - 16)}</text>
              <text class="quiet" x={8} y={30} font-size={11}>{cutMiddle(place(op), "plain", 11, WIDTH - 16)}</text>
            </g>
          ))}
        </svg>
      </div>
      {ops.length > shown.length && <p class="quiet note">{lineageWords.graphMore(shown.length, ops.length)}</p>}
    </>
  );
}
