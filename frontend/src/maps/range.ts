/** Over which magnitude the colours of maps reach. Reads recorded statistics and planes, draws nothing. */
import type { Held, HeldTensor } from "../exact";
import { cell } from "../values";
import { reach, type Plane } from "./planes";

/** The largest magnitude that the record states for some tensors of a kind; null where it states none, or one that is no number. */
function recorded(held: Held, kind: string, wants: (call: number, port: number) => boolean): number | null {
  const table = held.record.kinds.get(kind);
  let most = 0;
  table?.ports.forEach(([call, port], row) => {
    if (!wants(call, port)) return;
    const [low, high] = [cell(held.record, table, row, "min"), cell(held.record, table, row, "max")];
    if (Number.isFinite(low) && Number.isFinite(high)) most = Math.max(most, -low, high);
  });
  return most > 0 ? most : null;
}

/** Of one layer: what the record states for the whole batch, else the planes that have arrived. */
export function layerReach(held: Held, tensor: HeldTensor, arrived: Iterable<Plane>): number {
  return recorded(held, tensor.value.kind, (call, port) => call === tensor.call && port === tensor.port) ?? reach(arrived);
}

export function modelReach(held: Held, tensor: HeldTensor, arrived: Iterable<Plane>): number {
  return recorded(held, tensor.value.kind, () => true) ?? reach(arrived);
}
