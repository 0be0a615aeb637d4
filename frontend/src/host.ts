/** TensorBoard around the frame: its messages, its dark mode, its run colours, and whether it shows us. Changes state, draws nothing. */
import { fetchHostRuns } from "./api";
import { awake, hostDark, runColours, windowWidth } from "./state";

interface Message {
  type: string;
  id: number;
  payload: unknown;
  error: string | null;
  isReply: boolean;
}

/** TensorBoard's default colours of runs, in order of first appearance. */
const RUN_PALETTE = ["var(--slate)", "#12b5cb", "#e52592", "#f9ab00", "#9334e6", "#7cb342", "#e8710a"];

/** Tells of the host's messages. Where the host does not know them (an older one, or none), nothing happens. */
export function listenToHost(on: { dataReloaded(): void; runsChanged(): void }): void {
  if (window.parent === window) return;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }: MessageEvent<string>) => {
    const message = JSON.parse(data) as Message;
    if (message.isReply) return;
    if (message.type === "experimental.DataReloaded") on.dataReloaded();
    if (message.type === "experimental.RunsChanged") on.runsChanged();
    // The host waits for an answer to everything that it sends.
    port1.postMessage(JSON.stringify({ type: message.type, id: message.id, payload: null, error: null, isReply: true }));
  };
  window.parent.postMessage("experimental.bootstrap", "*", [port2]);
}

/** Follows the class that TensorBoard puts on its body; where that may not be read, the browser's own preference. */
export function followDarkMode(): void {
  try {
    if (window.parent === window) throw new Error("no host");
    const { body } = window.parent.document;
    const read = () => (hostDark.value = body.classList.contains("dark-mode"));
    new MutationObserver(read).observe(body, { attributes: true, attributeFilter: ["class"] });
    read();
  } catch {
    const query = matchMedia("(prefers-color-scheme: dark)");
    const read = () => (hostDark.value = query.matches);
    query.addEventListener("change", read);
    read();
  }
}

/** A hidden TensorBoard tab is a frame of height 0. */
export function followVisibility(): void {
  const read = () => {
    awake.value = !document.hidden && window.innerHeight > 0;
    if (window.innerWidth > 0) windowWidth.value = window.innerWidth;
  };
  window.addEventListener("resize", read);
  document.addEventListener("visibilitychange", read);
  read();
}

/** Keys are the page's as soon as the pointer is over it, unless somebody types into a field of TensorBoard's. */
export function takeKeysUnderPointer(): void {
  document.documentElement.addEventListener("pointerenter", () => {
    if (document.hasFocus() || typesIntoHost()) return;
    window.focus();
  });
}

function typesIntoHost(): boolean {
  try {
    return /^(input|textarea|select)$/i.test(window.parent.document.activeElement?.tagName ?? "");
  } catch {
    return true; // nobody knows
  }
}

/** The colours that TensorBoard gives to runs unless people changed them, which a frame cannot see. */
export async function loadRunColours(): Promise<void> {
  try {
    const names = await fetchHostRuns();
    runColours.value = new Map(names.map((name, order) => [name, RUN_PALETTE[order % RUN_PALETTE.length]!]));
  } catch {
    runColours.value = new Map();
  }
}

/** The colour of a run; one that TensorBoard lists under a folder of ours has that folder's. */
export function runColour(run: string): string {
  const colours = runColours.value;
  return colours.get(run) ?? colours.get(`${run}/layerflow`) ?? "var(--ink-3)";
}
