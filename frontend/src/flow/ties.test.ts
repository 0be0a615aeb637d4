import { expect, test } from "vitest";
import { siamese } from "../graph/examples";
import { makeFolds } from "../graph/folds";
import { makeTree } from "../graph/tree";
import { HEADER, layout } from "./layout";
import { makePicture } from "./picture";
import { tiesOf } from "./ties";

const NONE: ReadonlySet<string> = new Set();

function tied(open: string[], singled: string[]) {
  const tree = makeTree(siamese());
  const picture = makePicture(tree, makeFolds(tree), new Set(open), NONE);
  const positions = layout(picture.boxes, picture.edges, { room: 700 });
  const ties = tiesOf(tree, picture, positions, singled.map((path) => tree.byPath.get(path)!));
  return { tree, picture, positions, ties };
}

test("the two calls of the shared encoder are tied, open or closed", () => {
  for (const open of [[], ["encoder", "encoder#1"], ["encoder"]]) {
    const { tree, picture, ties } = tied(open, []);
    expect(ties.map((tie) => tree.graph.layers[tie.layer]!.path)).toEqual(["encoder"]);
    expect(ties[0]!.boxes.map((box) => tree.calls[picture.cards[box]!.unit.head]!.path)).toEqual(["encoder", "encoder#1"]);
  }
});

test("a chosen call inside is tied to the other call of its layer", () => {
  const { tree, ties } = tied(["encoder", "encoder#1"], ["encoder#1/pool"]);
  expect(ties.map((tie) => tree.graph.layers[tie.layer]!.path)).toEqual(["encoder", "encoder/pool"]);
});

test("no tie crosses the title of a group", () => {
  for (const name of ["conv1", "conv2", "conv3", "pool", "first_dense"]) {
    const { picture, positions: at, ties } = tied(["encoder", "encoder#1"], [`encoder/${name}`]);
    const titles = picture.cards.flatMap((card, box) => (card.frame ? [box] : []));
    for (const points of ties.flatMap((tie) => tie.strokes)) {
      for (let i = 0; i + 3 < points.length; i += 2) {
        for (const box of titles) {
          const across = Math.max(points[i]!, points[i + 2]!) > at.x[box]! && Math.min(points[i]!, points[i + 2]!) < at.x[box]! + at.width[box]!;
          const down = Math.max(points[i + 1]!, points[i + 3]!) > at.y[box]! && Math.min(points[i + 1]!, points[i + 3]!) < at.y[box]! + HEADER;
          expect(across && down).toBe(false);
        }
      }
    }
  }
});
