/** What a finding is about and where on the page it shows: its call, its colour-by, its panel. Pure; draws and fetches nothing. */
import { madeBy } from "../graph/made";
import { LOSSES, RATIO, WEIGHT_KINDS } from "../measures";
import type { FindingInfo, GraphInfo } from "../types";

export type Level = FindingInfo["level"];

/**
 * The call in the graph that is shown: by its path; where a rule is about weights, the first call of that layer; where it is about the
 * whole model, which has no row of its own, the call whose output is the model's, since the loss is made from it.
 */
export function callOfFinding({ path }: FindingInfo, graph: GraphInfo | null): number | null {
  if (!graph) return null;
  const exact = callsByPath(graph).get(path);
  if (exact !== undefined && path === ".") return madeBy(graph.calls, [exact, 0])?.[0] ?? exact;
  if (exact !== undefined) return exact;
  const layer = graph.layers.findIndex((each) => each.path === path);
  const call = layer < 0 ? -1 : graph.calls.findIndex((each) => each.layer === layer);
  return call < 0 ? null : call;
}

const paths = new WeakMap<GraphInfo, Map<string, number>>();

function callsByPath(graph: GraphInfo): Map<string, number> {
  let known = paths.get(graph);
  if (!known) paths.set(graph, (known = new Map(graph.calls.map(({ path }, index) => [path, index]))));
  return known;
}

export interface RuleGroup {
  rule: string;
  level: Level;
  findings: FindingInfo[];
}

/** Grouped by rule, in the order in which the findings came: the group of the first bad call first. */
export function groupByRule(findings: readonly FindingInfo[]): RuleGroup[] {
  const groups = new Map<string, RuleGroup>();
  for (const finding of findings) {
    const group = groups.get(finding.rule);
    if (!group) groups.set(finding.rule, { rule: finding.rule, level: finding.level, findings: [finding] });
    else {
      group.findings.push(finding);
      if (finding.level === "failure") group.level = "failure";
    }
  }
  return [...groups.values()];
}

export interface Place {
  /** The colour-by under which the heatmap's cell shows what was found; null: as it is. */
  colourBy: { kind: string; column: string } | null;
  panel: string;
}

const ERROR_L2 = { kind: "error", column: "l2" };
const RATIO_OF_UPDATE = { kind: RATIO, column: "update/weight" };

const PLACES: Record<string, Place> = {
  loss_scaler_skips: { colourBy: null, panel: "errors" },
  exploding_errors: { colourBy: ERROR_L2, panel: "errors" },
  vanishing_errors: { colourBy: ERROR_L2, panel: "errors" },
  disconnected: { colourBy: ERROR_L2, panel: "errors" },
  dead_units: { colourBy: { kind: "output", column: "zero" }, panel: "distribution" },
  saturated: { colourBy: { kind: "output", column: "std" }, panel: "distribution" },
  constant: { colourBy: { kind: "output", column: "std" }, panel: "distribution" },
  poor_initialisation: { colourBy: { kind: "output", column: "l2" }, panel: "distribution" },
  unchanged_weights: { colourBy: { kind: "update", column: "l2" }, panel: "weights" },
  update_too_large: { colourBy: RATIO_OF_UPDATE, panel: "weights" },
  update_too_small: { colourBy: RATIO_OF_UPDATE, panel: "weights" },
  worse_readout: { colourBy: { kind: LOSSES, column: "readout.loss" }, panel: "errors" },
  loss_does_not_fall: { colourBy: null, panel: "errors" },
};

/** Where on the page a finding shows. A rule that is not known here leaves the page's choices as they are. */
export function placeOf({ rule, evidence }: FindingInfo): Place {
  const kind = typeof evidence.kind === "string" ? evidence.kind : "";
  if (rule === "non_finite") {
    if (WEIGHT_KINDS.has(kind)) return { colourBy: { kind, column: "l2" }, panel: "weights" };
    return { colourBy: { kind: kind === "error" ? "error" : "output", column: "l2" }, panel: kind === "error" ? "errors" : "distribution" };
  }
  return PLACES[rule] ?? { colourBy: null, panel: "" };
}

/** The places from 0 to 1 on the step slider at which something was first seen, with the worst level at each. */
export function marksOnSteps(findings: readonly FindingInfo[], steps: ArrayLike<number>): { index: number; level: Level }[] {
  const found = new Map<number, Level>();
  const index = new Map(Array.from(steps, (step, i) => [step, i]));
  for (const { step, level } of findings) {
    const at = index.get(step);
    if (at !== undefined && found.get(at) !== "failure") found.set(at, level);
  }
  return [...found].map(([at, level]) => ({ index: at, level })).sort((a, b) => a.index - b.index);
}

/** The worst of several levels. */
export function worstLevel(levels: Iterable<Level | undefined>): Level | undefined {
  let worst: Level | undefined;
  for (const level of levels) {
    if (level === "failure") return level;
    worst ??= level;
  }
  return worst;
}
