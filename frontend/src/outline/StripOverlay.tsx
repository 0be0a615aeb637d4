/** Lies over the strips: the step cursor, the chosen cell, the number under the pointer, a click that goes to call and step, zoom and brush. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { batch } from "@preact/signals";
import { callOfFinding } from "../findings/places";
import { count, ofColumn } from "../format";
import type { Row } from "../graph/folds";
import { choose, goToIndex, tree } from "../selection";
import { chosen, colourBy, findings, graph, series, stepIndex, stepRange, steps } from "../state";
import { words } from "../strings";
import { panned, zoomed } from "./heat";
import { placeOfIndex, shownRange, stepAt } from "./places";
import { ROW_HEIGHT, stripValues } from "./OutlineRow";
import { hiddenCalls } from "./worst";

interface StripOverlayProps {
  rows: Row[];
  scrollTop: number;
  wide: boolean;
}

/** A pointer that moved less is a click. */
const BRUSH_FROM = 5;

export function StripOverlay({ rows, scrollTop, wide }: StripOverlayProps) {
  const box = useRef<HTMLDivElement>(null);
  const [over, setOver] = useState<{ row: number; index: number; x: number; y: number } | null>(null);
  const [brush, setBrush] = useState<{ from: number; to: number } | null>(null);
  const brushed = useRef(false);
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
  const range = wide ? shownRange(stepRange.value, records) : ([0, records] as const);
  const placeOf = (event: { clientX: number }) => {
    const { left, width } = box.current!.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left) / width));
  };
  const find = (event: { clientX: number; clientY: number }) => {
    const { left, top } = box.current!.getBoundingClientRect();
    const row = Math.floor((event.clientY - top + scrollTop) / ROW_HEIGHT);
    if (!rows[row]) return null;
    return { row, index: stepAt(placeOf(event), range, wide), x: event.clientX - left, y: row * ROW_HEIGHT - scrollTop };
  };
  const onWheel = (event: WheelEvent) => {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (wide && (event.ctrlKey || event.metaKey)) {
      stepRange.value = zoomed(range, records, placeOf(event), Math.exp(event.deltaY * 0.004));
      event.preventDefault();
    } else if (wide && sideways && stepRange.value) {
      stepRange.value = panned(range, records, (event.deltaX || event.deltaY) * 0.001);
      event.preventDefault();
    } else {
      (event.currentTarget as HTMLElement).parentElement!.querySelector<HTMLElement>(".rows")!.scrollTop += event.deltaY;
    }
  };
  const onPointerDown = (event: PointerEvent) => {
    brushed.current = false;
    if (!wide || event.button !== 0) return;
    const start = event.clientX;
    const from = placeOf(event);
    const target = event.currentTarget as HTMLElement;
    target.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent) => {
      if (!brushed.current && Math.abs(moved.clientX - start) < BRUSH_FROM) return;
      brushed.current = true;
      setBrush({ from, to: placeOf(moved) });
    };
    const stop = (ended: PointerEvent) => {
      target.removeEventListener("pointermove", move);
      target.removeEventListener("pointerup", stop);
      target.removeEventListener("pointercancel", stop);
      setBrush(null);
      if (!brushed.current || ended.type === "pointercancel") return;
      const [low, high] = [from, placeOf(ended)].sort((a, b) => a - b) as [number, number];
      const [first, last] = [stepAt(low, range, true), stepAt(high, range, true) + 1];
      if (last - first >= 2) stepRange.value = [first, last];
    };
    target.addEventListener("pointermove", move);
    target.addEventListener("pointerup", stop);
    target.addEventListener("pointercancel", stop);
  };
  const onClick = (event: MouseEvent) => {
    const found = brushed.current ? null : find(event);
    if (!found) return;
    batch(() => {
      choose(rows[found.row]!.call);
      goToIndex(found.index);
    });
  };
  const cursor = placeOfIndex(stepIndex.value, range, wide);
  const chosenRow = rows.findIndex(({ call }) => call === chosen.value);
  return (
    <div
      class="strip-overlay"
      ref={box}
      aria-hidden="true"
      onPointerMove={(event) => setOver(find(event))}
      onPointerLeave={() => setOver(null)}
      onPointerDown={onPointerDown}
      onWheel={onWheel}
      onClick={onClick}
      onDblClick={() => (stepRange.value = null)}
    >
      {cursor >= 0 && cursor <= 1 && <div class="now" style={{ left: `${100 * cursor}%` }} />}
      {wide && <FindingCells rows={rows} scrollTop={scrollTop} range={range} />}
      {chosenRow >= 0 && cursor >= 0 && cursor <= 1 && (
        <div
          class="chosen-cell"
          data-path={tree.value!.calls[rows[chosenRow]!.call]!.path}
          data-step={steps.value!.step[stepIndex.value]}
          style={{ left: `${100 * cursor}%`, top: `${chosenRow * ROW_HEIGHT - scrollTop}px`, width: wide ? `max(7px, ${100 / (range[1] - range[0])}%)` : "7px" }}
        />
      )}
      {brush && <div class="brush" style={{ left: `${100 * Math.min(brush.from, brush.to)}%`, width: `${100 * Math.abs(brush.to - brush.from)}%` }} />}
      {over && !brush && rows[over.row] && <Tip row={rows[over.row]!} index={over.index} x={over.x} y={over.y} width={box.current?.clientWidth ?? 0} />}
    </div>
  );
}

/** A sign at the cell where something was first seen. */
function FindingCells({ rows, scrollTop, range }: { rows: Row[]; scrollTop: number; range: readonly [number, number] }) {
  const found = findings.value ?? [];
  // The pointer moves often; where the findings are changes seldom.
  const cells = useMemo(() => {
    const rowOfCall = new Map<number, number>();
    rows.forEach((row, at) => {
      for (const call of row.open ? [row.call] : [row.call, ...hiddenCalls(tree.value!, row)]) if (!rowOfCall.has(call)) rowOfCall.set(call, at);
    });
    const indexOf = new Map(Array.from(steps.value!.step, (step, index) => [step, index]));
    return found.map((finding) => ({
      row: rowOfCall.get(callOfFinding(finding, graph.value) ?? -1) ?? -1,
      place: placeOfIndex(indexOf.get(finding.step) ?? -1, range, true),
      level: finding.level,
      key: `${finding.rule} ${finding.path} ${finding.message}`,
    }));
  }, [rows, found, range[0], range[1], steps.value]);
  return (
    <>
      {cells.map(({ row, place, level, key }) => {
        const top = row * ROW_HEIGHT - scrollTop;
        if (row < 0 || place < 0 || place > 1 || top < -ROW_HEIGHT || top > window.innerHeight) return null;
        return <div key={key} class={`finding-cell ${level}`} style={{ left: `${100 * place}%`, top: `${top}px` }} />;
      })}
    </>
  );
}

function Tip({ row, index, x, y, width }: { row: Row; index: number; x: number; y: number; width: number }) {
  const strip = stripValues(row);
  if (!strip) return null;
  const value = strip.values[index]!;
  const text = Number.isNaN(value) && !strip.flawed(index) ? words.outline.none : ofColumn(colourBy.value.column, value);
  const step = count(steps.value!.step[index]!);
  const side = x > width / 2 ? { right: `${width - x + 10}px` } : { left: `${x + 10}px` };
  return (
    <div class="tip" style={{ ...side, top: `${y > 60 ? y - 26 : y + ROW_HEIGHT + 2}px` }}>
      {words.outline.cell(row.title ?? tree.value!.calls[row.call]!.path, step, text)}
    </div>
  );
}
