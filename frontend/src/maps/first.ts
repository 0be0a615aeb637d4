/** Which call's maps are shown while none is chosen. Pure. */
import { heldTensor, type Held } from "../exact";
import type { GraphInfo } from "../types";

/** The first layer whose output has maps; -1 where none has. */
export function firstWithValues(held: Held, graph: GraphInfo): number {
  return graph.calls.findIndex(({ kind, path }) => kind === "layer" && path !== "." && (heldTensor(held, path, "output", 0)?.value.shape.length ?? 0) > 2);
}
