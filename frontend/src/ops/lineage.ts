/** Operations put in order for the page: chains as lines, neighbours, places in files, a graph to draw. Pure. */
import type { OpInfo, StackInfo } from "../lineageApi";

/** A chain in words as lines: each ends with the raw operation, which is the word without a dot. The first word is the method itself. */
export function chainLines(chain: readonly string[]): { head: string; lines: string[][] } {
  const [head = "", ...rest] = chain;
  const lines: string[][] = [];
  let line: string[] = [];
  for (const word of rest) {
    line.push(word);
    if (word.includes(".")) continue;
    lines.push(line);
    line = [];
  }
  if (line.length) lines.push(line);
  return { head, lines };
}

/** The last part of a name in a graph: what tells operations of one call apart. */
export const shortName = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/** Characters of a path or name that a row of the search has room for before the last part. */
const MOST_BEFORE = 28;

/** An operation as a row of the search names it: by its call, then the last part of its own name; without a call by its name alone. */
export function labelOf(name: string, path: string | null): string {
  if (path === null) return name;
  return `${path.length > MOST_BEFORE ? `…${path.slice(path.lastIndexOf("/"))}` : path}/${shortName(name)}`;
}

/** `model.py:42`, or empty where no frame is the user's. */
export function placeOfStack(stack: StackInfo | undefined): string {
  const frame = stack?.frames[stack.user_frame];
  return frame ? `${frame[0]}:${frame[1]}` : "";
}

/** The file without its folders: `model.py:42`. */
export const shortPlace = (place: string): string => place.slice(place.lastIndexOf("/") + 1);

/** What became of an operation in a word or two, the names of other operations left to its details. */
export const shortFate = (fate: string): string => fate.replace(/:.*$/s, "").replace(/^fused into .*\((\w+)\)$/, "fused into $1").replace(/^(fused into )\S*\//, "$1");

/** Number → numbers of the operations that take its output. */
export function consumersOf(ops: Iterable<OpInfo>): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const { number, inputs } of ops) {
    for (const input of new Set(inputs)) {
      const list = found.get(input);
      if (list) list.push(number);
      else found.set(input, [number]);
    }
  }
  return found;
}

/** The graph of some operations: one box each, one link for each tensor between two of them. */
export function opLinks(ops: readonly OpInfo[]): { from: number; to: number }[] {
  const box = new Map(ops.map(({ number }, index) => [number, index]));
  return ops.flatMap(({ inputs }, to) =>
    [...new Set(inputs)].flatMap((input) => {
      const from = box.get(input);
      return from === undefined || from === to ? [] : [{ from, to }];
    }),
  );
}

/** Whether a text of the search field could be a place in a file: `model.py:42`, `model.py`. */
export const isPlace = (text: string): boolean => /^\S+\.py(:\d+)?$/.test(text.trim());
