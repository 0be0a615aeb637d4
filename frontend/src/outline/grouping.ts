/** The heatmap's other orders of rows: every call by itself, or calls under the type of their layer. Pure. */
import type { Row } from "../graph/folds";
import { speaks, type Tree } from "../graph/tree";

const typeKey = (type: string) => `type:${type}`;

/** Calls that have numbers of their own, in the order in which they ran. */
function leafCalls(tree: Tree): number[] {
  return tree.calls.map((_, call) => call).filter((call) => speaks(tree, call));
}

const single = (tree: Tree, call: number, depth: number): Row => ({
  kind: "call", call, members: [call], depth, key: null, open: false, times: 0, title: tree.calls[call]!.path,
});

/** One row for every call, named by its path. */
export function everyCall(tree: Tree): Row[] {
  return leafCalls(tree).map((call) => single(tree, call, 0));
}

/** One row for each type, the most frequent first; an open one has its calls below. A closed one shows its worst call. */
export function byType(tree: Tree, unfolded: ReadonlySet<string>): Row[] {
  const types = new Map<string, number[]>();
  for (const call of leafCalls(tree)) {
    const { type } = tree.calls[call]!;
    const calls = types.get(type);
    if (calls) calls.push(call);
    else types.set(type, [call]);
  }
  return [...types].sort((a, b) => b[1].length - a[1].length).flatMap(([type, calls]) => {
    const open = unfolded.has(typeKey(type));
    const head: Row = { kind: "repeat", call: calls[0]!, members: calls, depth: 0, key: typeKey(type), open, times: calls.length, title: type };
    return open ? [head, ...calls.map((call) => single(tree, call, 1))] : [head];
  });
}
