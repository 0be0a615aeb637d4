/** The colours of maps in the theme at hand. */
import { computed } from "@preact/signals";
import { mapColours, type MapColours } from "../colour/mapPixels";
import { diverging, parseHex } from "../colour/tables";
import { dark } from "../state";
import { token } from "../values";

const made = new Map<boolean, MapColours>();

export const mapPalette = computed<MapColours>(() => {
  const kept = made.get(dark.value);
  if (kept) return kept;
  // The class that the tokens hang on may not be there yet when a signal asks first.
  document.documentElement.classList.toggle("dark", dark.value);
  const panel = token("--panel");
  const colours = mapColours(diverging(token("--neg"), panel, token("--pos")), {
    panel, odd: token("--bad"), hatch: token("--line-strong"), line: token("--line"), chosen: token("--accent"),
    window: parseHex(dark.value ? "#f2c14e" : "#7a4fbf"), ink: token("--ink-3"),
  });
  made.set(dark.value, colours);
  return colours;
});
