/** The outputs of a model that are a vector for each sample: what a journey leads to. Pure. */
import { heldTensor, type Held, type HeldTensor } from "../exact";
import { displayName } from "../flow/cardview";
import { madeBy } from "../graph/made";

export interface ModelOutput {
  name: string;
  /** The call whose output it is, by which its label is kept, and which of its outputs. */
  root: number;
  port: number;
  /** The path of the call that made it. */
  made: string;
  tensor: HeldTensor;
}

export function outputsOf(held: Held): ModelOutput[] {
  const { calls } = held.graph;
  return calls.flatMap(({ path, parent, kind, outputs }, root) => {
    if (parent !== null || kind === "input") return [];
    return outputs.flatMap((output, port): ModelOutput[] => {
      const tensor = output.kind === "logits" ? null : heldTensor(held, path, "output", port);
      if (tensor?.value.shape.length !== 2) return [];
      const made = calls[madeBy(calls, [root, port])![0]]!.path;
      return [{ name: output.key || displayName(made, made), root, port, made, tensor }];
    });
  });
}
