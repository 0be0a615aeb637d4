/** The bar over the page: which run, stream and step; how it is shown; where to find things. */
import type { ComponentChildren } from "preact";
import { runColour } from "../host";
import { chooseRun } from "../loaded";
import { share } from "../memory";
import * as state from "../state";
import { columnName, kindName, kindShort, words } from "../strings";
import { LOSSES, lossColumns, RATIO, ratiosOf, WEIGHT_KINDS } from "../measures";
import { VIEWS } from "../views";
import { Execution } from "./Execution";
import type { PickEntry } from "./narrow";
import { PickList } from "./PickList";
import { Popover } from "./Popover";
import { Search } from "./Search";
import { StepCursor } from "./StepCursor";

export function TopBar() {
  // Before there is a picture, what changes it would be buttons without an effect.
  const drawn = state.graph.value !== null;
  return (
    <header class="bar">
      {state.run.value ? <RunPicker /> : <span class="strong product">{words.product}</span>}
      <StreamSegment />
      <StepCursor />
      {drawn && (
        <>
          <ViewSegment />
          <ColourMenu />
          <Search />
          <Execution />
          <Share />
        </>
      )}
      <Theme />
      <button class="icon text" aria-label={words.bar.help} title={words.bar.help} onClick={() => (state.menu.value = "help")}>
        ?
      </button>
    </header>
  );
}

interface SegmentProps {
  label: string;
  entries: { key: string; name: ComponentChildren; title?: string }[];
  current: string;
  onPick(key: string): void;
}

export function Segment({ label, entries, current, onPick }: SegmentProps) {
  return (
    <div class="segment" role="group" aria-label={label}>
      {entries.map(({ key, name, title }) => (
        <button key={key} title={title} aria-pressed={key === current} onClick={() => onPick(key)}>
          {name}
        </button>
      ))}
    </div>
  );
}

function RunPicker() {
  const runs = state.streams.value?.runs ?? [];
  const dot = (run: string) => <i class="dot" style={{ background: runColour(run) }} />;
  const entries: PickEntry<string>[] = runs.map(({ run, streams }) => ({
    key: run,
    value: run,
    text: run,
    current: run === state.run.value,
    show: (
      <>
        {dot(run)}
        <span class="grow">{run}</span>
        <span class="quiet">{streams.map(({ stream }) => stream).join(" · ")}</span>
      </>
    ),
  }));
  const pick = (run: string) => {
    chooseRun(run);
    state.menu.value = "";
  };
  return (
    <Popover
      name="run"
      label={words.bar.run}
      className="runs"
      button={
        <>
          {state.run.value && dot(state.run.value)}
          <span class="cut">{state.run.value || "–"}</span>
          <Caret />
        </>
      }
    >
      <PickList entries={entries} label={words.bar.run} placeholder={words.bar.run} onPick={pick} />
    </Popover>
  );
}

export const Caret = () => (
  <svg class="caret" viewBox="0 0 8 5" aria-hidden="true">
    <path d="M1 .8 4 4 7 .8" />
  </svg>
);

function StreamSegment() {
  const streams = state.runInfo.value?.streams ?? [];
  if (!streams.length) return null;
  if (streams.length > 4) {
    return (
      <select
        class="streams"
        aria-label={words.bar.stream}
        value={state.stream.value}
        onChange={(event) => (state.stream.value = event.currentTarget.value)}
      >
        {streams.map(({ stream }) => (
          <option key={stream}>{stream}</option>
        ))}
      </select>
    );
  }
  const entries = streams.map(({ stream, records }) => ({ key: stream, name: stream, title: words.bar.records(records) }));
  return <Segment label={words.bar.stream} entries={entries} current={state.stream.value} onPick={(key) => (state.stream.value = key)} />;
}

function ViewSegment() {
  const entries = VIEWS.map(({ key, hotkey }) => ({ key, name: words.views[key], title: hotkey }));
  return <Segment label={words.bar.views} entries={entries} current={state.view.value} onPick={(key) => (state.view.value = key)} />;
}

function ColourMenu() {
  const { kind, column } = state.colourBy.value;
  const table = state.record.value;
  const entries: PickEntry<{ kind: string; column: string }>[] = [];
  const add = (name: string, each: string) =>
    entries.push({
      key: `${name}.${each}`,
      value: { kind: name, column: each },
      group: kindName(state.namedKind(name)),
      text: `${columnName(each)} ${kindName(state.namedKind(name))} ${name}`,
      current: name === kind && each === column,
      show: columnName(each),
    });
  // What people compare by comes before the columns of what a layer holds.
  const kinds = [...(table?.kinds.keys() ?? [])];
  for (const name of kinds) if (!WEIGHT_KINDS.has(name)) for (const each of table!.columns) if (each !== "finite") add(name, each);
  for (const each of table ? ratiosOf(table.kinds) : []) add(RATIO, each);
  for (const each of state.losses.value ? lossColumns(state.losses.value) : []) add(LOSSES, each);
  for (const name of kinds) if (WEIGHT_KINDS.has(name)) for (const each of table!.columns) if (each !== "finite") add(name, each);
  const pick = (value: { kind: string; column: string }) => {
    state.colourBy.value = value;
    state.menu.value = "";
  };
  return (
    <Popover
      name="colour"
      label={words.bar.colourBy}
      className="colour"
      button={
        <>
          <span class="quiet wide">{words.bar.colour}</span>
          <span class="cut">
            {kindShort(state.namedKind(kind))} {columnName(column)}
          </span>
          <Caret />
        </>
      }
    >
      <PickList entries={entries} label={words.bar.colourBy} placeholder={words.bar.colourSearch} onPick={pick} />
    </Popover>
  );
}

function Share() {
  return (
    <button class="plain share" title={words.bar.shareTitle} aria-live="polite" onClick={() => void share()}>
      {state.copied.value ? words.bar.shared : words.bar.share}
    </button>
  );
}

function Theme() {
  const next = { auto: "light", light: "dark", dark: "auto" } as const;
  const label = words.bar.theme[state.theme.value];
  return (
    <button class="icon theme" aria-label={label} title={label} onClick={() => (state.theme.value = next[state.theme.value])}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="5.2" fill="none" stroke="currentColor" stroke-width="1.4" />
        {state.theme.value === "auto" && <path d="M8 2.8a5.2 5.2 0 0 1 0 10.4z" fill="currentColor" />}
        {state.theme.value === "dark" && <circle cx="8" cy="8" r="5.2" fill="currentColor" />}
        {state.theme.value === "light" && <circle cx="8" cy="8" r="1.6" fill="currentColor" />}
      </svg>
    </button>
  );
}
