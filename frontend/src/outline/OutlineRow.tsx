/** One row of the outline: health, name, number, strip. Draws only when its own numbers change. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { SeriesTable } from "../api";
import { isSigned } from "../colour/scale";
import { callOfFinding, worstLevel } from "../findings/places";
import { exponent, ofColumn } from "../format";
import type { Row } from "../graph/folds";
import { compare, toggle, tree } from "../selection";
import * as state from "../state";
import { words } from "../strings";
import { colourOf, flawsOf, marks, palette, runScale, scale, seriesRow, valueOfCall } from "../values";
import { heatPixels } from "./heat";
import { shownRange } from "./places";
import { drawCells, drawSparkline } from "./strip";
import { hiddenCalls, isSilent, worstCall, worstSeries } from "./worst";

export const ROW_HEIGHT = 26;

interface OutlineRowProps {
  row: Row;
  index: number;
  focused: boolean;
  compact: boolean;
  wide: boolean;
  onPick(call: number, index: number): void;
}

export function OutlineRow({ row, index, focused, compact, wide, onPick }: OutlineRowProps) {
  const at = tree.value!;
  const call = at.calls[row.call]!;
  const speaks = worstCall(at, row, (each) => valueOfCall.value.get(each), isSigned(state.colourBy.value.column));
  const value = speaks < 0 ? undefined : valueOfCall.value.get(speaks);
  const mark = worstLevel([row.call, ...hiddenCalls(at, row)].map((each) => marks.value.get(each)));
  const chosen = state.chosen.value;
  const shared = chosen !== null && call.layer !== null && at.calls[chosen]?.layer === call.layer;
  const className = ["row", row.kind, chosen === row.call && "chosen", shared && "shared", focused && "focused", state.hovered.value === row.call && "hovered"];
  const says = speaks >= 0 && speaks !== row.call ? words.outline.worst(at.calls[speaks]!.path) : undefined;
  return (
    <div
      id={`row-${index}`}
      class={className.filter(Boolean).join(" ")}
      role="row"
      aria-rowindex={index + 1}
      aria-level={row.depth + 1}
      aria-selected={chosen === row.call}
      aria-expanded={row.key !== null ? row.open : undefined}
      data-path={call.path}
      title={compact ? call.path : undefined}
      style={{ transform: `translateY(${index * ROW_HEIGHT}px)` }}
      onClick={(event) => (event.shiftKey ? compare(row.call) : onPick(row.call, index))}
      onMouseDown={(event) => event.shiftKey && event.preventDefault()}
      onDblClick={() => toggle(row)}
      onPointerEnter={() => (state.hovered.value = row.call)}
    >
      <span class={`health ${mark ?? ""}`} role="gridcell" title={mark && healthText(row, mark)}>
        {mark && (mark === "failure" ? "■" : "▲")}
      </span>
      {compact ? (
        <i class="swatch" style={{ background: colourOf(value, scale.value, palette.value) ?? undefined }} />
      ) : (
        <>
          <Name row={row} />
          <span class="value mono" role="gridcell" title={says}>
            {value === undefined ? "" : ofColumn(state.colourBy.value.column, value, exponent)}
          </span>
          <Strip row={row} wide={wide} />
        </>
      )}
    </div>
  );
}

/** Why a row is marked: of a folded one, what was found inside. */
function healthText(row: Row, level: string): string {
  const calls = new Set([row.call, ...hiddenCalls(tree.value!, row)]);
  const found = (state.findings.value ?? []).filter((finding) => {
    const call = callOfFinding(finding, state.graph.value);
    return call !== null && calls.has(call);
  });
  if (found.length) return found.map(({ message }) => message).join("\n");
  return tree.value!.calls[row.call]!.failed ? words.outline.failed : level === "failure" ? words.outline.nonFinite : "";
}

function Name({ row }: { row: Row }) {
  const call = tree.value!.calls[row.call]!;
  const suffix = call.path.slice(call.path.lastIndexOf("/") + 1).match(/#\d+$/)?.[0] ?? "";
  return (
    <span class="name" role="gridcell" style={{ paddingLeft: `${Math.min(row.depth, 12) * 13}px` }} title={call.path}>
      {row.key !== null ? (
        <button
          class="twist"
          tabIndex={-1}
          aria-label={row.open ? words.flow.close : words.flow.open}
          onClick={(event) => {
            event.stopPropagation();
            toggle(row);
          }}
        >
          <svg viewBox="0 0 8 8" aria-hidden="true" class={row.open ? "open" : ""}>
            <path d="M2 1v6l4-3z" />
          </svg>
        </button>
      ) : (
        <span class="twist" />
      )}
      <span class="cut">{row.title ?? call.name}</span>
      {suffix && !row.title && <span class="quiet">{suffix}</span>}
      {row.kind === "stack" && !row.open && <span class="badge">+{row.members.length - 1}</span>}
      {row.kind === "repeat" && !row.open && <span class="badge">×{row.times}</span>}
    </span>
  );
}

interface StripNumbers {
  values: Float32Array;
  flawed(i: number): boolean;
}

/** Kept for the series that they were made from. */
const stripsOf = new WeakMap<SeriesTable, WeakMap<Row, StripNumbers | null>>();

export function stripValues(row: Row): StripNumbers | null {
  const all = state.series.value;
  if (!all) return null;
  let strips = stripsOf.get(all);
  if (!strips) stripsOf.set(all, (strips = new WeakMap()));
  let strip = strips.get(row);
  if (strip === undefined) strips.set(row, (strip = makeStrip(row, all)));
  return strip;
}

/** The number of every step of a row, or null where it has none; the flaws are steps at which NaN was recorded. */
function makeStrip(row: Row, all: SeriesTable): StripNumbers | null {
  if (isSilent(tree.value!, row)) return null;
  const speakers = isSigned(all.column) ? [row.call] : hiddenCalls(tree.value!, row);
  const series = [...new Set(speakers.map((call) => seriesRow.value.get(call)))].filter((each) => each !== undefined);
  if (!series.length) return null;
  const records = all.step.length;
  return { values: worstSeries(all.values, records, series), flawed: (i) => series.some((each) => flawsOf(each, i)) };
}

function Strip({ row, wide }: { row: Row; wide: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const strip = stripValues(row);
  const { column } = state.colourBy.value;
  const colours = palette.value;
  const on = runScale.value;
  const width = wide ? state.windowWidth.value : state.outlineWidth.value;
  const range = wide ? state.stepRange.value : null;
  useLayoutEffect(() => {
    if (!canvas.current || !strip) return;
    if (wide) {
      const [from, to] = shownRange(range, strip.values.length);
      const room = canvas.current.clientWidth * (window.devicePixelRatio || 1);
      drawCells(canvas.current, heatPixels(strip.values, from, to, room, on, colours, strip.flawed));
    }
    else drawSparkline(canvas.current, strip.values, !isSigned(column), `rgb(${colours.line.join(" ")})`);
  }, [strip, wide, width, on, colours, range]);
  return (
    <span class="strip" role="gridcell">
      {strip && <canvas ref={canvas} class={wide ? "cells" : "spark"} />}
    </span>
  );
}
