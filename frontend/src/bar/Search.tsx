/** The search: calls by name, path and type at once; operations and lines of the program once typing rests. */
import { useEffect } from "preact/hooks";
import { fetchLines, fetchOps, type OpInfo, type SourceLine } from "../lineageApi";
import { labelOf, placeOfStack } from "../ops/lineage";
import { askAhead, traceAtCursor } from "../ops/useOps";
import { choose, reveal, showLine, showOp } from "../selection";
import * as state from "../state";
import { words } from "../strings";
import { lineageWords } from "../words/lineage";
import type { PickEntry } from "./narrow";
import { PickList } from "./PickList";
import { Popover } from "./Popover";

type Found = { call: number } | { op: OpInfo } | { line: string };

const MOST_OPS = 30;
const MOST_LINES = 12;

function callEntries(): PickEntry<Found>[] {
  return (state.graph.value?.calls ?? []).map((call, index) => ({
    key: call.path,
    value: { call: index },
    group: lineageWords.searchGroups.calls,
    text: `${call.name} ${call.path} ${call.type}`,
    show: (
      <>
        <span class="grow mono">{call.path === "." ? state.graph.value!.model : call.path}</span>
        <span class="quiet">{call.type}</span>
      </>
    ),
  }));
}

const matches = ({ file, line, text }: SourceLine, wanted: string) => `${file}:${line}`.includes(wanted) || text.toLowerCase().includes(wanted.toLowerCase());

/** A log or plugin without lineage answers nothing: then there are calls only. */
async function further(text: string): Promise<PickEntry<Found>[]> {
  const [at, of, trace] = [state.run.peek(), state.stream.peek(), traceAtCursor()];
  const [lines, found] = await Promise.all([
    fetchLines(at, of, trace).catch(() => []),
    fetchOps(at, of, trace, { search: text }).catch(() => ({ ops: [], stacks: [] })),
  ]);
  const calls = state.graph.peek()?.calls ?? [];
  const ofLines = lines.filter((line) => matches(line, text)).slice(0, MOST_LINES).map(({ file, line, text: source }): PickEntry<Found> => ({
    key: `line ${file}:${line}`,
    value: { line: `${file}:${line}` },
    group: lineageWords.searchGroups.lines,
    text: "",
    show: (
      <>
        <span class="mono nowrap">{file}:{line}</span>
        <span class="quiet grow">{source}</span>
      </>
    ),
  }));
  const ofOps = found.ops.slice(0, MOST_OPS).map((op): PickEntry<Found> => ({
    key: `op ${op.number}`,
    value: { op },
    group: lineageWords.searchGroups.ops,
    text: "",
    show: (
      <>
        <span class="mono nowrap">{op.type}</span>
        <span class="quiet grow" title={op.name}>{labelOf(op.name, op.call === null ? null : calls[op.call]!.path)}</span>
        <span class="quiet nowrap">{op.call === null ? (lineageWords.buckets[op.bucket] ?? "") : placeOfStack(found.stacks[op.stack]) || calls[op.call]?.name}</span>
      </>
    ),
  }));
  return [...ofLines, ...ofOps];
}

const highlight = (found: Found): void => { if ("op" in found) askAhead(found.op); };

function pick(found: Found): void {
  highlight(found);
  state.menu.value = "";
  if ("op" in found) return showOp(found.op);
  if ("line" in found) return showLine(found.line);
  reveal(found.call);
  if (state.graph.value?.calls[found.call]?.parent === null) choose(found.call);
}

export function Search() {
  const open = state.menu.value === "search";
  const entries = open ? callEntries() : [];
  // The lines are the same for every text: they are there by the time that something was typed.
  useEffect(() => { if (open) fetchLines(state.run.peek(), state.stream.peek(), traceAtCursor()).catch(() => undefined); }, [open]);
  return (
    <Popover
      name="search"
      label={words.bar.search}
      className="search"
      align="end"
      button={
        <>
          <svg class="glass" viewBox="0 0 14 14" aria-hidden="true">
            <circle cx="6" cy="6" r="4.2" />
            <path d="m9.2 9.2 3.3 3.3" />
          </svg>
          <span class="grow wide">{words.bar.searchPlaceholder}</span>
          <kbd class="wide">/</kbd>
        </>
      }
    >
      <PickList entries={entries} label={words.bar.search} placeholder={lineageWords.search} limit={100} more={further} onHighlight={highlight} onPick={pick} />
    </Popover>
  );
}
