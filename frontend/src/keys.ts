/** Keys that work anywhere on the page. What has the focus (a field, the outline, the picture) takes its own keys first. */
import { choose, closeLens, goToIndex, moveStep } from "./selection";
import { share } from "./memory";
import * as state from "./state";
import { VIEWS } from "./views";

const inField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName));

const KEYS: Record<string, (event: KeyboardEvent) => void> = {
  ArrowLeft: (event) => moveStep(event.shiftKey ? -10 : -1),
  ArrowRight: (event) => moveStep(event.shiftKey ? 10 : 1),
  Home: () => goToIndex(0),
  End: () => goToIndex(Infinity),
  " ": () => (state.playing.value = !state.playing.value),
  h: () => (state.heatmap.value = !state.heatmap.value),
  "/": () => (state.menu.value = "search"),
  c: () => (state.menu.value = "colour"),
  r: () => (state.menu.value = "run"),
  s: () => void share(),
  d: () => (state.theme.value = state.dark.value ? "light" : "dark"),
  "?": () => (state.menu.value = "help"),
};

/** Closes the nearest open thing; with nothing open, chooses nothing. */
function escape(): void {
  if (state.menu.value) state.menu.value = "";
  else if (state.railOpen.value) state.railOpen.value = false;
  else if (state.focus.value) state.focus.value = null;
  else if (state.lens.value) closeLens();
  else if (state.heatmap.value) state.heatmap.value = false;
  else choose(null);
}

export function listenToKeys(): void {
  window.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return escape();
    if (inField(event.target)) return;
    // Space and Enter press the button that has the focus.
    if (event.key === " " && event.target instanceof HTMLElement && event.target.closest("button, [role=button]")) return;
    const view = VIEWS.find(({ hotkey }) => hotkey === event.key);
    const act = view ? () => (state.view.value = view.key) : KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}
