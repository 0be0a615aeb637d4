/** What one card says and wears, out of the graph: words, badge, label for those who cannot see it. Knows no DOM. */

import { shapeText, isInput, type Tree } from "../graph/tree";
import { words } from "../strings";
import type { CardWords } from "./detail";
import type { Card } from "./picture";

/** Calls and cards that a picture made of many says about itself: `2×` for a shared call, `×5` for a repeat. */
export function badgeOf(tree: Tree, card: Card): string {
  const { unit } = card;
  if (unit.kind === "repeat") return words.flow.repeat(unit.blocks.length);
  const { n } = tree.occurrence[unit.head]!;
  return n > 1 ? words.flow.times(n) : "";
}

export function cardWords(tree: Tree, card: Card): CardWords {
  const { unit } = card;
  const call = tree.calls[unit.head]!;
  const output = call.outputs[0];
  const shape = shapeText(output);
  const channels = output?.shape?.at(-1);
  const riders = unit.kind === "stack" ? ` ${words.flow.riders(unit.members.length - 1)}` : unit.kind === "group" ? ` · ${words.flow.inside(tree.leaves[unit.head]!)}` : "";
  const type = isInput(call) ? words.flow.input : call.type;
  const short = channels !== undefined && channels >= 0 && output!.shape!.length >= 3 ? words.flow.channels(channels) : shape;
  return {
    name: displayName(call.path, call.name),
    type,
    riders,
    shape,
    channels: unit.kind === "group" ? words.flow.inside(tree.leaves[unit.head]!) : short,
    more: words.flow.ports(call.inputs.length, call.outputs.length),
  };
}

/** The last part of the path: it tells the calls of a shared layer apart, `encoder#1`. */
export function displayName(path: string, name: string): string {
  const last = path.slice(path.lastIndexOf("/") + 1);
  if (last === ".") return name;
  return last.replaceAll("%2F", "/").replaceAll("%23", "#").replaceAll("%25", "%");
}

export function label(tree: Tree, card: Card): string {
  const { unit } = card;
  const call = tree.calls[unit.head]!;
  const { k, n } = tree.occurrence[unit.head]!;
  const said = cardWords(tree, card);
  const parts = [call.path, said.type + said.riders, said.shape];
  if (n > 1) parts.push(words.flow.nthOf(k, n));
  if (unit.kind === "repeat") parts.push(words.flow.repeat(unit.blocks.length));
  if (unit.kind === "group") parts.push(card.frame ? words.flow.opened : words.flow.closed);
  return parts.filter((part) => part !== "").join(", ");
}

/** What a pointer resting on a dashed edge is told. */
export function derivedTip(tree: Tree, from: Card, to: Card): string {
  return words.flow.derived(tree.calls[from.unit.head]!.path, tree.calls[to.unit.head]!.path);
}

/** What a pointer resting on a stack or repeat is told: the calls that ride on it. */
export function tooltip(tree: Tree, card: Card): string {
  const { unit } = card;
  const listed = unit.members.slice(0, 12).map((call) => `${tree.calls[call]!.path} · ${tree.calls[call]!.type}`);
  return unit.members.length > 12 ? `${listed.join("\n")}\n…` : listed.join("\n");
}
