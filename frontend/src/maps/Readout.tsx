/** The number under the pointer: its index, itself to the last digit, and its neighbours. */
import { entryOf, type MapColours } from "../colour/mapPixels";
import { isLight } from "../colour/tables";
import { number } from "../format";
import { words } from "../strings";
import { exactText, indexText } from "./exactText";
import type { PlaneStore } from "./store";
import { indexAt, placeOf } from "./view";

interface ReadoutProps {
  store: PlaneStore;
  index: readonly number[] | null;
  dtype: string;
  reachOf(plane: { low: number; high: number }): number;
  colours: MapColours;
  /** What is said where nothing is pointed at. */
  hint: string;
}

const ROWS = [-1, 0, 1];
const COLS = [-2, -1, 0, 1, 2];

export function Readout({ store, index, dtype, reachOf, colours, hint }: ReadoutProps) {
  const { view } = store;
  const place = index && placeOf(view, index);
  const plane = place && store.get(place.plane);
  if (!index || !place || !plane) return <div class="map-readout quiet"><p class="note">{hint}</p></div>;
  const valueAt = (row: number, col: number): number | null => {
    const element = row * view.cols + col;
    const isInside = view.wrapped ? element >= 0 && element < view.size : row >= 0 && row < view.rows && col >= 0 && col < view.cols;
    return isInside ? plane.values[element]! : null;
  };
  const value = valueAt(place.row, place.col)!;
  const reach = reachOf(plane);
  // The neighbours in a vector are those before and after, wherever it is wrapped.
  const rows = view.wrapped || view.rows === 1 ? [0] : ROWS;
  return (
    <div class="map-readout" data-index={index.join(",")} data-value={String(value)}>
      <p><span class="mono quiet">{indexText(index)}</span> <b class="mono">{exactText(value, dtype)}</b></p>
      <table class="neighbours mono">
        <tbody>
          {rows.map((down) => (
            <tr key={down}>
              {COLS.map((right) => {
                const near = valueAt(place.row + down, place.col + right);
                if (near === null) return <td key={right} class="outside">{words.exact.outside}</td>;
                const entry = entryOf(near, reach);
                const shade = near === 0 ? colours.panel : Number.isFinite(near) ? colours.css[entry]! : undefined;
                const ink = shade === undefined ? "" : isLight(shade) ? "on-light" : "on-dark";
                return (
                  <td
                    key={right} class={`${down === 0 && right === 0 ? "centre-cell" : ""} ${ink}`} style={{ background: shade }}
                    title={indexText(indexAt(view, place.plane, place.row + down, place.col + right))}
                  >
                    {number(near, 3)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
