/** Which entries of the ledger tell of something that is missing, and which only explain the record. Pure. */
import type { LedgerEntry } from "../types";

/** Nothing is missing there: the error stands at the logits instead, and integers have none. */
const HARMLESS = new Set(["at the logits", "integer"]);

/** What they tell of is no tensor. */
const NO_TENSORS = new Set(["timing", "trace"]);

export function isNote({ status, reason, kind }: LedgerEntry): boolean {
  return status === "note" || NO_TENSORS.has(kind) || (kind.startsWith("error") && HARMLESS.has(reason));
}
