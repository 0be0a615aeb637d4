/** The calls of one graph as a tree, with every edge resolved down to the calls that made and took the tensor. Knows no folds and no drawing. */

import type { CallInfo, GraphInfo, PortInfo } from "../types";

/** A tensor that goes from the call that made it to a call that takes it. */
export interface Edge {
  from: number;
  fromPort: number;
  to: number;
  toPort: number;
  /** Elements of one sample; null where the shape is not known. */
  elements: number | null;
  /** Operations of no layer lie between: the taker's input was computed from the output. */
  derived: boolean;
}

/** Which of the n calls of its layer a call is, counted from 1. */
export interface Occurrence {
  k: number;
  n: number;
}

export interface Tree {
  graph: GraphInfo;
  calls: CallInfo[];
  /** Calls without a parent. */
  roots: number[];
  /** Groups around a loop: nothing inside them has numbers, so they speak for themselves. */
  loops: ReadonlySet<number>;
  /** The children of each call, in the order in which they began. */
  children: number[][];
  depth: Int32Array;
  /** Leaf calls without inputs at or below each call. */
  leaves: Int32Array;
  /** Leaf calls without inputs in the whole graph: the count that the screen shows. */
  leafCount: number;
  occurrence: Occurrence[];
  /** The calls of each layer. */
  callsOfLayer: number[][];
  byPath: Map<string, number>;
  edges: Edge[];
  /** Calls whose output leaves the model. */
  outputs: Set<number>;
}

export function makeTree(graph: GraphInfo): Tree {
  const calls = graph.calls;
  const parents = calls.map((call, index) => parentOf(call, index));
  const children: number[][] = calls.map(() => []);
  const roots: number[] = [];
  const depth = new Int32Array(calls.length);
  const callsOfLayer: number[][] = graph.layers.map(() => []);
  const byPath = new Map<string, number>();
  calls.forEach((call, index) => {
    const parent = parents[index]!;
    if (parent < 0) roots.push(index);
    else {
      children[parent]!.push(index);
      depth[index] = depth[parent]! + 1;
    }
    if (call.layer !== null) callsOfLayer[call.layer]?.push(index);
    byPath.set(call.path, index);
  });
  const leaves = countLeaves(calls, parents, children);
  const occurrence = calls.map((): Occurrence => ({ k: 1, n: 1 }));
  for (const all of callsOfLayer) all.forEach((call, k) => { occurrence[call] = { k: k + 1, n: all.length }; });
  const edges = resolveEdges(calls, parents, children);
  return {
    graph, calls, roots, loops: groupsAroundLoops(calls, children), children, depth, leaves, occurrence, callsOfLayer, byPath, edges,
    leafCount: roots.reduce((sum, root) => sum + leaves[root]!, 0),
    outputs: outputCalls(calls, roots, children, edges),
  };
}

/** A parent must have begun before its child; anything else comes from a damaged log and counts as no parent, so that no walk can loop. */
function parentOf(call: CallInfo, index: number): number {
  return call.parent !== null && call.parent >= 0 && call.parent < index ? call.parent : -1;
}

export function parentIndex(tree: Tree, call: number): number {
  return parentOf(tree.calls[call]!, call);
}

export function isGroup(tree: Tree, call: number): boolean {
  return tree.children[call]!.length > 0;
}

/** Whether a call's numbers are its own, not those of what is inside it. Inputs do not count. */
export function speaks(tree: Tree, call: number): boolean {
  return (!isGroup(tree, call) || tree.loops.has(call)) && !isInput(tree.calls[call]!);
}

export function isInput(call: CallInfo): boolean {
  return call.kind === "input";
}

/** The one root whose children are drawn without a frame around them, or null where the step has several roots. */
export function frameless(tree: Tree): number | null {
  const only = tree.roots.length === 1 ? tree.roots[0]! : null;
  return only !== null && isGroup(tree, only) ? only : null;
}

/** The calls of the outermost level of the picture. */
export function topLevel(tree: Tree): number[] {
  const root = frameless(tree);
  return root === null ? tree.roots : tree.children[root]!;
}

/** The groups around a call, outermost first, without the frameless root. */
export function ancestors(tree: Tree, call: number): number[] {
  const found: number[] = [];
  const root = frameless(tree);
  for (let at = parentIndex(tree, call); at >= 0 && at !== root; at = parentIndex(tree, at)) found.push(at);
  return found.reverse();
}

/** The calls inside a group whose layer has weights, of each layer the first. */
export function weighedInside(tree: Tree, group: number): number[] {
  const seen = new Set<number>();
  return tree.calls.flatMap(({ layer }, call) => {
    if (layer === null || seen.has(layer) || !tree.graph.layers[layer]!.weights.length || !isAround(tree, group, call)) return [];
    seen.add(layer);
    return [call];
  });
}

function isAround(tree: Tree, group: number, call: number): boolean {
  let at = parentIndex(tree, call);
  while (at > group) at = parentIndex(tree, at);
  return at === group;
}

/** Sizes without the batch axis, `24×24×16`; `?` where a size is unknown, empty for a scalar per sample or an unknown rank. */
export function shapeText(port: PortInfo | undefined): string {
  if (port?.shape == null) return "";
  return port.shape.slice(1).map((size) => (size < 0 ? "?" : String(size))).join("×");
}

/** Elements of one sample, null where a size is unknown. */
export function elementsOf(port: PortInfo | undefined): number | null {
  if (port?.shape == null) return null;
  let product = 1;
  for (const size of port.shape.slice(1)) {
    if (size < 0) return null;
    product *= size;
  }
  return product;
}

function countLeaves(calls: CallInfo[], parents: number[], children: number[][]): Int32Array {
  const leaves = new Int32Array(calls.length);
  for (let index = calls.length - 1; index >= 0; index--) {
    if (children[index]!.length === 0) leaves[index] = isInput(calls[index]!) ? 0 : 1;
    const parent = parents[index]!;
    if (parent >= 0) leaves[parent]! += leaves[index]!;
  }
  return leaves;
}

/** The outermost groups all of whose inner calls are inside a loop. */
function groupsAroundLoops(calls: CallInfo[], children: number[][]): Set<number> {
  const around = new Set<number>();
  const inside = calls.map(({ outputs }) => outputs.length > 0 && outputs.every(({ status }) => status === "inside a loop"));
  for (let call = calls.length - 1; call >= 0; call--) {
    const inner = children[call]!.filter((each) => !isInput(calls[each]!));
    if (!inside[call] && inner.length > 0 && inner.every((each) => inside[each])) around.add(call);
  }
  return around;
}

/**
 * Follows an output port through the groups that only pass it on, to the call that made it, or that handed it back (Dropout outside of training): the data went through that.
 * Null where the source is no call of the graph.
 */
function producer(calls: CallInfo[], children: number[][], source: [number, number] | null): [number, number] | null {
  let at = source;
  for (let guard = 0; at !== null && guard <= calls.length; guard++) {
    const port: PortInfo | undefined = calls[at[0]]?.outputs[at[1]];
    if (port === undefined) return calls[at[0]] === undefined ? null : at;
    if (port.source === null || children[at[0]]!.length === 0 || (port.source[0] === at[0] && port.source[1] === at[1])) return at;
    at = port.source;
  }
  return null;
}

/**
 * One edge per input port of a leaf call, or per output that it was computed from. A group's own input gives an edge only where no call inside takes that tensor (a subclassed
 * model that computes on it first): the edge then ends at the group.
 */
function resolveEdges(calls: CallInfo[], parents: number[], children: number[][]): Edge[] {
  const edges: Edge[] = [];
  const covered = new Set<number>();
  const add = (call: number, group: boolean): void => {
    calls[call]!.inputs.forEach((port, toPort) => {
      for (const source of port.source === null ? port.derived ?? [] : [port.source]) {
        const made = producer(calls, children, source);
        if (made === null || made[0] === call) continue;
        const key = (made[0] * 64 + Math.min(made[1], 63)) * calls.length;
        if (group && covered.has(key + call)) continue;
        if (holds(parents, call, made[0]) || holds(parents, made[0], call)) continue;
        const elements = elementsOf(port) ?? elementsOf(calls[made[0]]!.outputs[made[1]]);
        edges.push({ from: made[0], fromPort: made[1], to: call, toPort, elements, derived: port.source === null });
        for (let at = parents[call]!; at >= 0 && !holds(parents, at, made[0]); at = parents[at]!) covered.add(key + at);
      }
    });
  };
  for (let call = 0; call < calls.length; call++) if (children[call]!.length === 0) add(call, false);
  for (let call = calls.length - 1; call >= 0; call--) if (children[call]!.length > 0) add(call, true);
  return edges;
}

/** Whether `outer` is `inner` or a group around it. A group has a smaller index than what it holds, so that most answers take no walk. */
function holds(parents: number[], outer: number, inner: number): boolean {
  let at = inner;
  while (at > outer) at = parents[at]!;
  return at === outer;
}

/** What the roots' outputs name; where they name nothing, the calls whose output nobody takes. */
function outputCalls(calls: CallInfo[], roots: number[], children: number[][], edges: Edge[]): Set<number> {
  const found = new Set<number>();
  for (const root of roots) {
    for (const port of calls[root]!.outputs) {
      const made = producer(calls, children, port.source);
      if (made !== null) found.add(made[0]);
    }
  }
  if (found.size > 0) return found;
  const taken = new Set(edges.map((edge) => edge.from));
  calls.forEach((call, index) => {
    if (children[index]!.length === 0 && !isInput(call) && !taken.has(index)) found.add(index);
  });
  return found;
}
