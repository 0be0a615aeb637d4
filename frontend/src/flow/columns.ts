/** Puts the boxes of one level into columns, so that every link points right. The only file that knows dagre. */

import dagre from "@dagrejs/dagre";

export interface Item {
  width: number;
  height: number;
  /** Spatial size of its output, `80×80`; null for one that does not break a line (inputs, groups). */
  band: string | null;
  /** An input of the model: nothing comes before it. */
  lead: boolean;
}

export interface Pair {
  from: number;
  to: number;
}

export interface Columns {
  /** Item indices, column by column from left to right, top to bottom. */
  columns: number[][];
  /** Top of each item, on a scale common to all columns. */
  top: Float64Array;
  /** For links that pass columns: the height at which link i passes column c, `through.get(i)?.get(c)`. */
  through: Map<number, Map<number, number>>;
}

/** More boxes than this in one level, or more columns crossed by all links together, and dagre would be slow or overflow the stack. */
const MOST_ITEMS = 800;
const MOST_CROSSED = 20_000;
const BETWEEN = 28;

export function arrange(items: Item[], links: Pair[], entered: ReadonlySet<number>): Columns {
  const forward = links.filter((link) => link.from < link.to);
  const all = [...forward, ...inOrderOfTime(items, forward, entered)];
  if (isChain(items.length, all) || isTooMuch(items.length, all)) return spine(items);
  return layered(items, links, all);
}

/** Calls that nothing known feeds still ran after the one before them: they stand where they ran. */
function inOrderOfTime(items: Item[], links: Pair[], entered: ReadonlySet<number>): Pair[] {
  const fed = new Set(links.map((link) => link.to));
  const found: Pair[] = [];
  items.forEach((item, index) => {
    if (index > 0 && !item.lead && !fed.has(index) && !entered.has(index)) found.push({ from: index - 1, to: index });
  });
  return found;
}

function isChain(count: number, links: Pair[]): boolean {
  return links.every((link) => link.to === link.from + 1) && new Set(links.map((link) => link.from)).size >= count - 1;
}

function isTooMuch(count: number, links: Pair[]): boolean {
  if (count > MOST_ITEMS) return true;
  const rank = new Int32Array(count);
  for (const link of [...links].sort((a, b) => a.from - b.from)) rank[link.to] = Math.max(rank[link.to]!, rank[link.from]! + 1);
  let crossed = 0;
  for (const link of links) crossed += rank[link.to]! - rank[link.from]!;
  return crossed > MOST_CROSSED;
}

/** Every item a column of its own, in the order of the calls: for chains, and for levels beyond dagre's means. */
function spine(items: Item[]): Columns {
  const tallest = items.reduce((most, item) => Math.max(most, item.height), 0);
  return {
    columns: items.map((_, index) => [index]),
    top: Float64Array.from(items, (item) => (tallest - item.height) / 2),
    through: new Map(),
  };
}

function layered(items: Item[], links: Pair[], all: Pair[]): Columns {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: BETWEEN, edgesep: 14, ranksep: 48 });
  graph.setDefaultEdgeLabel(() => ({}));
  items.forEach((item, index) => graph.setNode(String(index), { width: item.width, height: item.height }));
  const seen = new Set<string>();
  for (const { from, to } of all) {
    const name = `${from} ${to}`;
    if (!seen.has(name)) graph.setEdge(String(from), String(to), {}, name);
    seen.add(name);
  }
  dagre.layout(graph);
  const centre = items.map((_, index) => graph.node(String(index)) as { x: number; y: number });
  const xs = [...new Set(centre.map((node) => Math.round(node.x)))].sort((a, b) => a - b);
  const columnAt = new Map(xs.map((x, column) => [x, column]));
  const columns: number[][] = xs.map(() => []);
  centre.forEach((node, index) => columns[columnAt.get(Math.round(node.x))!]!.push(index));
  const top = Float64Array.from(items, (item, index) => centre[index]!.y - item.height / 2);
  const through = passages(graph, links, columnAt);
  if (isUpsideDown(columns, centre)) mirror(items, top, through);
  for (const column of columns) {
    column.sort((a, b) => top[a]! - top[b]!);
    spread(column, items, top);
  }
  return { columns, top, through };
}

/** Whether more pairs in a column stand against the order of the calls than with it: the mirror image has as few crossings. */
function isUpsideDown(columns: number[][], centre: { y: number }[]): boolean {
  let inOrder = 0;
  for (const column of columns) {
    for (let at = 1; at < column.length; at++) inOrder += Math.sign(centre[column[at]!]!.y - centre[column[at - 1]!]!.y);
  }
  return inOrder < 0;
}

function mirror(items: Item[], top: Float64Array, through: Map<number, Map<number, number>>): void {
  items.forEach((item, index) => { top[index] = -top[index]! - item.height; });
  for (const heights of through.values()) for (const [column, at] of heights) heights.set(column, -at);
}

/** Keeps the boxes of a column apart, whatever the layout library answered. */
function spread(column: number[], items: Item[], top: Float64Array): void {
  for (let at = 1; at < column.length; at++) {
    const above = column[at - 1]!;
    top[column[at]!] = Math.max(top[column[at]!]!, top[above]! + items[above]!.height + BETWEEN / 2);
  }
}

type LayoutGraph = InstanceType<typeof dagre.graphlib.Graph>;

function passages(graph: LayoutGraph, links: Pair[], columnAt: Map<number, number>): Map<number, Map<number, number>> {
  const through = new Map<number, Map<number, number>>();
  links.forEach(({ from, to }, index) => {
    const edge = graph.edge({ v: String(from), w: String(to), name: `${from} ${to}` }) as { points?: { x: number; y: number }[] } | undefined;
    for (const point of edge?.points?.slice(1, -1) ?? []) {
      const column = columnAt.get(Math.round(point.x));
      if (column === undefined) continue;
      const heights = through.get(index);
      if (heights === undefined) through.set(index, new Map([[column, point.y]]));
      else heights.set(column, point.y);
    }
  });
  return through;
}
