/** Keeps the page as it was: in the link, over a reload, and what people set once for good. Knows no fetching and no drawing. */
import { batch, effect } from "@preact/signals";
import { readAddress, toText, fromText, writeAddress, type LinkState } from "./link";
import * as state from "./state";

const SESSION_KEY = "layerflow.state";
const SETTINGS_KEY = "layerflow.settings";

function gather(): LinkState {
  const open = state.openGroups.value;
  return {
    run: state.run.value,
    stream: state.stream.value,
    step: state.step.value ?? undefined,
    call: state.chosenPath.value,
    kind: state.colourBy.value.kind,
    column: state.colourBy.value.column,
    view: state.view.value,
    panel: state.panel.value,
    open: open ? [...open] : undefined,
    unfolded: [...state.unfolded.value],
    heatmap: state.heatmap.value,
    span: state.scaleSpan.value,
    form: state.scaleForm.value === "auto" ? undefined : state.scaleForm.value,
    rows: state.rowGrouping.value === "tree" ? undefined : state.rowGrouping.value,
    compared: state.compared.value.length ? [...state.compared.value] : undefined,
    filter: state.filter.value,
  };
}

function restore(link: LinkState): void {
  batch(() => {
    if (link.run) state.run.value = link.run;
    if (link.stream) state.stream.value = link.stream;
    if (link.step !== undefined) state.step.value = link.step;
    if (link.call) state.chosenPath.value = link.call;
    if (link.kind && link.column) state.colourBy.value = { kind: link.kind, column: link.column };
    if (link.view) state.view.value = link.view;
    if (link.panel) state.panel.value = link.panel;
    if (link.open) state.openGroups.value = new Set(link.open);
    if (link.unfolded) state.unfolded.value = new Set(link.unfolded);
    if (link.heatmap) state.heatmap.value = true;
    if (link.span === "run" || link.span === "step") state.scaleSpan.value = link.span;
    if (link.form === "linear" || link.form === "logarithmic" || link.form === "diverging") state.scaleForm.value = link.form;
    if (link.rows === "calls" || link.rows === "types") state.rowGrouping.value = link.rows;
    if (link.compared) state.compared.value = link.compared;
    if (link.filter) state.filter.value = link.filter;
  });
}

/** Storage may be forbidden (a private window, a strict browser): the page works without. */
function read(storage: "sessionStorage" | "localStorage", key: string): string | null {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

function write(storage: "sessionStorage" | "localStorage", key: string, text: string): void {
  try {
    window[storage].setItem(key, text);
  } catch {
    // As above.
  }
}

/** A link in the address wins over what was here before a reload. */
export function remember(): void {
  const kept = read("sessionStorage", SESSION_KEY);
  restore(readAddress() ?? fromText(kept ?? ""));
  const settings = new URLSearchParams(read("localStorage", SETTINGS_KEY) ?? "");
  const theme = settings.get("theme");
  if (theme === "light" || theme === "dark") state.theme.value = theme;
  const width = Number(settings.get("outline"));
  if (width >= 200 && width <= 640) state.outlineWidth.value = width;
  effect(() => write("sessionStorage", SESSION_KEY, toText(gather())));
  effect(() => {
    const fields = new URLSearchParams({ theme: state.theme.value, outline: String(state.outlineWidth.value) });
    write("localStorage", SETTINGS_KEY, fields.toString());
  });
}

/** Writes the state to TensorBoard's address and copies that address; where the copy worked, the page says so for a moment. */
export async function share(): Promise<void> {
  const link = gather();
  link.step ??= state.record.value?.step;
  state.copied.value = await copy(writeAddress(link));
  setTimeout(() => (state.copied.value = false), 1600);
}

/** To the clipboard, which only secure pages may use directly; a selected text and the old command serve the others. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "offscreen";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

const SCROLL_KEY = "layerflow.scroll.";

export function rememberedScroll(name: string): number {
  return Number(read("sessionStorage", SCROLL_KEY + name) ?? 0) || 0;
}

export function rememberScroll(name: string, top: number): void {
  write("sessionStorage", SCROLL_KEY + name, String(Math.round(top)));
}
