/** The page's state as text for the address, and back. The text is pure; only the two functions at the end touch the address. */

export interface LinkState {
  run?: string;
  stream?: string;
  step?: number;
  call?: string;
  kind?: string;
  column?: string;
  view?: string;
  panel?: string;
  /** Keys of open groups; absent: as the first view decides. */
  open?: string[];
  unfolded?: string[];
  heatmap?: boolean;
  span?: string;
  /** How numbers become colours, where the person chose it. */
  form?: string;
  /** What the heatmap's rows are. */
  rows?: string;
  /** Paths of the calls beside the chosen one. */
  compared?: string[];
  filter?: string;
}

const KEY = "p.layerflow.s";
const TEXTS = ["run", "stream", "call", "kind", "column", "view", "panel", "span", "form", "rows", "filter"] as const;

export function toText(state: LinkState): string {
  const fields = new URLSearchParams();
  for (const name of TEXTS) if (state[name]) fields.set(name, state[name]);
  if (state.step !== undefined) fields.set("step", String(state.step));
  if (state.heatmap) fields.set("heatmap", "1");
  for (const key of state.open ?? []) fields.append("open", key);
  if (state.open?.length === 0) fields.set("open", "");
  for (const key of state.unfolded ?? []) fields.append("unfolded", key);
  for (const path of state.compared ?? []) fields.append("compared", path);
  return fields.toString();
}

/** Unknown fields and numbers that are none are left out: an old or damaged link opens as far as it can be read. */
export function fromText(text: string): LinkState {
  const fields = new URLSearchParams(text);
  const state: LinkState = {};
  for (const name of TEXTS) {
    const value = fields.get(name);
    if (value) state[name] = value;
  }
  const step = Number(fields.get("step") ?? NaN);
  if (Number.isFinite(step)) state.step = step;
  if (fields.get("heatmap") === "1") state.heatmap = true;
  if (fields.has("open")) state.open = fields.getAll("open").filter(Boolean);
  if (fields.has("compared")) state.compared = fields.getAll("compared").filter(Boolean);
  if (fields.has("unfolded")) state.unfolded = fields.getAll("unfolded").filter(Boolean);
  return state;
}

/** The state in the hash of TensorBoard's own page, `#layerflow&p.layerflow.s=…`; null where there is none. */
export function fromHash(hash: string): LinkState | null {
  const field = hash.replace(/^#/, "").split("&").find((part) => part.startsWith(`${KEY}=`));
  if (!field) return null;
  try {
    return fromText(decodeURIComponent(field.slice(KEY.length + 1)));
  } catch {
    return null;
  }
}

/** The hash with our field replaced or added; what others wrote there stays. */
export function intoHash(hash: string, state: LinkState): string {
  const parts = hash.replace(/^#/, "").split("&").filter((part) => part && !part.startsWith(`${KEY}=`));
  if (parts[0] !== "layerflow") parts.unshift("layerflow");
  return `#${[...new Set(parts), `${KEY}=${encodeURIComponent(toText(state))}`].join("&")}`;
}

/** The window that holds TensorBoard, or this one where the page stands alone or the host may not be read. */
function hostWindow(): Window {
  try {
    return window.parent.location.href ? window.parent : window;
  } catch {
    return window;
  }
}

export function readAddress(): LinkState | null {
  return fromHash(hostWindow().location.hash);
}

/** Writes the state to the address without a step in the history, and returns the address. */
export function writeAddress(state: LinkState): string {
  const host = hostWindow();
  const href = host.location.href.replace(/#.*$/, "") + intoHash(host.location.hash, state);
  host.history.replaceState(host.history.state, "", href);
  return href;
}
