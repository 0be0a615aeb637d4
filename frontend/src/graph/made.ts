/** Who made a tensor that groups only pass on. Pure. */
import type { CallInfo, PortInfo } from "../types";

/** The output port that a source stands for, followed through the groups that pass it on. */
export function madeBy(calls: readonly CallInfo[], source: [number, number] | null): [number, number] | null {
  let at = source;
  for (let guard = 0; at && guard < calls.length; guard++) {
    const next: [number, number] | null | undefined = calls[at[0]]?.outputs[at[1]]?.source;
    if (!next) return at;
    at = next;
  }
  return at;
}

/** Whether a port is what the activation was given that made this output of the same call. */
export function areLogitsOf(port: PortInfo, output: PortInfo): boolean {
  return port.kind === "logits" && port.key === (output.key ? `${output.key}/logits` : "logits");
}
