import { expect, test } from "vitest";
import { makeFolds } from "../graph/folds";
import { GraphMaker, mobilenet, siamese } from "../graph/examples";
import { firstOpen } from "../graph/opening";
import { makeTree } from "../graph/tree";
import { fitPicture } from "./fit";
import { HEADER, layout, type Box, type Link, type Positions } from "./layout";
import { makePicture } from "./picture";
import { cardsPerLine } from "./wrap";
import { outputBoxes } from "./Tail";

const NONE: ReadonlySet<string> = new Set();
const CENTRE = { width: 760, height: 852 };

/** A small generator of numbers, so that a failing graph can be made again from its seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed * 2654435761 + 1;
  return (sides) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) >>> 0;
    return (state >>> 8) % sides;
  };
}

function randomGraph(seed: number): { boxes: Box[]; links: Link[] } {
  const roll = dice(seed);
  const boxes: Box[] = [];
  const count = 2 + roll(40);
  for (let index = 0; index < count; index++) {
    const frames = boxes.flatMap((box, at) => (box.open ? [at] : []));
    const parent = frames.length > 0 && roll(3) > 0 ? frames[roll(frames.length)]! : -1;
    boxes.push({ parent, open: roll(5) === 0, width: 160, height: 64, band: ["8×8", "4×4", null][roll(3)]!, lead: roll(12) === 0 });
  }
  const inside = (outer: number, inner: number): boolean => {
    for (let at = inner; at >= 0; at = boxes[at]!.parent) if (at === outer) return true;
    return false;
  };
  const links: Link[] = [];
  for (let index = 1; index < count; index++) {
    for (let k = roll(3); k >= 0; k--) {
      const from = roll(index);
      if (!inside(from, index)) links.push({ from, to: index });
    }
  }
  return { boxes, links };
}

function overlaps(at: Positions, a: number, b: number): boolean {
  return at.x[a]! < at.x[b]! + at.width[b]! - 0.01 && at.x[b]! < at.x[a]! + at.width[a]! - 0.01 &&
    at.y[a]! < at.y[b]! + at.height[b]! - 0.01 && at.y[b]! < at.y[a]! + at.height[a]! - 0.01;
}

/** Whether any stretch of a path runs through the inside of a rectangle. */
function enters(path: number[], left: number, top: number, right: number, bottom: number): boolean {
  for (let i = 0; i + 3 < path.length; i += 2) {
    const [ax, ay, bx, by] = [path[i]!, path[i + 1]!, path[i + 2]!, path[i + 3]!];
    if (Math.max(ax, bx) > left + 0.5 && Math.min(ax, bx) < right - 0.5 && Math.max(ay, by) > top + 0.5 && Math.min(ay, by) < bottom - 0.5) return true;
  }
  return false;
}

/** What is wrong with a picture, in words. */
function faults({ boxes, links }: { boxes: Box[]; links: Link[] }, at: Positions): string[] {
  const found: string[] = [];
  boxes.forEach((box, a) => {
    for (let b = a + 1; b < boxes.length; b++) if (box.parent === boxes[b]!.parent && overlaps(at, a, b)) found.push(`${a} lies on ${b}`);
    const p = box.parent;
    if (p < 0) return;
    const across = at.x[a]! >= at.x[p]! && at.x[a]! + at.width[a]! <= at.x[p]! + at.width[p]!;
    const down = at.y[a]! >= at.y[p]! + HEADER && at.y[a]! + at.height[a]! <= at.y[p]! + at.height[p]!;
    if (!across || !down) found.push(`${a} is not inside ${p} and below its header`);
  });
  links.forEach((link, index) => {
    if (!at.paths[index]!.every(Number.isFinite)) found.push(`link ${link.from} → ${link.to} is nowhere`);
    boxes.forEach((box, b) => {
      const bottom = at.y[b]! + (box.open ? HEADER : at.height[b]!);
      const own = link.from === b || link.to === b;
      if (!own && enters(at.paths[index]!, at.x[b]!, at.y[b]!, at.x[b]! + at.width[b]!, bottom)) found.push(`link ${link.from} → ${link.to} runs into ${b}`);
    });
  });
  return found;
}

test("boxes of one level never overlap, groups hold their boxes, no edge enters a card or a group's header", { timeout: 60_000 }, () => {
  for (let seed = 1; seed <= 100; seed++) {
    const graph = randomGraph(seed);
    expect(faults(graph, layout(graph.boxes, graph.links, { room: 700 })), `seed ${seed}`).toEqual([]);
  }
});

test("every stretch of an edge is horizontal or vertical, and it begins and ends at its boxes", { timeout: 60_000 }, () => {
  for (let seed = 200; seed < 240; seed++) {
    const { boxes, links } = randomGraph(seed);
    const at = layout(boxes, links, { room: 900 });
    links.forEach((link, index) => {
      const path = at.paths[index]!;
      for (let i = 0; i + 3 < path.length; i += 2) {
        expect(Math.min(Math.abs(path[i]! - path[i + 2]!), Math.abs(path[i + 1]! - path[i + 3]!))).toBeLessThan(0.6);
      }
      expect(path[0]).toBeCloseTo(at.x[link.from]! + at.width[link.from]!, 3);
      expect(path.at(-2)).toBeCloseTo(at.x[link.to]!, 3);
    });
  }
});

test("a chain wraps at ⌊(width / zoom − 48) / 184⌋ cards, and every line runs from left to right", () => {
  expect(cardsPerLine(760, 0.7)).toBe(5);
  expect(cardsPerLine(760, 1)).toBe(3);
  const boxes = Array.from({ length: 17 }, (): Box => ({ parent: -1, open: false, width: 160, height: 64, band: null, lead: false }));
  const links = Array.from({ length: 16 }, (_, k) => ({ from: k, to: k + 1 }));
  const at = layout(boxes, links, { room: 760 / 0.7 - 48 });
  const lines = [...new Set(at.y)].map((y) => boxes.flatMap((_, index) => (at.y[index] === y ? [index] : [])));
  expect(lines).toEqual([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14], [15, 16]]);
  for (const line of lines) for (let k = 1; k < line.length; k++) expect(at.x[line[k]!]).toBeGreaterThan(at.x[line[k - 1]!]!);
});

test("MobileNet's first view has 30 cards, readable, in stages of equal spatial size", () => {
  const tree = makeTree(mobilenet());
  const folds = makeFolds(tree);
  const picture = makePicture(tree, folds, firstOpen(tree, folds), NONE);
  const fit = fitPicture(picture, CENTRE);
  expect(picture.cardCount).toBe(30);
  expect(fit.zoom).toBeGreaterThanOrEqual(0.7);
  expect(fit.whole).toBe(true);
  expect(fit.positions.stages.map((stage) => stage.band)).toEqual(["80×80", "40×40", "20×20", "10×10", "5×5", ""]);
});

test("every output leads to the loss, two inside one open group as one", () => {
  const tree = makeTree(siamese());
  for (const path of ["encoder/pool", "encoder/first_dense", "join"]) tree.outputs.add(tree.byPath.get(path)!);
  const folds = makeFolds(tree);
  const picture = makePicture(tree, folds, firstOpen(tree, folds), NONE);
  expect(outputBoxes(tree, picture)).toEqual(["same", "join", "encoder"].map((path) => picture.boxOf[tree.byPath.get(path)!]!));
});

test("both encoders of a siamese model stand open in the first view", () => {
  const tree = makeTree(siamese());
  const folds = makeFolds(tree);
  const open = firstOpen(tree, folds);
  expect([...open]).toEqual(["encoder", "encoder#1"]);
  const picture = makePicture(tree, folds, open, NONE);
  const { positions } = fitPicture(picture, CENTRE);
  const box = (path: string): number => picture.boxOf[tree.byPath.get(path)!]!;
  for (const name of ["conv1", "pool"]) {
    expect(positions.x[box(`encoder/${name}`)]).toBe(positions.x[box(`encoder#1/${name}`)]);
  }
});

test("a closed group takes the edges of what it holds", () => {
  const tree = makeTree(siamese());
  const picture = makePicture(tree, makeFolds(tree), NONE, NONE);
  const name = (index: number): string => tree.calls[picture.cards[index]!.unit.head]!.path;
  expect(picture.edges.map((edge) => `${name(edge.from)} → ${name(edge.to)}`).sort()).toEqual(
    ["encoder → join", "encoder#1 → join", "join → last_dense", "last_dense → same", "left → encoder", "right → encoder#1"],
  );
});

test("an edge is dashed where every tensor that it stands for was computed outside the layers", () => {
  const make = new GraphMaker();
  const root = make.add(".", "Model", null, []);
  const input = make.add("x", "Input", root, [], [-1, 4], "input");
  const one = make.add("one", "Dense", root, [input]);
  const normed = make.add("normed", "BatchNormalization", root, [null]);
  const joined = make.add("joined", "Concatenate", root, [normed, null]);
  make.calls[normed]!.inputs[0]!.derived = [[one, 0]];
  make.calls[joined]!.inputs[1]!.derived = [[one, 0], [normed, 0]];
  const tree = makeTree(make.graph());
  const picture = makePicture(tree, makeFolds(tree), NONE, NONE);
  const name = (index: number): string => tree.calls[picture.cards[index]!.unit.head]!.path;
  expect(picture.edges.map(({ from, to, derived }) => `${name(from)} ${derived ? "⇢" : "→"} ${name(to)}`).sort()).toEqual(
    ["normed → joined", "one ⇢ joined", "one ⇢ normed", "x → one"],
  );
});

test("ten thousand unequal calls in one level are laid out", { timeout: 60_000 }, () => {
  const make = new GraphMaker();
  const root = make.add(".", "Model", null, []);
  let last = make.add("x", "Input", root, [], [-1, 4], "input");
  for (let k = 0; k < 10_000; k++) {
    const from = k % 7 === 0 && k > 50 ? [last, last - 37] : [last];
    last = make.add(`d${k}`, "Dense", root, from, [-1, 1 + ((k * 7919) % 997)]);
  }
  const tree = makeTree(make.graph());
  const picture = makePicture(tree, makeFolds(tree), NONE, NONE);
  const { positions } = fitPicture(picture, CENTRE);
  expect(positions.x).toHaveLength(10_001);
});

test("groups nested three hundred deep and all open are laid out without recursion", () => {
  const boxes: Box[] = [];
  for (let depth = 0; depth < 300; depth++) boxes.push({ parent: depth - 1, open: true, width: 0, height: 0, band: null, lead: false });
  boxes.push({ parent: 299, open: false, width: 160, height: 64, band: null, lead: false });
  const at = layout(boxes, [], { room: 700 });
  expect(at.width[0]).toBeGreaterThan(at.width[299]!);
});

test("a damaged graph whose edges run backwards is drawn all the same", () => {
  const boxes = Array.from({ length: 6 }, (): Box => ({ parent: -1, open: false, width: 160, height: 64, band: null, lead: false }));
  const at = layout(boxes, [{ from: 4, to: 1 }, { from: 1, to: 4 }, { from: 2, to: 0 }], { room: 400 });
  expect(at.paths.flat().every(Number.isFinite)).toBe(true);
});

test("few cards are never enlarged", () => {
  const make = new GraphMaker();
  const root = make.add(".", "Sequential", null, []);
  make.add("one", "Dense", root, [make.add("in", "Input", root, [], [-1, 4], "input")]);
  const tree = makeTree(make.graph());
  const folds = makeFolds(tree);
  expect(fitPicture(makePicture(tree, folds, firstOpen(tree, folds), NONE), { width: 2000, height: 1500 }).zoom).toBe(1);
});
