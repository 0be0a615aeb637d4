/** What is shown of a call's exact values, and how: the switches above the maps. */
import { Segment } from "../bar/TopBar";
import { CopyPython } from "../inspector/CopyPython";
import type { Held } from "../exact";
import { mapKind, mapOrder, mapRange, mapZoom, namedKind, sample } from "../state";
import { words } from "../strings";

/** `output`, `input` and each error that the record keeps apart. */
export function kindsOf(held: Held, hasInputs: boolean): string[] {
  const errors = held.graph.error_kinds.length ? held.graph.error_kinds : ["error"];
  const shown = errors.includes("error") ? errors : ["error", ...errors];
  return [...(hasInputs ? ["input"] : []), "output", ...shown];
}

export function KindSwitch({ kinds, current, withAll }: { kinds: string[]; current: string; withAll: boolean }) {
  const names = withAll ? [...kinds, "all"] : kinds;
  const entries = names.map((key) => ({ key, name: words.exact.kinds[key] ?? namedKind(key) }));
  return <Segment label={words.exact.which} entries={entries} current={current} onPick={(kind) => (mapKind.value = kind)} />;
}

export function SamplePicker({ held }: { held: Held }) {
  if (held.info.samples < 2) return null;
  return (
    <label class="quiet nowrap">
      {words.exact.sample}{" "}
      <select value={sample.value} data-pick="sample" onChange={(event) => (sample.value = Number(event.currentTarget.value))}>
        {Array.from({ length: held.info.samples }, (_, each) => <option key={each} value={each}>{each}</option>)}
      </select>
    </label>
  );
}

export function PortPicker({ names, port, onPick }: { names: string[]; port: number; onPick(port: number): void }) {
  if (names.length < 2) return null;
  return (
    <label class="quiet nowrap">
      {words.exact.port}{" "}
      <select value={port} onChange={(event) => onPick(Number(event.currentTarget.value))}>
        {names.map((name, each) => <option key={each} value={each}>{words.distribution.port(each, name)}</option>)}
      </select>
    </label>
  );
}

export function RangeAndOrder({ many }: { many: boolean }) {
  return (
    <>
      <select
        aria-label={words.exact.range} title={words.exact.rangeTitle} data-pick="range" value={mapRange.value}
        onChange={(event) => (mapRange.value = event.currentTarget.value as typeof mapRange.value)}
      >
        {Object.entries(words.exact.ranges).map(([key, name]) => <option key={key} value={key}>{name}</option>)}
      </select>
      {many && (
        <select
          aria-label={words.exact.order} title={words.exact.order} data-pick="order" value={mapOrder.value}
          onChange={(event) => (mapOrder.value = event.currentTarget.value as typeof mapOrder.value)}
        >
          {Object.entries(words.exact.orders).map(([key, name]) => <option key={key} value={key}>{name}</option>)}
        </select>
      )}
      <span class="stepper">
        <button aria-label={words.exact.zoomOut} title={words.exact.zoomOut} onClick={() => (mapZoom.value = Math.max(-2, mapZoom.value - 1))}>−</button>
        <button aria-label={words.exact.zoomIn} title={words.exact.zoomIn} data-zoom="in" onClick={() => (mapZoom.value = Math.min(8, mapZoom.value + 1))}>+</button>
      </span>
    </>
  );
}

/** The slice box: what is typed is taken on Enter or when the box is left, and emptied it is the first view again. */
export function SliceBox({ text, typed, problem, onType }: { text: string; typed: string; problem: string; onType(text: string): void }) {
  return (
    <div class="slice-box">
      <input
        key={typed ? "" : text} type="text" class="mono" spellcheck={false} autocomplete="off" aria-label={words.exact.slices} title={words.exact.slices} data-slices
        defaultValue={typed || text} onChange={(event) => onType(event.currentTarget.value.trim() === text && !typed ? "" : event.currentTarget.value.trim())}
      />
      {typed && <button class="plain small" aria-label={words.exact.whole} title={words.exact.whole} onClick={() => onType("")}>×</button>}
      {problem && <p class="sentence bad">{problem}</p>}
    </div>
  );
}

export function Downloads({ onNpy, onPng, python }: { onNpy(): void; onPng(): void; python: string }) {
  return (
    <span class="downloads">
      <button class="plain small" title={words.exact.npyTitle} onClick={onNpy}>{words.exact.npy}</button>
      <button class="plain small" title={words.exact.pngTitle} onClick={onPng}>{words.exact.png}</button>
      <CopyPython text={python} />
    </span>
  );
}
