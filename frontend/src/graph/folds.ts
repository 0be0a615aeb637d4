/** Folds of the page only: stacks and repeats among the calls of one parent. Paths and the reader never know them; knows no drawing. */

import { ancestors, isGroup, isInput, parentIndex, topLevel, type Tree } from "./tree";
import { findRepeats, type Run } from "./repeats";

/** One box of the picture, one row of the outline. */
export interface Unit {
  kind: "call" | "stack" | "repeat" | "group";
  /** The call that gives the unit its name, shape and colour. */
  head: number;
  /** Every call of the unit in order; a group's own children are not among them. */
  members: number[];
  /** Repeat: its equal blocks, each a list of units. */
  blocks: Unit[][];
  /** What `unfolded` holds when the person opened the fold; for calls out of an opened fold, that fold's key on its head. Else null. */
  key: string | null;
  /** True for the head of an opened stack or repeat: the place to fold it again. */
  opened: boolean;
}

export interface Row {
  kind: Unit["kind"];
  call: number;
  members: number[];
  depth: number;
  /** Fold key of a stack or repeat, call path of a group, null for a plain call. */
  key: string | null;
  open: boolean;
  /** Repeat: how many blocks. */
  times: number;
  /** What stands in the place of the call's own name. */
  title?: string;
}

export interface Folds {
  /** The units of a level with every fold closed, in the order of the flow. `parent` is a call, or -1 for the outermost level. */
  level(parent: number): Unit[];
}

/** Above this many cards on one level, equal consecutive blocks fold into one card. */
export const CARD_LIMIT = 40;

export function foldKey(kind: "stack" | "repeat", path: string): string {
  return `${kind}:${path}`;
}

const BEFORE = /^(ZeroPadding|Rescaling|Normalization$|Resizing|CenterCrop|Random[A-Z])/;
const RIDERS = new RegExp(
  "^(ZeroPadding|Cropping|Rescaling|Resizing|CenterCrop|Random[A-Z]|Normalization$|\\w*(Batch|Layer|Group|Unit|RMS)Normalization$|Spectral" +
  "Normalization$|Activation$|ReLU|LeakyReLU|PReLU|ELU|Softmax|ThresholdedReLU|Relu|Sigmoid|Tanh|Gelu|Silu|Swish|HardS|\\w*Dropout" +
  "|Gaussian(Noise|Dropout)|Reshape|Flatten|Permute|RepeatVector|Masking|ActivityRegularization|Identity$|ExpandDims|Squeeze|Cast$|Transpose$)",
);

/** Whether a call of this type may ride on its neighbour's card. */
export function rides(type: string): boolean {
  return RIDERS.test(type);
}

export function makeFolds(tree: Tree): Folds {
  const made = new Map<number, Unit[]>();
  return {
    level(parent) {
      let units = made.get(parent);
      if (units === undefined) {
        const calls = parent < 0 ? topLevel(tree) : tree.children[parent]!;
        units = foldRepeats(tree, foldStacks(tree, calls));
        made.set(parent, units);
      }
      return units;
    },
  };
}

/** The units of a level as the person left them: opened stacks and repeats are replaced by what they hold. */
export function shownUnits(folds: Folds, parent: number, unfolded: ReadonlySet<string>): Unit[] {
  return folds.level(parent).flatMap((unit) => unfold(unit, unfolded));
}

function unfold(unit: Unit, unfolded: ReadonlySet<string>): Unit[] {
  if (unit.key === null || !unfolded.has(unit.key)) return [unit];
  const parts = unit.kind === "repeat" ? unit.blocks.flat().flatMap((part) => unfold(part, unfolded)) : unit.members.map(single);
  const at = unit.kind === "stack" ? parts.findIndex((part) => part.head === unit.head) : 0;
  return parts.map((part, index) => (index === at && !part.opened ? { ...part, key: unit.key, opened: true } : part));
}

function single(call: number): Unit {
  return { kind: "call", head: call, members: [call], blocks: [], key: null, opened: false };
}

/** The outline's rows: groups and folds that are open show what they hold, one level deeper. */
export function rows(tree: Tree, folds: Folds, open: ReadonlySet<string>, unfolded: ReadonlySet<string>): Row[] {
  const found: Row[] = [];
  const waiting: { unit: Unit; depth: number }[] = [];
  const push = (units: Unit[], depth: number): void => {
    for (let at = units.length - 1; at >= 0; at--) waiting.push({ unit: units[at]!, depth });
  };
  push(folds.level(-1), 0);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { unit, depth } = next;
    const key = unit.kind === "group" ? tree.calls[unit.head]!.path : unit.key;
    const isOpen = key !== null && (unit.kind === "group" ? open : unfolded).has(key);
    found.push({ kind: unit.kind, call: unit.head, members: unit.members, depth, key, open: isOpen, times: unit.blocks.length });
    if (!isOpen) continue;
    if (unit.kind === "group") push(folds.level(unit.head), depth + 1);
    else push(unit.kind === "repeat" ? unit.blocks.flat() : unit.members.map(single), depth + 1);
  }
  return found;
}

/** What must be opened for a call to have a box or row of its own: the groups around it, and the folds that hold it. */
export function openingsFor(tree: Tree, folds: Folds, call: number): { groups: string[]; folds: string[] } {
  const around = ancestors(tree, call);
  const keys: string[] = [];
  for (const inner of [...around, call]) {
    const parent = around.includes(parentIndex(tree, inner)) ? parentIndex(tree, inner) : -1;
    let units = folds.level(parent);
    for (let unit = units.find((one) => one.members.includes(inner)); unit?.key != null; unit = units.find((one) => one.members.includes(inner))) {
      if (unit.kind === "stack" && unit.head === inner) break;
      keys.push(unit.key);
      units = unit.blocks.flat();
    }
  }
  return { groups: around.map((group) => tree.calls[group]!.path), folds: keys };
}

/**
 * Riders join the card before them (padding and preprocessing the card after them) where the tensor goes from one to the other and
 * nowhere else. The model's outputs always keep a card of their own.
 */
function foldStacks(tree: Tree, calls: number[]): Unit[] {
  const { before, after } = neighbours(tree, calls);
  const isRider = (call: number): boolean =>
    !isGroup(tree, call) && !isInput(tree.calls[call]!) && !tree.outputs.has(call) && rides(tree.calls[call]!.type);
  const carrier = new Map<number, number>();
  const isCarrier = (call: number | undefined): call is number =>
    call !== undefined && !isGroup(tree, call) && !isInput(tree.calls[call]!) && !isRider(call);
  const back = (call: number): number | null => {
    const previous = only(before.get(call));
    if (previous === undefined || only(after.get(previous)) !== call || tree.outputs.has(previous)) return null;
    return isCarrier(previous) ? previous : carrier.get(previous) ?? null;
  };
  for (const call of calls) {
    if (!isRider(call) || BEFORE.test(tree.calls[call]!.type)) continue;
    const found = back(call);
    if (found !== null) carrier.set(call, found);
  }
  for (let at = calls.length - 1; at >= 0; at--) {
    const call = calls[at]!;
    if (!isRider(call) || carrier.has(call)) continue;
    const next = only(after.get(call));
    if (next === undefined || only(before.get(next)) !== call || (before.get(call)?.size ?? 0) > 1) continue;
    const found = isCarrier(next) && !tree.outputs.has(next) ? next : carrier.get(next);
    if (found !== undefined) carrier.set(call, found);
  }
  for (const call of calls) {
    if (!isRider(call) || carrier.has(call)) continue;
    const found = back(call);
    if (found !== null) carrier.set(call, found);
  }
  return gather(tree, calls, carrier);
}

function gather(tree: Tree, calls: number[], carrier: Map<number, number>): Unit[] {
  const members = new Map<number, number[]>();
  for (const call of calls) {
    const head = carrier.get(call) ?? call;
    const list = members.get(head);
    if (list === undefined) members.set(head, [call]);
    else list.push(call);
  }
  return calls.filter((call) => !carrier.has(call)).map((head): Unit => {
    const list = members.get(head)!;
    if (list.length === 1) return { ...single(head), kind: isGroup(tree, head) ? "group" : "call" };
    return { kind: "stack", head, members: list, blocks: [], key: foldKey("stack", tree.calls[head]!.path), opened: false };
  });
}

interface Neighbours {
  before: Map<number, Set<number>>;
  after: Map<number, Set<number>>;
}

/** Producers and takers of each call among its siblings; one outside the level counts as -1. */
function neighbours(tree: Tree, calls: number[]): Neighbours {
  const around = levelEdges(tree, calls);
  const before = new Map<number, Set<number>>();
  const after = new Map<number, Set<number>>();
  const put = (map: Map<number, Set<number>>, key: number, value: number): void => {
    const set = map.get(key);
    if (set === undefined) map.set(key, new Set([value]));
    else set.add(value);
  };
  for (const [from, to] of around) {
    if (to >= 0) put(before, to, from);
    if (from >= 0) put(after, from, to);
  }
  return { before, after };
}

/**
 * The graph's edges lifted to the children of one parent; -1 stands for what lies outside, and for the operations of no layer that lie on a
 * derived edge: nothing rides across them.
 */
function levelEdges(tree: Tree, calls: number[]): [number, number][] {
  const member = new Int32Array(tree.calls.length).fill(-1);
  for (const call of calls) member[call] = call;
  for (let call = 0; call < tree.calls.length; call++) {
    const parent = parentIndex(tree, call);
    if (member[call] === -1 && parent >= 0) member[call] = member[parent]!;
  }
  return tree.edges.flatMap((edge): [number, number][] => {
    const [from, to] = [member[edge.from]!, member[edge.to]!];
    if (from === to) return [];
    return edge.derived ? [[from, -1], [-1, to]] : [[from, to]];
  });
}

function only(set: Set<number> | undefined): number | undefined {
  if (set?.size !== 1) return undefined;
  const [value] = set;
  return value! >= 0 ? value : undefined;
}

function foldRepeats(tree: Tree, units: Unit[]): Unit[] {
  if (units.length <= CARD_LIMIT) return units;
  const place = new Int32Array(tree.calls.length).fill(-1);
  units.forEach((unit, index) => unit.members.forEach((call) => { place[call] = index; }));
  for (let call = 0; call < tree.calls.length; call++) {
    const parent = parentIndex(tree, call);
    if (place[call] === -1 && parent >= 0) place[call] = place[parent]!;
  }
  const sources: Set<number>[] = units.map(() => new Set());
  for (const edge of tree.edges) {
    const from = place[edge.from]!;
    const to = place[edge.to]!;
    if (from !== to && to >= 0) sources[to]!.add(from < 0 ? Infinity : to - from);
  }
  const looks = signatures(tree);
  const words = units.map((unit, index) => {
    const kept = unit.members.some((call) => tree.outputs.has(call) || isInput(tree.calls[call]!));
    return kept ? `!${index}` : unit.members.map((call) => looks[call]!).join("+");
  });
  return collapse(tree, units, findRepeats(words, sources.map((set) => [...set].sort((a, b) => a - b))));
}

function collapse(tree: Tree, units: Unit[], runs: Run[]): Unit[] {
  const folded: Unit[] = [];
  let at = 0;
  for (const run of runs) {
    folded.push(...units.slice(at, run.start));
    const blocks = Array.from({ length: run.times }, (_, k) => units.slice(run.start + k * run.length, run.start + (k + 1) * run.length));
    const members = blocks.flat().flatMap((unit) => unit.members);
    const head = blocks[0]![0]!.head;
    folded.push({ kind: "repeat", head, members, blocks, key: foldKey("repeat", tree.calls[head]!.path), opened: false });
    at = run.start + run.times * run.length;
  }
  folded.push(...units.slice(at));
  return folded;
}

/** A number for each call, equal for calls of equal type, output shapes and, for groups, equal insides. */
function signatures(tree: Tree): number[] {
  const known = new Map<string, number>();
  const looks = new Array<number>(tree.calls.length).fill(0);
  for (let call = tree.calls.length - 1; call >= 0; call--) {
    const { type, kind, outputs } = tree.calls[call]!;
    const shapes = outputs.map((port) => port.shape?.slice(1).join("×") ?? "?").join(";");
    const text = `${kind} ${type} ${shapes} (${tree.children[call]!.map((child) => looks[child]!).join(" ")})`;
    let look = known.get(text);
    if (look === undefined) known.set(text, (look = known.size + 1));
    looks[call] = look;
  }
  return looks;
}
