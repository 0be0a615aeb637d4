/** The inspector's panels for a chosen call: one entry each. */
import type { ComponentType } from "preact";
import type { CallInfo } from "../types";
import { Access } from "./Access";
import { Distribution } from "./Distribution";
import { Errors } from "./Errors";
import { OpsPanel } from "../ops/OpsPanel";
import { Values } from "./Values";
import { Weights } from "./Weights";

export interface Panel {
  key: string;
  component: ComponentType<{ call: number }>;
  /** Whether the panel has anything to say about a call; by itself always. */
  applies?(call: CallInfo): boolean;
}

export const PANELS: Panel[] = [
  { key: "values", component: Values },
  { key: "distribution", component: Distribution },
  { key: "errors", component: Errors, applies: (call) => call.kind !== "input" },
  { key: "ops", component: OpsPanel, applies: (call) => call.kind !== "input" },
  { key: "weights", component: Weights, applies: (call) => call.layer !== null },
  { key: "access", component: Access },
];
