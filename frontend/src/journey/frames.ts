/** The stages of a sample's way through a model, in the order of the flow, with what each came from. Pure. */
import { heldTensor, type Held } from "../exact";
import type { Folds, Unit } from "../graph/folds";
import type { Tree } from "../graph/tree";
import { ancestors, isGroup } from "../graph/tree";

export interface Frame {
  /** The call whose output is shown. */
  path: string;
  call: number;
  /** Every call of the stage. */
  members: number[];
  /** The call that names the stage, where what rides on it comes after it. */
  head: string;
  type: string;
  /** Frames that it is made from; several where branches meet. */
  from: number[];
}

/** One frame per stage (what rides on a layer belongs to its stage, whose last output of the same rank is shown), or one per call. */
export function framesOf(tree: Tree, folds: Folds, held: Held, every: boolean): Frame[] {
  const has = (call: number) => heldTensor(held, tree.calls[call]!.path, "output", 0) !== null;
  const stages = flat(tree, folds, folds.level(-1), has).flatMap((members) => (every ? members.map((call) => [call]) : [members]));
  const stageOf = new Map<number, number>();
  const frames = stages.map((members, frame): Frame => {
    for (const call of members) stageOf.set(call, frame);
    const head = tree.calls[headOf(tree, members)]!;
    // A Flatten that rides on its layer would turn maps into a vector.
    const last = members.filter((call) => rankOf(tree, call) === rankOf(tree, headOf(tree, members))).at(-1)!;
    return { path: tree.calls[last]!.path, call: last, members, head: head.path, type: head.type, from: [] };
  });
  const inside = (call: number): number | undefined => stageOf.get(call);
  for (const { from, to } of tree.edges) {
    const [source, target] = [inside(from), inside(to)];
    if (source === undefined || target === undefined || source === target) continue;
    if (!frames[target]!.from.includes(source)) frames[target]!.from.push(source);
  }
  for (const frame of frames) frame.from.sort((a, b) => a - b);
  return frames;
}

const rankOf = (tree: Tree, call: number): number => tree.calls[call]!.outputs[0]?.shape?.length ?? 0;

/** The first frame on the way to a frame: the input that it came from. */
export function originOf(frames: readonly Frame[], frame: number): number {
  let at = frame;
  for (let guard = 0; guard < frames.length && frames[at]!.from.length; guard++) at = frames[at]!.from[0]!;
  return at;
}

/** Of calls the first that a frame holds or, going on from it, leads to; -1 where it leads to none of them. */
export function leadsTo(frames: readonly Frame[], frame: number, calls: readonly number[]): number {
  const reached = new Set([frame]);
  for (const at of reached) {
    const found = calls.findIndex((call) => frames[at]?.members.includes(call));
    if (found >= 0) return found;
    frames.forEach(({ from }, next) => from.includes(at) && reached.add(next));
  }
  return -1;
}

/** The frame of a call: of a group the first one inside it, of a call inside a frame's group that group's; -1 where it has none. */
export function frameOf(tree: Tree, frames: readonly Frame[], call: number): number {
  const find = (isIt: (member: number) => boolean) => frames.findIndex(({ members }) => members.some(isIt));
  const own = find((member) => member === call);
  if (own >= 0) return own;
  const inner = find((member) => ancestors(tree, member).includes(call));
  return inner >= 0 ? inner : find((member) => ancestors(tree, call).includes(member));
}

/** The layer of a stage that is no rider: the one with weights, else the first. */
function headOf(tree: Tree, members: readonly number[]): number {
  const weighs = (call: number) => {
    const { layer } = tree.calls[call]!;
    return layer === null ? 0 : (tree.graph.layers[layer]?.weights.reduce((most, { shape }) => Math.max(most, shape.length), 0) ?? 0);
  };
  return members.reduce((best, call) => (weighs(call) > weighs(best) ? call : best), members[0]!);
}

function flat(tree: Tree, folds: Folds, units: readonly Unit[], has: (call: number) => boolean): number[][] {
  return units.flatMap((unit): number[][] => {
    if (unit.kind === "repeat") return flat(tree, folds, unit.blocks.flat(), has);
    if (unit.kind === "group" || (unit.members.length === 1 && isGroup(tree, unit.head))) {
      const inner = flat(tree, folds, folds.level(unit.head), has);
      return inner.length ? inner : has(unit.head) ? [[unit.head]] : [];
    }
    const members = unit.members.filter(has);
    return members.length ? [members] : [];
  });
}
