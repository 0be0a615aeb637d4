/** Lies over the strips: the line of the step cursor, the number under the pointer, a click that goes to call and step. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { count, number } from "../format";
import type { Row } from "../graph/folds";
import { choose, goToIndex, tree } from "../selection";
import { series, stepIndex, steps } from "../state";
import { words } from "../strings";
import { batch } from "@preact/signals";
import { stepAt } from "./places";
import { ROW_HEIGHT, stripValues } from "./OutlineRow";

interface StripOverlayProps {
  rows: Row[];
  scrollTop: number;
  wide: boolean;
}

export function StripOverlay({ rows, scrollTop, wide }: StripOverlayProps) {
  const box = useRef<HTMLDivElement>(null);
  const [over, setOver] = useState<{ row: number; index: number; x: number; y: number } | null>(null);
  const records = steps.value?.step.length ?? 0;
  // The strips know their place; a scroll bar or a drag of the border moves them.
  useLayoutEffect(() => {
    const strip = box.current?.parentElement!.querySelector<HTMLElement>(".strip");
    if (!strip) return;
    const { left, width } = strip.getBoundingClientRect();
    box.current!.style.left = `${left - box.current!.parentElement!.getBoundingClientRect().left}px`;
    box.current!.style.width = `${width}px`;
  });
  if (!records || !series.value) return null;
  const find = (event: { clientX: number; clientY: number }) => {
    const { left, top, width } = box.current!.getBoundingClientRect();
    const row = Math.floor((event.clientY - top + scrollTop) / ROW_HEIGHT);
    if (!rows[row]) return null;
    const index = stepAt((event.clientX - left) / width, records, wide);
    return { row, index, x: event.clientX - left, y: row * ROW_HEIGHT - scrollTop };
  };
  const cursor = wide ? (stepIndex.value + 0.5) / records : records > 1 ? stepIndex.value / (records - 1) : 0.5;
  return (
    <div
      class="strip-overlay"
      ref={box}
      aria-hidden="true"
      onPointerMove={(event) => setOver(find(event))}
      onPointerLeave={() => setOver(null)}
      onWheel={(event) => {
        event.currentTarget.parentElement!.querySelector<HTMLElement>(".rows")!.scrollTop += event.deltaY;
      }}
      onClick={(event) => {
        const found = find(event);
        if (!found) return;
        batch(() => {
          choose(rows[found.row]!.call);
          goToIndex(found.index);
        });
      }}
    >
      <div class="now" style={{ left: `${100 * cursor}%` }} />
      {over && rows[over.row] && <Tip row={rows[over.row]!} index={over.index} x={over.x} y={over.y} width={box.current?.clientWidth ?? 0} />}
    </div>
  );
}

function Tip({ row, index, x, y, width }: { row: Row; index: number; x: number; y: number; width: number }) {
  const strip = stripValues(row);
  if (!strip) return null;
  const value = strip.values[index]!;
  const text = Number.isNaN(value) && !strip.flawed(index) ? words.outline.none : number(value);
  const step = count(steps.value!.step[index]!);
  const side = x > width / 2 ? { right: `${width - x + 10}px` } : { left: `${x + 10}px` };
  return (
    <div class="tip" style={{ ...side, top: `${y > 60 ? y - 26 : y + ROW_HEIGHT + 2}px` }}>
      {words.outline.cell(tree.value!.calls[row.call]!.path, step, text)}
    </div>
  );
}
