/** Finds runs of equal consecutive blocks in a sequence. Knows nothing of calls: a word says what an item looks like, its sources how far back its inputs lie. */

export interface Run {
  start: number;
  /** Items in one block. */
  length: number;
  times: number;
}

const LONGEST_BLOCK = 24;
const LEAST_TIMES = 3;

/**
 * Runs of at least three equal blocks, in order, without overlap; where several start at one place, the one that covers most wins, then
 * the shortest block. `sources[i]` are the rising distances from item i back to the items that feed it, Infinity for one from outside. A
 * source before the run counts as equal to any other such source: the first block may be fed by what stands before the run.
 */
export function findRepeats(words: string[], sources: number[][]): Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < words.length;) {
    const best = bestRun(words, sources, start);
    if (best !== null) runs.push(best);
    start += best === null ? 1 : best.length * best.times;
  }
  return runs;
}

function bestRun(words: string[], sources: number[][], start: number): Run | null {
  let best: Run | null = null;
  for (let length = 1; length <= LONGEST_BLOCK && start + length * LEAST_TIMES <= words.length; length++) {
    if (words[start] !== words[start + length]) continue;
    let times = 1;
    while (equalBlocks(words, sources, start, start + times * length, length)) times++;
    if (times >= LEAST_TIMES && (best === null || times * length > best.length * best.times)) best = { start, length, times };
  }
  return best;
}

function equalBlocks(words: string[], sources: number[][], first: number, other: number, length: number): boolean {
  if (other + length > words.length) return false;
  for (let k = 0; k < length; k++) {
    if (words[first + k] !== words[other + k]) return false;
    const a = sources[first + k]!;
    const b = sources[other + k]!;
    if (a.length !== b.length) return false;
    for (let s = 0; s < a.length; s++) if (Math.min(a[s]!, k + 1) !== Math.min(b[s]!, k + 1)) return false;
  }
  return true;
}
