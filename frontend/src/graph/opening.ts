/** Which groups stand open before anybody has opened or closed one. Knows no drawing; outline and picture agree through it. */

import { CARD_LIMIT, type Folds } from "./folds";
import { topLevel, type Tree } from "./tree";

/**
 * Call paths of the open groups: from the outside inwards, all calls of one layer and all groups of one make together, as long as the
 * picture has at most `limit` cards. A group around a loop stays closed: inside it nothing has numbers.
 */
export function firstOpen(tree: Tree, folds: Folds, limit = CARD_LIMIT): ReadonlySet<string> {
  const open = new Set<string>();
  const seen = new Set<number>();
  if (topLevel(tree).length === 0) return open;
  let cards = folds.level(-1).length;
  let wave = groupsOf(tree, folds, -1);
  while (wave.length > 0) {
    const next: number[] = [];
    for (const group of wave) {
      if (seen.has(group)) continue;
      const together = wave.filter((call) => !seen.has(call) && alike(tree, folds, group, call));
      together.forEach((call) => seen.add(call));
      const more = together.reduce((sum, call) => sum + folds.level(call).length - 1, 0);
      if (cards + more > limit) continue;
      cards += more;
      for (const call of together) {
        open.add(tree.calls[call]!.path);
        next.push(...groupsOf(tree, folds, call));
      }
    }
    wave = next;
  }
  return open;
}

/** Blocks of one make: some open and some closed would look like a difference that is none. */
function alike(tree: Tree, folds: Folds, a: number, b: number): boolean {
  const [one, other] = [tree.calls[a]!, tree.calls[b]!];
  if (one.layer !== null && one.layer === other.layer) return true;
  return one.type === other.type && folds.level(a).length === folds.level(b).length;
}

function groupsOf(tree: Tree, folds: Folds, parent: number): number[] {
  return folds.level(parent).filter(({ kind, head }) => kind === "group" && !tree.loops.has(head)).map((unit) => unit.head);
}
