/** The legend of the colour-by, at the foot of the centre: what it is, how it is scaled, and from where to where. */
import { isSigned, tally, type Form } from "./colour/scale";
import { ENTRIES } from "./colour/tables";
import { exponent, number, ofColumn } from "./format";
import { speaks } from "./graph/tree";
import { byLayer } from "./measures";
import { tree } from "./selection";
import { colourBy, heatmap, namedKind, record, scaleForm, scaleSpan, type ScaleForm } from "./state";
import { columnName, kindName, words } from "./strings";
import { palette, runScale, scale, valueOfCall } from "./values";

export function Legend() {
  const { kind, column } = colourBy.value;
  // In the heatmap one colour must mean one number at every step.
  const on = heatmap.value ? runScale.value : scale.value;
  const colours = palette.value;
  if (!record.value) return null;
  const span = heatmap.value || scaleSpan.value === "run" ? words.legend.allSteps : words.legend.thisStep;
  return (
    <div class="legend" role="group" aria-label={words.legend.label}>
      <div>
        <span class="what" title={byLayer(kind, column) ? words.legend.firstWeight : undefined}>{kindName(namedKind(kind))}, {columnName(column)}</span>
        {on ? (
          <>
            <span class="scale mono">
              <span>{ofColumn(column, on.low, end)}</span>
              <span class="ramp" style={{ background: gradient(colours.css) }} />
              <span>{ofColumn(column, on.high, end)}</span>
            </span>
            <span class="quiet">
              <FormPicker column={column} fitting={on.form} /> ·{" "}
              {heatmap.value ? span : (
                <button class="link" title={words.legend.toggle} onClick={() => (scaleSpan.value = scaleSpan.value === "run" ? "step" : "run")}>
                  {span}
                </button>
              )}
              {byLayer(kind, column) && <span class="first-weight"> · {words.legend.firstWeight}</span>}
            </span>
            <span class="absent-key" title={words.help.meanings.slice(0, 2).map((each) => each.join(": ")).join("\n")}><i /> {words.legend.absent}</span>
          </>
        ) : (
          <span class="quiet">{words.legend.only(tally(leafNumbers())) || words.legend.none}</span>
        )}
      </div>
    </div>
  );
}

/** As everywhere on the screen, groups do not count. */
const leafNumbers = () => [...valueOfCall.value].flatMap(([call, value]) => (speaks(tree.value!, call) ? [value] : []));

/** How the numbers become colours; a column with a sign always has its zero in the middle. */
function FormPicker({ column, fitting }: { column: string; fitting: Form }) {
  const forms = isSigned(column) ? ["auto", "linear", "logarithmic"] : ["auto", "linear", "logarithmic", "diverging"];
  return (
    <select class="form" aria-label={words.legend.scale} title={words.legend.scale} value={scaleForm.value}
      onChange={(event) => (scaleForm.value = event.currentTarget.value as ScaleForm)}>
      {forms.map((form) => <option key={form} value={form}>{form === "auto" && scaleForm.value === "auto" ? words.legend.forms[fitting] : words.legend.wanted[form]}</option>)}
    </select>
  );
}

const end = (value: number) => (Math.abs(value) >= 1e-2 && Math.abs(value) < 1e3 ? number(value, 2) : exponent(value));

function gradient(css: string[]): string {
  const stops = Array.from({ length: 17 }, (_, i) => css[Math.round((i / 16) * (ENTRIES - 1))]!);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}
