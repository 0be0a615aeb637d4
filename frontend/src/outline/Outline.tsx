/** The outline: every call or fold as a row of a tree with its number and its strip over the steps; the accessible twin of the picture. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { FindingsBox } from "../findings/FindingsBox";
import { count } from "../format";
import type { Row } from "../graph/folds";
import { rememberedScroll, rememberScroll } from "../memory";
import { choose, reveal, toggle, tree } from "../selection";
import * as state from "../state";
import { columnName, kindName, words } from "../strings";
import { Legend } from "../Legend";
import { Border } from "./Border";
import { shownRows } from "./filter";
import { shownRange } from "./places";
import { OutlineRow, ROW_HEIGHT } from "./OutlineRow";
import { StripOverlay } from "./StripOverlay";

const OVERSCAN = 8;

export function Outline({ compact }: { compact: boolean }) {
  const rows = shownRows.value;
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: rememberedScroll("outline"), height: 800 });
  const [focused, setFocused] = useState(0);
  useLayoutEffect(() => {
    const box = scroller.current!;
    box.scrollTop = view.top;
    const observer = new ResizeObserver(() => setView({ top: box.scrollTop, height: box.clientHeight }));
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  const chosenRow = rows.findIndex((row) => row.call === state.chosen.value);
  useEffect(() => {
    if (chosenRow < 0) return;
    setFocused(chosenRow);
    bringIntoView(scroller.current!, chosenRow);
  }, [state.chosen.value, rows]);
  // Always the same function, so that rows which did not change are not drawn again while the list scrolls.
  const onPick = useCallback((call: number, index: number) => {
    setFocused(index);
    pick(call);
  }, []);
  const at = Math.min(focused, rows.length - 1);
  const focusRow = (index: number) => {
    const kept = Math.min(rows.length - 1, Math.max(0, index));
    setFocused(kept);
    bringIntoView(scroller.current!, kept);
  };
  const first = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - OVERSCAN);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW_HEIGHT) + OVERSCAN);
  const wide = state.heatmap.value && !compact;
  return (
    <aside class={`outline${wide ? " wide" : ""}${compact ? " compact" : ""}`} aria-label={words.bar.outline}>
      {!compact && <OutlineHead />}
      <div class="outline-body">
        <div
          class="rows"
          ref={scroller}
          role="treegrid"
          tabIndex={0}
          aria-label={words.outline.label}
          aria-rowcount={rows.length}
          aria-colcount={4}
          aria-activedescendant={rows.length ? `row-${at}` : undefined}
          onScroll={(event) => {
            const { scrollTop: top, clientHeight: height } = event.currentTarget;
            setView({ top, height });
            rememberScroll("outline", top);
          }}
          onKeyDown={(event) => onRowKey(event, rows, at, focusRow)}
          onPointerLeave={() => (state.hovered.value = null)}
        >
          <div class="run-of-rows" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
            {rows.slice(first, last).map((row, index) => (
              <OutlineRow
                key={`${row.kind} ${row.call} ${row.depth}`}
                row={row}
                index={first + index}
                focused={first + index === at}
                compact={compact}
                wide={wide}
                onPick={onPick}
              />
            ))}
          </div>
          {!rows.length && state.filter.value && <p class="quiet pad">{words.outline.noMatch(state.filter.value)}</p>}
        </div>
        {!compact && <StripOverlay rows={rows} scrollTop={view.top} wide={wide} />}
      </div>
      {wide && <Legend />}
      {!compact && <FindingsBox />}
      {!compact && !wide && <Border />}
    </aside>
  );
}

/** A row that only the filter shows is opened up to, so that it is still there without the filter. */
function pick(call: number): void {
  if (state.filter.value) reveal(call);
  else choose(call);
}

function bringIntoView(box: HTMLElement, index: number): void {
  const top = index * ROW_HEIGHT;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + ROW_HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW_HEIGHT - box.clientHeight;
}

/** The keys of a tree: → opens, then enters; ← closes, then leaves to the parent. */
function onRowKey(event: KeyboardEvent, rows: Row[], at: number, focusRow: (index: number) => void): void {
  const row = rows[at];
  if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
  const page = Math.max(1, Math.floor((event.currentTarget as HTMLElement).clientHeight / ROW_HEIGHT) - 1);
  const parent = () => {
    for (let up = at - 1; up >= 0; up--) if (rows[up]!.depth < row.depth) return up;
    return at;
  };
  switch (event.key) {
    case "ArrowDown": focusRow(at + 1); break;
    case "ArrowUp": focusRow(at - 1); break;
    case "PageDown": focusRow(at + page); break;
    case "PageUp": focusRow(at - page); break;
    case "Home": focusRow(0); break;
    case "End": focusRow(rows.length - 1); break;
    case "ArrowRight": row.key !== null && !row.open ? toggle(row) : row.open && focusRow(at + 1); break;
    case "ArrowLeft": row.open ? toggle(row) : focusRow(parent()); break;
    case "Enter": pick(row.call); break;
    default: return;
  }
  event.preventDefault();
}

/** What the heatmap's rows are. */
function Grouping() {
  return (
    <select aria-label={words.outline.rows} title={words.outline.rows} value={state.rowGrouping.value}
      onChange={(event) => (state.rowGrouping.value = event.currentTarget.value as state.RowGrouping)}>
      {Object.entries(words.outline.groupings).map(([key, name]) => <option key={key} value={key}>{name}</option>)}
    </select>
  );
}

/** Which steps the heatmap shows, and the way back to all of them. */
function Stretch() {
  const all = state.steps.value?.step;
  if (!all?.length) return null;
  if (!state.stepRange.value) return <span class="quiet cut">{words.outline.zoomHint}</span>;
  const [from, to] = shownRange(state.stepRange.value, all.length);
  return (
    <span class="nowrap">
      <span class="mono">{words.outline.stretch(count(all[from]!), count(all[to - 1]!))}</span>{" "}
      <button class="link" onClick={() => (state.stepRange.value = null)}>{words.outline.allSteps}</button>
    </span>
  );
}

function OutlineHead() {
  const calls = tree.value?.leafCount ?? 0;
  const { kind, column } = state.colourBy.value;
  const what = `${kindName(state.namedKind(kind))}, ${columnName(column)}`;
  const wide = state.heatmap.value;
  const label = wide ? words.outline.narrow : words.outline.widen;
  return (
    <div class="outline-head">
      <div class="line">
        <span class="cut strong" title={state.graph.value?.model}>{state.graph.value?.model ?? ""}</span>
        {state.graph.value && <span class="quiet nowrap">{words.outline.calls(calls)}</span>}
        <span class="spring" />
        {wide && <span class="quiet nowrap">{what} · {words.outline.overSteps}</span>}
      </div>
      <div class="line">
        <input
          class="filter"
          type="search"
          placeholder={words.outline.filter}
          aria-label={words.outline.filter}
          value={state.filter.value}
          spellcheck={false}
          onInput={(event) => (state.filter.value = event.currentTarget.value)}
        />
        {wide && <Grouping />}
        {wide && <Stretch />}
        <span class={wide ? "spring" : ""} />
        <button class="plain small nowrap" title={`${what} · ${label}`} aria-pressed={wide} onClick={() => (state.heatmap.value = !wide)}>
          {wide ? words.outline.picture : `${columnName(column)} ${words.outline.overSteps}`} <kbd>H</kbd>
        </button>
      </div>
    </div>
  );
}
