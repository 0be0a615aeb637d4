/** The legend of the colour-by, at the foot of the centre: what it is, how it is scaled, and from where to where. */
import { ENTRIES } from "./colour/tables";
import { exponent, number } from "./format";
import { colourBy, record, scaleSpan } from "./state";
import { columnName, kindName, words } from "./strings";
import { palette, runScale, scale } from "./values";
import { heatmap } from "./state";

export function Legend() {
  const { kind, column } = colourBy.value;
  // In the heatmap one colour must mean one number at every step.
  const on = heatmap.value ? runScale.value : scale.value;
  const colours = palette.value;
  if (!record.value) return null;
  const span = heatmap.value || scaleSpan.value === "run" ? words.legend.allSteps : words.legend.thisStep;
  return (
    <div class="legend" aria-label={words.legend.label}>
      <p class="what">{kindName(kind)}, {columnName(column)}</p>
      {on ? (
        <>
          <div class="ramp" style={{ background: gradient(colours.css) }} />
          <div class="ends mono">
            <span>{end(on.low)}</span>
            {colours.signed && <span>0</span>}
            <span>{end(on.high)}</span>
          </div>
          <p class="how quiet">
            {words.legend.forms[on.form]} ·{" "}
            {heatmap.value ? span : (
              <button class="link" title={words.legend.toggle} onClick={() => (scaleSpan.value = scaleSpan.value === "run" ? "step" : "run")}>
                {span}
              </button>
            )}
            <span class="absent-key"><i /> {words.legend.absent}</span>
          </p>
        </>
      ) : (
        <p class="how quiet">{words.legend.none}</p>
      )}
    </div>
  );
}

const end = (value: number) => (Math.abs(value) >= 1e-2 && Math.abs(value) < 1e3 ? number(value, 2) : exponent(value));

function gradient(css: string[]): string {
  const stops = Array.from({ length: 17 }, (_, i) => css[Math.round((i / 16) * (ENTRIES - 1))]!);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}
