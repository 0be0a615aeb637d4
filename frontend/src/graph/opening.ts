/** Which groups stand open before anybody has opened or closed one. Knows no drawing; outline and picture agree through it. */

import { CARD_LIMIT, type Folds } from "./folds";
import { topLevel, type Tree } from "./tree";

/**
 * Call paths of the open groups: from the outside inwards, all calls of one layer together, as long as the picture has at most
 * `limit` cards.
 */
export function firstOpen(tree: Tree, folds: Folds, limit = CARD_LIMIT): ReadonlySet<string> {
  const open = new Set<string>();
  const shown = new Set<number>();
  const seen = new Set<number>();
  if (topLevel(tree).length === 0) return open;
  let cards = folds.level(-1).length;
  let wave = groupsOf(folds, -1);
  wave.forEach((call) => shown.add(call));
  while (wave.length > 0) {
    const next: number[] = [];
    for (const group of wave) {
      if (seen.has(group)) continue;
      const layer = tree.calls[group]!.layer;
      const together = (layer === null ? [group] : tree.callsOfLayer[layer]!).filter((call) => shown.has(call));
      together.forEach((call) => seen.add(call));
      const more = together.reduce((sum, call) => sum + folds.level(call).length - 1, 0);
      if (cards + more > limit) continue;
      cards += more;
      for (const call of together) {
        open.add(tree.calls[call]!.path);
        for (const inner of groupsOf(folds, call)) {
          shown.add(inner);
          next.push(inner);
        }
      }
    }
    wave = next;
  }
  return open;
}

function groupsOf(folds: Folds, parent: number): number[] {
  return folds.level(parent).filter((unit) => unit.kind === "group").map((unit) => unit.head);
}
